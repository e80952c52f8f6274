"""The chapter on claims of notes and tutorials about attention that do not hold, each with the number that shows it."""

from __future__ import annotations

from headlight.course.errors.channels import PAIRS
from headlight.course.errors.claims import OVERVIEW
from headlight.course.errors.decoders import DECODERS
from headlight.course.errors.divisor import DIVISOR
from headlight.course.errors.independent_tokens import INDEPENDENT_TOKENS
from headlight.course.errors.mask_shape import MASK_SHAPE
from headlight.course.errors.masked_scores import ITSELF, ZERO_SCORE
from headlight.course.errors.missing_names import MISSING_NAMES
from headlight.course.errors.rows_or_columns import ROWS_OR_COLUMNS
from headlight.course.screen import Chapter
from headlight.registry import Registry

ERRORS = Chapter(
    title="Common mistakes about attention",
    summary="Claims that one reads often and that do not hold, each with its number; and where to read on.",
    screens=Registry(
        "screen",
        {
            "claims": OVERVIEW,
            "pairs": PAIRS,
            "divisor": DIVISOR,
            "rows-or-columns": ROWS_OR_COLUMNS,
            "zero-score": ZERO_SCORE,
            "itself": ITSELF,
            "mask-shape": MASK_SHAPE,
            "decoders": DECODERS,
            "independent-tokens": INDEPENDENT_TOKENS,
            "missing-names": MISSING_NAMES,
        },
    ),
)
