"""The ledger of an attention cell: parts and terms add up to the score, and each part follows its definition."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import EditError, Trace, Transformer, find_checkpoint, load, run
from headlight.analysis.ledger import KEEP, Cell, Ledger, cell_ledger
from headlight.attention_groups import attention_groups
from headlight.config import (
    AlternatingUpdatesConfig,
    EmbeddingConfig,
    LayerEmbeddingConfig,
    PerLayerConfig,
    RelativePositionConfig,
    RopeConfig,
)
from headlight.nn.attention import QK_NORMS
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.layers import NORMS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.vision.image import process_image
from tests.model import toys
from tests.model.toys import traced
from tests.sampling import each_once, examples


def assert_adds_up(model: Transformer, trace: Trace, head: int = 1, query: int = 5, key: int = 2) -> None:
    """Check every attention of the model, at an existing cell."""
    for group in attention_groups(model.config):
        for layer in range(group.layers):
            path = group.path(layer)
            scores = trace[f"{path}.masked_scores"]
            queries, keys = scores.shape[1:]
            cell = Cell(path, head % group.heads, min(query, queries - 1), min(key, keys - 1))
            found = cell_ledger(model, trace, cell)
            wanted = scores[cell.head, cell.query, cell.key]
            assert found.score == pytest.approx(wanted, rel=1e-5, abs=1e-6)
            assert_sums_to_score(found)


def assert_sums_to_score(found: Ledger) -> None:
    """Parts and terms add up to the score, up to rounding."""
    size = np.abs(found.parts).sum() + sum(map(abs, found.terms.values()))
    assert found.parts.shape == (len(found.query_writers), len(found.key_writers))
    assert found.parts.sum() + sum(found.terms.values()) == pytest.approx(found.score, rel=1e-6, abs=1e-5)
    assert abs(found.terms.get("rounding", 0.0)) < max(1e-4, 2e-6 * size)


ARCHITECTURES = st.fixed_dictionaries(
    {
        "positional_encoding": st.sampled_from(tuple(POSITIONAL_ENCODINGS)),
        "attention_function": st.sampled_from(tuple(ATTENTION_FUNCTIONS)),
        "norm_placement": st.sampled_from(toys.NORMED_PLACEMENTS),
        "attention.qk_norm": st.sampled_from(tuple(QK_NORMS)),
        "feed_forward": st.sampled_from(("swiglu", "none")),
        "norm": st.sampled_from(tuple(NORMS)),
        "residual.parallel": st.booleans(),
        "embedding.norm": st.booleans(),
        "first_norm": st.booleans(),
        "final_norm": st.booleans(),
        "embedding.tied": st.booleans(),
        "bias": st.booleans(),
        "attention.scale": st.booleans(),
        "attention.temperature_length": st.sampled_from((0, 2)),
        "attention.score_soft_cap": st.sampled_from((0.0, 2.0)),
        "attention.qkv_limit": st.sampled_from((0.0, 0.5)),
        "key_value_heads": st.sampled_from((1, 2, 4)),
        "value_head_dim": st.sampled_from((3, 4)),
        "attention.value_norm": st.booleans(),
        "per_layer": st.sampled_from(toys.LAYERS_OF_TWO),
        "residual.scale": st.booleans(),
        "layer_embedding": st.sampled_from((LayerEmbeddingConfig(), LayerEmbeddingConfig(dim=5))),
        "residual.alternating_updates": st.sampled_from(
            (AlternatingUpdatesConfig(), AlternatingUpdatesConfig(streams=3, active=1))
        ),
        "residual.laurel_rank": st.sampled_from((0, 3)),
    }
)


@given(ARCHITECTURES, st.integers(0, 3), st.integers(0, 5), st.integers(0, 5))
@examples(60)
def test_parts_and_terms_add_up_for_every_architecture_option(
    choices: dict[str, Any], head: int, query: int, key: int
) -> None:
    model = toys.decoder(**choices)
    assert_adds_up(model, traced(model), head, query, min(query, key))


@pytest.mark.parametrize(("placement", "encoding"), each_once(NORM_PLACEMENTS, ["rope", "disentangled", "relative"]))
def test_every_norm_placement_of_every_stack(placement: str, encoding: str) -> None:
    def small(model: Transformer) -> Transformer:  # without norms, values are too large for sums within 1e-5
        for parameter in model.parameters():
            parameter.data *= 0.5 if placement == "none" else 1
        return model

    choices = {"norm_placement": placement, "positional_encoding": encoding, "norm": "layernorm", "bias": True}
    for model in (toys.encoder(**choices), toys.both(**choices), toys.captioner(**choices)):
        small(model)
        assert_adds_up(model, traced(model, source=toys.source(model, "a small bird sang")))


@pytest.mark.parametrize("make", [toys.reader, toys.summarizer])
def test_an_encoder_that_was_a_model_of_its_own(make: Callable[[], Transformer]) -> None:
    model = make()
    assert_adds_up(model, traced(model, source=toys.source(model, "a small bird sang")))


def test_models_that_read_images() -> None:
    model = toys.seer(bias=True)
    trace = run(model, toys.causal(), process_image(toys.photo(), model.config.image))
    assert_adds_up(model, trace, 3, 6, 4)


@pytest.mark.parametrize(
    "choices",
    [
        *toys.UNUSUAL,
        {"rope": RopeConfig(rotary_dim=2, interleaved=True)},
        {"rope": RopeConfig(scaling="dynamic", factor=4.0, original_context_length=4)},
        {"embedding": EmbeddingConfig(dim=8, projection="tokens", scale=2.0)},
        {
            "per_layer": PerLayerConfig(
                score_scales=(0.3, 0.7), positional_encodings=("rope", "none"), qk_norms=("per-head-rms", "none")
            ),
            "attention.temperature_length": 2,
        },
        {
            "positional_encoding": "disentangled",
            "relative_position": RelativePositionConfig(position_to_content=False, absolute_positions=True),
        },
    ],
)
def test_unusual_parts_of_known_families(choices: dict[str, Any]) -> None:
    model = toys.decoder(**choices)
    assert_adds_up(model, traced(model))


@pytest.mark.parametrize(
    "edit",
    [
        "decoder.embedding[2]=scale:3",
        "decoder.0.self.weights[3]=set:0",
        "decoder.0.self.output=scale:0.5",
        "decoder.0.residual_after_self[5]=set:0.2",
        "decoder.1.residual[2]=add:0.7",
        "decoder.1.self.input[5]=add:0.3",
        "decoder.1.self.q[1]=scale:2",
        "decoder.1.self.rotated_k[1,2]=add:0.5",
        "decoder.1.self.scale[1]=scale:0.5",
        "decoder.1.self.bias[1]=add:0.25",
        "decoder.1.self.scores=scale:0.5",
        "decoder.1.self.masked_scores[1,5,2]=add:2",
        "decoder.position_ids[5]=set:2.5",
    ],
)
@pytest.mark.parametrize("norm_placement", ["pre", "post"])
def test_parts_and_terms_add_up_after_an_edit(edit: str, norm_placement: str) -> None:
    model = toys.decoder(bias=True, norm_placement=norm_placement)
    assert_adds_up(model, traced(model, edit))


@pytest.mark.parametrize(
    "edit",
    [
        "decoder.0.self.k[0]=scale:2",
        "decoder.1.self.rotated_k[0,2]=add:0.5",
        "decoder.3.self.k[0,2]=add:0.5",
        "decoder.1.self.v=scale:2",
        "decoder.1.layer_embedding.output=scale:0.5",
        "decoder.1.layer_embedding.token_vector[2]=set:0",
        "decoder.0.residual_after_feed_forward[2]=add:1",
        "decoder.embedding[2]=scale:3",
        "decoder.1.residual[2]=add:0.7",
        "decoder.*.residual_streams[2,1:]=scale:2",
    ],
)
def test_layers_of_unusual_parts_add_up_after_an_edit(edit: str) -> None:
    for parts in toys.UNUSUAL:
        if "residual.alternating_updates" in parts or "streams" not in edit:
            model = toys.decoder(**parts)
            assert_adds_up(model, traced(model, edit))


def test_the_writers_of_a_shared_key_stand_before_the_layer_that_made_it() -> None:
    model = toys.decoder(**toys.UNLIKE)
    found = cell_ledger(model, traced(model), "decoder.3.self[1,5,2]")
    assert "decoder.2.self[0]" in found.query_writers and "decoder.0.layer_embedding" in found.key_writers
    assert not [name for name in found.key_writers if name.startswith(("decoder.1.self", "decoder.2."))]


def test_an_edit_of_the_stream_is_a_writer_and_one_of_the_scores_a_term() -> None:
    model = toys.decoder()
    moved = cell_ledger(model, traced(model, "decoder.1.residual[2]=add:1"), "decoder.1.self[1,5,2]")
    assert "decoder.edit" in moved.key_writers and "decoder.edit" not in moved.query_writers
    scaled = cell_ledger(model, traced(model, "decoder.1.self.scores=scale:0.5"), "decoder.1.self[1,5,2]")
    assert scaled.terms["edit"] == pytest.approx(-0.5 * scaled.parts.sum(), abs=1e-5)


def test_a_part_by_hand() -> None:
    """Pre-norm RMSNorm, rotary: the head's output through the frozen norm, key projection and rotation."""
    model = toys.decoder()
    trace = traced(model)
    found = cell_ledger(model, trace, "decoder.1.self[2,5,3]")
    block, first = model.stack("decoder").blocks[1], model.stack("decoder").blocks[0]
    norm, attention = block.self_attention_residual.norm, block.self_attention
    stream = torch.tensor(trace["decoder.1.residual"])
    mixed = torch.zeros(4, 4)
    mixed[1] = torch.tensor(trace["decoder.0.self.weighted_values"][1, 3])
    head = first.self_attention.output.weight @ mixed.ravel()  # type: ignore[union-attr, operator]
    embedding = torch.tensor(trace["decoder.embedding"][5])

    def vector(value: torch.Tensor, projection: Any, token: int) -> torch.Tensor:
        scaled = value / (stream[token].square().mean() + norm.eps).sqrt() * norm.weight  # type: ignore[union-attr, operator]
        rotated = torch.zeros(1, 4, 6, 4)
        rotated[0, :, token] = projection(scaled).view(4, 4)
        encoding = model.stack("decoder").positional_encoding
        turned: torch.Tensor = encoding.rotate(rotated, torch.arange(6))[0, 2, token]
        return turned

    wanted = 0.5 * vector(embedding, attention.query, 5) @ vector(head, attention.key, 3)  # type: ignore[union-attr]
    row, column = found.query_writers.index("decoder.embedding"), found.key_writers.index("decoder.0.self[1]")
    assert found.parts[row, column] == pytest.approx(float(wanted), abs=1e-5)


def test_relative_positions_are_a_writer_on_both_sides() -> None:
    model = toys.decoder(positional_encoding="disentangled")
    found = cell_ledger(model, traced(model), "decoder.0.self[0,5,2]")
    assert found.query_writers[-1] == found.key_writers[-1] == "relative_position"
    assert found.parts[-1, -1] == 0.0
    assert set(found.terms) == {"rounding"}


def test_a_position_bias_is_a_term() -> None:
    model = toys.decoder(positional_encoding="alibi")
    trace = traced(model)
    found = cell_ledger(model, trace, "decoder.0.self[3,5,2]")
    assert found.terms["position_bias"] == pytest.approx(trace["decoder.0.self.bias"][3, 5, 2], abs=1e-5)


def test_the_keys_of_cross_attention_were_written_by_the_encoder() -> None:
    model = toys.both()
    found = cell_ledger(model, traced(model, source="a small bird sang"), "decoder.1.cross[2,3,4]")
    assert {name.partition(".")[0] for name in found.key_writers} == {"encoder"}
    assert {"decoder.1.self[0]", "decoder.0.cross[3]"} <= set(found.query_writers)
    assert "decoder.1.cross[0]" not in found.query_writers and "encoder.2.self[0]" in found.key_writers


def test_rankings_are_totals_in_order() -> None:
    model = toys.decoder(bias=True)
    found = cell_ledger(model, traced(model), "decoder.1.self[0,4,1]")
    for ranked, names, axis in (
        (found.by_query_writer(), found.query_writers, 1),
        (found.by_key_writer(), found.key_writers, 0),
    ):
        assert dict(ranked) == pytest.approx(dict(zip(names, found.parts.sum(axis), strict=True)))
        assert [total for _, total in ranked] == sorted((total for _, total in ranked), reverse=True)
    assert found.pairs()[0][2] == found.parts.max()


def test_the_previous_token_head_writes_the_keys_of_induction_heads() -> None:
    checkpoint = load(find_checkpoint("induction"))
    text = "cat lamp pan fan fig toy lip dog cat lamp pan"
    trace = run(checkpoint.model, checkpoint.tokenizer, text)
    last = len(trace.text.ids) - 1
    previous = int(trace.attention()[0, :, np.arange(1, last + 1), np.arange(last)].mean(0).argmax())
    for head in (1, 2):  # these look for the word after an earlier "pan"
        key = int(trace["decoder.1.self.weights"][head, last].argmax())
        assert trace.text.tokens[key] == "fan"
        found = cell_ledger(checkpoint.model, trace, Cell("decoder.1.self", head, last, key))
        assert found.by_key_writer()[0][0] == f"decoder.0.self[{previous}]"


def test_keep_is_enough_and_less_is_a_sentence() -> None:
    for model in (toys.decoder(), toys.both()):
        source = toys.source(model, "a small bird sang")
        for path in ("decoder.1.self", "decoder.1.cross")[: len(model.config.stacks)]:
            cell, edit = f"{path}[0,4,1]", "decoder.1.residual=scale:2"
            small, whole = (
                cell_ledger(model, traced(model, edit, keep=keep, source=source), cell) for keep in (KEEP, None)
            )
            assert small.parts == pytest.approx(whole.parts)
    with pytest.raises(EditError, match="holds no"):
        cell_ledger(model, traced(model, keep=("logits",), source=source), "decoder.1.self[0,4,1]")


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("decoder.1.self[0,4]", "A cell reads STACK"),
        ("decoder.1.self.weights[0,4,1]", "A cell reads STACK"),
        ("decoder.9.self[0,4,1]", "no attention"),
        ("encoder.0.self[0,4,1]", "no attention"),
        ("decoder.1.self[4,4,1]", "no head 4 in .* has 4"),
        ("decoder.1.self[0,40,1]", "no query 40"),
        ("decoder.1.self[0,4,40]", "no key 40"),
        ("decoder.1.self[0,1,4]", "mask forbids"),
    ],
)
def test_a_cell_that_cannot_be_gets_a_sentence(cell: str, sentence: str) -> None:
    model = toys.decoder()
    with pytest.raises(EditError, match=sentence):
        cell_ledger(model, traced(model), cell)
