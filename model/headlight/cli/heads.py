"""`headlight metrics`, `headlight patching`: head metrics, and the effect of each head's values from another text."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence

import numpy as np

from headlight.analysis import patching as patches
from headlight.analysis.head_metrics import head_metrics, head_metrics_for, mean_over_texts
from headlight.attention_groups import attention_groups
from headlight.checkpoints import Checkpoint
from headlight.cli.common import (
    add_edit_option,
    add_input_options,
    add_model_options,
    add_texts_option,
    command,
    each_input,
    open_model,
    other_input,
    positive_int,
    read_input,
    run_edited,
    token_position,
)
from headlight.errors import TextError
from headlight.tasks import label_text, task_of
from headlight.tracing.run import run
from headlight.tracing.trace import Trace

_METRICS_KEEP = ("*.weights", "*.mask")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_texts_option(parser)
    add_model_options(parser)
    add_edit_option(parser)
    parser.add_argument("--top", type=positive_int, default=3, help="how many heads of each metric (default 3)")
    parser.add_argument("--json", action="store_true", help="every head, as JSON and nothing else on standard output")


@command(_add_arguments)
def metrics(options: argparse.Namespace) -> int:
    """Measure what each head does: previous token, induction, entropy and others, as a mean over texts."""
    loaded = open_model(options)
    groups = attention_groups(loaded.model.config)
    found: dict[str, list[dict[str, np.ndarray]]] = {group.name: [] for group in groups}
    for each in each_input(options):
        trace = run_edited(each, loaded, _METRICS_KEEP)
        for group in groups:
            found[group.name].append(head_metrics(trace, group.stack, group.kind))
    means = {name: mean_over_texts(each) for name, each in found.items()}
    if options.json:
        print(
            json.dumps(
                {name: {metric: _numbers(each) for metric, each in rows.items()} for name, rows in means.items()}
            )
        )
        return 0
    for name, rows in means.items():
        print(f"{name}, mean over {len(found[name])} texts" if len(found[name]) > 1 else name)
        print("\n".join(_metric_lines(loaded, rows, options.top)))
    return 0


def _numbers(values: np.ndarray) -> list[list[float | None]]:
    """The metric by layer and head; None (null in JSON) if no text determines it."""
    return [[float(each) if math.isfinite(each) else None for each in row] for row in values]


def _metric_lines(loaded: Checkpoint, rows: dict[str, np.ndarray], top: int) -> list[str]:
    """The heads with the highest values of each metric."""
    metrics_of = head_metrics_for(loaded.model.config.predicts_from_image)
    width, lines = max(map(len, metrics_of)), []
    for name, values in rows.items():
        flat = values.ravel()
        order = [place for place in np.argsort(-flat, kind="stable") if np.isfinite(flat[place])][:top]
        unit = metrics_of[name].unit
        heads = [f"{divmod(int(place), values.shape[1])} ".replace(", ", ".") + f"{flat[place]:.3g}" for place in order]
        lines.append(f"  {name:{width}}  {'  '.join(heads) or 'no text determines it'} {unit}".rstrip())
    return lines


def _add_patching(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_model_options(parser)
    parser.add_argument("--other", required=True, metavar="TEXT", help="the text, or image, that provides the values")
    parser.add_argument("--edit", action="append", default=[], help="such as decoder.1.self.weights[3]=set:0")
    parser.add_argument("--position", type=token_position, metavar="N", help="where the answers are predicted")
    parser.add_argument(
        "--answers", type=token_position, nargs=2, metavar="ID", help="this text's and the other's (default: likeliest)"
    )
    parser.add_argument(
        "--into",
        metavar="VALUE",
        help="show the effect of heads on a later head's q, k or v, such as decoder.4.self.q[3]",
    )
    parser.add_argument("--stack", choices=("encoder", "decoder"), help="default: the one that predicts")
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")


@command(_add_patching)
def patching(options: argparse.Namespace) -> int:
    """Patch values from another text's run, one token or head at a time: how much of its answer returns."""
    loaded = open_model(options)
    model, tokenizer, config = loaded.model, loaded.tokenizer, loaded.model.config
    if options.stack not in (None, *config.stacks):
        raise TextError(f"This model has no {options.stack}; its stacks: {', '.join(config.stacks)}.")
    answers = tuple(options.answers) if options.answers else None
    if options.into:
        return _print_paths(options, loaded, answers)
    trace, other, position = _both_runs(options, loaded)
    found = patches.patching_map(model, trace, other, position, answers, options.stack)
    if options.json:
        arrays = {kind: getattr(found, kind).tolist() for kind in patches.PATCHES}
        arrays |= {"direct_heads": None} if config.has_recurrence else {}
        print(json.dumps({**vars(found), **arrays}))
        return 0
    words = [
        label_text(config, each) if task_of(config).predicts_labels else tokenizer.target_tokenizer.decode([each])
        for each in (found.answer, found.other_answer)
    ]
    print(f"{words[0]!r} here, {words[1]!r} in the other text. How much of the difference returns (1: all of it):")
    tokens = [token.strip() for token in trace.text_of_stack(options.stack or config.stacks[-1]).token_texts]
    print(
        "\n".join(_map_lines("layer", [f"{place} {token}"[:10] for place, token in enumerate(tokens)], found.residual))
    )
    _print_heads(found.heads)
    if not config.has_recurrence:
        print("The same heads, with all later ones fixed as here: their direct effect on the answer")
        _print_heads(found.direct_heads)
    return 0


def _both_runs(options: argparse.Namespace, loaded: Checkpoint, keep: Sequence[str] = ()) -> tuple[Trace, Trace, int]:
    """The runs of both texts, and the position at which answers are compared."""
    inputs = [read_input(each, loaded) for each in (options, other_input(options, options.other))]
    trace, other = (
        run(loaded.model, loaded.tokenizer, text, edits, source=source, keep=(*patches.KEEP, *keep))
        for (text, source), edits in zip(inputs, (options.edit, ()), strict=True)
    )
    return trace, other, len(trace.text.ids) - 1 if options.position is None else options.position


def _print_paths(options: argparse.Namespace, loaded: Checkpoint, answers: tuple[int, int] | None) -> int:
    into = patches.Receiver.of(loaded.model, options.into)
    if options.stack not in (None, into.stack):
        raise TextError(f"{into} is in the {into.stack}, and --stack says {options.stack}. Leave one of them out.")
    trace, other, position = _both_runs(options, loaded, [into.path])
    runs = patches.PatchedRuns.of(loaded.model, trace, other, position, answers, into.stack)
    shares = runs.whole_map(into)
    if options.json:
        told = {"position": runs.position, "before": runs.before, "after": runs.after}
        told |= zip(("answer", "other_answer"), runs.answers, strict=True)
        print(json.dumps({"into": str(into), "heads": shares.tolist(), **told}))
        return 0
    print(f"Direct effect of each head on {into}: how much of the difference returns (1: all of it)")
    _print_heads(shares)
    return 0


def _print_heads(shares: np.ndarray) -> None:
    print("\n".join(_map_lines("layer", [f"head {head}" for head in range(shares.shape[1])], shares)))


def _map_lines(corner: str, columns: Sequence[str], values: np.ndarray) -> list[str]:
    heading = f"{corner:>7} " + " ".join(f"{column:>10}" for column in columns)
    return [heading, *(f"{layer:7} " + " ".join(f"{each:10.2f}" for each in row) for layer, row in enumerate(values))]
