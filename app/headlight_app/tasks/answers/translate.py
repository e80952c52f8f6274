"""Translate: the target, token by token, with what each looked at; and the beams of a search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headlight.cancellation import check_cancelled
from headlight.generation.generate import LENGTH_PENALTY, Hypothesis, beam_search
from headlight.text.tokenizer import Tokenizer
from headlight.views.kinds import ChoiceView, NumberTable, Pick, TableView, TreeNode, TreeView
from headlight.views.rows import Row, row
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Views
from headlight_app.inference.resolved_question import ResolvedQuestion
from headlight_app.tasks.answers.alignment import alignment
from headlight_app.tasks.answers.shown_weights import NOTHING_WRITTEN, READS, attention_of_kind, shown_weights

MAX_STEPS = 64  # tokens that a search writes
WIDTHS = (1, 2, 3, 4, 6, 8)
NOTHING = "(nothing)"

Beams = tuple[Hypothesis, ...]


def written(resolved: ResolvedQuestion, state: State) -> Views:
    """The target up to the chosen step, with lines to what each of its tokens looked at, and the number of beams.

    A click on the token of the chosen step shows the whole target again.
    """
    source, answer = resolved.trace.source, tuple(resolved.trace.text.token_texts[1:])  # without the start token
    group = attention_of_kind(resolved.config, "cross")
    if group is None or source is None:
        return (_widths(),)
    if not answer:
        return NOTHING_WRITTEN, _widths()
    last = len(answer) - 1
    step = state.query if 0 <= state.query <= last else last
    shown = alignment(
        shown_weights(resolved, group, state),
        tuple(source.token_texts),
        answer,
        "was written looking at",
        written=step + 1,
        read_places=tuple(("source", place) for place in range(len(source.ids))),
        places=tuple(("text", query) for query in range(len(answer))),
        picks=tuple({"query": len(answer) if query == step < last else query} for query in range(len(answer))),
    )
    return row(_steps(len(answer), step)), shown, _widths()


def _steps(count: int, step: int) -> ChoiceView:
    """The steps of writing; the query after the last token stands for the whole target."""
    whole = "1 token written" if count == 1 else f"{count} tokens written"
    titles = (*(f"{done} of {count} tokens written" for done in range(1, count)), whole)
    picks: tuple[Pick, ...] = (*({"query": query} for query in range(count - 1)), {"query": count})
    return ChoiceView("Written so far", titles, picks, form="steps", chosen=step)


def _widths() -> Row:
    titles = tuple("Greedy" if width == 1 else f"{width} beams" for width in WIDTHS)
    return row(ChoiceView("Decoding", titles, tuple({"beam_width": width} for width in WIDTHS), form="select"))


def beams(resolved: ResolvedQuestion, state: State) -> Views:
    """The tree of a search, and its texts; nothing for a greedy search of the unchanged model."""
    width = state.beam_width
    if width == 1 and not resolved.is_changed:
        return ()
    steps = search(resolved, width)
    return (
        row(
            *([_tree(steps, resolved.tokenizer)] if width > 1 else []),
            _ranking(steps, resolved.tokenizer),
            title="What the model writes with these changes" if resolved.is_changed else "Beams",
            text=_rule(width) if width > 1 else "",
        ),
    )


def search(resolved: ResolvedQuestion, width: int) -> list[Beams]:
    """The beams kept after each step, the best first. It ignores the text, but keeps to the edits and the variant."""
    edits, found = resolved.question.edits, []
    for kept in beam_search(
        resolved.model, resolved.tokenizer, "", edits, source=resolved.source, beams=width, steps=MAX_STEPS
    ):
        check_cancelled()
        found.append(kept)
    return found


def _rule(width: int) -> str:
    return (
        f"After each token the {width} likeliest beginnings are kept. The score is the log probability of all tokens "
        f"over ((5 + length) / 6) to the power of {LENGTH_PENALTY}, so that a longer text may win."
    )


def _tree(steps: Sequence[Beams], tokenizer: Tokenizer) -> TreeView:
    earlier = ((Hypothesis(),), *steps)
    nodes = tuple(
        tuple(_node(beam, before, tokenizer) for beam in kept) for before, kept in zip(earlier, steps, strict=False)
    )
    return TreeView(
        "The tree of beams, the best one strong", nodes, tables={"Beams after each step": _step_table(steps, nodes)}
    )


def _node(beam: Hypothesis, before: Beams, tokenizer: Tokenizer) -> TreeNode:
    """A beam as its parent and one token; one that was already finished goes on without a token."""
    if beam in before:
        return TreeNode(before.index(beam), "")
    return TreeNode([one.tokens for one in before].index(beam.tokens[:-1]), tokenizer.token_text(beam.tokens[-1]))


def _step_table(steps: Sequence[Beams], nodes: Sequence[Sequence[TreeNode]]) -> NumberTable:
    flat = [
        (f"step {step} beam {rank} {node.text}", node.parent, *_numbers(beam))
        for step, kept in enumerate(steps)
        for rank, (beam, node) in enumerate(zip(kept, nodes[step], strict=True))
    ]
    axes = {
        "beam": tuple(name for name, *_ in flat),
        "number": ("continues beam", "score", "log probability", "ended"),
    }
    return NumberTable(axes, np.array([numbers for _, *numbers in flat], float))


def _numbers(beam: Hypothesis) -> tuple[float, float, float]:
    return beam.score(LENGTH_PENALTY), beam.log_probability, float(beam.is_finished)


def _ranking(steps: Sequence[Beams], tokenizer: Tokenizer) -> TableView:
    final = steps[-1] if steps else ()
    texts = [tokenizer.decode(beam.tokens[:-1] if beam.is_finished else beam.tokens) for beam in final]
    names = tuple(f"{rank} {text}" for rank, text in enumerate(texts))
    axes = {"beam": names, "number": ("score", "log probability", "ended")}
    return TableView(
        ("text", "score", "log probability", ""),
        tuple(
            (text or NOTHING, round(beam.score(LENGTH_PENALTY), 2), round(beam.log_probability, 2), _ending(beam))
            for text, beam in zip(texts, final, strict=True)
        ),
        title="The texts, the best first",
        picks=tuple({"text": text} for text in texts),
        note="A click on a text makes it the target.",
        tables={"Beams": NumberTable(axes, np.array([_numbers(beam) for beam in final], float).reshape(-1, 3))},
    )


def _ending(beam: Hypothesis) -> str:
    return "" if beam.is_finished else "not ended"


ANALYSIS = Analysis(
    "Translate",
    reads=(*READS, "query", "beam_width"),
    long_reads=("beam_width",),
    compute=written,
    compute_long=beams,
    pause=150,
)
