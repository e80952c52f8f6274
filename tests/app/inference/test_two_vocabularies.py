"""A model whose encoder and decoder read texts of different vocabularies, on the page."""

import os
from pathlib import Path
from typing import Any

import pytest

from headlight.checkpoints import save
from headlight.errors import HeadlightError
from headlight.text.tokenizer import Tokenizer
from tests.app.asking import ask_worker
from tests.app.pages import alone
from tests.model import toys

SOURCE, TEXT = "the cat sat on the mat", "the dog ran [UNK]"


@pytest.fixture(autouse=True)
def translator(known: None, tmp_path: Path) -> None:
    """A model that reads byte pairs, and writes word pieces."""
    own = toys.summarizer().config.own_encoder
    assert own is not None
    model = toys.summarizer(own_encoder=own.replace(vocabulary_size=toys.causal().vocabulary_size))
    words = Tokenizer(toys.masked().backend)
    words.source_tokenizer = toys.causal()
    save(tmp_path / "translator", model, words, dtype="float32")
    os.environ["HEADLIGHT_MODELS"] += os.pathsep + str(tmp_path)


def ask(route: str = "trace", **fields: Any) -> dict[str, Any]:
    return ask_worker(route, **{"model": "translator", "text": TEXT, "source": SOURCE, **fields})[0]


def test_each_text_is_shown_as_its_own_tokens() -> None:
    told = ask()
    assert [token["id"] for token in told["source_tokens"]] == list(toys.causal().encode(SOURCE).ids)
    own = toys.masked().encode(TEXT, add_special_tokens=False).ids
    assert [token["id"] for token in told["tokens"]] == [toys.masked().start_id, *own]
    assert not any(token["masked"] for token in told["source_tokens"])
    assert ask(text="", writes_target=True)["question"]["text"]


def test_special_tokens_of_each_vocabulary_are_hidden() -> None:
    told = ask("head_view", hide="special", attention="decoder.cross")
    assert "<|endoftext|>" not in told["columns"]["labels"] and "[CLS]" not in told["rows"]["labels"]
    assert len(told["columns"]["labels"]) == len(toys.causal().encode(SOURCE).ids) - 1


def test_unknown_tokens_are_counted_in_each_vocabulary() -> None:
    side = {"model": "translator", "text": TEXT, "source": SOURCE}
    told, _ = ask_worker("compare", sides=[side, side])
    (note,) = told["sides"][0]["notes"]
    assert note.startswith("1 of 12 tokens are [UNK], which replaces text")


def test_the_source_may_be_as_long_as_the_encoder_reads() -> None:
    long = " ".join(["the"] * 18)
    assert len(ask(source=long)["source_tokens"]) == 19
    with pytest.raises(HeadlightError, match="this model reads at most 19"):
        ask(source=f"{long} the")


def test_positions_are_those_of_each_stack() -> None:
    at = alone("positions", model="translator", attention="encoder.self")
    assert not at.exception and at.get("bidi_component")
    for stack in ("encoder", "decoder"):
        told, _ = ask_worker("views", page="positions", model="translator", attention=f"{stack}.self")
        assert told["program"]["stack"] == stack
