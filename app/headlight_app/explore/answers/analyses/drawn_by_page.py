"""The rows of the analyses that the page draws by code of its own."""

from __future__ import annotations

from headlight_app.explore.answers.analyses.row import Analysis

DRAWN_BY_PAGE = {
    "information_flow": Analysis(
        "Information flow",
        "Where the answer came from. A line shows a share of a token's residual stream: slanting lines are "
        "attention, vertical lines the residual connection, squares the feed-forward. Click a line to select its "
        "head.",
        reads=("query",),
    ),
}
