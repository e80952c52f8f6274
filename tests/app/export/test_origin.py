"""The provenance of a figure is the state it was made from, for every state."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight_app.contract.question import Question, Variant
from headlight_app.contract.state import DEFAULT_STATE
from headlight_app.state.url import decode_state
from tests.app.asking import ask_worker
from tests.sampling import examples

TEXTS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=40)
HEADS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=4, unique=True)
EDITS = st.lists(
    st.sampled_from(["decoder.0.self.weights[2]=set:0", "decoder.1.residual[1]=scale:0.5"]), max_size=2, unique=True
)
VARIANTS = st.builds(
    Variant,
    masks=st.sampled_from(["", "none", "causal+window:3"]),
    positional_encoding=st.sampled_from(["", "alibi", "none", "rope"]),
    attention_function=st.sampled_from(["", *ATTENTION_FUNCTIONS]),
    scale=st.sampled_from(["", "on", "off"]),
)
QUESTIONS = st.builds(Question, model=st.just("next"), text=TEXTS, edits=EDITS.map(tuple), variant=VARIANTS)


@pytest.mark.usefixtures("toys")
@examples(60)
@given(sides=st.lists(st.tuples(QUESTIONS, HEADS), min_size=1, max_size=3), shown=TEXTS)
def test_the_origin_of_a_figure_is_the_state_it_was_made_from(
    sides: list[tuple[Question, list[tuple[int, int]]]], shown: str
) -> None:
    asked = [
        {"question": to_builtins(question), "attention_group": "decoder.self", "heads": heads}
        for question, heads in sides
    ]
    meta, _ = ask_worker("export_origin", sides=asked, shown=shown)
    fields, trained = meta["provenance"], {"masks": "causal", "positional_encoding": "rope", "scale": "on"}
    for letter, (question, heads) in zip("abc", sides, strict=False):
        prefix = f"side_{letter}_" if len(sides) > 1 else ""
        own = {name.removeprefix(prefix): value for name, value in fields.items() if name.startswith(prefix)}
        variant = trained | {"attention_function": "softmax"}
        variant |= {name: part for name, part in to_builtins(question.variant).items() if part}
        assert (own["model"], own["text"], own["edits"]) == ("next", question.text, list(question.edits))
        assert own["heads"] == [list(head) for head in heads] and own["attention_group"] == "decoder.self"
        assert (own["mask"], own["scale"]) == (variant["masks"], variant["scale"])
        for name in ("positional_encoding", "attention_function"):
            assert own[name] == variant[name]
    assert fields["shown"] == shown


@pytest.mark.usefixtures("toys")
@examples(60)
@given(question=QUESTIONS, heads=HEADS, zoom=st.sampled_from(["", "0-3/1-4"]), tab=st.sampled_from(["heads", "layers"]))
def test_the_address_of_a_figure_leads_to_the_state_it_was_made_from(
    question: Question, heads: list[tuple[int, int]], zoom: str, tab: str
) -> None:
    names = tuple(f"{layer}.{head}" for layer, head in heads)
    own = to_builtins(question)
    state = DEFAULT_STATE.change(**{name: own[name] for name in ("model", "text", "edits", "variant")})
    state = state.change(heads=names, zoom=zoom, tab=tab)
    meta, _ = ask_worker("link", state=to_builtins(state))
    assert decode_state(dict(parse_qsl(meta["query"], keep_blank_values=True))) == state
