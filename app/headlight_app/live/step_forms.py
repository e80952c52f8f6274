"""The steps of one head and of the prediction as facts: formulas and symbols, for numbers that the page computes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from headlight.analysis.walkthrough.attention import attention_walkthrough
from headlight.analysis.walkthrough.prediction import SHOWN_ANSWERS, prediction_walkthrough
from headlight.analysis.walkthrough.steps import STEPS, WalkthroughStep
from headlight.checkpoints import Checkpoint
from headlight.errors import EditError
from headlight.live.plan import ENCODINGS
from headlight.nn.attention import Attention
from headlight.nn.attention_functions import SoftmaxAttention
from headlight.nn.transformer import Transformer, attention_at, variant
from headlight.tracing.interventions import parse_interventions
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request
from headlight.tracing.trace import Trace

EXAMPLE = (0, 0)  # ids; the steps of a head are the same for all
# Edits that add a step, by the hook points that they change.
ADDING = {
    "": (),
    "rotated": ("rotated_q=scale:1",),
    "bias": ("bias=add:0",),
    "rotated+bias": ("rotated_q=scale:1", "bias=add:0"),
}
Form = list[Any]  # of each step: its name, its formula, the symbols and axes of its values, and its paths


def step_forms(checkpoint: Checkpoint) -> dict[str, Any] | None:
    """The form of the steps of each attention, by positional encoding and by edits that add steps.

    None for a model whose steps depend on more than the recorded values: scores of another function than softmax's, or
    queries that depend on the text's length.
    """
    model = checkpoint.model
    stack, layers = model.config.stacks[-1], range(model.config.layers)
    attentions = {path: attention_at(model, path)[0] for path in (f"{stack}.{layer}.self" for layer in layers)}
    if not all(map(_is_plain, attentions.values())):
        return None
    trace = _trace(checkpoint, model, ())
    prediction = prediction_walkthrough(model, trace, 0) if trace else None
    return {
        "steps": {name: asdict(step) for name, step in STEPS.items()},
        **_attention_forms(checkpoint, attentions),
        "attentions": {path: _sizes(attention) for path, attention in attentions.items()},
        "answers": SHOWN_ANSWERS,
        "prediction": _form(prediction.steps) if prediction else None,
    }


def _is_plain(attention: Attention) -> bool:
    """Whether the scores are those of softmax attention, and the queries do not depend on the text's length."""
    formulas, plain = attention.attention_function.step_formulas, SoftmaxAttention.step_formulas
    same = (formulas.feature_map, formulas.add_bias) == (plain.feature_map, plain.add_bias)
    return same and not attention.temperature_length


def _sizes(attention: Attention) -> dict[str, float]:
    return {
        "head_dim": attention.query.out_features // attention.heads,
        "group_size": attention.group_size,
        "soft_cap": attention.score_soft_cap or 0,
    }


def _attention_forms(checkpoint: Checkpoint, paths: Iterable[str]) -> dict[str, Any]:
    """The different forms, and which of them each attention has, by positional encoding and by what edits add."""
    model, stack = checkpoint.model, checkpoint.model.config.stacks[-1]
    forms: dict[str, int] = {}
    of: dict[str, dict[str, dict[str, int]]] = {}
    for name in dict.fromkeys((model.config.positional_encoding, *ENCODINGS)):
        other = variant(model, positional_encoding=name)
        for adding, edits in ADDING.items():
            trace = _trace(checkpoint, other, [f"{stack}.*.self.{edit}" for edit in edits])
            if trace is None:
                continue
            for path in paths:
                form = json.dumps(_form(attention_walkthrough(other, trace, path, 0, 0, 0), path.rpartition(".")[0]))
                of.setdefault(name, {}).setdefault(path, {})[adding] = forms.setdefault(form, len(forms))
    return {"forms": [json.loads(form) for form in forms], "of": of}


def _trace(checkpoint: Checkpoint, model: Transformer, edits: Sequence[str]) -> Trace | None:
    """A run of the example with edits; None if the model has no such value."""
    text = checkpoint.tokenizer.from_ids(EXAMPLE[: model.config.context_length], "")
    try:
        request = RunRequest(text, None, parse_interventions(edits), None)
        return run_request(model, request, continuable=False).trace
    except EditError:
        return None


def _form(steps: Iterable[WalkthroughStep], layer: str = "") -> Form:
    """The form of steps, in whose paths "@" stands for the layer."""
    return [
        [
            step.name,
            step.formula,
            [[value.symbol, value.axis] for value in step.values],
            [path.replace(f"{layer}.", "@.", 1) if layer else path for path in step.paths],
        ]
        for step in steps
    ]
