"""Changes to the model from the page: compared with the trained model, or refused with a message."""

import re
from pathlib import Path

import numpy as np
import pytest

from headlight.errors import HeadlightError
from headlight_app.contract.state import State
from headlight_app.inference.resolved_question import resolve
from headlight_app.state.url import decode_state, encode_state
from tests.app.asking import ask_worker, make_question

TEXT = "the cat sat on the mat"
GRAMMAR = (Path(__file__).parents[3] / "model/headlight/tracing/README.md").read_text(encoding="utf-8")
DOCUMENTED = re.findall(r"^\| `((?:decoder|encoder)\.[^`]+)` \|", GRAMMAR, re.MULTILINE)


@pytest.mark.parametrize("edit", ["logits=mean", "logits[2]=mean", "logits[:,3]=mean", "logits[2]=scale:2"])
def test_an_edit_of_the_logits_sees_those_of_all_tokens(edit: str) -> None:
    question = make_question("next", TEXT, edits=(edit,))
    for position, row in enumerate(resolve(question).value("logits")):
        np.testing.assert_allclose(resolve(question).logits(position), row, atol=1e-5)


def test_an_address_takes_the_names_of_transformer_lens() -> None:
    told = []
    for edit in ("blocks.1.attn.hook_z[5,3]=set:0", "decoder.1.self.weighted_values[3,5]=set:0"):
        state = decode_state({"model": "stories-causal", "text": TEXT, "edits": edit})
        meta, numbers = ask_worker("trace", model=state.model, text=state.text, edits=state.edits)
        assert meta["changed"]
        told.append((numbers, meta["predictions"]))
    assert told[0] == told[1]


def test_edits_of_every_kind_are_documented() -> None:
    assert {edit.partition("=")[0].rpartition(".")[2].partition("[")[0] for edit in DOCUMENTED} >= {
        *("weights", "mask", "scores", "scale", "position_ids", "output")
    }


@pytest.mark.parametrize("edit", DOCUMENTED)
def test_a_documented_edit_is_compared_with_the_model_as_trained(edit: str) -> None:
    meta, _ = ask_worker("trace", model="stories-causal", text=TEXT, edits=[edit], patch_from="a dog ran in the garden")
    plain, _ = ask_worker("trace", model="stories-causal", text=TEXT)
    assert meta["changed"] and not plain["changed"]
    trained = {item["id"]: item["after"] for item in plain["predictions"][0]["candidates"]}
    listed = meta["predictions"][0]["candidates"]
    shared = {item["id"]: item["before"] for item in listed if item["id"] in trained}
    assert shared, "the two lists have tokens in common"
    assert shared == pytest.approx({token: trained[token] for token in shared})
    assert max(abs(item["after"] - item["before"]) for item in listed) > 1e-5


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ("decoder.position_ids[9]=set:1", "asks for pos 9"),
        ("decoder.position_ids[3]=set:1e30", "cannot be at position"),
        ("decoder.0.self.heat=set:1", "no hook point 'heat'. Known: .*scale"),
        ("decoder.7.self.scale=set:1", "Its scale are at"),
        ("decoder.1.residual[2]=from:B", "type that text beside it"),
        ("decoder.1.residual[2]=from:C", "type that text beside it"),
    ],
)
def test_an_edit_that_cannot_be_gets_a_sentence(edit: str, sentence: str) -> None:
    with pytest.raises(HeadlightError, match=sentence):
        ask_worker("trace", model="next", text=TEXT, edits=[edit])


def test_what_is_put_aside_is_in_the_address_and_not_in_the_question() -> None:
    state = State(
        model="next", edits=("decoder.position_ids[2]=set:4",), disabled_edits=("decoder.1.self.weights[3]=set:0",)
    )
    assert decode_state(encode_state(state)) == state
    assert state.question(TEXT).edits == state.edits
    assert state.question(TEXT) == make_question("next", TEXT, edits=state.edits)
