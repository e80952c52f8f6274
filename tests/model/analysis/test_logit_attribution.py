"""What each part adds to a logit: the parts add up, and each is what the papers say it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from model import ConfigError, EditError, TextError, Trace, Transformer, run, variant
from model.analysis.logit_attribution import KEEP, Ledger, Part, ledger, parts_of
from model.nn.attention_functions import KERNELS
from model.nn.block import PLACEMENTS
from model.nn.norms import NORMS, LayerNorm, RMSNorm
from model.nn.positional_encodings import POSITIONS
from tests.model import toys

TEXT = "the cat sat on the mat"
TOKENS = np.arange(12)


def traced(model: Transformer, edits: tuple[str, ...] = (), **more: Any) -> Trace:
    tokenizer = toys.masked() if model.config.vocabulary == toys.masked().size else toys.causal()
    return run(model, tokenizer, TEXT, edits, **more)


def adds_up(model: Transformer, trace: Trace, position: int) -> None:
    logits = trace.logits
    assert logits is not None
    found = ledger(model, trace, position).logits(TOKENS)
    assert found.sum(0) == pytest.approx(logits[position, TOKENS], abs=1e-4)


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("parallel", [False, True], ids=["serial", "parallel"])
@pytest.mark.parametrize("norm", NORMS)
def test_contributions_add_up_to_the_logit(placement: str, parallel: bool, norm: str) -> None:
    model = toys.decoder(placement=placement, parallel=parallel, norm=norm, bias=True, embedding_norm=parallel)
    trace = traced(model)
    for position in (0, 3, -1):
        adds_up(model, trace, position)


@given(
    st.fixed_dictionaries(
        {
            "position": st.sampled_from(tuple(POSITIONS)),
            "kernel": st.sampled_from(tuple(KERNELS)),
            "placement": st.sampled_from(tuple(PLACEMENTS)),
            "norm": st.sampled_from(tuple(NORMS)),
            "parallel": st.booleans(),
            "tied": st.booleans(),
            "bias": st.booleans(),
            "final_norm": st.booleans(),
            "key_value_heads": st.sampled_from((1, 2, 4)),
            "value_width": st.sampled_from((3, 4)),
        }
    ),
    st.integers(0, 5),
)
@settings(max_examples=25)
def test_contributions_add_up_however_a_model_is_wired(choices: dict[str, Any], position: int) -> None:
    model = toys.decoder(**choices)
    adds_up(model, traced(model), position)


def test_contributions_add_up_where_the_table_is_narrow_and_the_logits_are_capped() -> None:
    from model.config_groups import Answer, Embed

    for project in ("tokens", "all"):
        embed, answer = Embed(width=8, project=project, scale=2.0), Answer(scale=0.5, cap=3.0)
        if project == "all":  # its top must read the width that it has
            embed = Embed(width=16, project=project)
        model = toys.decoder(embed=embed, answer=answer, tied=project == "tokens")
        adds_up(model, traced(model), 2)


def test_a_masked_language_head_bends_and_its_parts_still_add_up() -> None:
    model = toys.encoder()
    adds_up(model, traced(model, masked=(2,)), 2)


def test_what_the_decoder_fetched_from_the_source_has_parts_of_its_own() -> None:
    model = toys.both()
    trace = traced(model, source="a small bird sang")
    adds_up(model, trace, 3)
    cross = [part for part in parts_of(model.config) if part.kind == "cross"]
    assert len(cross) == 2 * 4


def test_a_token_classifier_has_contributions_to_its_labels() -> None:
    model = toys.decoder(top="token-classifier", labels=("noun", "verb", "other"))
    trace = traced(model)
    found = ledger(model, trace, 1).logits(np.arange(3))
    assert found.sum(0) == pytest.approx(trace["logits"][1], abs=1e-4)


@pytest.mark.parametrize("top", ["none", "sequence-classifier"])
def test_a_model_without_an_answer_at_each_token_gets_a_sentence(top: str) -> None:
    model = toys.decoder(top=top, labels=("good", "bad"))
    with pytest.raises(ConfigError, match="answer at each token"):
        ledger(model, traced(model))


@pytest.mark.parametrize(
    "edit",
    [
        "decoder.1.self.weights[3]=set:0",
        "decoder.0.self.output=scale:0.5",
        "decoder.1.residual[3]=add:0.7",
        "decoder.0.after_self[3]=set:0.2",
        "decoder.residual=scale:2",
        "decoder.final[:,3]=set:1",
        "decoder.embedding[3]=scale:3",
        "decoder.0.feedforward.hidden=set:0",
        "logits=add:5",
    ],
)
def test_contributions_add_up_after_an_edit(edit: str) -> None:
    model = toys.decoder(bias=True)
    adds_up(model, traced(model, (edit,)), 3)


def test_an_edit_of_the_stream_is_a_part_of_its_own() -> None:
    model = toys.decoder()
    plain, moved = ledger(model, traced(model), 3), ledger(model, traced(model, ("decoder.1.residual=add:1",)), 3)
    row = plain.parts.index(Part("edit"))
    assert not plain.logits(TOKENS)[row].any()
    assert np.abs(moved.logits(TOKENS)[row]).max() > 1e-3


def by_hand(model: Transformer, trace: Trace, position: int) -> dict[Part, np.ndarray]:
    """Pre-norm RMSNorm with a bare language head, in NumPy from the definition: (write / rms) * stretch . W_U."""
    stack = model.stack("decoder")
    norm, project = stack.norm, model.top.project
    assert isinstance(norm, RMSNorm)
    stream = trace["decoder.residual"][position].astype(np.float64)
    factor = norm.weight.numpy() / np.sqrt((stream**2).mean() + norm.epsilon)
    unembed = project.weight.numpy()[TOKENS]  # type: ignore[union-attr, operator]
    found = {}
    for layer, block in enumerate(stack.blocks):
        projection = block.self_attention.output.weight.numpy()  # type: ignore[union-attr, operator]
        for head in range(4):
            mixed = np.zeros((4, 4))
            mixed[head] = trace[f"decoder.{layer}.self.mixed"][head, position]
            found[Part("self", layer, head)] = unembed @ (projection @ mixed.ravel() * factor)
        write = trace[f"decoder.{layer}.feedforward.output"][position]
        found[Part("feedforward", layer)] = unembed @ (write * factor)
    found[Part("embedding")] = unembed @ (trace["decoder.embedding"][position] * factor)
    return found


def test_each_contribution_is_the_one_worked_out_by_hand() -> None:
    model = toys.decoder()
    trace = traced(model)
    found = ledger(model, trace, 4)
    rows = dict(zip(found.parts, found.logits(TOKENS), strict=True))
    for part, wanted in by_hand(model, trace, 4).items():
        assert rows[part] == pytest.approx(wanted, abs=1e-5), part


def test_a_last_head_taken_away_costs_its_contribution_where_the_norm_is_held() -> None:
    """In a parallel block nothing reads what a head of the last layer wrote but the final norm."""
    model = toys.decoder(parallel=True, norm="layernorm", bias=True)
    before, after = traced(model), traced(model, ("decoder.1.self.weights[2]=set:0",))
    norm = model.stack("decoder").norm
    assert isinstance(norm, LayerNorm)
    streams = [torch.tensor(trace["decoder.residual"][5]).double() for trace in (before, after)]
    length = (streams[0].var(correction=0) + norm.epsilon).sqrt()
    lost = ((streams[0] - streams[0].mean()) - (streams[1] - streams[1].mean())) / length * norm.weight
    wanted = lost @ model.embedding.weight.double().T[:, TOKENS]
    found = ledger(model, before, 5)
    row = found.logits(TOKENS)[found.parts.index(Part("self", 1, 2))]
    assert row == pytest.approx(wanted.numpy(), abs=1e-5)


def test_the_whole_vocabulary_says_the_same_as_single_tokens() -> None:
    model = toys.decoder(placement="sandwich")
    found = ledger(model, traced(model), 2)
    rows = [row for row, part in enumerate(found.parts) if part.kind == "feedforward"]
    assert found.vocabulary("feedforward")[:, TOKENS] == pytest.approx(found.logits(TOKENS)[rows], abs=1e-4)


def test_another_wiring_of_the_same_weights_has_contributions_too() -> None:
    model = variant(toys.decoder(), position="learned", kernel="linear")
    adds_up(model, traced(model), 1)


def test_little_of_a_trace_is_enough_and_less_is_a_sentence() -> None:
    model = toys.decoder()
    small = run(model, toys.causal(), TEXT, keep=KEEP)
    assert ledger(model, small, 1).logits(TOKENS) == pytest.approx(ledger(model, traced(model), 1).logits(TOKENS))
    with pytest.raises(EditError, match="holds no"):
        ledger(model, run(model, toys.causal(), TEXT, keep=("logits",)))


def test_positions_and_tokens_that_are_not_there_get_a_sentence() -> None:
    model = toys.decoder()
    with pytest.raises(TextError, match="no token 99"):
        ledger(model, traced(model), 99)
    found: Ledger = ledger(model, traced(model))
    with pytest.raises(TextError, match="knows"):
        found.logits(np.array([model.config.vocabulary]))
