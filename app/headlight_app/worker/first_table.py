"""The rows of the request table that the first page needs: a starting worker imports only these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from headlight_app.contract.reply import Reply
from headlight_app.contract.request import Answer, Request
from headlight_app.engine.contract import ModelsRequest, OwnModelsRequest, WarmUpRequest
from headlight_app.explore import contract as explore
from headlight_app.explore.answers import heads
from headlight_app.explore.answers import page as explore_page
from headlight_app.frame.answers.choices import answer_frame
from headlight_app.frame.contract import FrameRequest
from headlight_app.models.answers import cards
from headlight_app.models.contract import ModelCardRequest, WeightReportRequest

R = TypeVar("R", bound=Request[Any])
Row = tuple[type[Request[Any]], Callable[[Any], Reply[Answer]]]


def row(kind: type[R], answer: Callable[[R], Reply[Answer]]) -> Row:
    """A request, and the function that computes its reply."""
    return kind, answer


_ROWS = (
    row(explore.TraceRequest, heads.answer_trace),
    row(explore.HeadMatrixRequest, heads.answer_head_matrix),
    row(explore.HeadViewRequest, heads.answer_head_view),
    row(explore.ThumbnailsRequest, heads.answer_thumbnails),
    row(explore.QkProjectionRequest, heads.answer_qk_projection),
    row(explore.HeadMetricsRequest, heads.answer_head_metrics),
    row(explore.QueryKeyWeightsRequest, heads.answer_query_key_weights),
    row(explore.ExplorePageRequest, explore_page.answer_explore_page),
    row(FrameRequest, answer_frame),
    row(ModelsRequest, cards.answer_models),
    row(OwnModelsRequest, cards.answer_own_models),
    row(ModelCardRequest, cards.answer_model_card),
    row(WeightReportRequest, cards.answer_weight_report),
    row(WarmUpRequest, cards.answer_warm_up),
)
FIRST_ANSWERS = {kind.route: (kind, answer) for kind, answer in _ROWS}
