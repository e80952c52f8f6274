"""The Compare page in Streamlit: side A is the state, side B what is different from it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compare.page_data import default_difference, encoding_presets, opening_example
from app.state.url import decode_side_b, encode_side_b
from model.analysis.run_comparison import ALIGNMENTS
from model.checkpoints import CatalogEntry
from model.config import Config
from tests.app.pages import alone, component_data, scripted

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
EDITS = st.lists(st.sampled_from(["decoder.0.self.weights[1]=set:0", "logits=scale:2"]), max_size=3).map(tuple)
PLACES = st.sets(st.integers(0, 999), max_size=4).map(lambda places: tuple(sorted(places)))
OTHERS = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(
            ("model", "text", "source", "masks", "positional_encoding", "attention_function", "scale"), WORDS
        ),
        **{"edits": EDITS, "masked_positions": PLACES, "layer": st.integers(0, 99), "head": st.integers(0, 99)},
        **{"alignment": st.sampled_from(list(ALIGNMENTS)), "head_chosen": st.just("1")},
    },
)


@given(OTHERS)
def test_a_link_restores_side_b(other: dict[str, Any]) -> None:
    assert decode_side_b(encode_side_b(other)) == other


@given(st.text(max_size=60))
def test_any_text_decodes_to_a_side_b_or_none(word: str) -> None:
    assert (decode_side_b(word) is None) == (word == "")


@pytest.mark.parametrize("model", ["next", "masked", "both", "mood"])
def test_side_b_has_no_positional_encoding_by_default(model: str) -> None:
    at = alone("compare", model=model)
    assert not at.exception
    data = component_data(at.main)
    assert data["side_b"] == {"positional_encoding": "none"}
    assert data["settings"]["model"] == model
    assert {"next", "masked", "both", "mood"} <= {each["name"] for each in data["models"]}
    assert len(data["presets"]) >= 4
    assert [name for name, _ in data["options"]["alignment"]] == list(ALIGNMENTS)


def test_side_b_of_a_model_without_positions_has_another_mask_by_default(tmp_path: Path) -> None:
    causal = Config(vocabulary_size=5, context_length=4, d_model=8, layers=1, heads=2, positional_encoding="none")
    assert default_difference(causal, {}) == {"masks": "none"}
    assert default_difference(causal.replace(masks=()), {}) == {"masks": "causal"}
    assert opening_example(CatalogEntry("gone", tmp_path, causal, shipped=False)).text


def test_a_model_can_be_set_beside_one_trained_with_another_encoding(tmp_path: Path) -> None:
    rope = Config(vocabulary_size=5, context_length=4, d_model=8, layers=1, heads=2)
    entry = CatalogEntry("with-rope", tmp_path, rope, shipped=False)
    trained, rewired = encoding_presets(entry, {"alibi": "with-alibi"})
    assert trained.side_b == {"model": "with-alibi", "positional_encoding": ""}
    assert rewired.side_b == {"model": "with-alibi", "positional_encoding": "rope"}
    assert encoding_presets(entry, {}) == []
    three = {"alibi": "with-alibi", "none": "with-none"}
    assert encoding_presets(entry, three)[0].side_b["model"] == "with-none", "with and without says most"
    assert default_difference(rope, three) == {"model": "with-none", "positional_encoding": ""}
    assert (
        default_difference(rope.replace(positional_encoding="none"), {"alibi": "with-alibi"})["model"] == "with-alibi"
    )


def test_the_address_decides_both_sides() -> None:
    other = {"text": "the dog & the cat; 100 %", "masks": "window:2", "edits": ("decoder.1.self.weights[2]=set:0",)}
    data = component_data(alone("compare", model="next", text="the dog", layer="1", side_b=encode_side_b(other)).main)
    assert (data["state"]["text"], data["state"]["layer"]) == ("the dog", 1)
    assert data["side_b"] == {**other, "edits": list(other["edits"])}
    assert component_data(alone("compare", model="next", side_b=encode_side_b({})).main)["side_b"] == {}, (
        "two sides that differ in nothing"
    )


def test_what_the_component_reports_reaches_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        from functools import partial

        from app.compare import page as compare
        from app.state.session import apply_reports, current_state

        apply_reports("compare", "the opening", "", partial(compare._read_report, {"positional_encoding": "none"}))
        current_state()

    reported: dict[str, Any] = {
        **{
            "text": "the opening",
            "source": "",
            "masked_positions": [],
            "edits": [],
            "attention": "",
            "layer": 1,
            "head": 0,
        },
        **{
            "query": -1,
            "model": "next",
            "masks": "",
            "positional_encoding": "",
            "attention_function": "",
            "scale": "",
            "device": "auto",
        },
        **{"side_b": {"positional_encoding": "none"}, "serial": 4},
    }
    monkeypatch.setattr("app.state.session.reported", lambda key: dict(reported))
    at = scripted(page)

    def address() -> dict[str, str]:
        reported["serial"] += 1
        at.run()
        return {name: value if isinstance(value, str) else value[0] for name, value in at.query_params.items()}

    assert address() == {"model": "next", "layer": "1", "head": "0"}, "a default is not in the address"
    reported["side_b"] = {"positional_encoding": "alibi", "masked_positions": [3], "text": "the dog"}
    assert address()["side_b"] == "text=the+dog&positional_encoding=alibi&masked_positions=3"


def test_a_text_b_too_long_for_an_address_says_so() -> None:
    at = alone("compare", model="next", side_b=encode_side_b({"text": "cat " * 400}))
    assert "too long for an address" in at.info[0].value
