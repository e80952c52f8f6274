"""`headlight sinks`, `headlight rankings`, `headlight without`: which conclusions attention weights support."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from headlight.analysis import head_removal, moved_values
from headlight.analysis.faithfulness import copying as copies
from headlight.analysis.faithfulness import rankings as faithfulness
from headlight.checkpoints import Checkpoint
from headlight.cli.common import (
    add_edit_option,
    add_input_options,
    add_model_options,
    command,
    run_input,
    token_position,
)
from headlight.errors import ConfigError, EditError
from headlight.tasks import label_text, task_of
from headlight.tracing.predictions import prediction_positions
from headlight.tracing.recompute import logits_at
from headlight.tracing.trace import Trace
from headlight.views.words import percent

MOST_RESPONSES = 10  # listed individually
_HEAD_PATTERN = re.compile(r"([a-z_]+\.\d+\.[a-z]+)\[(\d{1,9})\]")


@dataclass(frozen=True)
class _Asked:
    """The trace of a text, and an answer at a position."""

    loaded: Checkpoint
    trace: Trace
    position: int
    answer: int

    @property
    def in_words(self) -> str:
        """The answer as text."""
        config, tokenizer = self.trace.config, self.loaded.tokenizer.target_tokenizer
        return label_text(config, self.answer) if task_of(config).predicts_labels else tokenizer.decode([self.answer])


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_options(parser)
    add_model_options(parser)
    add_edit_option(parser)
    parser.add_argument("--json", action="store_true", help="JSON and nothing else on standard output")


def _add_answer(parser: argparse.ArgumentParser) -> None:
    _add_arguments(parser)
    parser.add_argument("--position", type=token_position, metavar="N", help="where the answer is predicted")
    parser.add_argument("--answer", type=token_position, metavar="ID", help="a token or label (default: the likeliest)")


def _add_head(parser: argparse.ArgumentParser) -> None:
    _add_answer(parser)
    parser.add_argument("--head", required=True, metavar="PATH[HEAD]", help="such as decoder.1.self[3]")


@command(_add_arguments)
def sinks(options: argparse.Namespace) -> int:
    """List the heads that give much of their attention to a token whose value adds little to their output.

    Gu et al. (2025) call a token a sink by its attention alone, which they average over its own row, too.
    """
    loaded, trace = run_input(options, moved_values.KEEP)
    found = moved_values.attention_sinks(loaded.model, trace)
    if options.json:
        print(json.dumps([asdict(sink) for sink in found]))
        return 0
    for sink in found:
        stack = "encoder" if ".cross" in sink.path else sink.path.partition(".")[0]
        token = trace.text_of_stack(stack).token_texts[sink.key].strip()
        given, moved = f"{percent(sink.weight):>7} of the attention", f"{percent(sink.share):>7} of the output"
        print(f"{sink.path}[{sink.head}]  {given}, {moved}: token {sink.key} {token!r}")
    print(f"{len(found)} sinks." if found else "No head has a sink in this text.")
    return 0


@command(_add_answer)
def rankings(options: argparse.Namespace) -> int:
    """Rank the tokens that an answer depends on, and test the rankings by deleting tokens."""
    asked = _ask(options, faithfulness.KEEP)
    found = faithfulness.compare_rankings(asked.loaded.model, asked.trace, asked.position, asked.answer)
    if options.json:
        print(json.dumps(_rankings_json(asked, found)))
        return 0
    tokens = asked.trace.text.token_texts
    print(f"{asked.in_words!r} at token {asked.position}. Areas: small is good for deletion, large for insertion.")
    for name, each in sorted(found.items(), key=lambda item: item[1].deletion_area):
        first = ", ".join(tokens[token].strip() for token in each.order[:5]) if name != "random" else ""
        print(f"  {name:22} deletion {each.deletion_area:6.3f}  insertion {each.insertion_area:6.3f}  {first}")
    return 0


@command(_add_answer)
def copying(options: argparse.Namespace) -> int:
    """Show where a predicted token comes from: heads that copied it, and passages (lines, sentences) of the text."""
    asked = _ask(options, copies.KEEP)
    passages = copies.cut_passages(asked.trace.text)
    found = copies.trace_copying(asked.loaded.model, asked.trace, asked.position, asked.answer, passages)
    texts = [asked.trace.text.text[passage.start : passage.stop].strip() for passage in passages]
    if options.json:
        named = {"position": asked.position, "answer": asked.answer, "source": found.source, "texts": texts}
        print(json.dumps({**named, **asdict(found)}))
        return 0
    where = list(found.occurrences) or "no place of the text that the model read"
    is_label = task_of(asked.trace.config).predicts_labels
    occurs = "is a label: no head copies it from the text" if is_label else f"occurs at {where}"
    print(f"{asked.in_words!r}, predicted at token {asked.position}, {occurs}.")
    for copy in found.heads[:MOST_RESPONSES]:
        does = "copied it" if copy.logit > 0 else "suppressed it"
        print(f"  {copy.logit:+8.3f}  {copy.path}[{copy.head}] {does}: {percent(copy.weight, 0)} on token {copy.key}")
    for place, (text, copied, moved) in enumerate(zip(texts, found.copied, found.moved, strict=True)):
        mark = "*" if place == found.source else " "
        print(f"{mark} {copied:+8.3f} copied, {moved:+8.3f} in all  {text}")
    return 0


@command(_add_head)
def without(options: argparse.Namespace) -> int:
    """Switch a head off: its direct effect, the responses of later heads and networks, and the effect of the norms."""
    match = _HEAD_PATTERN.fullmatch(options.head)
    if not match:
        raise EditError(f"{options.head!r} is not a head. Write STACK.LAYER.KIND[HEAD], as in decoder.1.self[3].")
    asked = _ask(options, head_removal.KEEP)
    found = head_removal.remove_head(
        asked.loaded.model, asked.trace, match[1], int(match[2]), asked.position, asked.answer
    )
    if options.json:
        totals = {"change": found.change, "self_repair": found.self_repair}
        print(json.dumps({"position": asked.position, "answer": asked.answer, **asdict(found), **totals}))
        return 0
    print(f"{asked.in_words!r} at token {asked.position}: logit {found.before:.3f}, without the head {found.after:.3f}")
    responses = sorted(found.responses.items(), key=lambda item: -abs(item[1]))
    rest = sum(change for _, change in responses[MOST_RESPONSES:])
    parts = [(found.direct, "direct effect"), *((change, name) for name, change in responses[:MOST_RESPONSES])]
    for change, name in (*parts, (rest, "all others"), (found.norms, "norms"), (found.change, "the whole change")):
        print(f"  {change:+8.3f}  {name}")
    if found.self_repair is not None and found.repairs_itself:
        print(f"Self-repair: {percent(found.self_repair, 0)} of the direct effect is undone.")
    return 0


def _ask(options: argparse.Namespace, keep: Sequence[str]) -> _Asked:
    loaded, trace = run_input(options, keep)
    if not task_of(trace.config).predicts:
        raise ConfigError(task_of(trace.config).no_prediction)
    shown = prediction_positions(loaded.model, loaded.tokenizer, trace.text) or (len(trace.text.ids) - 1,)
    position = shown[-1] if options.position is None else options.position
    answer = options.answer
    if answer is None:
        answer = int(np.argmax(logits_at(loaded.model, trace, position)))
    return _Asked(loaded, trace, position, answer)


def _rankings_json(asked: _Asked, found: dict[str, faithfulness.Faithfulness]) -> dict[str, object]:
    rows = {
        name: {
            "scores": None if name == "random" else each.scores.tolist(),
            "steps": each.steps.tolist(),
            "deletion": each.deletion.tolist(),
            "insertion": each.insertion.tolist(),
            "deletion_area": each.deletion_area,
            "insertion_area": each.insertion_area,
        }
        for name, each in found.items()
    }
    return {"position": asked.position, "answer": asked.answer, "tokens": asked.trace.text.tokens, "rankings": rows}
