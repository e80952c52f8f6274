"""`headlight ledger`, `headlight similarity`: an attention score, or a cosine, as a sum over pairs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from headlight.analysis.ledger import KEEP, Cell, Ledger, cell_ledger
from headlight.analysis.sentences.image_text import (
    image_text_similarity,
    image_text_without_heads,
    load_towers,
)
from headlight.analysis.sentences.pooling import read_sentence_pooling
from headlight.analysis.sentences.similarity import (
    HeadEffect,
    Similarity,
    cosines_without_heads,
    sentence_similarity,
)
from headlight.checkpoints import find_checkpoint
from headlight.cli.common import (
    add_edit_option,
    add_input_options,
    add_model_options,
    command,
    model_folders,
    open_model,
    positive_int,
    run_input,
    warn_of_overflow,
)
from headlight.errors import TextError
from headlight.tracing.trace import Trace
from headlight.vision.image import process_image, read_image
from headlight.vision.shipped_images import find_image


def _add_ledger_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_model_options(parser)
    parser.add_argument(
        "--cell", required=True, metavar="PATH[HEAD,QUERY,KEY]", help="such as decoder.1.self[3,5,2], counted from 0"
    )
    add_edit_option(parser)
    parser.add_argument("--top", type=positive_int, default=8, help="how many writers and pairs (default 8)")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")


@command(_add_ledger_arguments)
def ledger(options: argparse.Namespace) -> int:
    """Split the score of an attention cell by the model parts that wrote the query and the key."""
    cell = Cell.parse(options.cell)
    loaded, traced = run_input(options, KEEP)
    found = cell_ledger(loaded.model, traced, cell)
    print(json.dumps(_ledger_values(found)) if options.json else _ledger_table(found, traced, options.top))
    return 0


def _ledger_values(found: Ledger) -> dict[str, object]:
    return {
        "cell": str(found.cell),
        "score": found.score,
        "query_writers": found.query_writers,
        "key_writers": found.key_writers,
        "parts": found.parts.tolist(),
        "terms": dict(found.terms),
    }


def _ledger_table(found: Ledger, traced: Trace, top: int) -> str:
    cell, stack = found.cell, found.cell.path.partition(".")[0]
    queries = traced.text_of_stack(stack).token_texts
    keys = queries if ".self" in cell.path else traced.text_of_stack("encoder").token_texts
    pairs = [(f"{query} x {key}", number) for query, key, number in found.pairs()]
    sections = {
        "the query was written by": found.by_query_writer(),
        "the key was written by": found.by_key_writer(),
        "pairs (query x key)": pairs,
        "belongs to no pair": list(found.terms.items()),
    }
    lines = [
        f"{cell}: {queries[cell.query].strip()!r} (token {cell.query}) looks at {keys[cell.key].strip()!r} "
        f"(token {cell.key}) with the score {found.score:.4f}"
    ]
    for heading, unsorted in sections.items():
        rows = sorted(unsorted, key=lambda row: -abs(row[1]))
        rest = sum(number for _, number in rows[top:])
        shown = [*rows[:top], *([(f"{len(rows) - top} others", rest)] if len(rows) > top else [])]
        lines += ["", f"  {heading}", *(f"  {number:+10.4f}  {name}" for name, number in shown)]
    return "\n".join(lines)


def _add_sentences(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("one", metavar="SENTENCE")
    parser.add_argument("other", metavar="OTHER", nargs="?")
    parser.add_argument("--image", metavar="FILE", help="an image instead of OTHER, for a model of CLIP's family")
    add_model_options(parser)
    parser.add_argument("--top", type=positive_int, default=8, help="how many pairs and heads (default 8)")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")


@command(_add_sentences)
def similarity(options: argparse.Namespace) -> int:
    """Compare two sentences, or a sentence and an image: their cosine, its terms, and the heads that change it."""
    if (options.other is None) == (options.image is None):
        raise TextError("Give a second sentence, or an image with --image FILE; one of the two.")
    if options.image is not None:
        return _compare_with_image(options)
    loaded = open_model(options)
    pooling = read_sentence_pooling(Path(find_checkpoint(options.model, model_folders(options))), options.model)
    found = sentence_similarity(loaded.model, loaded.tokenizer, options.one, options.other, pooling)
    for trace in found.traces:
        warn_of_overflow(trace)
    effects = cosines_without_heads(loaded.model, found)
    print(
        json.dumps(_similarity_values(found, effects))
        if options.json
        else _similarity_table(found, effects, options.top)
    )
    return 0


def _compare_with_image(options: argparse.Namespace) -> int:
    towers = load_towers(
        find_checkpoint(options.model, model_folders(options), fetch=True), options.model, options.device
    )
    image = process_image(read_image(find_image(options.image)), towers.image.model.config.image)
    found = image_text_similarity(towers, options.one, image)
    for trace in found.traces:
        warn_of_overflow(trace)
    effects = image_text_without_heads(towers, found)
    if options.json:
        values = {"cosine": found.cosine, "score": found.score, "vectors": found.vectors.tolist()}
        print(json.dumps(values | _effect_values(effects)))
    else:
        print("\n".join([f"cosine {found.cosine:.4f}, score {found.score:.4f}", *_effect_lines(effects, options.top)]))
    return 0


def _effect_values(effects: tuple[HeadEffect, ...]) -> dict[str, object]:
    return {"without_heads": [{"head": f"{each.path}[{each.head}]", "cosine": each.cosine} for each in effects]}


def _effect_lines(effects: tuple[HeadEffect, ...], top: int) -> list[str]:
    return ["without a head:", *(f"  {each.cosine:8.4f}  {each.path}[{each.head}]" for each in effects[:top])]


def _similarity_values(found: Similarity, effects: tuple[HeadEffect, ...]) -> dict[str, object]:
    return {
        "cosine": found.cosine,
        "pooling": found.pooling.mode,
        "normalized": found.pooling.normalized,
        "tokens": [trace.text.tokens for trace in found.traces],
        "pairs": found.pairs.tolist(),
        "vectors": found.vectors.tolist(),
        **_effect_values(effects),
    }


def _similarity_table(found: Similarity, effects: tuple[HeadEffect, ...], top: int) -> str:
    one, other = (trace.text.token_texts for trace in found.traces)
    largest = np.argsort(-np.abs(found.pairs), axis=None)[:top]
    places = [divmod(int(place), len(other)) for place in largest]
    rest = found.cosine - sum(found.pairs[place] for place in places)
    return "\n".join(
        [
            f"cosine {found.cosine:.4f}, pooling {found.pooling.mode}",
            *(f"  {found.pairs[i, j]:+8.4f}  {one[i]!r} and {other[j]!r}" for i, j in places),
            f"  {rest:+8.4f}  all other pairs of tokens",
            *_effect_lines(effects, top),
        ]
    )
