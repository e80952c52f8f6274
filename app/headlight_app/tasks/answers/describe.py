"""Describe: the words of a caption, and the places of the image that each looked at."""

from __future__ import annotations

import numpy as np

from headlight.views.kinds import ImageView, NumberTable
from headlight.views.rows import row
from headlight.views.words import in_line, numbered
from headlight.vision.patches import EncodedImage
from headlight.vision.urls import png_url
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.inference.resolved_question import ResolvedQuestion
from headlight_app.tasks.answers.shown_weights import NOT_KEPT, NOTHING_WRITTEN, READS, attention_of_kind, shown_weights


def describe(resolved: ResolvedQuestion, state: State) -> Views:
    """The image once for each word, bright where the weights of the step that wrote it are large."""
    image, words = resolved.trace.source, resolved.trace.text.token_texts[1:]  # without the start token
    shown = shown_weights(resolved, attention_of_kind(resolved.config, "cross"), state)
    if not isinstance(image, EncodedImage):
        return ()
    if shown is None or not words:
        return (NOTHING_WRITTEN if shown else NOT_KEPT,)
    rows, columns, first = image.patch_rows, image.patch_columns, image.first_patch
    looks = shown.values[: len(words), first : first + rows * columns]
    patches = tuple(f"row {place}, column {column}" for place in range(rows) for column in range(columns))
    return (
        row(
            ImageView(
                f"Where each word looked: {shown.heads}",
                png_url(image.covered_pixels()),
                rows,
                columns,
                shades=tuple((in_line(word), look) for word, look in zip(words, looks, strict=True)),
                places=tuple(("text", query) for query in range(len(words))),
                picks=tuple({"pinned": (query,)} for query in range(len(words))),
                tables={
                    "Where each word looked": NumberTable(
                        {"word": numbered(tuple(words)), "patch": patches}, np.asarray(looks)
                    )
                },
            ),
            text="The weights are on a square-root scale; in each picture the largest is fully bright.",
        ),
    )


ANALYSIS = Analysis("Describe", reads=READS, compute=describe)
