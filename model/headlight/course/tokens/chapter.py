"""Chapter 1."""

from __future__ import annotations

from headlight.course.screen import Chapter
from headlight.course.tokens.learning_screens import NEXT_WORD, NGRAMS, PAIRS
from headlight.course.tokens.model_screens import CONTEXT, NEIGHBOURS, SUM, TEXTS
from headlight.course.tokens.split_screens import MERGES, TOKENIZERS
from headlight.course.tokens.table_screens import LOOK_UP, ONE_HOT
from headlight.registry import Registry

TOKENS = Chapter(
    title="Tokens and embeddings",
    summary="How a text becomes numbers, and how numbers come to mean something.",
    screens=Registry(
        "screen",
        {
            "tokenizers": TOKENIZERS,
            "merges": MERGES,
            "lookup": LOOK_UP,
            "one-hot": ONE_HOT,
            "neighbours-in-text": PAIRS,
            "ngrams": NGRAMS,
            "next-word": NEXT_WORD,
            "nearest": NEIGHBOURS,
            "sum": SUM,
            "context": CONTEXT,
            "sentences": TEXTS,
        },
    ),
)
