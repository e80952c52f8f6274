"""The card of a checkpoint: right numbers, and nothing that a stranger wrote is HTML."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.models import cards as subject
from app.models.cards import card_html, format_bytes, format_count, model_task, opening_problem
from app.services.model_listing import ListedModel, listed_models
from app.services.model_pool import ModelPool


def listed(name: str) -> ListedModel:
    return next(card for card in listed_models() if card.name == name)


class Reader(HTMLParser):
    """The elements and the text of some HTML."""

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
        replace(card, metadata=replace(card.metadata, family=name, licence=name, tokenizer=name)),
        replace(card, metadata=replace(card.metadata, config=None, error=name)),
    ):
        read = Reader(card_html(shown, open_now=True))
        assert read.elements <= ELEMENTS
        assert name.replace("\r\n", "\n").replace("\r", "\n") in read.text.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("next", ("Continues texts", "2 layers × 4 heads", "RoPE (rotary)", "48 tokens", "not stated")),
        ("masked", ("Fills masks", "Learned", "WordPiece")),
        ("both", ("Sequence to sequence", "2 + 2 layers × 4 heads", "Relative (T5)")),
        ("mood", ("Labels texts", "ALiBi")),
    ],
)
def test_a_card_describes_the_model(name: str, words: tuple[str, ...]) -> None:
    shown = card_html(listed(name), open_now=False)
    assert all(word in shown for word in words)
    assert "open now" not in shown and "open now" in card_html(listed(name), open_now=True)
    assert opening_problem(listed(name)) == "" and model_task(listed(name)) in subject.MODEL_TASKS


def test_a_card_names_norm_feed_forward_and_pooling() -> None:
    classifier = listed("mood")
    config = classifier.metadata.config
    assert config is not None
    config = config.replace(
        norm="layernorm", norm_placement="sandwich", feed_forward="geglu", d_ff=1_200, pooling="max"
    )
    shown = card_html(replace(classifier, metadata=replace(classifier.metadata, config=config)), open_now=False)
    for name, value in {
        "Norm": "LayerNorm",
        "Norm placement": "Before and after each sublayer",
        "Feed-forward": "GEGLU, 1,200 neurons",
        "Pooling": "Maximum over all tokens",
    }.items():
        assert f"<dt>{name}</dt><dd>{value}</dd>" in shown
    assert "Pooling" not in card_html(listed("next"), open_now=False)


def test_a_model_that_needs_too_much_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    models = ModelPool(10_000)
    monkeypatch.setattr(subject, "model_pool", lambda: models)
    assert "10.0 kB are allowed here" in opening_problem(listed("next"))
    assert opening_problem(listed("next")) in card_html(listed("next"), open_now=False)


@pytest.mark.parametrize(
    ("number", "words", "bytes_"),
    [
        (0, "0", "0 B"),
        (999, "999", "999 B"),
        (9_230, "9.23 k", "9.23 kB"),
        (13_249_999, "13.2 M", "13.2 MB"),
        (124_439_808, "124 M", "124 MB"),
        (7_000_000_000, "7.00 B", "7.00 GB"),
    ],
)
def test_large_numbers_have_three_digits(number: int, words: str, bytes_: str) -> None:
    assert (format_count(number), format_bytes(number)) == (words, bytes_)
