"""`headlight predict`: the likeliest next tokens, or the likeliest tokens for each mask."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict

from model.cli.common import add_model_options, make_parser, open_model, positive_int, require_language
from model.errors import TextError
from model.tracing.run import Candidate, asked, candidates, encode, run

MASK, FILLS, CONTINUES = "[MASK]", "stories-masked", "stories-causal"  # the shipped models


def predict(arguments: list[str]) -> int:
    """Say which token comes next, or which stands behind each [MASK]."""
    parser = make_parser("predict", predict)
    parser.add_argument("text", metavar="TEXT")
    add_model_options(parser, usual=f" (default: {FILLS} for a text with {MASK}, else {CONTINUES})")
    parser.add_argument("--top", type=positive_int, default=5, help="how many candidates (default 5)")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")
    options = parser.parse_args(arguments)
    options.model = options.model or (FILLS if MASK in options.text else CONTINUES)
    loaded = open_model(options)
    require_language(loaded.model)
    if MASK in options.text and loaded.model.config.top == "language":
        raise TextError(f"{options.model} continues texts and fills no {MASK}; {FILLS} does, among others.")
    encoded = encode(loaded.model, loaded.tokenizer, options.text)
    places = asked(loaded.model, loaded.tokenizer, encoded)
    if not places:
        raise TextError("The text holds no [MASK]; put one where a word is to be guessed.")
    traced = run(loaded.model, loaded.tokenizer, options.text, keep=("logits",))
    answers = [
        {
            "position": place,
            "candidates": [_plain(each) for each in candidates(traced, loaded.tokenizer, place, options.top)],
        }
        for place in places
    ]
    fills = loaded.model.config.top == "masked-language"
    told = [encoded.pieces[place].strip() for place in places]
    headings = [piece if fills else f"after {piece}" for piece in told]
    print(json.dumps(answers) if options.json else _told(answers, headings))  # JSON in ASCII: for any terminal
    return 0


def _plain(candidate: Candidate) -> dict[str, object]:
    """A candidate for JSON, which has no NaN: null stands for one."""
    known = math.isfinite(candidate.probability)
    return asdict(candidate) | {"probability": candidate.probability if known else None}


def _told(answers: Sequence[dict[str, object]], headings: Sequence[str]) -> str:
    lines = []
    for answer, heading in zip(answers, headings, strict=True):
        lines.append(f"token {answer['position']}: {heading}")
        each = answer["candidates"]
        assert isinstance(each, list)
        for candidate in each:
            share = "   NaN" if candidate["probability"] is None else f"{candidate['probability']:6.1%}"
            lines.append(f"  {share}  {candidate['token'] or '(white space)'}")
    return "\n".join(lines)
