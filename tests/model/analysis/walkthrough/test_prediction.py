"""The last steps of a forward pass: each follows from the previous one, and the last is the model's prediction."""

from typing import Any

import numpy as np
import pytest

from headlight import TextError, Trace, Transformer, find_checkpoint, load, run
from headlight.analysis.walkthrough.prediction import PredictionWalkthrough, paths_to_keep, prediction_walkthrough
from headlight.config import EmbeddingConfig, OutputHeadConfig
from headlight.nn.output_heads import POOLINGS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.tasks import task_of
from headlight.tracing.predictions import prediction_positions
from tests.model import toys

TEXT = "the cat sat on the mat"
LABELS: dict[str, Any] = {"labels": ("good", "bad", "odd"), "embedding.tied": False}


def traced(model: Transformer, *edits: str, **more: Any) -> Trace:
    if model.config.reads_image:
        source = toys.source(toys.captioner(), "")
        return run(model, toys.masked(), source, edits, **more)  # type: ignore[arg-type]
    return toys.traced(model, *edits, source=toys.source(model, "a small bird"), **more)


def walked(model: Transformer, trace: Trace, position: int = 3, answer: int = -1) -> PredictionWalkthrough:
    found = prediction_walkthrough(model, trace, position, answer)
    assert found is not None
    return found


def assert_steps_follow(model: Transformer, trace: Trace, position: int = 3, answer: int = -1) -> list[str]:
    """Recompute each step from its inputs in NumPy; returns the names of the steps."""
    found = walked(model, trace, position, answer)
    values = {step.name: [value.array for value in step.values] for step in found.steps}
    stack = model.config.stacks[-1]
    assert values["last-layer"][0] == pytest.approx(trace[f"{stack}.residual"][position])
    for before, after in zip(found.steps, found.steps[1:], strict=False):
        if after.name not in ("pool", "logits"):
            assert after.values[0].array == pytest.approx(before.values[-1].array, abs=1e-6), after.name
            assert after.values[0].symbol == before.values[-1].symbol
    vector, row, product = values["compare"]
    assert product == pytest.approx(vector * row, abs=1e-5)
    chosen, logits = found.answers.index(found.answer), values["logits"][-1]
    assert sum(number for number in values["logits"][:-1]) == pytest.approx(logits[chosen], abs=1e-4)
    assert values["logits"][0] == pytest.approx(product.sum(), abs=1e-5)
    cap = model.config.output_head_config.logit_soft_cap
    if cap:
        assert values["logit-soft-cap"][-1] == pytest.approx(cap * np.tanh(logits / cap), abs=1e-5)
    probabilities = trace.probabilities(position)
    assert values["probabilities"][-1] == pytest.approx(probabilities[list(found.answers)], abs=1e-6)
    assert found.answers[0] == int(probabilities.argmax())
    return [step.name for step in found.steps]


@pytest.mark.parametrize("placement", NORM_PLACEMENTS)
@pytest.mark.parametrize(
    ("choices", "more"),
    [
        ({}, ()),
        ({"final_norm": False, "embedding.tied": False}, ()),
        ({"norm": "rmsnorm", "output_head_config": OutputHeadConfig(logit_scale=0.25)}, ("transform",)),
        ({"embedding": EmbeddingConfig(scale=4.0), "output_head_config": OutputHeadConfig(bias=True)}, ()),
        (
            {"output_head_config": OutputHeadConfig(logit_scale=0.5, logit_soft_cap=3.0)},
            ("transform", "logit-soft-cap"),
        ),
        ({"embedding": EmbeddingConfig(dim=8, projection="tokens")}, ("project-out",)),
    ],
)
def test_the_steps_of_a_decoder_end_in_its_prediction(placement: str, choices: Any, more: tuple[str, ...]) -> None:
    model = toys.decoder(norm_placement=placement, **choices)
    names = assert_steps_follow(model, traced(model))
    has_norm = choices.get("final_norm", True) and not NORM_PLACEMENTS[placement].output_is_normed
    expected = {"last-layer", "compare", "logits", "probabilities", *more, *(("final-norm",) if has_norm else ())}
    assert set(names) == expected and len(names) == len(expected)


@pytest.mark.parametrize("transform", ["none", "norm", "dense-norm"])
def test_a_masked_model_prepares_the_vector_first(transform: Any) -> None:
    model = toys.encoder(output_head_config=OutputHeadConfig(transform=transform), norm_placement="post")
    names = assert_steps_follow(model, traced(model))
    assert ("transform" in names) == (transform != "none") and "final-norm" not in names


def test_an_encoder_decoder_predicts_from_its_decoder() -> None:
    model = toys.both(output_head_config=OutputHeadConfig(logit_scale=0.25), **{"embedding.tied": True})
    assert "final-norm" in assert_steps_follow(model, traced(model))


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("transform", ["none", "dense"])
def test_a_classifier_of_texts_pools_them(pooling: str, transform: Any) -> None:
    head = OutputHeadConfig(transform=transform, activation="tanh")
    model = toys.encoder(output_head="sequence-classifier", pooling=pooling, output_head_config=head, **LABELS)
    trace = traced(model)
    assert "pool" in assert_steps_follow(model, trace)
    steps = {step.name: step for step in walked(model, trace).steps}
    tokens = trace["encoder.final_residual"]
    pooled = {"first": tokens[0], "mean": tokens.mean(0), "max": tokens.max(0), "last": tokens[-1]}
    pooled |= {"mean-but-first": tokens[1:].mean(0), "second": tokens[1]}
    assert steps["pool"].values[1].array == pytest.approx(pooled[pooling], abs=1e-6)


def test_labels_of_tokens_and_of_images_have_the_steps_too() -> None:
    tagger = toys.encoder(output_head="token-classifier", **LABELS)
    assert "pool" not in assert_steps_follow(tagger, traced(tagger), 2)
    seer = toys.seer()
    assert "pool" in assert_steps_follow(seer, traced(seer), 0)
    both = toys.seer(output_head_config=OutputHeadConfig(second_pooling="mean-but-first", skipped_tokens=2))
    trace = traced(both)
    assert "pool" in assert_steps_follow(both, trace, 0)
    pool = next(step for step in walked(both, trace).steps if step.name == "pool")
    tokens = trace["encoder.final_residual"]
    assert pool.formula == "x = [x_{0}; Σ_{i>0} x_{i} / (n−1)]   without the tokens 1 to 2"
    assert pool.values[1].array == pytest.approx(np.concatenate((tokens[0], tokens[3:].mean(0))), abs=1e-6)


def test_a_model_that_predicts_nothing_has_no_such_steps() -> None:
    model = toys.encoder(output_head="none")
    assert prediction_walkthrough(model, traced(model)) is None


def test_any_answer_can_be_chosen() -> None:
    model = toys.decoder()
    trace = traced(model)
    unlikely = int(trace.probabilities(3).argmin())
    found = walked(model, trace, answer=unlikely)
    assert found.answers[-1] == found.answer == unlikely and len(found.answers) == 11
    assert_steps_follow(model, trace, answer=unlikely)
    assert walked(model, trace, answer=10**6).answer == found.answers[0]
    with pytest.raises(TextError, match="no token 99"):
        walked(model, trace, 99)


@pytest.mark.parametrize(
    ("edit", "name"),
    [
        ("decoder.residual=add:0.5", "last-layer"),
        ("decoder.final_residual=scale:2", "final-norm"),
        ("logits=scale:2", "logits"),
    ],
)
def test_an_edit_marks_the_step_that_it_changed(edit: str, name: str) -> None:
    model = toys.decoder()
    trace = traced(model, edit)
    found = walked(model, trace)
    assert [step.name for step in found.steps if step.edited] == [name]
    expected = trace.probabilities(3)[list(found.answers)]
    assert found.steps[-1].values[-1].array == pytest.approx(expected, abs=1e-6)


def test_paths_to_keep_are_enough() -> None:
    model = toys.decoder()
    small = traced(model, keep=paths_to_keep(model.config))
    assert small.logits is None
    pairs = zip(walked(model, small).steps, walked(model, traced(model)).steps, strict=True)
    for one, other in pairs:
        assert one.values[-1].array == pytest.approx(other.values[-1].array, abs=1e-6)


@pytest.mark.parametrize(
    "name", ["stories-causal", "stories-masked", "translate", "sentiment", "positions-encoder-alibi"]
)
def test_shipped_models_end_in_their_own_predictions(name: str) -> None:
    checkpoint = load(find_checkpoint(name))
    model, tokenizer = checkpoint.model, checkpoint.tokenizer
    example = task_of(model.config).examples[0].text
    source = "The house is small." if model.config.has_cross_attention else None
    trace = run(model, tokenizer, "Das" if source else example, source=source)
    position = prediction_positions(model, tokenizer, trace.text)[0]
    assert_steps_follow(model, trace, position)
