"""The Compare page in Streamlit: side A is the state, side B the difference from it."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from headlight.analysis.run_comparison import ALIGNMENTS
from headlight.checkpoints import CatalogEntry
from headlight.config import Config
from headlight_app.compare import page as compare
from headlight_app.compare.answers.page import default_difference, encoding_presets, opening_example, presets
from headlight_app.contract.difference import Difference, VariantDifference
from headlight_app.inference.open_models import find_model
from headlight_app.state.session import apply_reports, current_state
from headlight_app.state.url import decode_side_b, encode_side_b
from tests.app.pages import alone, component_data, scripted

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
EDITS = st.lists(st.sampled_from(["decoder.0.self.weights[1]=set:0", "logits=scale:2"]), max_size=3).map(tuple)
PLACES = st.sets(st.integers(0, 999), max_size=4).map(lambda places: tuple(sorted(places)))


def unset_or(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.just(UNSET) | values


VARIANTS = st.builds(
    VariantDifference,
    **dict.fromkeys(("masks", "positional_encoding", "attention_function", "pooling"), unset_or(WORDS)),
    scale=unset_or(st.sampled_from(["", "on", "off"])),
)
DIFFERENCES = st.builds(
    Difference,
    **dict.fromkeys(("model", "text", "source"), unset_or(WORDS)),
    variant=VARIANTS,
    edits=unset_or(EDITS),
    masked_positions=unset_or(PLACES),
    alignment=unset_or(st.sampled_from(list(ALIGNMENTS))),
    layer=unset_or(st.integers(0, 99)),
    head=unset_or(st.integers(0, 99)),
    head_chosen=unset_or(st.just("1")),
)
WITHOUT_POSITIONS = Difference(variant=VariantDifference(positional_encoding="none"))


@given(DIFFERENCES)
def test_a_link_restores_side_b(difference: Difference) -> None:
    assert decode_side_b(encode_side_b(difference)) == difference


@given(st.text(max_size=60))
def test_any_text_decodes_to_a_side_b_or_none(word: str) -> None:
    assert (decode_side_b(word) is None) == (word == "")


def test_what_makes_no_sense_of_side_b_counts_as_absent() -> None:
    word = "layer=-1&head=2&scale=maybe&masks=none&variant=x&masked_positions=1;x&model=next&other=1"
    assert decode_side_b(word) == Difference(model="next", head=2, variant=VariantDifference(masks="none"))


@pytest.mark.parametrize("model", ["next", "masked", "both", "mood"])
def test_side_b_has_no_positional_encoding_by_default(model: str) -> None:
    at = alone("compare", model=model)
    assert not at.exception
    data = component_data(at.main)
    assert data["side_b"] == msgspec.to_builtins(WITHOUT_POSITIONS)
    assert data["settings"]["model"] == model
    assert {"next", "masked", "both", "mood"} <= {each["name"] for each in data["models"]}
    assert len(data["presets"]) >= 4
    assert list(data["alignments"]) == list(ALIGNMENTS)
    assert ("pooling" in data["parts"]) == (model == "mood")


def test_side_b_of_a_model_without_positions_has_another_mask_by_default(tmp_path: Path) -> None:
    causal = Config(vocabulary_size=5, context_length=4, d_model=8, layers=1, heads=2, positional_encoding="none")
    assert default_difference(causal, {}) == Difference(variant=VariantDifference(masks="none"))
    assert default_difference(causal.replace(masks=()), {}) == Difference(variant=VariantDifference(masks="causal"))
    assert opening_example(CatalogEntry("gone", tmp_path, causal, shipped=False)).text


def test_a_model_can_be_set_beside_one_trained_with_another_encoding(tmp_path: Path) -> None:
    rope = Config(vocabulary_size=5, context_length=4, d_model=8, layers=1, heads=2)
    entry = CatalogEntry("with-rope", tmp_path, rope, shipped=False)
    trained, rewired = encoding_presets(entry, {"alibi": "with-alibi"})
    assert trained.side_b == with_model("with-alibi", "") and rewired.side_b == with_model("with-alibi", "rope")
    assert encoding_presets(entry, {}) == []
    three = {"alibi": "with-alibi", "none": "with-none"}
    assert encoding_presets(entry, three)[0].side_b.model == "with-none", "the model without positions is the default"
    assert default_difference(rope, three) == with_model("with-none", "")
    without = rope.replace(positional_encoding="none")
    assert default_difference(without, {"alibi": "with-alibi"}).model == "with-alibi"


def with_model(model: str, encoding: str) -> Difference:
    return Difference(model=model, variant=VariantDifference(positional_encoding=encoding))


def test_other_models_are_offered_beside_the_open_one() -> None:
    data = component_data(alone("compare", model="next").main)
    offered = [preset for preset in data["presets"] if "model" in preset["side_b"]]
    names = [model["name"] for model in data["models"] if model["name"] != "next"]
    others = [name for name in names if find_model(name).config.modalities == find_model("next").config.modalities][:2]
    assert len(others) == 2 and [preset["side_b"]["model"] for preset in offered] == others
    assert [preset["title"] for preset in offered] == [f"Compared with {name}" for name in others]


def test_only_models_that_read_the_same_are_offered_for_side_b() -> None:
    def offered(**state: str) -> set[str]:
        return {model["name"] for model in component_data(alone("compare", **state).main)["models"]}

    assert "caption" not in offered(model="next")
    assert "caption" in offered(model="next", side_b=encode_side_b(with_model("caption", "")))


def test_the_words_that_a_last_word_changes_are_compared_where_tokens_look_ahead() -> None:
    titles = {name: [each.title for each in presets(find_model(name))] for name in ("stories-causal", "stories-masked")}
    assert "Too tired or too wide" in titles["stories-masked"]
    assert "Too tired or too wide" not in titles["stories-causal"], 'under a causal mask "it" sees no later word'


def test_the_address_decides_both_sides() -> None:
    other = Difference(
        text="the dog & the cat; 100 %",
        variant=VariantDifference(masks="window:2"),
        edits=("decoder.1.self.weights[2]=set:0",),
    )
    data = component_data(alone("compare", model="next", text="the dog", layer="1", side_b=encode_side_b(other)).main)
    assert (data["state"]["text"], data["state"]["layer"]) == ("the dog", 1)
    assert data["side_b"] == {
        "text": "the dog & the cat; 100 %",
        "variant": {"masks": "window:2"},
        "edits": ["decoder.1.self.weights[2]=set:0"],
    }
    assert component_data(alone("compare", model="next", side_b=encode_side_b(Difference())).main)["side_b"] == {
        "variant": {}
    }, "both sides are the same"


def test_what_the_component_reports_reaches_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        default = Difference(variant=VariantDifference(positional_encoding="none"))
        apply_reports("compare", "the opening", "", partial(compare._read_report, default))
        current_state()

    choice = {"text": "the opening", "source": "", "masked_positions": [], "edits": [], "attention": ""}
    settings = {"model": "next", "image": "", "variant": {}, "device": "auto"}
    side_b: dict[str, Any] = {"variant": {"positional_encoding": "none"}}
    reported: dict[str, Any] = {**choice, "layer": 1, "head": 0, "query": -1, **settings, "side_b": side_b, "serial": 4}
    monkeypatch.setattr("headlight_app.state.session.reported", lambda key: dict(reported))
    at = scripted(page)

    def address() -> dict[str, str]:
        reported["serial"] += 1
        at.run()
        return {name: value if isinstance(value, str) else value[0] for name, value in at.query_params.items()}

    assert address() == {"model": "next", "layer": "1", "head": "0"}, "defaults are omitted from the URL"
    reported["side_b"] = {"variant": {"positional_encoding": "alibi"}, "masked_positions": [3], "text": "the dog"}
    said = "text=the+dog&masked_positions=3&positional_encoding=alibi"
    assert address()["side_b"] == said
    for nonsense in ({"layer": -1}, {"unknown": 1}, "text=the+cat"):
        reported["side_b"] = nonsense
        assert address()["side_b"] == said, "a malformed report is ignored"


def test_a_text_b_too_long_for_an_address_says_so() -> None:
    at = alone("compare", model="next", side_b=encode_side_b(Difference(text="cat " * 400)))
    assert "too long for an address" in at.info[0].value


@pytest.mark.parametrize(("model", "read"), [("mood", "the dog"), ("next", "")])
def test_both_sides_read_the_second_text_of_explore_by_a_model_of_pairs(model: str, read: str) -> None:
    at = alone("compare", model=model, text_pair="the dog")
    assert component_data(at.main)["settings"]["text_pair"] == read
    assert ["second text of Explore" in info.value for info in at.info] == [True] * bool(read)
