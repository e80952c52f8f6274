"""What the engine can be asked: each handler with the function that answers it, its lane, and how long it may take.

Functions stand here by name, so that the process that serves people imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from model.registry import Registry


class Lane(StrEnum):
    """Which workers answer: those for letters, those for long work, or one that serves this visitor alone."""

    SHORT, LONG, PRIVATE = "short", "long", "private"


@dataclass(frozen=True)
class HandlerRow:
    """A handler: `function` is "module:name"; a route is asked by components, what is none by pages alone.

    One that `is_local` reads or writes files of the page's machine, so it is answered there, wherever workers are.
    """

    function: str
    lane: Lane = Lane.SHORT
    seconds: float = 10.0
    is_route: bool = True
    is_local: bool = False


def _pages(function: str, seconds: float = 10.0, is_local: bool = False) -> HandlerRow:
    return HandlerRow(function, seconds=seconds, is_route=False, is_local=is_local)


def _long(function: str, seconds: float = 60.0) -> HandlerRow:
    return HandlerRow(function, Lane.LONG, seconds)


HANDLERS: Registry[HandlerRow] = Registry(
    "request",
    {
        # What components ask, as /api/NAME.
        "trace": HandlerRow("app.explore.api:handle_trace"),
        "head_matrix": HandlerRow("app.explore.api:handle_head_matrix"),
        "head_view": HandlerRow("app.explore.api:handle_head_view"),
        "thumbnails": HandlerRow("app.explore.api:handle_thumbnails"),
        "qk_projection": HandlerRow("app.explore.api:handle_qk_projection"),
        "head_metrics": HandlerRow("app.explore.api:handle_head_metrics"),
        "query_key_weights": HandlerRow("app.explore.api:handle_query_key_weights"),
        "generate": HandlerRow("app.generate.api:handle_generate"),
        "compare": HandlerRow("app.compare.api:handle_compare"),
        "walkthrough": HandlerRow("app.explore.walkthrough:handle_walkthrough"),
        "step_code": HandlerRow("app.explore.step_code:handle_step_code"),
        "logit_lens": HandlerRow("app.explore.layer_analysis:handle_logit_lens"),
        "model_diagram": HandlerRow("app.explore.model_diagram:handle_model_diagram"),
        "residual_norms": HandlerRow("app.explore.layer_analysis:handle_residual_norms"),
        "logit_attribution": HandlerRow("app.explore.layer_analysis:handle_logit_attribution"),
        "neurons": HandlerRow("app.explore.neurons:handle_neurons"),
        "neuron": HandlerRow("app.explore.neurons:handle_neuron"),
        "negative_log_likelihood": _long("app.explore.layer_analysis:handle_negative_log_likelihood"),
        "information_flow": _long("app.explore.layer_analysis:handle_information_flow"),
        "head_ablation": _long("app.explore.layer_analysis:handle_head_ablation"),
        "head_search": _long("app.explore.layer_analysis:handle_head_search"),
        "course_chapter": HandlerRow("app.course.api:handle_chapter"),
        "course_screen": HandlerRow("app.course.api:handle_screen"),
        "course_run": _long("app.course.api:handle_run"),
        "link": HandlerRow("app.explore.export.api:handle_link"),
        "export_numbers": _long("app.explore.export.api:handle_export_numbers"),
        "export_neurons": _long("app.explore.export.api:handle_export_neurons"),
        "export_page": _long("app.explore.export.api:handle_export_page"),
        "export_worksheet": _long("app.explore.export.api:handle_export_worksheet"),
        "export_provenance": _long("app.explore.export.api:handle_export_provenance"),
        "export_code": _long("app.explore.export.api:handle_export_code"),
        "token_labels": HandlerRow("app.tasks.api:handle_token_labels"),
        "label_effects": _long("app.tasks.api:handle_label_effects"),
        "beam_search": _long("app.tasks.api:handle_beam_search"),
        "export_positions": HandlerRow("app.positions.page_data:handle_export_positions"),
        "export_origin": HandlerRow("app.worker.export.api:handle_export_origin"),
        "export_table": _long("app.worker.export.api:handle_export_table"),
        "export_pdf": _long("app.worker.export.api:handle_export_pdf"),
        # What pages ask, and the server itself.
        "warm_up": _pages("app.worker.model_cards:handle_warm_up", seconds=120.0),
        "models": _pages("app.worker.model_cards:handle_models", seconds=60.0),
        "own_models": _pages("app.worker.model_cards:handle_own_models"),
        "model_card": _pages("app.worker.model_cards:handle_card"),
        "weight_report": _pages("app.worker.model_cards:handle_weight_report", seconds=60.0),
        "frame": _pages("app.worker.choices:handle_frame"),
        "explore_page": _pages("app.explore.page_data:handle_page", seconds=60.0),
        "explore_charts": _pages("app.explore.page_data:handle_charts"),
        "source_code": _pages("app.worker.source_code:handle_source_code"),
        "tasks_page": _pages("app.tasks.page_data:handle_page", seconds=60.0),
        "compare_page": _pages("app.compare.page_data:handle_page", seconds=60.0),
        "generate_page": _pages("app.generate.page_data:handle_page", seconds=60.0),
        "position_losses": _pages("app.positions.page_data:handle_losses"),
        "position_profile": _pages("app.positions.page_data:handle_profile"),
        "check_image": _pages("app.worker.images:handle_check_image"),
        "open_checkpoint": _pages("app.models.opening:handle_open", seconds=60.0),
        "extract_upload": _pages("app.models.opening:handle_extract", seconds=60.0, is_local=True),
        "download": _pages("app.models.opening:handle_download", seconds=3600.0, is_local=True),
    },
)
