"""What notes often say, what is right, the screen of the course that shows it, and further reading."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any
from urllib.parse import parse_qsl

from headlight.course.controls import ChoiceControl, SeedControl
from headlight.course.screen import Screen, ScreenRows
from headlight.paths import assets_dir
from headlight.questions.asking import choose
from headlight.questions.kinds import Question
from headlight.views.kinds import Claim, ClaimsView, ScreenLink, TableView
from headlight.views.rows import Row, row


@dataclass(frozen=True)
class Source:
    """Further reading: its topic, authors, title and address."""

    subject: str
    authors: str
    title: str
    address: str

    @property
    def place(self) -> str:
        """How to find it without a link: its number, or the site."""
        site, _, path = self.address.removeprefix("https://").partition("/")
        return f"arXiv {path.removeprefix('abs/')}" if site == "arxiv.org" else site.removeprefix("www.")


def _rows(name: str) -> dict[str, list[dict[str, Any]]]:
    """The tables of a file that ships with the course."""
    return tomllib.loads((assets_dir() / "course" / f"{name}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def sources() -> dict[str, tuple[Source, ...]]:
    """Papers, and explanations by others."""
    return {kind: tuple(Source(**each) for each in rows) for kind, rows in _rows("reading").items()}


@lru_cache(maxsize=1)
def claims() -> dict[str, tuple[Claim, ...]]:
    """Claims by subject."""
    return {
        subject: tuple(Claim(each["said"], each["right"], tuple(map(_link, each["links"]))) for each in rows)
        for subject, rows in _rows("claims").items()
    }


def _link(address: str) -> ScreenLink:
    path, _, inputs = address.partition("?")
    chapter, screen = path.split("/")
    return ScreenLink(chapter, screen, dict(parse_qsl(inputs)))


def reading() -> tuple[Row, Row]:
    """Papers and explanations, with the details for finding them without a network, too."""
    found = sources()
    return (
        _listed("Papers", ("on", "paper", "where"), found["papers"]),
        _listed("Explanations", ("how", "by whom", "where"), found["explanations"]),
    )


def _listed(title: str, columns: tuple[str, ...], listed: tuple[Source, ...]) -> Row:
    rows = tuple((each.subject, f"{each.authors}: {each.title}", each.place) for each in listed)
    return row(TableView(columns, rows, title=title, addresses=tuple(each.address for each in listed)))


def overview(subject: str, seed: int) -> ScreenRows:
    """The claims about one subject, after a question on one of them, and further reading."""
    about = claims()[subject]
    return (row(ClaimsView(claims=about), question=_ask_of_one(about, Random(seed))), *reading())


def _ask_of_one(about: tuple[Claim, ...], draw: Random) -> Question:
    """Asks whether the common claim or the correct statement is right."""
    claim = draw.choice(about)
    options = tuple(draw.sample((claim.said, claim.right), 2))
    return choose("Which of the two is right?", options, options.index(claim.right), {})


OVERVIEW = Screen(
    title="What notes say, what is right, and further reading",
    lesson="All of these claims are in notes that many people learn from, and none is true as written. Each has a "
    "screen where you can check it with a number that is computed on the spot. Below are the papers behind the "
    "chapters, and explanations by others; these links need a network.",
    controls={
        "subject": ChoiceControl("About", "Positions", {name: name for name in claims()}),
        "seed": SeedControl(title="Ask about another claim"),
    },
    compute=overview,
    code=(overview,),
)
