"""The rows of the analyses that the page draws by code of its own."""

from __future__ import annotations

from collections.abc import Iterator

from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Program
from headlight_app.explore.answers.layer_analysis import target_answer
from headlight_app.export.answers.programs import model_arguments
from headlight_app.inference.resolved_question import ResolvedQuestion


def lens_programs(resolved: ResolvedQuestion, state: State) -> Iterator[Program]:
    """The likeliest answer after each layer, by the displayed lens."""
    position, _, _ = target_answer(resolved, state.query, state.target_token)
    is_tuned = state.lens == "tuned" and resolved.tuned_lens is not None
    folder = model_arguments(resolved.question).partition(", device=")[0]
    reading = (
        "from headlight.analysis.lenses.tuned_lens import read_tuned_lens",
        f"lens = read_tuned_lens({folder}, model.config)",
    )
    call = f"print(logit_lens(model, trace, {position}{', lens' if is_tuned else ''}).argmax(-1))"
    imported = "from headlight.analysis.lenses.logit_lens import logit_lens"
    yield Program(("", imported, *(reading if is_tuned else ()), call))


DRAWN_BY_PAGE = {
    "logit_lens": Analysis("Logit lens", reads=("query", "lens"), programs=lens_programs),
    "information_flow": Analysis(
        "Information flow",
        "Where the answer came from. A line shows a share of a token's residual stream: slanting lines are "
        "attention, vertical lines the residual connection, squares the feed-forward. Click a line to select its "
        "head.",
        reads=("query",),
    ),
}
