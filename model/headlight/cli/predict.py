"""`headlight predict`: the likeliest tokens or labels, or the output of an encoder-decoder."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from headlight.checkpoints import Checkpoint
from headlight.cli.common import (
    add_input_options,
    add_model_options,
    command,
    open_model,
    positive_int,
    read_input,
    tell_of_segments,
    warn_of_overflow,
)
from headlight.errors import ConfigError, TextError
from headlight.generation.generate import generate, transcript
from headlight.generation.rules import end_tokens
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import ModelInput
from headlight.tracing.predictions import Candidate, candidates, prediction_positions
from headlight.tracing.run import run
from headlight.views.words import percent

MASK = "[MASK]"
MASKED_MODEL, CAUSAL_MODEL = "stories-masked", "stories-causal"  # the shipped models


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_model_options(parser, default=f" (default: {MASKED_MODEL} for a text with {MASK}, else {CAUSAL_MODEL})")
    parser.add_argument("--top", type=positive_int, default=5, help="how many candidates (default 5)")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")


@command(_add_arguments)
def predict(options: argparse.Namespace) -> int:
    """Print the likeliest next tokens, those for each [MASK], a classifier's labels, a translation or a transcript."""
    has_mask = MASK in f"{options.text} {options.pair}"
    options.model = options.model or (MASKED_MODEL if has_mask else CAUSAL_MODEL)
    loaded = open_model(options)
    text, source = read_input(options, loaded)
    task = task_of(loaded.model.config)
    if not task.predicts:
        raise ConfigError(task.no_prediction)
    if source is not None and task.continues_text:
        written = _written(loaded, str(text), source)
        print(json.dumps({"text": written}) if options.json else written)  # JSON in ASCII
        return 0
    if task.writes_frames:
        written = transcript(run(loaded.model, loaded.tokenizer, text, keep=("logits",)), loaded.tokenizer)
        print(json.dumps({"text": written}) if options.json else written)
        return 0
    if has_mask and task.continues_text:
        raise TextError(f"{options.model} continues texts and fills no {MASK}; {MASKED_MODEL} does, among others.")
    _print_predictions(loaded, text, source, options)
    return 0


def _written(loaded: Checkpoint, begun: str, source: ModelInput) -> str:
    """The text that an encoder-decoder generates greedily for a source, after the given beginning."""
    model, tokenizer = loaded.model, loaded.tokenizer
    limit = model.config.context_length
    steps = generate(model, tokenizer, begun, source=source, steps=limit, temperature=0.0, keep=("logits",))
    ends = end_tokens(model.config, tokenizer)
    chosen = [step.chosen_token for step in steps if step.chosen_token not in ends]
    return tokenizer.decode([*tokenizer.encode(begun, add_special_tokens=False).ids, *chosen])


def _print_predictions(
    loaded: Checkpoint, text: ModelInput, source: ModelInput | None, options: argparse.Namespace
) -> None:
    """Print the candidates at each predicted position, as lines or as JSON."""
    task = task_of(loaded.model.config)
    keep = ("*.residual", "*.final_residual", "logits")
    traced = run(loaded.model, loaded.tokenizer, text, source=source, keep=keep)
    encoded, positions = traced.text, _asked_positions(loaded, traced.text)
    if not positions:
        raise TextError(f"The text has no {MASK}; put one where a word is to be predicted.")
    warn_of_overflow(traced)
    tell_of_segments(traced, loaded.tokenizer)
    predictions = {position: candidates(traced, loaded.tokenizer, position, options.top) for position in positions}
    if options.json:
        print(json.dumps([_prediction_json(*prediction) for prediction in predictions.items()]))  # in ASCII
        return
    for position, each in predictions.items():
        place = f"token {position}: {task.preposition}{encoded.token_texts[position].strip()}"
        print(_format_prediction(task.preposition if task.whole_text else place, each))


def _asked_positions(loaded: Checkpoint, encoded: Encoded) -> tuple[int, ...]:
    """The positions to predict: all of the text's own tokens if tokens get labels, else the masks or the last token."""
    task = task_of(loaded.model.config)
    if task.predicts_labels and not task.whole_text:
        return tuple(position for position, is_special in enumerate(encoded.special_mask) if not is_special)
    return prediction_positions(loaded.model, loaded.tokenizer, encoded)


def _prediction_json(position: int, each: Sequence[Candidate]) -> dict[str, object]:
    """The candidates at one position; a number that is not finite is null in JSON."""
    rows = [{name: value for name, value in asdict(candidate).items() if value is not None} for candidate in each]
    finite = [
        {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]
    return {"position": position, "candidates": finite}


def _format_prediction(heading: str, each: Sequence[Candidate]) -> str:
    lines = [heading]
    lines += [f"  {_format_numbers(candidate)}  {candidate.token or '(white space)'}" for candidate in each]
    return "\n".join(lines)


def _format_numbers(candidate: Candidate) -> str:
    """The probability of a candidate, and the score of a label that does not exclude others."""
    is_finite = math.isfinite(candidate.probability)
    probability = f"{percent(candidate.probability) if is_finite else 'NaN':>7}"
    if candidate.score is None:
        return probability
    score = f"score {candidate.score:7.3f}"
    return f"{probability}  {score}" if is_finite else score
