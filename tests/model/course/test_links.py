"""Links of a screen to other pages include the learner's own model, text and mask."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

import pytest
import torch

from headlight import find_checkpoint, load
from headlight.course.chapters import CHAPTERS, find_screen
from headlight.course.controls import ModelControl, TextControl
from headlight.course.masks.matrices import ADDED, mask_cells
from headlight.course.screen import Screen
from headlight.nn.masks import QueryKeyPositions, combine_masks, parse_masks

TRAINED_HERE = "a model that is trained on the spot, and that no other page can open, reads it"
NO_TEXT = "it stands for numbers that no model with tokens reads"
WORD_OF_THE_TEXT = "it is looked for in the text, or its rank is asked"
LEFT_OUT = {
    "first-reading/writers.text": TRAINED_HERE,
    "tokens/tokenizers.corpus": TRAINED_HERE,
    "tokens/merges.word": TRAINED_HERE,
    "tokens/merges.corpus": TRAINED_HERE,
    "tokens/lookup.ids": NO_TEXT,
    "tokens/ngrams.word": "no model here is made of n-grams",
    "tokens/ngrams.other": "no model here is made of n-grams",
    "tokens/next-word.text": TRAINED_HERE,
    "tokens/next-word.followed": TRAINED_HERE,
    "tokens/next-word.beginning": TRAINED_HERE,
    "tokens/context.word": WORD_OF_THE_TEXT,
    "block/gradients.text": TRAINED_HERE,
    "architectures/earlier-tools.examples": TRAINED_HERE,
    "architectures/earlier-tools.sentence": TRAINED_HERE,
    "block/attention-alone.letters": TRAINED_HERE,
    "architectures/same-gap.word": WORD_OF_THE_TEXT,
    "architectures/output-heads.examples": TRAINED_HERE,
    "architectures/question-answering.questions": "one of them stands behind the passage",
    "architectures/no-assistant.answer": WORD_OF_THE_TEXT,
    "block/last-steps.word": WORD_OF_THE_TEXT,
    "training/ladder.text": TRAINED_HERE,
    "training/pretraining.lines": TRAINED_HERE,
    "beyond-text/graph.edges": NO_TEXT,
    "beyond-text/graph.node": NO_TEXT,
    "beyond-text/sound.sounds": NO_TEXT,
    "beyond-text/melody.sounds": NO_TEXT,
    "beyond-text/protein.chain": NO_TEXT,
}
SCREENS = {f"{chapter}/{name}": screen for chapter, row in CHAPTERS.items() for name, screen in row.screens.items()}
OWN = {
    f"{path}.{name}": (screen, name)
    for path, screen in SCREENS.items()
    for name, control in screen.controls.items()
    if isinstance(control, ModelControl | TextControl)
}


def typed(screen: Screen, name: str) -> str:
    """A value that is not a default of any screen."""
    control = screen.controls[name]
    return f"{control.default} indeed"[: control.longest] if isinstance(control, TextControl) else "a-model-of-my-own"


def is_carried(links: Mapping[str, Mapping[str, str]], value: str) -> bool:
    """Whether a link contains the model or text; for several lines the first is enough."""
    sides = [dict(parse_qsl(link.get("side_b", ""))) for link in links.values()]
    fields = [field for link in (*links.values(), *sides) for field in link.items()]
    carried = [text for name, text in fields if name in ("model", "text", "source") and text]
    return any(value.strip() in text or text in value.splitlines() for text in carried)


@pytest.mark.parametrize("path", OWN)
def test_a_link_carries_the_learners_model_and_text_or_it_is_said_why_not(path: str) -> None:
    screen, name = OWN[path]
    value = typed(screen, name)
    assert is_carried(screen.links(screen.parse({name: value})), value) == (path not in LEFT_OUT)


def test_what_is_left_out_exists() -> None:
    assert set(LEFT_OUT) <= set(OWN)


@pytest.mark.parametrize("path", SCREENS)
def test_a_screen_that_goes_on_from_another_exists(path: str) -> None:
    for link in SCREENS[path].see_also:
        find_screen(link.chapter, link.screen).parse(link.inputs)


@pytest.mark.parametrize("mask", ["drawn", "padding"])
def test_a_trained_model_reads_the_words_under_the_very_same_mask(mask: str) -> None:
    values = ADDED.parse({"mask": mask, "tokens": "4", "width": "2", "cells": "1,0,0;0,0,0;1,1,1"})
    link = ADDED.links(values)["explore"]
    tokens = load(find_checkpoint(link["model"])).tokenizer.encode(link["text"]).tokens
    assert len(tokens) == 1 + len(link["text"].split()), "the start token and one token per word"
    places = torch.arange(len(tokens))
    allowed = combine_masks(parse_masks(link["masks"]), QueryKeyPositions(places, places))[0, 0]
    asked = values["cells"].bool() if mask == "drawn" else mask_cells(mask, 4, 2)
    assert torch.equal(allowed[1:, 1:], asked) and not allowed[1:, 0].any()
