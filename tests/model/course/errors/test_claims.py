"""Claims and sources: each leads to a screen that exists, or to an address."""

import re
from collections import Counter

from headlight.course.chapters import CHAPTERS, find_screen
from headlight.course.errors.claims import claims, overview, reading, sources
from headlight.views.kinds import TableView, Verdict
from tests.model.course.shown import compute, views

LINKS = [link for about in claims().values() for claim in about for link in claim.links]


def test_each_claim_has_a_screen_that_takes_its_inputs() -> None:
    assert all(len(overview(subject, 1)) == 1 + len(reading()) for subject in claims()) and all(
        claim.links for about in claims().values() for claim in about
    )
    for link in LINKS:
        find_screen(link.chapter, link.screen).parse(dict(link.inputs))


def test_each_screen_of_the_chapter_is_reached_from_the_list() -> None:
    own = Counter(link.screen for link in LINKS if link.chapter == "errors")
    assert set(own) == {name for name in CHAPTERS["errors"].screens if name != "claims"}


def test_a_norm_without_epsilon_is_seen_to_fail() -> None:
    link = next(link for link in LINKS if link.screen == "layer-norm")
    screen = find_screen(link.chapter, link.screen)
    assert [said.good for said in views(compute(screen, **link.inputs), Verdict)] == [False]


def test_every_source_leads_out_of_the_page_by_a_safe_address() -> None:
    for source in (each for listed in sources().values() for each in listed):
        assert re.fullmatch(r"https://[\w.-]+/\S*", source.address) and source.place
        if source.place.startswith("arXiv"):
            assert re.fullmatch(r"arXiv \d{4}\.\d{4,5}", source.place)
            assert source.address.endswith(source.place.removeprefix("arXiv "))


def test_every_row_has_its_address() -> None:
    tables = views(reading(), TableView)
    assert [len(table.addresses) for table in tables] == [len(table.rows) for table in tables]
