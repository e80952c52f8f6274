"""`headlight predict`: the likeliest next tokens, or the likeliest tokens for each mask."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from model.cli.common import add_model_options, make_parser, open_model, positive_int, require_language
from model.errors import TextError
from model.tracing.run import Candidate, candidates, encode_input, prediction_positions, run

MASK_TOKEN, DEFAULT_MASKED_MODEL, DEFAULT_CAUSAL_MODEL = (
    "[MASK]",
    "stories-masked",
    "stories-causal",
)  # the shipped models


def predict(arguments: list[str]) -> int:
    """Say which token comes next, or which stands behind each [MASK]."""
    parser = make_parser("predict", predict)
    parser.add_argument("text", metavar="TEXT")
    add_model_options(
        parser, usual=f" (default: {DEFAULT_MASKED_MODEL} for a text with {MASK_TOKEN}, else {DEFAULT_CAUSAL_MODEL})"
    )
    parser.add_argument("--top", type=positive_int, default=5, help="how many candidates (default 5)")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")
    options = parser.parse_args(arguments)
    options.model = options.model or (DEFAULT_MASKED_MODEL if MASK_TOKEN in options.text else DEFAULT_CAUSAL_MODEL)
    loaded = open_model(options)
    require_language(loaded.model)
    if MASK_TOKEN in options.text and loaded.model.config.output_head == "language-model":
        raise TextError(
            f"{options.model} continues texts and fills no {MASK_TOKEN}; {DEFAULT_MASKED_MODEL} does, among others."
        )
    encoded = encode_input(loaded.model, loaded.tokenizer, options.text)
    positions = prediction_positions(loaded.model, loaded.tokenizer, encoded)
    if not positions:
        raise TextError("The text holds no [MASK]; put one where a word is to be guessed.")
    traced = run(loaded.model, loaded.tokenizer, options.text, keep=("logits",))
    answers = [
        {
            "position": position,
            "candidates": [
                _candidate_json(each) for each in candidates(traced, loaded.tokenizer, position, options.top)
            ],
        }
        for position in positions
    ]
    fills_masks = loaded.model.config.output_head == "masked-language-model"
    pieces = [encoded.token_texts[place].strip() for place in positions]
    headings = [piece if fills_masks else f"after {piece}" for piece in pieces]
    print(
        json.dumps(answers) if options.json else _format_answers(answers, headings)
    )  # JSON in ASCII: for any terminal
    return 0


def _candidate_json(candidate: Candidate) -> dict[str, object]:
    """A candidate for JSON, which has no NaN: null stands for one."""
    is_finite = math.isfinite(candidate.probability)
    return asdict(candidate) | {"probability": candidate.probability if is_finite else None}


def _format_answers(answers: Sequence[dict[str, object]], headings: Sequence[str]) -> str:
    lines = []
    for answer, heading in zip(answers, headings, strict=True):
        lines.append(f"token {answer['position']}: {heading}")
        each = answer["candidates"]
        assert isinstance(each, list)
        for candidate in each:
            probability = "   NaN" if candidate["probability"] is None else f"{candidate['probability']:6.1%}"
            lines.append(f"  {probability}  {candidate['token'] or '(white space)'}")
    return "\n".join(lines)
