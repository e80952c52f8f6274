"""Live edits: a hook or a patch is applied and recorded like an edit, and applied again in later computations."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headlight import EditError, Trace, run, run_texts
from headlight.analysis.ablation import ablate_heads
from headlight.analysis.attribution import attribute_logits
from headlight.analysis.ledger import cell_ledger
from headlight.tracing.recompute import recompute_value
from tests.model import toys
from tests.model.toys import traced

OTHER = "a small bird sang in the tree"
EDIT = "decoder.1.self.scores[2]=scale:0.5"


def halve(path: str, value: torch.Tensor) -> torch.Tensor | None:
    """A hook equivalent to EDIT."""
    if path != "decoder.1.self.scores":
        return None
    value[2] *= 0.5
    return value


def halve_in_place(path: str, value: torch.Tensor) -> None:
    halve(path, value)


@pytest.mark.parametrize("hook", [halve, halve_in_place])
def test_a_hook_does_what_an_edit_does(hook: object) -> None:
    model = toys.decoder()
    found, wanted = traced(model, hook=hook), traced(model, EDIT)
    assert found.live_paths == {"decoder.1.self.scores"} and not found.interventions
    for path in wanted.values:
        np.testing.assert_array_equal(found[path], wanted[path])


def test_what_is_computed_from_the_trace_applies_the_hook_again() -> None:
    model = toys.decoder()
    found, wanted = traced(model, hook=halve), traced(model, EDIT)
    small = traced(model, hook=halve, keep=("*.input", "*.residual"))
    cells = (range(4), range(3), range(3))
    again = recompute_value(model, small, "decoder.1.self.weights", *cells)
    np.testing.assert_allclose(again, wanted["decoder.1.self.weights"][:, :3, :3], atol=1e-6)
    ablated, as_wanted = (ablate_heads(model, each, "decoder.0.self", 4, 7, 0, 4) for each in (found, wanted))
    np.testing.assert_allclose(ablated, as_wanted, atol=1e-6)
    assert cell_ledger(model, found, "decoder.1.self[2,4,1]").terms == pytest.approx(
        cell_ledger(model, wanted, "decoder.1.self[2,4,1]").terms
    )


def test_a_patch_puts_values_of_another_run_in_their_place() -> None:
    model = toys.decoder()
    other = traced(model, text=OTHER)
    found = traced(model, "decoder.1.residual[5]=from:B[3]", runs={"B": other})
    np.testing.assert_array_equal(found["decoder.1.residual"][5], other["decoder.1.residual"][3])
    np.testing.assert_array_equal(found["decoder.1.residual"][:5], traced(model)["decoder.1.residual"][:5])
    attribution = attribute_logits(model, found, 5).logits(np.arange(9)).sum(0)
    assert attribution == pytest.approx(found["logits"][5, :9], abs=1e-4)


def test_a_patch_of_all_that_matters_gives_the_answer_of_the_other_run() -> None:
    model = toys.decoder()
    other = traced(model, text="the dog sat on the mat")
    found = traced(model, "decoder.0.residual=from:B", "decoder.1.self.weights[3]=set:0", runs={"B": other})
    wanted = run(model, toys.causal(), "the dog sat on the mat", ["decoder.1.self.weights[3]=set:0"])
    np.testing.assert_allclose(found["logits"], wanted["logits"], atol=1e-5)
    head = traced(model, "decoder.1.self.weighted_values[2]=from:B", runs={"B": other})
    np.testing.assert_array_equal(head["decoder.1.self.weighted_values"][2], other["decoder.1.self.weighted_values"][2])


@pytest.mark.parametrize(
    ("patch", "sentence"),
    [
        ("decoder.1.residual[5]=from:C[3]", "a run 'C'; the runs given are B"),
        ("decoder.1.residual[5]=from:", "is not a patch"),
        ("decoder.7.residual[5]=from:B[3]", "holds no 'decoder.7.residual'"),
        ("decoder.1.residual[5]=from:B[99]", "asks for index 99, but B has"),
        ("decoder.1.residual[99]=from:B[3]", "asks for index 99, but this run has"),
        ("decoder.1.residual[5]=from:B[3:5]", "takes 2 x 16 numbers from B, but replaces 1 x 16"),
        ("decoder.1.residual[5,1,1]=from:B", "counts along 3 axes"),
    ],
)
def test_a_patch_that_cannot_be_gets_a_sentence(patch: str, sentence: str) -> None:
    model = toys.decoder()
    with pytest.raises(EditError, match=sentence):
        traced(model, patch, runs={"B": traced(model, text=OTHER)})
    with pytest.raises(EditError, match="runs="):
        traced(model, "decoder.1.residual[5]=from:B[3]")


def test_a_hook_that_gives_another_shape_gets_a_sentence() -> None:
    with pytest.raises(EditError, match=r"shorten gives \(5, 16\) for decoder.0.residual"):

        def shorten(path: str, value: torch.Tensor) -> torch.Tensor:
            return value[:5] if path == "decoder.0.residual" else value

        traced(toys.decoder(), hook=shorten)


def test_several_texts_are_read_with_the_same_edits() -> None:
    model, texts = toys.decoder(), ["the cat sat", "a small bird"]
    for found, text in zip(run_texts(model, toys.causal(), texts, [EDIT]), texts, strict=True):
        np.testing.assert_array_equal(found["logits"], traced(model, EDIT, text=text)["logits"])


def test_names_of_transformer_lens_are_read_with_its_axes() -> None:
    model = toys.decoder(positional_encoding="learned")
    trace = traced(model)
    pairs = {
        "blocks.1.attn.hook_pattern": "decoder.1.self.weights",
        "blocks.0.hook_resid_post": "decoder.1.residual",
        "blocks.1.hook_resid_post": "decoder.residual",
        "blocks.1.hook_mlp_out": "decoder.1.feed_forward.output",
        "hook_embed": "decoder.embedding",
        "hook_pos_embed": "decoder.position_embedding",
    }
    for name, path in pairs.items():
        np.testing.assert_array_equal(trace[name], trace[path])
    assert trace["blocks.0.attn.hook_z"].shape == (len(trace.text.ids), 4, 4)
    np.testing.assert_array_equal(trace["blocks.0.attn.hook_q"][2, 3], trace["decoder.0.self.q"][3, 2])
    for missing in ("blocks.9.attn.hook_pattern", "blocks.0.attn.hook_nothing", "hook_nothing"):
        with pytest.raises(EditError, match="holds no"):
            trace[missing]
    assert isinstance(trace, Trace)


def test_what_a_block_leaves_of_several_streams_has_no_name_of_transformer_lens() -> None:
    model = toys.decoder(**toys.STREAMS)
    trace = traced(model)
    np.testing.assert_array_equal(trace["blocks.1.hook_resid_pre"], trace["decoder.1.residual"])
    with pytest.raises(EditError, match="holds no"):
        trace["blocks.1.hook_resid_post"]
    with pytest.raises(EditError, match=r"No value is called 'blocks\.1\.hook_resid_post'; the nearest"):
        traced(model, "blocks.1.hook_resid_post=set:0")


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("blocks.1.attn.hook_pattern[3]=set:0", "decoder.1.self.weights[3]=set:0"),
        ("blocks.*.attn.hook_pattern[0]=uniform", "decoder.*.self.weights[0]=uniform"),
        ("blocks.0.attn.hook_z[5,3]=set:0", "decoder.0.self.weighted_values[3,5]=set:0"),
        ("blocks.0.attn.hook_q[2]=scale:2", "decoder.0.self.q[:,2]=scale:2"),
        ("blocks.0.hook_resid_post[4]=add:0.5", "decoder.1.residual[4]=add:0.5"),
        ("hook_embed[2]=set:0", "decoder.embedding[2]=set:0"),
        ("blocks.1.hook_resid_pre[5]=from:B[3]", "decoder.1.residual[5]=from:B[3]"),
        ("blocks.0.attn.hook_z[5,1]=from:B[3,2]", "decoder.0.self.weighted_values[1,5]=from:B[2,3]"),
    ],
)
def test_an_edit_by_a_name_of_transformer_lens_is_the_same_edit(theirs: str, ours: str) -> None:
    model = toys.decoder()
    runs = {"B": traced(model, text=OTHER)}
    found, wanted = traced(model, theirs, runs=runs), traced(model, ours, runs=runs)
    assert found.interventions == wanted.interventions and found.live_paths == wanted.live_paths
    np.testing.assert_array_equal(found["logits"], wanted["logits"])
    assert not np.array_equal(found["logits"], traced(model)["logits"])


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("blocks.1.attn.hook_patern", "blocks.1.attn.hook_pattern"),
        ("blocks.*.hook_resid_post", r"blocks\.\*\.hook_resid_pre"),
        ("hook_embd", "hook_embed"),
    ],
)
def test_an_unknown_name_of_transformer_lens_gets_the_nearest_ones(name: str, nearest: str) -> None:
    with pytest.raises(EditError, match=f"No value is called .*; the nearest names: {nearest}, "):
        traced(toys.decoder(), f"{name}=set:0")
