"""The models that ship, by what their task needs to see: a table read from their configs and cards."""

from __future__ import annotations

from model.checkpoints.catalog import catalog
from model.checkpoints.load import read_card
from model.checkpoints.metadata import card_purpose, card_series
from model.config import Config
from model.course.pictures import TablePicture, row
from model.course.screen import Answer, Screen
from model.tasks import task_of

NEEDS = {
    "encoder": "all of the text, on both sides of every token",
    "decoder": "only what was written so far",
    "encoder-decoder": "all of a source, and what was written so far",
}


def which_task() -> Answer:
    """Shipped models by their shape, without those that are variations of another or of a series."""
    shipped = [entry for entry in catalog() if entry.shipped]
    names = {entry.name for entry in shipped}
    cards = [
        (entry, read_card(entry.folder))
        for entry in shipped
        if entry.name.partition("-")[0] not in names - {entry.name}
    ]
    rows = [
        (card_purpose(card) or purpose(entry.config), shape, NEEDS[shape], reads(entry.config), entry.name)
        for shape in NEEDS
        for entry, card in cards
        if entry.config.architecture == shape and not card_series(card)
    ]
    return (
        row(
            TablePicture(columns=("task", "shape", "needs to see", "reads → gives", "shipped model"), rows=tuple(rows))
        ),
    )


def purpose(config: Config) -> str:
    """What a model does whose card does not say it."""
    return "Describes images" if config.reads_image and config.has_cross_attention else task_of(config).title


def reads(config: Config) -> str:
    """What goes in, and in which form the answer comes out."""
    read = "an image" if config.reads_image else "a text"
    answers = "a label for each token" if config.output_head == "token-classifier" else "labels"
    return f"{read} → {answers if task_of(config).predicts_labels else 'tokens'}"


WHICH_TASK = Screen(
    title="Which task needs which shape?",
    lesson=(
        "Ask what has to be seen when an answer is given. To label, tag, sort or fill in, all of the text: an encoder. "
        "To continue, only what was written: a decoder. To make another text of a text or an image, all of the one and "
        "the beginning of the other: both. The models that come with this page, in this order:"
    ),
    compute=which_task,
    code=(which_task, reads),
)
