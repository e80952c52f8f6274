"""Direct logit attribution: components add up to the logit, and each follows its definition."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import ConfigError, EditError, TextError, Trace, Transformer, variant
from headlight.analysis.attribution import LogitAttribution, attribute_logits
from headlight.analysis.residual_stream import KEEP, Component, components_of
from headlight.config import EmbeddingConfig, OutputHeadConfig, ResidualConfig
from headlight.nn.layers import NORMS, RMSNorm
from headlight.nn.stack import NORM_PLACEMENTS
from tests.model import toys
from tests.model.analysis.test_ledger import ARCHITECTURES
from tests.model.toys import traced
from tests.sampling import combinations, examples

TOKENS = np.arange(12)


def assert_adds_up(model: Transformer, trace: Trace, position: int) -> None:
    logits = trace.logits
    assert logits is not None
    found = attribute_logits(model, trace, position).logits(TOKENS)
    assert found.sum(0) == pytest.approx(logits[position, TOKENS], abs=1e-4)


@pytest.mark.parametrize(("placement", "parallel", "norm"), combinations(NORM_PLACEMENTS, [False, True], NORMS))
def test_contributions_add_up_to_the_logit(placement: str, parallel: bool, norm: str) -> None:
    model = toys.decoder(
        norm_placement=placement,
        residual=ResidualConfig(parallel=parallel),
        norm=norm,
        bias=True,
        embedding=EmbeddingConfig(norm=parallel),
    )
    trace = traced(model)
    for position in (0, 3, -1):
        assert_adds_up(model, trace, position)


def test_blocks_of_attention_alone_have_no_feed_forward_component() -> None:
    model = toys.decoder(feed_forward="none", bias=True)
    trace = traced(model)
    assert_adds_up(model, trace, -1)
    kinds = {component.kind for component in components_of(model.config)}
    assert kinds == {"embedding", "positions", "self", "bias", "edit"}
    assert attribute_logits(model, trace).vocabulary_logits("feed_forward").shape == (0, model.config.vocabulary_size)
    with pytest.raises(EditError, match="feed_forward"):
        traced(model, "decoder.0.feed_forward.output=scale:0")


@given(ARCHITECTURES, st.integers(0, 5))
@examples(25)
def test_contributions_add_up_for_every_architecture_option(choices: dict[str, Any], position: int) -> None:
    model = toys.decoder(**choices)
    assert_adds_up(model, traced(model), position)


def test_contributions_add_up_with_projected_embeddings_and_capped_logits() -> None:
    for project in ("tokens", "all"):
        embed, answer = (
            EmbeddingConfig(dim=8, projection=project, scale=2.0),
            OutputHeadConfig(logit_scale=0.5, logit_soft_cap=3.0),
        )
        if project == "all":  # the output head must read the model's width
            embed = EmbeddingConfig(dim=16, projection=project)
        model = toys.decoder(embedding=embed, output_head_config=answer, **{"embedding.tied": project == "tokens"})
        assert_adds_up(model, traced(model), 2)


def test_contributions_add_up_through_a_masked_language_head() -> None:
    model = toys.encoder()
    assert_adds_up(model, traced(model, masked_positions=(2,)), 2)


def test_cross_attention_heads_are_components() -> None:
    for model in (toys.both(), toys.captioner(), toys.listener(), toys.reader(), toys.summarizer()):
        assert_adds_up(model, traced(model, source=toys.source(model, "a small bird sang")), 3)
    cross = [part for part in components_of(model.config) if part.kind == "cross"]
    assert len(cross) == 2 * 4


def test_a_token_classifier_has_contributions_to_its_labels() -> None:
    model = toys.decoder(output_head="token-classifier", labels=("noun", "verb", "other"))
    trace = traced(model)
    found = attribute_logits(model, trace, 1).logits(np.arange(3))
    assert found.sum(0) == pytest.approx(trace["logits"][1], abs=1e-4)


@pytest.mark.parametrize("top", ["none", "sequence-classifier"])
def test_a_model_without_a_prediction_at_each_token_gets_a_sentence(top: str) -> None:
    model = toys.decoder(output_head=top, labels=("good", "bad"))
    with pytest.raises(ConfigError, match="predicts at each token"):
        attribute_logits(model, traced(model))


@pytest.mark.parametrize(
    "edit",
    [
        "decoder.1.self.weights[3]=set:0",
        "decoder.0.self.output=scale:0.5",
        "decoder.1.residual[3]=add:0.7",
        "decoder.0.residual_after_self[3]=set:0.2",
        "decoder.residual=scale:2",
        "decoder.final_residual[:,3]=set:1",
        "decoder.embedding[3]=scale:3",
        "decoder.0.feed_forward.neurons=set:0",
        "logits=add:5",
    ],
)
def test_contributions_add_up_after_an_edit(edit: str) -> None:
    model = toys.decoder(bias=True)
    assert_adds_up(model, traced(model, edit), 3)


def test_an_edit_of_the_residual_stream_is_a_component() -> None:
    model = toys.decoder()
    plain, moved = (
        attribute_logits(model, traced(model), 3),
        attribute_logits(model, traced(model, "decoder.1.residual=add:1"), 3),
    )
    row = plain.components.index(Component("edit"))
    assert not plain.logits(TOKENS)[row].any()
    assert np.abs(moved.logits(TOKENS)[row]).max() > 1e-3


def by_hand(model: Transformer, trace: Trace, position: int) -> dict[Component, np.ndarray]:
    """Pre-norm RMSNorm with a bare language head, in NumPy from the definition: (write / rms) * stretch . W_U."""
    stack = model.stack("decoder")
    norm, project = stack.final_norm, model.output_head.projection
    assert isinstance(norm, RMSNorm)
    stream = trace["decoder.residual"][position].astype(np.float64)
    factor = norm.weight.numpy() / np.sqrt((stream**2).mean() + norm.eps)
    unembed = project.weight.numpy()[TOKENS]  # type: ignore[union-attr, operator]
    found = {}
    for layer, block in enumerate(stack.blocks):
        projection = block.self_attention.output.weight.numpy()  # type: ignore[union-attr, operator]
        for head in range(4):
            mixed = np.zeros((4, 4))
            mixed[head] = trace[f"decoder.{layer}.self.weighted_values"][head, position]
            found[Component("self", layer, head)] = unembed @ (projection @ mixed.ravel() * factor)
        write = trace[f"decoder.{layer}.feed_forward.output"][position]
        found[Component("feed_forward", layer)] = unembed @ (write * factor)
    found[Component("embedding")] = unembed @ (trace["decoder.embedding"][position] * factor)
    return found


def test_each_contribution_by_hand() -> None:
    model = toys.decoder()
    trace = traced(model)
    found = attribute_logits(model, trace, 4)
    rows = dict(zip(found.components, found.logits(TOKENS), strict=True))
    for part, wanted in by_hand(model, trace, 4).items():
        assert rows[part] == pytest.approx(wanted, abs=1e-5), part


def test_ablating_a_head_of_the_last_layer_costs_its_contribution_with_a_linearized_norm() -> None:
    """In a parallel block only the final norm reads the output of a head of the last layer."""
    model = toys.decoder(residual=ResidualConfig(parallel=True), norm="layernorm", bias=True)
    before, after = traced(model), traced(model, "decoder.1.self.weights[2]=set:0")
    norm = model.stack("decoder").final_norm
    assert isinstance(norm, torch.nn.LayerNorm)
    streams = [torch.tensor(trace["decoder.residual"][5]).double() for trace in (before, after)]
    length = (streams[0].var(correction=0) + norm.eps).sqrt()
    lost = ((streams[0] - streams[0].mean()) - (streams[1] - streams[1].mean())) / length * norm.weight
    wanted = lost @ model.embedding.weight.double().T[:, TOKENS]
    found = attribute_logits(model, before, 5)
    row = found.logits(TOKENS)[found.components.index(Component("self", 1, 2))]
    assert row == pytest.approx(wanted.numpy(), abs=1e-5)


def test_vocabulary_logits_equal_those_of_single_tokens() -> None:
    model = toys.decoder(norm_placement="sandwich")
    found = attribute_logits(model, traced(model), 2)
    rows = [row for row, part in enumerate(found.components) if part.kind == "feed_forward"]
    assert found.vocabulary_logits("feed_forward")[:, TOKENS] == pytest.approx(found.logits(TOKENS)[rows], abs=1e-4)


def test_a_variant_has_contributions_too() -> None:
    model = variant(toys.decoder(), positional_encoding="learned", attention_function="linear")
    assert_adds_up(model, traced(model), 1)


def test_keep_is_enough_and_less_is_a_sentence() -> None:
    model = toys.decoder()
    small = traced(model, keep=KEEP)
    assert attribute_logits(model, small, 1).logits(TOKENS) == pytest.approx(
        attribute_logits(model, traced(model), 1).logits(TOKENS)
    )
    with pytest.raises(EditError, match="holds no"):
        attribute_logits(model, traced(model, keep=("logits",)))


def test_positions_and_tokens_out_of_range_get_a_sentence() -> None:
    model = toys.decoder()
    with pytest.raises(TextError, match="no token 99"):
        attribute_logits(model, traced(model), 99)
    found: LogitAttribution = attribute_logits(model, traced(model))
    with pytest.raises(TextError, match="knows"):
        found.logits(np.array([model.config.vocabulary_size]))
