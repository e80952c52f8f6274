"""The Course: chapters of screens that compute with the learner's own numbers."""

from __future__ import annotations

from headlight.course.moved import follow
from headlight.course.requirements import PARTS, REQUIREMENTS
from headlight_app.contract.state import State
from headlight_app.engine.models import AvailableModel, available_models, own_titles
from headlight_app.state.session import Report, apply_reports, report_serial
from headlight_app.ui.component import API, PAGES, VIEW_STYLES, Component, Data, shared_styles

TITLE, ICON, PATH = "Course", ":material/school:", "course"
CHOOSES_OWN_MODELS = True  # each screen chooses its own
COMPONENT = Component(
    "course",
    html="course/frontend/course.html",
    styles=(
        *shared_styles("course/frontend/course.css"),
        *VIEW_STYLES,
    ),
)
STATE_FIELDS = ("chapter", "screen", "course_inputs")


def show(state: State, entry: AvailableModel) -> None:
    """The page. The component requests the chapters itself, so that changing the chapter needs no rerun."""
    place = _place(state)
    apply_reports(COMPONENT.key, "", "", read=_of_chapter)
    COMPONENT.mount(_component_data(state, place))


def _place(state: State) -> tuple[str, str, str]:
    """The chapter, the screen and the changed inputs of an address, which may be an old one."""
    return follow(*(getattr(state, name) for name in STATE_FIELDS))


def _of_chapter(report: Report, state: State) -> Report:
    """The choices of a report; empty if the learner has left its chapter meanwhile, for example with Back."""
    chapter, _, _ = _place(state)
    within = report.pop("within", chapter)
    return report if within == chapter or "chapter" in report else {}


def choosable_models() -> list[Data]:
    """The models for screens and lessons, with the requirements that they meet, and their numbers of parts."""
    titles = own_titles()
    return [
        {
            "name": each.name,
            "title": titles.get(each.name, each.name),
            "suits": [name for name, row in REQUIREMENTS.items() if row.suits(each.config)],
            "parts": {name: count(each.config) for name, count in PARTS.items()},
        }
        for each in available_models()
    ]


def _component_data(state: State, place: tuple[str, str, str]) -> Data:
    return {
        "api": API,
        "pages": PAGES,
        "state": dict(zip(STATE_FIELDS, place, strict=True)),
        "models": choosable_models(),
        "device": state.device,
        "serial": report_serial(),
        "presenter": state.presenter,
        "embedded": state.embedded,
    }
