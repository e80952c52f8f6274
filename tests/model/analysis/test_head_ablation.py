"""Head ablation in batches equals one run for each head with the edit."""

from __future__ import annotations

import numpy as np
import pytest

from model import ConfigError, EditError, TextError, Trace, Transformer, run
from model.analysis import head_ablation as subject
from model.analysis.head_ablation import ablate_heads, heads_per_batch
from tests.model import toys

TEXT = "the cat sat on the mat"


def one_run_per_head(
    model: Transformer, attention: str, position: int, token: int, edits: list[str], **more: str
) -> list[float]:
    """The log-probability after a run of its own for each head."""
    tokenizer = toys.masked() if model.config.vocabulary_size == toys.masked().vocabulary_size else toys.causal()
    found = []
    for head in range(4):
        trace = run(model, tokenizer, TEXT, [*edits, f"{attention}.weights[{head}]=set:0"], **more)  # type: ignore[arg-type]
        logits = trace["logits"][position] if trace["logits"].ndim == 2 else trace["logits"]
        logits = logits.astype(np.float64)
        found.append(float(logits[token] - np.log(np.exp(logits).sum())))
    return found


def traced(model: Transformer, edits: list[str] | None = None, **more: str) -> Trace:
    tokenizer = toys.masked() if model.config.vocabulary_size == toys.masked().vocabulary_size else toys.causal()
    return run(model, tokenizer, TEXT, edits or [], **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("attention_function", ["softmax", "linear"])
def test_a_batch_of_heads_equals_one_run_for_each(layer: int, attention_function: str) -> None:
    model = toys.decoder(attention_function=attention_function, key_value_heads=2)
    found = ablate_heads(model, traced(model), f"decoder.{layer}.self", 3, 7, 0, 4)
    assert found == pytest.approx(one_run_per_head(model, f"decoder.{layer}.self", 3, 7, []), abs=1e-5)
    assert len(set(found.round(4))) == 4  # each head matters


@pytest.mark.parametrize(
    "edit",
    [
        "decoder.0.self.weights[1]=uniform",
        "decoder.1.residual[2]=mean",
        "decoder.0.residual[1]=add:0.5",
        "logits[3,5]=add:2",
        "decoder.*.self.mask[:,3,1]=set:0",
    ],
)
def test_heads_are_ablated_after_the_edits(edit: str) -> None:
    model = toys.decoder()
    found = ablate_heads(model, traced(model, [edit]), "decoder.0.self", 3, 7, 0, 4)
    assert found == pytest.approx(one_run_per_head(model, "decoder.0.self", 3, 7, [edit]), abs=1e-5)


@pytest.mark.parametrize("attention", ["decoder.1.self", "decoder.0.cross", "encoder.2.self"])
def test_every_attention_of_an_encoder_decoder_can_be_ablated(attention: str) -> None:
    model = toys.both()
    found = ablate_heads(model, traced(model, source="a small bird"), attention, 2, 9, 0, 4)
    assert found == pytest.approx(one_run_per_head(model, attention, 2, 9, [], source="a small bird"), abs=1e-5)


def test_labels_of_a_text_are_predictions_too() -> None:
    model = toys.decoder(output_head="sequence-classifier", labels=("good", "bad"), pooling="mean")
    found = ablate_heads(model, traced(model), "decoder.1.self", 0, 1, 0, 4)
    assert found == pytest.approx(one_run_per_head(model, "decoder.1.self", 0, 1, []), abs=1e-5)


def test_some_heads_of_a_layer() -> None:
    model = toys.decoder()
    trace = traced(model)
    whole = ablate_heads(model, trace, "decoder.0.self", -1, 7, 0, 4)
    assert ablate_heads(model, trace, "decoder.0.self", -1, 7, 1, 2) == pytest.approx(whole[1:3], abs=1e-5)


def test_a_long_text_has_fewer_heads_per_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = traced(toys.decoder())
    length = len(trace.text.ids)
    monkeypatch.setattr(subject, "TOKENS_PER_BATCH", 3 * length + 1)
    assert heads_per_batch(trace) == 3
    monkeypatch.setattr(subject, "TOKENS_PER_BATCH", 1)
    assert heads_per_batch(trace) == 1


def test_heads_layers_positions_and_tokens_out_of_range_get_a_sentence() -> None:
    model = toys.decoder()
    trace = traced(model)
    with pytest.raises(EditError, match="no heads 3 to 5"):
        ablate_heads(model, trace, "decoder.0.self", 0, 1, 3, 3)
    for attention in ("decoder.7.self", "decoder.0.cross", "encoder.0.self", "decoder.0.self.weights", ""):
        with pytest.raises(EditError, match="no attention"):
            ablate_heads(model, trace, attention, 0, 1, 0, 1)
    for position, token in ((99, 1), (0, 10_000)):
        with pytest.raises(TextError, match=r"no (token|answer)"):
            ablate_heads(model, trace, "decoder.0.self", position, token, 0, 1)
    bare = toys.decoder(output_head="none")
    with pytest.raises(ConfigError, match="without an output head"):
        ablate_heads(bare, traced(bare), "decoder.0.self", 0, 1, 0, 1)
