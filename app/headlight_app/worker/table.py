"""The request table: a row per kind of request, with the function that computes its reply.

Rows that the first page needs are in `first_table`: the others import the training code and the whole course.
"""

from __future__ import annotations

from headlight.registry import Registry
from headlight_app.compare.answers import comparison
from headlight_app.compare.answers import page as compare_page
from headlight_app.compare.contract import ComparePageRequest, CompareRequest
from headlight_app.contract.views import ViewsRequest
from headlight_app.course.answers import screens
from headlight_app.course.contract import ChapterRequest, RunRequest, ScreenRequest
from headlight_app.engine.contract import CheckImageRequest
from headlight_app.explore import contract as explore
from headlight_app.explore.answers import (
    input_vectors,
    layer_analysis,
    layer_numbers,
    step_code,
    walkthrough,
)
from headlight_app.explore.answers import page as explore_page
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.explore.answers.analysis_answers import AnalysisAnswers
from headlight_app.explore.answers.explanations.table import EXPLANATIONS
from headlight_app.explore.answers.export import files as explore_files
from headlight_app.export.answers import files, programs
from headlight_app.export.answers.views import PagesOfViews
from headlight_app.export.contract import (
    ExportOriginRequest,
    ExportPdfRequest,
    ExportProgramRequest,
    ExportTableRequest,
    LinkRequest,
)
from headlight_app.generate.answers import copying, step
from headlight_app.generate.answers import page as generate_page
from headlight_app.generate.contract import CopyingRequest, GeneratePageRequest, GenerateRequest
from headlight_app.inference.images import answer_check_image
from headlight_app.lesson.answers import steps
from headlight_app.lesson.contract import CollectRequest, HandInRequest, LessonsRequest, NotesRequest, StepRequest
from headlight_app.models.answers import opening
from headlight_app.models.contract import (
    DownloadRequest,
    ExtractUploadRequest,
    OpenCheckpointRequest,
)
from headlight_app.positions.answers import page as positions_page
from headlight_app.positions.contract import EncodingCodeRequest
from headlight_app.tasks.answers import page as tasks_page
from headlight_app.tasks.answers.table import TASK_ANALYSES
from headlight_app.tasks.contract import TasksPageRequest
from headlight_app.worker.first_table import FIRST_ANSWERS, row

ANALYSIS = AnalysisAnswers((ANALYSES, EXPLANATIONS, TASK_ANALYSES))
VIEWS = PagesOfViews(
    Registry(
        "page of views",
        {
            "positions": positions_page.show_encoding,
        },
    )
)
_ROWS = (
    row(explore.WalkthroughRequest, walkthrough.answer_walkthrough),
    row(explore.StepCodeRequest, step_code.answer_step_code),
    row(explore.LayerNumbersRequest, layer_numbers.answer_layer_numbers),
    row(explore.LogitAttributionRequest, layer_analysis.answer_logit_attribution),
    row(explore.AnalysisRequest, ANALYSIS.at_once),
    row(explore.LongAnalysisRequest, ANALYSIS.long),
    row(explore.AnalysisStepRequest, ANALYSIS.step),
    row(explore.InputVectorsRequest, input_vectors.answer_input_vectors),
    row(explore.ExploreChartsRequest, explore_page.answer_explore_charts),
    row(explore.SourceCodeRequest, explore_page.answer_source_code),
    row(explore.ExportNumbersRequest, explore_files.answer_export_numbers),
    row(explore.ExportPageRequest, explore_files.answer_export_page),
    row(explore.ExportWorksheetRequest, explore_files.answer_export_worksheet),
    row(explore.ExportCodeRequest, explore_files.CodeExport(TASK_ANALYSES).answer),
    row(TasksPageRequest, tasks_page.answer_tasks_page),
    row(ComparePageRequest, compare_page.answer_compare_page),
    row(CompareRequest, comparison.answer_compare),
    row(GeneratePageRequest, generate_page.answer_generate_page),
    row(GenerateRequest, step.answer_generate),
    row(CopyingRequest, copying.answer_copying),
    row(ViewsRequest, VIEWS.answer),
    row(EncodingCodeRequest, positions_page.answer_encoding_code),
    row(ChapterRequest, screens.answer_chapter),
    row(ScreenRequest, screens.answer_screen),
    row(RunRequest, screens.answer_run),
    row(LessonsRequest, steps.answer_lessons),
    row(StepRequest, steps.answer_step),
    row(NotesRequest, steps.answer_notes),
    row(HandInRequest, steps.answer_hand_in),
    row(CollectRequest, steps.answer_collect),
    row(ExportOriginRequest, files.answer_export_origin),
    row(ExportTableRequest, files.answer_export_table),
    row(ExportPdfRequest, files.answer_export_pdf),
    row(ExportProgramRequest, programs.answer_export_program),
    row(LinkRequest, files.answer_link),
    row(CheckImageRequest, answer_check_image),
    row(OpenCheckpointRequest, opening.answer_open_checkpoint),
    row(ExtractUploadRequest, opening.answer_extract_upload),
    row(DownloadRequest, opening.answer_download),
)
ANSWERS = FIRST_ANSWERS | {kind.route: (kind, answer) for kind, answer in _ROWS}
