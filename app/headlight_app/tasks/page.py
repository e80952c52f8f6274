"""The Tasks page, for the uses of models: Explore with the task's own view of the answer above the tabs."""

from __future__ import annotations

from functools import partial

import streamlit as st

from headlight_app.access.settings import settings
from headlight_app.contract.state import OPENING, State
from headlight_app.engine.client import ask_shared
from headlight_app.engine.models import AvailableModel, available_models
from headlight_app.explore.page import SHOWN_PARTS as PARTS
from headlight_app.explore.page import instrument, show_instrument
from headlight_app.state.requirement import Requirement
from headlight_app.state.session import change_state, current_state
from headlight_app.state.url import encode_state
from headlight_app.tasks.contract import TasksPageRequest
from headlight_app.tasks.views import TASK_VIEWS, view_section, views_json, views_of
from headlight_app.ui.first_tasks import first_tasks_json
from headlight_app.ui.models_link import MODELS_ICON, models_link

TITLE, ICON, PATH = "Tasks", ":material/task_alt:", "tasks"
SHOWN_PARTS = PARTS
TEXTS = "_texts_of_tasks"  # the texts typed for each task; the next task starts with its own example
TYPED = ("text", "source", "text_pair", "chat")
COMPONENT = instrument(
    "tasks",
    TITLE,
    styles=("tasks/frontend/tasks.css",),
    parts=(
        (
            "<!-- the answer to a task -->",
            "".join(view_section(name, view) for name, view in TASK_VIEWS.items()),
        ),
    ),
)


def required(state: State) -> Requirement:
    """The requirement on the model: it does the chosen task or, without one, any task; best the first task's model."""
    if state.task in TASK_VIEWS:
        return TASK_VIEWS[state.task].required
    first = next(iter(TASK_VIEWS.values()))
    return Requirement("does one of its tasks", lambda config: bool(views_of(config)), first.preferred)


def show(state: State, entry: AvailableModel) -> None:
    """The page."""
    able = views_of(entry.config)
    task = state.task if state.task in TASK_VIEWS else next(iter((*able, *TASK_VIEWS)))
    if not state.embedded:
        _task_choice(task, entry)
        if not state.task and not state.presenter:
            _first_tasks()
    if task in able:
        request = TasksPageRequest(model=state.model, device=state.device, source=state.source, task=task)
        show_instrument(COMPONENT, state.change(task=task), entry, ask_shared(request).answer, task_views=views_json())
    else:
        view, path = TASK_VIEWS[task], "from its folder"
        way = path if settings().shared else f"by its id on the Hugging Face Hub, or {path}"
        st.info(f"No model here {view.words}. Open {view.example} on the page Models, {way}.", icon=MODELS_ICON)
        models_link(encode_state(state))


def _first_tasks() -> None:
    """The tasks to begin with, if their models are here."""
    if rows := first_tasks_json({model.name for model in available_models()}):
        st.caption(f"New here? Begin with {', or '.join('**{title}**, {shows}'.format(**row) for row in rows)}.")


def _task_choice(task: str, entry: AvailableModel) -> None:
    """The choice of a task. If the open model cannot do it, another model is opened."""
    st.session_state.task = task
    st.segmented_control(
        "Task",
        list(TASK_VIEWS),
        format_func=lambda name: TASK_VIEWS[name].title,
        key="task",
        required=True,
        label_visibility="collapsed",
        on_change=partial(_choose_task, entry),
    )


def _choose_task(entry: AvailableModel) -> None:
    task = st.session_state.get("task", "")
    if task not in TASK_VIEWS:
        return
    required = TASK_VIEWS[task].required
    other = None if required.suits(entry.config) else required.first_of(available_models())
    left, kept = current_state(), st.session_state.setdefault(TEXTS, {})
    kept[left.task or next(iter(views_of(entry.config)))] = {name: getattr(left, name) for name in TYPED}
    model = {**OPENING, "model": other.name} if other else {}
    change_state(
        **{**model, "text": None, "source": None, "text_pair": "", "chat": "", **kept.get(task, {}), "task": task}
    )
