"""The Tasks page, run by Streamlit."""

import pytest

from headlight_app.access.settings import SHARED_VARIABLE
from headlight_app.contract.state import State
from headlight_app.engine.models import available_models
from headlight_app.tasks.page import required
from headlight_app.tasks.views import TASK_VIEWS, views_of
from tests.app.pages import alone, component_data


@pytest.mark.parametrize(
    ("model", "tasks"),
    [
        ("sort", ["sort"]),
        ("dates", ["translate"]),
        ("mood", ["classify"]),
        ("tags", ["tag"]),
        ("next", []),
        ("masked", ["similar"]),
    ],
)
def test_a_model_is_told_by_what_it_does(model: str, tasks: list[str]) -> None:
    (config,) = (entry.config for entry in available_models() if entry.name == model)
    assert views_of(config) == tasks
    assert required(State()).suits(config) == bool(tasks)


def test_the_page_opens_on_its_first_task() -> None:
    model = required(State()).first_of(available_models())
    assert model is not None and views_of(model.config) == [next(iter(TASK_VIEWS))]


@pytest.mark.parametrize(
    ("model", "task", "attention"),
    [
        ("mood", "classify", "encoder.self"),
        ("tags", "tag", "encoder.self"),
        ("sort", "sort", "encoder.self"),
        ("both", "translate", "decoder.cross"),
    ],
)
def test_a_task_opens_with_the_attention_that_its_answer_is_read_from(model: str, task: str, attention: str) -> None:
    at = alone("tasks", model=model)
    assert not at.exception
    data = component_data(at.main)
    assert (data["state"]["task"], data["state"]["attention"]) == (task, attention)
    assert [row["name"] for row in data["task_views"]] == list(TASK_VIEWS)


def test_who_has_chosen_no_task_is_told_which_to_begin_with() -> None:
    (said,) = (one.value for one in alone("tasks", model="sort").caption)
    assert said.startswith("New here? Begin with **Translate**, where lines lead") and "**Describe**" in said
    assert not alone("tasks", model="sort", task="sort").caption


def test_the_head_to_begin_with_aligns_answer_and_text() -> None:
    state = component_data(alone("tasks", model="sort").main)["state"]
    assert (state["layer"], state["head"]) == (2, 1), "the card of sort says that this head looks at the right number"


@pytest.mark.parametrize("presenter", ["", "1"])
def test_a_chosen_task_opens_a_model_that_does_it(presenter: str) -> None:
    at = alone("tasks", model="sort", text="5 3", presenter=presenter)
    at.button_group(key="task").set_value("translate").run()
    assert not at.exception
    assert at.query_params["task"] in ("translate", ["translate"])
    assert at.query_params["model"] in ("translate", ["translate"]) and "text" not in at.query_params


def test_what_was_typed_for_a_task_is_there_on_return() -> None:
    at = alone("tasks", model="sort", task="sort", text="5 3")
    at.button_group(key="task").set_value("translate").run()
    at.button_group(key="task").set_value("sort").run()
    assert not at.exception
    assert at.query_params["text"] in ("5 3", ["5 3"])


@pytest.mark.parametrize(
    ("task", "shared", "sentence"),
    [
        ("translate", "1", "reads a source and writes a target. Open an encoder-decoder such as MarianMT or T5 on"),
        ("transcribe", "0", "transcribes recordings. Open a Whisper model, such as openai/whisper-tiny, on the page"),
    ],
)
def test_a_task_that_no_model_does_says_what_to_open_and_leads_there(
    task: str, shared: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARED_VARIABLE, shared)
    at = alone("tasks", model="next", task=task)
    assert f"No model here {sentence}" in at.info[0].value
    assert at.info[0].value.endswith("from its folder.") and ("Hugging Face Hub" in at.info[0].value) == (shared == "0")
    (link,) = at.get("page_link")
    assert (link.proto.page, link.proto.external) == ("models", False)
    assert f"task={task}" in link.proto.query_string
    assert not at.get("bidi_component")
