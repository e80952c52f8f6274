"""The rows of the analyses that the page draws by code of its own."""

from __future__ import annotations

from headlight_app.explore.answers.analyses.programs import lens_programs, patching_programs
from headlight_app.explore.answers.analyses.row import Analysis

DRAWN_BY_PAGE = {
    "logit_lens": Analysis("Logit lens", reads=("query", "lens"), programs=lens_programs),
    "information_flow": Analysis(
        "Information flow",
        "Where the answer came from. A line shows a share of a token's residual stream: slanting lines are "
        "attention, vertical lines the residual connection, squares the feed-forward. Click a line to select its "
        "head.",
        reads=("query",),
    ),
    "head_ablation": Analysis(
        "Ablate all",
        "Each head is switched off alone. The number is the change in the log-probability of the answer, in bits "
        "(−1 halves the probability), or the change in its score.",
        reads=("query", "target_token", "attention"),
    ),
    "patching": Analysis(
        "Patching",
        "Where does the model distinguish two texts? Each value in turn is replaced by its value for another text "
        "with one different word. The number is the share of the logit difference between the two answers that "
        "this restores.",
        reads=("query", "target_token", "attention", "layer", "head", "patch"),
        programs=patching_programs,
    ),
    "head_search": Analysis(
        "Change the answer",
        "Which heads does the answer depend on? Heads are switched off one by one, each time the head that reduces "
        "the answer's lead most, until another answer is the likeliest. A smaller set may exist.",
        reads=("query",),
        of_likeliest=True,
    ),
}
