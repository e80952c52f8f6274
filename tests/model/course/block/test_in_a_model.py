"""Screens that read a model: their numbers compared with sums over its weights and its trace."""

from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from headlight.checkpoints.load import Checkpoint
from headlight.config import EmbeddingConfig
from headlight.course.block.averages import averages_in_model
from headlight.course.block.feed_forward import FEED_FORWARD, apply_alone, needed, neurons
from headlight.course.block.last_steps import LAST_STEPS, last_steps
from headlight.course.block.parameters import diagram, parameters_by_part
from headlight.course.block.residual import residual, sublayer_steps
from headlight.course.block.switch_off import (
    SWITCH_OFF,
    SublayerSwitches,
    losses_by_layer,
    losses_without_parts,
    switch_off,
)
from headlight.course.sentences import sentence_batch, target_loss, word_pieces
from headlight.errors import InputError
from headlight.nn.stack import ResidualConnection
from headlight.tracing.run import run
from headlight.views.kinds import ModelDiagramView, TableView, Verdict
from headlight.views.rows import as_rows
from tests.model import toys
from tests.model.course.shown import verdict, views

TEXT = toys.SENTENCE


def test_the_stream_is_the_sum_of_the_sublayers(decoder: Checkpoint) -> None:
    trace = run(decoder.model, decoder.tokenizer, TEXT)
    steps = sublayer_steps(decoder.model, trace, 3)
    assert [name for name, *_ in steps][:2] == ["layer 0, attention", "layer 0, feed-forward"] and len(steps) == 4
    total = torch.tensor(trace["decoder.0.residual"][3]) + sum(added for _, _, added, _ in steps)
    torch.testing.assert_close(total, torch.tensor(trace["decoder.residual"][3]))
    assert verdict(residual(decoder, TEXT, 1, 3)).good is True


def test_layers_and_tokens_that_do_not_exist_get_a_sentence(decoder: Checkpoint) -> None:
    with pytest.raises(InputError, match="There is no layer 2 in this model: it has layers 0 to 1"):
        residual(decoder, TEXT, 2, 0)
    with pytest.raises(InputError, match="There is no token 23"):
        neurons(decoder, TEXT, 0, 23)


def test_the_drawn_layer_is_the_model_s_own_and_its_parts_are_counted(decoder: Checkpoint) -> None:
    picture, table = (each for each in as_rows(diagram(decoder, TEXT, 1))[0].views)
    assert isinstance(picture, ModelDiagramView) and picture.enterable and picture.diagram.stacks[0].layer == 1
    assert isinstance(table, TableView)
    block = decoder.model.stack("decoder").blocks[1]
    counts = parameters_by_part(block)
    assert [row[0] for row in table.rows] == list(counts) and set(counts) == {"norms", "self-attention", "feed-forward"}
    assert sum(counts.values()) == sum(parameter.numel() for parameter in block.parameters())
    width = decoder.model.config.d_model
    assert counts["self-attention"] >= 4 * width * width


def test_the_same_network_answers_each_token_alone(decoder: Checkpoint) -> None:
    trace = run(decoder.model, decoder.tokenizer, TEXT)
    path = "decoder.1.feed_forward"
    alone = apply_alone(decoder.model, path, torch.tensor(trace[f"{path}.input"]))
    torch.testing.assert_close(alone, torch.tensor(trace[f"{path}.output"]), atol=1e-5, rtol=1e-4)
    assert verdict(neurons(decoder, TEXT, 1, 0)).good is True


def test_few_neurons_hold_most_of_the_length() -> None:
    assert needed(torch.tensor([[3.0, 0.0, -1.0, 0.0], [1.0, 1.0, 1.0, 1.0], [0.0, 9.0, 1.0, 1.0]])) == [1, 4, 1]


def test_a_model_without_feed_forward_has_no_neurons() -> None:
    with pytest.raises(InputError, match=r"needs a model that .* has a feed-forward network"):
        FEED_FORWARD.model_controls["model"].require(toys.decoder(feed_forward="none").config)


@pytest.mark.parametrize("choices", [{}, {"key_value_heads": 2}, {"attention_function": "linear"}])
def test_every_head_averages(choices: dict[str, object]) -> None:
    model = Checkpoint(toys.decoder(**choices), toys.causal(), "")
    answer = averages_in_model(model, TEXT)
    (table,) = views(answer, TableView)
    assert verdict(answer).good is True and len(table.rows) == 2
    assert table.rows[0][2] == len(run(model.model, model.tokenizer, TEXT).text.ids) * 16


def test_the_last_steps_end_in_the_probabilities_of_the_model(decoder: Checkpoint, encoder: Checkpoint) -> None:
    for model, text in ((decoder, TEXT), (encoder, "the cat [MASK] on the mat")):
        answer = last_steps(model, text, "dog")
        (table,) = views(answer, TableView)
        trace = run(model.model, model.tokenizer, text)
        place = -1 if model is decoder else trace.text.ids.index(model.tokenizer.mask_id or 0)
        probabilities = trace.probabilities(place)
        assert table.rows[0][3] == pytest.approx(float(probabilities.max()), rel=1e-4)
        ranked, checked = views(answer, Verdict)
        rank = (-probabilities).argsort().tolist().index(word_pieces(model, "dog")[0]) + 1
        assert checked.good is True and f"number {rank:,} of {len(probabilities):,}" in ranked.text
    with pytest.raises(InputError, match="Write \\[MASK\\]"):
        last_steps(encoder, "the cat sat", "dog")


def test_a_model_that_predicts_labels_has_no_last_steps() -> None:
    model = toys.encoder(output_head="token-classifier", labels=("a", "b"), embedding=EmbeddingConfig(tied=False))
    with pytest.raises(InputError, match="needs a model that predicts the tokens"):
        LAST_STEPS.model_controls["model"].require(model.config)


def test_the_loss_is_the_cross_entropy_of_the_targets(decoder: Checkpoint, encoder: Checkpoint) -> None:
    _, batch = sentence_batch(decoder, TEXT)
    logits = decoder.model(batch.ids)
    assert target_loss(decoder.model, batch) == pytest.approx(float(cross_entropy(logits[0, :-1], batch.ids[0, 1:])))
    encoded, batch = sentence_batch(encoder, TEXT)
    hidden = [at for at, token in enumerate(batch.ids[0].tolist()) if token == encoder.tokenizer.mask_id]
    assert hidden == [3, 7, 11] and batch.target_count == 3  # counting [CLS], every fourth from the third word on
    assert [batch.targets[0, place].item() for place in hidden] == [encoded.ids[place] for place in hidden]
    with pytest.raises(InputError, match="at least three words"):
        sentence_batch(encoder, "cat")


def test_without_a_part_the_stream_is_what_the_formula_says(decoder: Checkpoint) -> None:
    _, batch = sentence_batch(decoder, TEXT)
    norm = decoder.model.get_submodule("decoder.blocks.0.feed_forward_residual.norm")

    def record(hook: SublayerSwitches) -> dict[str, torch.Tensor]:
        found: dict[str, torch.Tensor] = {}

        def keep(path: str, value: torch.Tensor) -> torch.Tensor:
            found[path] = value = hook(path, value)
            return value

        decoder.model(batch.ids, hook=keep)
        return found

    seen = record(SublayerSwitches(decoder.model, residual=False))
    assert torch.equal(seen["decoder.0.residual_after_self"], seen["decoder.0.self.output"])
    assert torch.equal(seen["decoder.1.residual"], seen["decoder.0.feed_forward.output"])
    normed = norm(seen["decoder.0.residual_after_self"])
    torch.testing.assert_close(seen["decoder.0.feed_forward.input"], normed)
    seen = record(SublayerSwitches(decoder.model, norm=False))
    assert torch.equal(seen["decoder.0.self.input"], seen["decoder.0.residual"])
    assert torch.equal(seen["decoder.1.feed_forward.input"], seen["decoder.1.residual_after_self"])
    seen = record(SublayerSwitches(decoder.model))
    torch.testing.assert_close(seen["logits"], decoder.model(batch.ids))


def test_switching_off_is_what_the_edits_do(decoder: Checkpoint) -> None:
    _, batch = sentence_batch(decoder, TEXT)
    losses, layers = losses_without_parts(decoder.model, batch), losses_by_layer(decoder.model, batch)
    trace = run(decoder.model, decoder.tokenizer, TEXT, ("decoder.*.self.output=set:0",))
    expected = cross_entropy(torch.tensor(trace["logits"])[:-1], batch.ids[0, 1:])
    assert losses["attention"] == pytest.approx(float(expected), rel=1e-4)
    trace = run(decoder.model, decoder.tokenizer, TEXT, ("decoder.1.feed_forward.output=set:0",))
    expected = cross_entropy(torch.tensor(trace["logits"])[:-1], batch.ids[0, 1:])
    assert layers["feed-forward"][1] == pytest.approx(float(expected), rel=1e-4)
    assert len(layers["attention"]) == 2 and switch_off(decoder, TEXT)


@pytest.mark.parametrize("placement", ["pre", "post", "post-sublayer", "sandwich"])
def test_without_norms_the_logits_are_those_of_a_model_that_has_none(placement: str) -> None:
    model = toys.decoder(norm_placement=placement)
    ids = toys.numbers(1, 6, below=model.config.vocabulary_size)
    found = model(ids, hook=SublayerSwitches(model, norm=False))
    for module in model.modules():
        if isinstance(module, ResidualConnection):
            module.norm = module.output_norm = torch.nn.Identity()
    torch.testing.assert_close(found, model(ids))


def test_in_post_norm_a_sublayer_without_residual_connection_is_normed_alone() -> None:
    model = toys.decoder(norm_placement="post")
    seen: dict[str, torch.Tensor] = {}
    switches = SublayerSwitches(model, residual=False)

    def keep(path: str, value: torch.Tensor) -> torch.Tensor:
        return seen.setdefault(path, switches(path, value))

    model(toys.numbers(1, 6, below=model.config.vocabulary_size), hook=keep)
    norm = model.get_submodule("decoder.blocks.1.feed_forward_residual.norm")
    torch.testing.assert_close(seen["decoder.residual"], norm(seen["decoder.1.feed_forward.output"]))


@pytest.mark.parametrize(
    ("choices", "missing"),
    [
        ({"norm_placement": "post"}, set()),
        ({"norm_placement": "none"}, {"norms", "residual connections"}),
        ({"norm_placement": "residual-from-norm"}, {"norms", "residual connections"}),
        ({"residual.parallel": True}, {"norms", "residual connections"}),
        ({"residual.laurel_rank": 3, "residual.scale": True}, {"norms", "residual connections"}),
        ({"positional_encoding": "none", "attention.scale": False}, {"positions", "1/√d"}),
        ({"feed_forward": "none"}, {"feed-forward"}),
    ],
)
def test_each_part_that_a_model_has_is_switched_off(choices: dict[str, Any], missing: set[str]) -> None:
    model = toys.decoder(**choices)
    SWITCH_OFF.model_controls["model"].require(model.config)
    _, batch = sentence_batch(Checkpoint(model, toys.causal(), ""), TEXT)
    every = {"attention", "feed-forward", "positions", "1/√d", "norms", "residual connections"}
    losses = losses_without_parts(model, batch)
    assert set(losses) == every - missing
    whole = target_loss(model, batch)
    assert all(loss != pytest.approx(whole, abs=1e-4) for loss in losses.values())
    assert switch_off(Checkpoint(model, toys.causal(), ""), TEXT)
