"""The chapter on claims of notes and tutorials that do not hold, each with the number that shows it."""

from __future__ import annotations

from model.course.errors.channels import FAST_CHANNELS, PAIRS
from model.course.errors.claims import OVERVIEW
from model.course.errors.decoders import DECODERS
from model.course.errors.divisor import DIVISOR
from model.course.errors.independent_tokens import INDEPENDENT_TOKENS
from model.course.errors.mask_shape import MASK_SHAPE
from model.course.errors.masked_scores import ITSELF, ZERO_SCORE
from model.course.errors.missing_names import MISSING_NAMES
from model.course.errors.reading import READING
from model.course.errors.recurrence import RECURRENCE
from model.course.errors.rows_or_columns import ROWS_OR_COLUMNS
from model.course.screen import Chapter
from model.registry import Registry

ERRORS = Chapter(
    title="Where notes go wrong",
    summary="Claims that one reads often and that do not hold, each with its number; and where to read on.",
    screens=Registry(
        "screen",
        {
            "claims": OVERVIEW,
            "pairs": PAIRS,
            "fast-channels": FAST_CHANNELS,
            "divisor": DIVISOR,
            "rows-or-columns": ROWS_OR_COLUMNS,
            "zero-score": ZERO_SCORE,
            "itself": ITSELF,
            "mask-shape": MASK_SHAPE,
            "decoders": DECODERS,
            "recurrence": RECURRENCE,
            "independent-tokens": INDEPENDENT_TOKENS,
            "missing-names": MISSING_NAMES,
            "reading": READING,
        },
    ),
)
