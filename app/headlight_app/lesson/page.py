"""The Lessons page: a few steps with questions, each beside the view it refers to."""

from __future__ import annotations

from headlight_app.contract.state import State
from headlight_app.course.page import choosable_models
from headlight_app.engine.models import AvailableModel
from headlight_app.state.session import apply_reports, report_serial
from headlight_app.ui.component import API, PAGES, VIEW_STYLES, Component, shared_styles

TITLE, ICON, PATH = "Lessons", ":material/assignment:", "lesson"
CHOOSES_OWN_MODELS = True  # each lesson has its own model
COMPONENT = Component(
    "lesson",
    html="lesson/frontend/lesson.html",
    styles=(
        *shared_styles("course/frontend/course.css"),
        *VIEW_STYLES,
        "lesson/frontend/lesson.css",
    ),
)


def show(state: State, entry: AvailableModel) -> None:
    """The page; its component requests the lessons itself."""
    apply_reports(COMPONENT.key, "", "")
    COMPONENT.mount(
        {
            "api": API,
            "pages": PAGES,
            "state": {name: getattr(state, name) for name in ("lesson", "notes", "lesson_step", "lesson_work")},
            "models": choosable_models(),
            "device": state.device,
            "serial": report_serial(),
            "presenter": state.presenter,
        }
    )
