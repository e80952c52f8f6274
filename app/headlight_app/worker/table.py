"""The table of requests: a row for each kind, with the function that computes its reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from headlight_app.compare.answers import comparison
from headlight_app.compare.answers import page as compare_page
from headlight_app.compare.contract import ComparePageRequest, CompareRequest
from headlight_app.contract.reply import Reply
from headlight_app.contract.request import Answer, Request
from headlight_app.course.answers import screens
from headlight_app.course.contract import ChapterRequest, RunRequest, ScreenRequest
from headlight_app.engine.contract import CheckImageRequest, ModelsRequest, OwnModelsRequest, WarmUpRequest
from headlight_app.explore import contract as explore
from headlight_app.explore.answers import heads, input_vectors, layer_analysis, neurons, step_code, walkthrough, why
from headlight_app.explore.answers import page as explore_page
from headlight_app.explore.answers.export import files as explore_files
from headlight_app.export.answers import files, programs
from headlight_app.export.contract import (
    ExportOriginRequest,
    ExportPdfRequest,
    ExportProgramRequest,
    ExportTableRequest,
    LinkRequest,
)
from headlight_app.frame.answers.choices import answer_frame
from headlight_app.frame.contract import FrameRequest
from headlight_app.generate.answers import page as generate_page
from headlight_app.generate.answers import step
from headlight_app.generate.contract import GeneratePageRequest, GenerateRequest
from headlight_app.inference.images import answer_check_image
from headlight_app.models.answers import cards, opening
from headlight_app.models.contract import (
    DownloadRequest,
    ExtractUploadRequest,
    ModelCardRequest,
    OpenCheckpointRequest,
    WeightReportRequest,
)
from headlight_app.positions.answers import profile
from headlight_app.positions.contract import PositionLossesRequest, PositionProfileRequest
from headlight_app.tasks.answers import beams, labels
from headlight_app.tasks.answers import page as tasks_page
from headlight_app.tasks.contract import BeamSearchRequest, LabelEffectsRequest, TasksPageRequest, TokenLabelsRequest

R = TypeVar("R", bound=Request[Any])
Row = tuple[type[Request[Any]], Callable[[Any], Reply[Answer]]]


def _row(kind: type[R], answer: Callable[[R], Reply[Answer]]) -> Row:
    return kind, answer


_ROWS = (
    _row(explore.TraceRequest, heads.answer_trace),
    _row(explore.HeadMatrixRequest, heads.answer_head_matrix),
    _row(explore.HeadViewRequest, heads.answer_head_view),
    _row(explore.ThumbnailsRequest, heads.answer_thumbnails),
    _row(explore.QkProjectionRequest, heads.answer_qk_projection),
    _row(explore.HeadMetricsRequest, heads.answer_head_metrics),
    _row(explore.QueryKeyWeightsRequest, heads.answer_query_key_weights),
    _row(explore.WalkthroughRequest, walkthrough.answer_walkthrough),
    _row(explore.StepCodeRequest, step_code.answer_step_code),
    _row(explore.LogitLensRequest, layer_analysis.answer_logit_lens),
    _row(explore.ResidualNormsRequest, layer_analysis.answer_residual_norms),
    _row(explore.NegativeLogLikelihoodRequest, layer_analysis.answer_negative_log_likelihood),
    _row(explore.LogitAttributionRequest, layer_analysis.answer_logit_attribution),
    _row(explore.LogitDifferenceRequest, why.answer_logit_difference),
    _row(explore.InformationFlowRequest, layer_analysis.answer_information_flow),
    _row(explore.HeadAblationRequest, layer_analysis.answer_head_ablation),
    _row(explore.CellLedgerRequest, why.answer_cell_ledger),
    _row(explore.HeadSearchRequest, layer_analysis.answer_head_search),
    _row(explore.NeuronsRequest, neurons.answer_neurons),
    _row(explore.NeuronRequest, neurons.answer_neuron),
    _row(explore.InputVectorsRequest, input_vectors.answer_input_vectors),
    _row(explore.ExplorePageRequest, explore_page.answer_explore_page),
    _row(explore.ExploreChartsRequest, explore_page.answer_explore_charts),
    _row(explore.SourceCodeRequest, explore_page.answer_source_code),
    _row(explore.ExportNumbersRequest, explore_files.answer_export_numbers),
    _row(explore.ExportNeuronsRequest, explore_files.answer_export_neurons),
    _row(explore.ExportPageRequest, explore_files.answer_export_page),
    _row(explore.ExportWorksheetRequest, explore_files.answer_export_worksheet),
    _row(explore.ExportCodeRequest, explore_files.answer_export_code),
    _row(TasksPageRequest, tasks_page.answer_tasks_page),
    _row(TokenLabelsRequest, labels.answer_token_labels),
    _row(LabelEffectsRequest, labels.answer_label_effects),
    _row(BeamSearchRequest, beams.answer_beam_search),
    _row(ComparePageRequest, compare_page.answer_compare_page),
    _row(CompareRequest, comparison.answer_compare),
    _row(GeneratePageRequest, generate_page.answer_generate_page),
    _row(GenerateRequest, step.answer_generate),
    _row(PositionProfileRequest, profile.answer_position_profile),
    _row(PositionLossesRequest, profile.answer_position_losses),
    _row(ChapterRequest, screens.answer_chapter),
    _row(ScreenRequest, screens.answer_screen),
    _row(RunRequest, screens.answer_run),
    _row(ExportOriginRequest, files.answer_export_origin),
    _row(ExportTableRequest, files.answer_export_table),
    _row(ExportPdfRequest, files.answer_export_pdf),
    _row(ExportProgramRequest, programs.answer_export_program),
    _row(LinkRequest, files.answer_link),
    _row(FrameRequest, answer_frame),
    _row(ModelsRequest, cards.answer_models),
    _row(OwnModelsRequest, cards.answer_own_models),
    _row(ModelCardRequest, cards.answer_model_card),
    _row(WeightReportRequest, cards.answer_weight_report),
    _row(WarmUpRequest, cards.answer_warm_up),
    _row(CheckImageRequest, answer_check_image),
    _row(OpenCheckpointRequest, opening.answer_open_checkpoint),
    _row(ExtractUploadRequest, opening.answer_extract_upload),
    _row(DownloadRequest, opening.answer_download),
)
ANSWERS = {kind.route: (kind, answer) for kind, answer in _ROWS}
