"""`headlight ledger`: who wrote the query and the key of an attention cell, and what each pair adds to its score."""

from __future__ import annotations

import argparse
import json

from headlight.analysis.ledger import KEEP, Cell, Ledger, cell_ledger
from headlight.cli.common import add_edit_option, add_input_options, add_model_options, command, positive_int, run_input
from headlight.tracing.trace import Trace


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_model_options(parser)
    parser.add_argument(
        "--cell", required=True, metavar="PATH[HEAD,QUERY,KEY]", help="such as decoder.1.self[3,5,2], counted from 0"
    )
    add_edit_option(parser)
    parser.add_argument("--top", type=positive_int, default=8, help="how many writers and pairs (default 8)")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")


@command(_add_arguments)
def ledger(options: argparse.Namespace) -> int:
    """Split the score of an attention cell into who wrote the query and who wrote the key."""
    cell = Cell.parse(options.cell)
    loaded, traced = run_input(options, KEEP)
    found = cell_ledger(loaded.model, traced, cell)
    print(json.dumps(_to_json(found)) if options.json else _table(found, traced, options.top))
    return 0


def _to_json(found: Ledger) -> dict[str, object]:
    return {
        "cell": str(found.cell),
        "score": found.score,
        "query_writers": found.query_writers,
        "key_writers": found.key_writers,
        "parts": found.parts.tolist(),
        "terms": dict(found.terms),
    }


def _table(found: Ledger, traced: Trace, top: int) -> str:
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
