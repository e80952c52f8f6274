"""The models that ship, by what their task needs to see: a table read from their configs and cards."""

from __future__ import annotations

from random import Random

from headlight.checkpoints.catalog import CatalogEntry, card_purpose, card_series, catalog
from headlight.checkpoints.load import read_card
from headlight.config import Config
from headlight.course.controls import SeedControl
from headlight.course.pictures import TablePicture, row
from headlight.course.question_kinds import Question
from headlight.course.questions import choose
from headlight.course.screen import Answer, Screen
from headlight.tasks import task_of

NEEDS = {
    "encoder": "Encoder: where the whole text is there, and every token may look at both sides",
    "decoder": "Decoder: where a text is written, and only what was written so far is there",
    "encoder-decoder": "Both: where one thing is read as a whole, and another text is written about it",
}
ALSO = {
    "encoder": "Of this kind are also models that answer a question by marking words of a text, or sort documents.",
    "decoder": "Of this kind are also models that chat: question and answer are one text, which they continue.",
    "encoder-decoder": "Of this kind are also models that summarise a text, or write down what is said in a sound.",
}  # tasks that no shipped model has learned


def which_task(seed: int) -> Answer:
    """Shipped models by their shape, without those that are variations of another or of a series."""
    shipped = [entry for entry in catalog() if entry.shipped]
    names = {entry.name for entry in shipped}
    chosen = [entry for entry in shipped if entry.name.partition("-")[0] not in names - {entry.name}]
    asked = Random(seed).choice([entry for entry in chosen if any(_is_listed(entry, name) for name in NEEDS)])
    question = _ask_of_shape(asked)
    return tuple(
        row(
            TablePicture(
                columns=("task", "reads → gives", "shipped model"),
                rows=tuple(_table_row(entry) for entry in chosen if _is_listed(entry, architecture)),
            ),
            title=title,
            text=ALSO[architecture],
            question=question if architecture == "encoder" else None,
        )
        for architecture, title in NEEDS.items()
    )


def _ask_of_shape(entry: CatalogEntry) -> Question:
    """Which shape the task of a model needs; of a wrong one it is said what it is for."""
    task, read, _ = _table_row(entry)
    says = {name: f"{needs}." for name, needs in NEEDS.items()}
    text = f"Task: {task[0].lower()}{task[1:].rstrip('.')} ({read}). Which shape has the model that does this?"
    return choose(text, tuple(NEEDS), tuple(NEEDS).index(entry.config.architecture), says)


def _is_listed(entry: CatalogEntry, architecture: str) -> bool:
    """Rungs of the ladder that have no mask are decoders, but they see more than what was written so far."""
    config = entry.config
    sees_too_much = config.architecture == "decoder" and not config.masks
    return config.architecture == architecture and not sees_too_much and not card_series(read_card(entry.folder))


def _table_row(entry: CatalogEntry) -> tuple[str, str, str]:
    return card_purpose(read_card(entry.folder)) or purpose(entry.config), reads(entry.config), entry.name


def purpose(config: Config) -> str:
    """What a model does, from what it reads and what it answers."""
    if config.has_cross_attention and not task_of(config).predicts_labels:
        return "Describes images" if config.reads_image else "Writes a target from a source"
    return "Labels images" if config.reads_image else task_of(config).title


def reads(config: Config) -> str:
    """What goes in, and in which form the answer comes out."""
    read = "an image" if config.reads_image else "a text"
    answers = "a label for each token" if config.output_head == "token-classifier" else "labels"
    return f"{read} → {answers if task_of(config).predicts_labels else 'tokens'}"


WHICH_TASK = Screen(
    title="Which task needs which shape?",
    lesson="Ask what can be seen when an answer is given: to label, tag, sort or fill in, all of the text; to "
    "continue, what was written; to translate, rewrite or describe, all of a source and the beginning of the answer. "
    "The models that come with this page stand under the shape that their task needs.",
    controls={"seed": SeedControl(title="Ask of another task")},
    compute=which_task,
    code=(which_task, reads),
)
