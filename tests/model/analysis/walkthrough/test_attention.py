"""The walkthrough of one head: each step follows from the previous one, and the last equals the traced values."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import EditError, TextError, Trace, Transformer, run
from headlight.analysis.walkthrough.attention import (
    attention_walkthrough,
    most_attended_key,
    paths_to_keep,
)
from headlight.analysis.walkthrough.steps import WalkthroughStep
from headlight.config import AttentionConfig, ExpertsConfig, LatentConfig, LayerEmbeddingConfig
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.experts import MixtureOfExperts
from headlight.nn.layer_embedding import LayerEmbeddingGate
from headlight.nn.layers import MLP, GatedMLP
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, PositionalEncoding
from tests.model import reference, toys
from tests.model.toys import traced
from tests.sampling import examples

TEXT = "the cat sat on the mat"
ALL = ("input", "project", "multiply", "sum", "scale", "mask", "weights", "weighted-sum", "output", "feed-forward")


def step_named(found: tuple[WalkthroughStep, ...], name: str) -> WalkthroughStep:
    return next(step for step in found if step.name == name)


def result(found: tuple[WalkthroughStep, ...], name: str) -> np.ndarray:
    return step_named(found, name).values[-1].array


def assert_steps_follow(
    model: Transformer, trace: Trace, attention: str, head: int, query: int, key: int
) -> tuple[WalkthroughStep, ...]:
    """Recompute each step in NumPy from the inputs it shows."""
    found = attention_walkthrough(model, trace, attention, head, query, key)
    values = {step.name: step.values for step in found}
    first, second, row = (value.array for value in values["multiply"])
    assert row == pytest.approx(first * second, abs=1e-5)
    assert values["sum"][-1].array == pytest.approx(row.sum(), abs=1e-5)
    last = next(values[name] for name in ("soft-cap", "bias", "scale") if name in values)[-1].array
    score = trace[f"{attention}.scores"][head, query, key]
    assert last == pytest.approx(score, rel=1e-5, abs=1e-5)
    assert result(found, "weights") == pytest.approx(trace[f"{attention}.weights"][head, query])
    weight, v, moved, mixed = (value.array for value in values["weighted-sum"])
    assert moved == pytest.approx(weight * v, abs=1e-6)
    shared = trace[f"{attention}.weights"].shape[0] // trace[f"{attention}.v"].shape[0]
    together = trace[f"{attention}.weights"][head, query] @ trace[f"{attention}.v"][head // shared]
    assert mixed == pytest.approx(together, abs=1e-5)
    assert_network_follows(model, attention, query, found)
    return found


def assert_network_follows(model: Transformer, attention: str, query: int, found: tuple[WalkthroughStep, ...]) -> None:
    """Rerun the last step, the layer's feed-forward at the query, on the inputs it shows."""
    stack, layer, _ = attention.split(".")
    network = model.stack(stack).blocks[int(layer)].feed_forward
    assert isinstance(network, (MLP, GatedMLP, MixtureOfExperts))
    reads, _, adds = (torch.tensor(value.array) for value in step_named(found, "feed-forward").values)
    with torch.inference_mode():
        again = network(reads[None, None], lambda name, value: value)[0, 0]
    assert adds.numpy() == pytest.approx(again.numpy(), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("attention_function", ATTENTION_FUNCTIONS)
@pytest.mark.parametrize("position", POSITIONAL_ENCODINGS)
def test_the_steps_end_at_the_traced_values(attention_function: str, position: str) -> None:
    model = toys.decoder(
        attention_function=attention_function, positional_encoding=position, key_value_heads=2, value_head_dim=3
    )
    trace, encoding = traced(model), model.stack("decoder").positional_encoding
    rotates = type(encoding).rotate is not PositionalEncoding.rotate
    for head, query, key in ((0, 4, 1), (3, 2, 2), (1, 1, 5)):
        found = assert_steps_follow(model, trace, "decoder.1.self", head, query, key)
        assert [step.name for step in found if step.name in ALL] == list(ALL)
        assert any(step.name == "rotate" for step in found) == rotates
        assert any(step.name == "bias" for step in found) == encoding.adds_to_scores
        assert any(step.name == "feature-map" for step in found) == (attention_function == "linear")
        assert not any(step.edited for step in found)


def test_a_rotation_is_named_by_the_position_that_a_token_was_moved_to() -> None:
    model = toys.decoder(positional_encoding="rope")
    trace = traced(model, "decoder.position_ids[4]=set:2.5")
    step = step_named(attention_walkthrough(model, trace, "decoder.1.self", 0, 4, 1), "rotate")
    assert step.formula == "q'_{i} = R_{2.5} q_{i},   k'_{j} = R_{1} k_{j}"


@given(
    st.fixed_dictionaries(
        {
            "norm_placement": st.sampled_from(toys.NORMED_PLACEMENTS),
            "attention.score_soft_cap": st.sampled_from((0.0, 2.0)),
            "attention.scale": st.booleans(),
            "attention.qk_norm": st.sampled_from(("none", "per-head", "all-heads")),
            "bias": st.booleans(),
            "residual.parallel": st.booleans(),
        }
    ),
    st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(0, 5)),
)
@examples(15)
def test_the_steps_follow_for_every_architecture_option(choices: dict[str, Any], at: tuple[int, int, int]) -> None:
    model = toys.decoder(**choices)
    found = assert_steps_follow(model, traced(model), "decoder.1.self", *at)
    assert any(step.name == "soft-cap" for step in found) == (choices["attention.score_soft_cap"] > 0)
    same = choices["norm_placement"] in ("post", "post-sublayer")
    assert step_named(found, "input").formula.endswith("h_{i}" if same else "Norm(h_{i})")


@pytest.mark.parametrize(("placement", "formula"), [("pre", "x_{i} = Norm(h_{i})"), ("post", "x_{i} = h_{i}")])
@pytest.mark.parametrize("edit", ["decoder.1.residual=set:0", "decoder.1.self.input=add:1"])
def test_the_input_is_what_the_model_makes_of_the_stream_whatever_edits_say(
    placement: str, formula: str, edit: str
) -> None:
    model = toys.decoder(norm_placement=placement, norm="rmsnorm")
    [step, *_] = attention_walkthrough(model, traced(model, edit), "decoder.1.self", 0, 2, 1)
    assert step.formula == formula


@pytest.mark.parametrize(
    ("choices", "formula"),
    [
        ({"feed_forward": "gelu", "bias": True}, "GELU(x_{i} W_{1} + b_{1}),   f_{i} = n_{i} W_{2} + b_{2}"),
        ({"feed_forward": "swiglu"}, "SwiGLU(x_{i} W_{gate}, x_{i} W_{up})"),
        ({"activation_sparsity": 0.6}, "SwiGLU(max(x_{i} W_{gate} - c_{i}, 0), x_{i} W_{up})"),
        ({"feed_forward": "swiglu", "experts": ExpertsConfig(count=4)}, "f_{i} = Σ_{e} r_{ie} expert_{e}(x_{i})"),
        ({"experts": ExpertsConfig(count=4, shared_d_ff=5)}, "expert_{e}(x_{i}) + expert_{shared}(x_{i})"),
        ({"experts": ExpertsConfig(count=4, share_of_input=True)}, "Σ_{e} expert_{e}(r_{ie} x_{i})"),
        (
            {"experts": ExpertsConfig(count=4, own_norms=True), "norm_placement": "sandwich"},
            "Norm(Σ_{e} r_{ie} expert_{e}(Norm(x_{i}))) + Norm(expert_{shared}(Norm(x_{i})))",
        ),
    ],
)
def test_the_network_of_the_layer_is_a_step(choices: dict[str, Any], formula: str) -> None:
    model = toys.decoder(**choices)
    found = assert_steps_follow(model, traced(model), "decoder.1.self", 0, 3, 2)
    assert formula in step_named(found, "feed-forward").formula
    without = toys.decoder(feed_forward="none")
    assert attention_walkthrough(without, traced(without), "decoder.1.self", 0, 3, 2)[-1].name == "output"


def test_queries_that_grow_with_their_position_say_so() -> None:
    model = toys.decoder(positional_encoding="none", **{"attention.temperature_length": 2})
    found = assert_steps_follow(model, traced(model), "decoder.1.self", 0, 5, 2)
    assert "W_{Q} · 1.13863" in step_named(found, "project").formula  # 1 + 0.1 log(1 + floor(6 / 2))


def test_what_the_layer_adds_of_a_token_s_own_vector_is_a_step() -> None:
    model = toys.decoder(layer_embedding=LayerEmbeddingConfig(dim=5), norm_placement="sandwich")
    trace = traced(model, "decoder.1.layer_embedding.token_vector[3]=scale:2")
    found = step_named(assert_steps_follow(model, trace, "decoder.1.self", 0, 3, 2), "layer-embedding")
    gate = model.stack("decoder").blocks[1].layer_embedding
    assert isinstance(gate, LayerEmbeddingGate)
    reads, vector, adds = (torch.tensor(value.array) for value in found.values)
    with torch.inference_mode():
        again = gate(reads[None, None], vector[None, None], lambda name, value: value)[0, 0]
    assert adds.numpy() == pytest.approx(again.numpy(), rel=1e-5, abs=1e-6) and found.edited


def test_keys_and_values_are_made_of_the_same_compressed_vector() -> None:
    model = toys.decoder(
        attention=AttentionConfig(latent=LatentConfig(query_channels=5, key_value_channels=4, shared_key_channels=2))
    )
    formula = step_named(assert_steps_follow(model, traced(model), "decoder.1.self", 0, 3, 2), "project").formula
    assert all(f"compress_{{{name}}}" in formula for name in ("Q}(x_{i}) W_{Q", "KV}(x_{j}) W_{K", "KV}(x_{j}) W_{V"))


def test_the_weights_and_the_sinks_share_sum_to_one() -> None:
    model = toys.decoder(attention=AttentionConfig(sinks=True))
    step = step_named(assert_steps_follow(model, traced(model), "decoder.1.self", 0, 3, 2), "weights")
    share, weights = step.values[-2:]
    assert "sink" in step.formula and weights.array.sum() + share.array == pytest.approx(1, abs=1e-6)
    assert 0.05 < float(share.array) < 0.95


def test_without_norms_a_head_reads_the_stream_as_it_is() -> None:
    model = toys.decoder(norm_placement="none")
    found = assert_steps_follow(model, traced(model), "decoder.0.self", 0, 3, 2)
    assert step_named(found, "input").formula.endswith("h_{i}")


@pytest.mark.parametrize("attention", ["decoder.1.self", "decoder.0.cross", "encoder.2.self"])
def test_cross_attention_takes_keys_and_values_from_the_source(attention: str) -> None:
    model = toys.both()
    trace = traced(model, source="a small bird sang in the tree")
    found = assert_steps_follow(model, trace, attention, 2, 1, 3)
    x = step_named(found, "input").values[-1].array
    k = step_named(found, "project").values[1].array
    stack, layer, kind = attention.split(".")
    key = getattr(model.stack(stack).blocks[int(layer)], f"{kind}_attention").key
    width = model.config.head_dim
    assert k == pytest.approx(key.weight.numpy()[2 * width : 3 * width] @ x, abs=1e-5)
    if kind == "cross":
        assert x == pytest.approx(trace["encoder.final_residual"][3])


def test_the_outputs_of_all_heads_add_up_to_the_layers_output() -> None:
    model = toys.decoder(bias=True)
    trace = traced(model)
    found = [
        step_named(attention_walkthrough(model, trace, "decoder.1.self", head, 3, 0), "output").values
        for head in range(4)
    ]
    bias = model.stack("decoder").blocks[1].self_attention.output.bias.numpy()  # type: ignore[union-attr, operator]
    assert sum(values[1].array for values in found) + bias == pytest.approx(found[0][2].array, abs=1e-5)


def test_softmax_and_rotary_embedding_against_their_definitions() -> None:
    model = toys.decoder()
    found = attention_walkthrough(model, traced(model), "decoder.1.self", 1, 4, 2)
    scores = result(found, "mask").astype(np.float64)
    assert np.isneginf(scores[5:]).all()
    powers = np.exp(scores[:5])
    assert result(found, "weights")[:5] == pytest.approx(powers / powers.sum(), abs=1e-6)
    q, turned, k, turned_k = (value.array for value in step_named(found, "rotate").values)
    assert turned == pytest.approx(reference.rotated(q.astype(np.float64), 4, 10_000.0), abs=1e-5)
    assert turned_k == pytest.approx(reference.rotated(k.astype(np.float64), 2, 10_000.0), abs=1e-5)


@pytest.mark.parametrize(("scale", "written"), [(True, "/ √4"), (False, "(not scaled)")], ids=["scaled", "unscaled"])
def test_the_scale_step_shows_the_models_scale(scale: bool, written: str) -> None:
    model = toys.decoder(attention=AttentionConfig(scale=scale))
    step = step_named(attention_walkthrough(model, traced(model), "decoder.0.self", 0, 1, 0), "scale")
    assert step.formula.endswith(written)
    assert step.values[1].array == pytest.approx(step.values[0].array * (0.5 if scale else 1.0), abs=1e-6)


@pytest.mark.parametrize(
    ("site", "name"),
    [("q", "project"), ("rotated_k", "rotate"), ("scale", "scale"), ("bias", "bias"), ("scores", "scale"),
     ("masked_scores", "mask"), ("weights", "weights"), ("weighted_values", "weighted-sum"), ("output", "output")],
)  # fmt: skip
def test_an_edit_marks_the_step_that_it_changed(site: str, name: str) -> None:
    model = toys.decoder()
    edit = f"decoder.1.self.{site}=add:0.25"
    found = attention_walkthrough(model, traced(model, edit), "decoder.1.self", 0, 3, 1)
    assert [step.name for step in found if step.edited] == [name]


@pytest.mark.parametrize("edits", [(), ("decoder.1.self.rotated_k=scale:2", "decoder.3.self.v[0]=add:1")])
@pytest.mark.parametrize("parts", toys.UNUSUAL, ids=["unlike", "streams"])
def test_the_steps_follow_in_layers_that_read_keys_of_another(parts: dict[str, Any], edits: tuple[str, ...]) -> None:
    model = toys.decoder(**parts)
    for layer in range(4):
        found = assert_steps_follow(model, traced(model, *edits), f"decoder.{layer}.self", 1, 5, 3)
        own = f"k_{{j}} = Norm(x_{{j}} W_{{K}}),   v_{{j}} = Norm(x_{{j}} W_{{{'VK'[layer % 2]}}})"
        shown = step_named(found, "project").formula
        assert own in shown if layer < 2 else shown.endswith(f"k_{{j}} and v_{{j}} of layer {layer - 2}")
    keep = paths_to_keep(model.config, "decoder.3.self")
    small = run(model, toys.causal(), TEXT, edits, keep=keep)
    assert most_attended_key(model, small, "decoder.3.self", 2, 4) == int(
        traced(model, *edits, text=TEXT)["decoder.3.self.weights"][2, 4].argmax()
    )


def test_paths_to_keep_are_enough() -> None:
    model, attention = toys.both(), "decoder.1.cross"
    whole = traced(model, source="a small bird")
    small = run(model, toys.masked(), TEXT, source="a small bird", keep=paths_to_keep(model.config, attention))
    assert f"{attention}.weights" not in small.values
    assert most_attended_key(model, small, attention, 2, 1) == int(whole[f"{attention}.weights"][2, 1].argmax())
    found = zip(
        attention_walkthrough(model, small, attention, 2, 1, 3),
        attention_walkthrough(model, whole, attention, 2, 1, 3),
        strict=True,
    )
    for one, other in found:
        assert one.formula == other.formula
        for value, same in zip(one.values, other.values, strict=True):
            assert np.array_equal(value.array, same.array)


def test_a_head_position_or_layer_out_of_range_gets_a_sentence() -> None:
    model = toys.decoder()
    trace = traced(model)
    for head, query, key in ((4, 0, 0), (-1, 0, 0)):
        with pytest.raises(EditError, match="no head"):
            attention_walkthrough(model, trace, "decoder.1.self", head, query, key)
    for query, key in ((99, 0), (0, 99), (-1, 0)):
        with pytest.raises(TextError, match="no token"):
            attention_walkthrough(model, trace, "decoder.1.self", 0, query, key)
    with pytest.raises(EditError, match="no attention"):
        attention_walkthrough(model, trace, "decoder.9.self", 0, 0, 0)
