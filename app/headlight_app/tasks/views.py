"""The tasks of the page: one row each, with the models that do it, and the HTML of its view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from headlight.config import Config
from headlight.registry import Registry
from headlight.tasks import has_number_labels, task_of
from headlight_app.state.requirement import Requirement
from headlight_app.ui.first_tasks import FIRST_TASKS


@dataclass(frozen=True)
class TaskView:
    """One task: `lesson` describes its view; `suits` selects the models that do it.

    The file of its name in `answers` computes its views. `words` completes "a model that ", and `example` names a model
    to open if there is none. `attention` is the kind of attention that connects answer and text: the page opens with
    it. Of several models, `preferred` is opened.
    """

    title: str
    lesson: str
    words: str
    example: str
    suits: Callable[[Config], bool]
    attention: str = "self"
    preferred: str = ""

    @property
    def required(self) -> Requirement:
        """The requirement of this task on a model."""
        return Requirement(self.words, self.suits, self.preferred)


def _labels_tokens(config: Config) -> bool:
    return task_of(config).predicts_labels and not task_of(config).whole_text


def _classifies(config: Config) -> bool:
    return task_of(config).whole_text and not config.reads_signal


def _tags(config: Config) -> bool:
    return _labels_tokens(config) and not has_number_labels(config)


def _sorts(config: Config) -> bool:
    return _labels_tokens(config) and has_number_labels(config)


def _translates(config: Config) -> bool:
    return config.has_cross_attention and task_of(config).continues_text and not config.reads_signal


def _describes(config: Config) -> bool:
    return config.has_cross_attention and task_of(config).continues_text and config.reads_image


def _transcribes(config: Config) -> bool:
    return config.has_cross_attention and task_of(config).continues_text and config.reads_sound


def _embeds(config: Config) -> bool:
    """Whether the hidden states can represent a text: for a sentence encoder, or a masked language model."""
    task = task_of(config)
    return config.reads_text and not config.has_cross_attention and (task.fills_masks or not task.predicts)


TASK_VIEWS: Registry[TaskView] = Registry(
    "task of the page",
    {
        "classify": TaskView(
            "Classify",
            "One label for the whole text. Each token and each head is left out in turn: the label rests on those "
            "without which it loses most.",
            "labels whole texts",
            "a classifier of texts, such as a BERT fine-tuned on reviews,",
            _classifies,
            preferred="sentiment",
        ),
        "tag": TaskView(
            "Tag",
            "One label for each token. What a word is depends on the words around it, so change a neighbour and see.",
            "labels each token",
            "a classifier of tokens, such as a BERT fine-tuned to find names,",
            _tags,
        ),
        "sort": TaskView(
            "Sort",
            "Each token predicts the number that belongs in its place. Lines lead from each answer to the tokens that "
            "it looked at.",
            "sorts numbers",
            "a classifier of tokens whose labels are numbers",
            _sorts,
        ),
        "translate": TaskView(
            FIRST_TASKS["translate"].title,
            "The decoder writes one token after another and looks at the source for each: lines lead from a token to "
            "the source tokens that it looked at.",
            "reads a source and writes a target",
            "an encoder-decoder such as MarianMT or T5",
            _translates,
            attention="cross",
            preferred=FIRST_TASKS["translate"].model,
        ),
        "describe": TaskView(
            FIRST_TASKS["describe"].title,
            "The decoder writes one word after another and looks at the picture for each. Above each word is the "
            "picture, bright where the weights of that step are large.",
            "describes images",
            "an encoder-decoder that reads images",
            _describes,
            attention="cross",
            preferred=FIRST_TASKS["describe"].model,
        ),
        "transcribe": TaskView(
            "Transcribe",
            "The decoder writes one token after another and listens to a part of the recording for each: some heads "
            "follow it from token to token.",
            "transcribes recordings",
            "a Whisper model, such as openai/whisper-tiny,",
            _transcribes,
            attention="cross",
        ),
        "similar": TaskView(
            "Compare sentences",
            "A sentence encoder pools the last hidden states of a text's tokens into one vector, and two texts are as "
            "similar as the cosine of their vectors. That cosine is a sum over pairs of tokens.",
            "makes a vector from a sentence",
            "a sentence encoder such as MiniLM, MPNet or E5",
            _embeds,
            preferred="stories-masked",
        ),
    },
)


def views_json() -> list[dict[str, str]]:
    """The tasks as JSON for the browser."""
    return [{"name": name, "title": view.title} for name, view in TASK_VIEWS.items()]


def view_section(name: str, view: TaskView) -> str:
    """The HTML of a task: its lesson, and the place of its views."""
    attributes = f'class="panel task {name}" data-testid="task-{name}" aria-label="{view.title}"'
    lesson = f'<p class="explain">{escape(view.lesson)}</p>'
    return f"<section {attributes} hidden>{lesson}<!-- an analysis --></section>"


def views_of(config: Config) -> list[str]:
    """The tasks that a model can do."""
    return [name for name, view in TASK_VIEWS.items() if view.suits(config)]
