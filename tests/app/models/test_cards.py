"""The card of a checkpoint: right numbers, and no HTML from untrusted text."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headlight_app.engine.contract import ListedModel
from headlight_app.engine.models import listed_models
from headlight_app.models.cards import card_html


def listed(name: str) -> ListedModel:
    return next(card for card in listed_models() if card.name == name)


class Reader(HTMLParser):
    """Collects the elements and the text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


ELEMENTS = {"article", "h3", "p", "span", "dl", "div", "dt", "dd"}


@given(st.text(max_size=60) | st.sampled_from(["</h3><script>alert(1)</script>", "<img src=x onerror=y>", "&lt;b&gt;"]))
def test_names_from_a_checkpoint_are_escaped(name: str) -> None:
    card = listed("next")
    for shown in (
        replace(card, title=name),
        replace(card, details={detail: name for detail in card.details}),
        replace(card, config=None, details={}, problem=name),
        replace(card, kind=name),
    ):
        read = Reader(card_html(shown, open_now=True))
        assert read.elements <= ELEMENTS
        assert name.replace("\r\n", "\n").replace("\r", "\n") in read.text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("next", ("Continues texts", "2 layers × 4 heads", "RoPE (rotary)", "48 tokens", "not stated")),
        ("masked", ("Fills masks", "Learned", "WordPiece")),
        ("both", ("Sequence to sequence", "encoder 2 layers × 4 heads, decoder 2 layers × 4 heads", "Relative (T5)")),
        ("mood", ("Labels texts", "ALiBi")),
    ],
)
def test_a_card_describes_the_model(name: str, words: tuple[str, ...]) -> None:
    shown = card_html(listed(name), open_now=False)
    assert all(word in shown for word in words)
    assert "open now" not in shown and "open now" in card_html(listed(name), open_now=True)
    assert listed(name).problem == ""


def test_only_an_upload_is_called_one() -> None:
    own = replace(listed("next"), own=True)
    assert "your upload" in card_html(replace(own, name="upload-next-x"), open_now=False)
    shown = card_html(replace(own, name="/home/anna/next"), open_now=False)
    assert "opened from your disk" in shown and "your upload" not in shown


def test_why_a_model_cannot_be_opened_stands_on_its_card() -> None:
    card = replace(listed("next"), problem="It takes 13 GB of memory; 10 GB are allowed here.")
    assert "10 GB are allowed here" in card_html(card, open_now=False)
