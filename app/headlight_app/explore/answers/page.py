"""The Explore page before its first answer: examples, the first head, the registries' rows, and its charts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec
import numpy as np

from headlight.attention_groups import attention_groups
from headlight.checkpoints import CatalogEntry
from headlight.config import Config
from headlight.errors import HeadlightError
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.rendering.html import choices_json
from headlight.rendering.plots import COLOUR_RANGES, ColourRange
from headlight.tasks import task_of
from headlight.vision.shipped_images import shipped_image_names
from headlight_app.contract.parts import Catalogue, ExampleAnswer
from headlight_app.contract.reply import Reply
from headlight_app.contract.request import OpenedRequest
from headlight_app.contract.state import HeadChoice
from headlight_app.explore.answers.analyses.row import Analysis
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.explore.answers.explanations.offer import LARGE
from headlight_app.explore.answers.head_view import SHOWN, HeadView, head_view
from headlight_app.explore.answers.quantities import QUANTITIES, quantity_json
from headlight_app.explore.answers.token_filter import Axis
from headlight_app.explore.contract import (
    AnalysisRow,
    AttentionFunctionRow,
    ChartAxis,
    ExploreChartsAnswer,
    ExploreChartsRequest,
    ExplorePageAnswer,
    ExplorePageRequest,
    HeadChart,
    SourceCodeAnswer,
    SourceCodeRequest,
    Tour,
    TourHead,
)
from headlight_app.inference.attention_payload import predictions
from headlight_app.inference.choices import replaceable_parts
from headlight_app.inference.examples import opening, opening_examples
from headlight_app.inference.head_selection import (
    default_head,
    opening_head,
    selected_attention,
    selected_heads,
    tour_of,
)
from headlight_app.inference.open_models import find_model
from headlight_app.inference.resolved_question import ResolvedQuestion, has_chat, resolve
from headlight_app.inference.source_code import code_sections
from headlight_app.state.variants import reads_pair


def answer_explore_page(request: ExplorePageRequest) -> Reply[ExplorePageAnswer]:
    """Everything that the page shows before the first answer."""
    return Reply(page_answer(request))


def page_answer(request: OpenedRequest[Any]) -> ExplorePageAnswer:
    """The content of Explore before a model's first answer."""
    entry = find_model(request.model)
    config, examples = entry.config, opening_examples(entry, request.device)
    functions = ATTENTION_FUNCTIONS.items()
    return ExplorePageAnswer(
        examples=tuple(ExampleAnswer(**asdict(example)) for example in examples),
        opening=ExampleAnswer(**asdict(opening(entry, request, examples[0]))),
        default_head=default_head(entry, request.device),
        opening_head=opening_head(entry, request.device),
        tour=_tour(entry),
        large_change=LARGE,
        has_source=config.has_cross_attention,
        reads_chat=has_chat(entry, request.device),
        reads_pair=reads_pair(config) and not entry.shipped,  # no shipped model was trained on pairs
        has_feed_forward=config.has_feed_forward,
        writes_target=config.has_cross_attention and task_of(config).continues_text,
        images=tuple(shipped_image_names(config)) if config.reads_signal else None,
        hears=config.reads_sound,
        attention_functions=tuple(
            AttentionFunctionRow(name=name, has_temperature=row.has_temperature) for name, row in functions
        ),
        variants=replaceable_parts(),
        analyses=tuple(analysis_row(name, row) for name, row in ANALYSES.items() if row.exists(config)),
        catalogue=catalogue(config),
    )


def _tour(entry: CatalogEntry) -> Tour:
    heads, query = tour_of(entry)
    named = (TourHead(attention=group.name, layer=layer, head=head) for group, layer, head in heads)
    return Tour(heads=tuple(named), query=query)


def analysis_row(name: str, row: Analysis) -> AnalysisRow:
    """What the page knows of an analysis."""
    parts = {"analysis": row.compute, "long_analysis": row.compute_long, "analysis_step": row.step}
    same = {*AnalysisRow.__struct_fields__} - {"name", "routes", "long_reads"}
    fields = {each: getattr(row, each) for each in same}
    routes = tuple(route for route, part in parts.items() if part)
    return AnalysisRow(name=name, routes=routes, long_reads=row.long_reads or row.reads, **fields)


def catalogue(config: Config) -> Catalogue:
    """The choices for a model, by its kind of input and the available quantities."""
    quantities = [quantity_json(name) for name, row in QUANTITIES.items() if row.exists(config)]
    return msgspec.convert(choices_json(config.modalities) | {"quantities": quantities}, Catalogue)


def answer_explore_charts(request: ExploreChartsRequest) -> Reply[ExploreChartsAnswer]:
    """The chosen heads and the predictions as exact numbers."""
    resolved, choice = resolve(request.question), request.choice
    try:
        chart, numbers = _head_chart(resolved, choice)
    except HeadlightError:
        chart, numbers = None, b""  # the view above shows the error
    answer = ExploreChartsAnswer(
        predictions=predictions(resolved, choice.query),
        changed=resolved.is_changed,
        answers="all labels" if task_of(resolved.config).predicts_labels else "the whole vocabulary",
        head=chart,
    )
    return Reply(answer, numbers)


def _head_chart(resolved: ResolvedQuestion, choice: HeadChoice) -> tuple[HeadChart | None, bytes]:
    if not attention_groups(resolved.config):
        return None, b""
    group = selected_attention(resolved.config, choice.attention)
    view, heads = head_view(resolved, choice), selected_heads(choice, group)
    chart = HeadChart(
        title=f"Layer {heads[0][0]}, head {heads[0][1]}" if len(heads) == 1 else f"{len(heads)} heads",
        quantity=view.quantity.title,
        rows=_chart_axis(view.rows),
        columns=_chart_axis(view.columns),
        limits=_colour_limits(view, COLOUR_RANGES[choice.colour_range]),
        signed=view.quantity.signed,
        square_root_scale=view.quantity.scale != "linear",
        rules=view.rules if view.rules[1:] or view.quantity is not QUANTITIES["weights"] else (),
    )
    return chart, np.where(view.cell_states == SHOWN, view.values, np.nan).astype("<f4").tobytes()


def _chart_axis(axis: Axis) -> ChartAxis:
    return ChartAxis(labels=axis.labels, positions=tuple(tokens[0] for tokens in axis.tokens))


def answer_source_code(request: SourceCodeRequest) -> Reply[SourceCodeAnswer]:
    """The parts that computed the answer to a question."""
    return Reply(SourceCodeAnswer(sections=code_sections(resolve(request.question).config)))


def _colour_limits(view: HeadView, colour_range: ColourRange) -> tuple[float, float]:
    """The numbers at the two ends of the colours; for weights, the same as on the page."""
    shown = view.values[view.cell_states == SHOWN]
    if colour_range.quantile is None or view.quantity.scale != "probability" or not shown.any():
        return view.colour_limits
    return 0.0, float(np.quantile(shown, colour_range.quantile, method="higher"))
