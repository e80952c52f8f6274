"""A summary by selection: the sentences of a text that are nearest to the mean of all of them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.architectures.no_assistant import continuation
from headlight.course.controls import ChoiceControl, ModelControl, NumberControl, TextControl
from headlight.course.pictures import BarsPicture, HeatMapPicture, Row, TablePicture, Verdict, row, verdict_row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen, StateFields, compared, link
from headlight.course.tokens.model_vectors import text_vectors
from headlight.errors import InputError

MOST_SENTENCES = 20
PROMPT = "In short,"
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+")
WORD = re.compile(r"\w+")
VECTORS = {"model": "the encoder's mean vector", "words": "words, counted (TF-IDF)"}
TEXT = (
    "Tom and his dog Max went to the lake. The sun was warm and the birds sang. Tom threw a stick far into the water. "
    "Max jumped into the lake to get the stick. The water was deep and Max could not get out. Tom ate a sandwich. "
    "A man in a boat saw the dog in the water and pulled him out. Tom hugged his dog and thanked the man."
)


@dataclass(frozen=True, eq=False)
class Selection:
    """The vectors of a text's sentences, the cosine of each with their mean, and those chosen, in the text's order."""

    vectors: Float[Tensor, "sentence channel"]
    cosines: Float[Tensor, " sentence"]
    chosen: tuple[int, ...]


def summary(model: Checkpoint, decoder: Checkpoint, text: str, sentences: int, vectors: str) -> Answer:
    """The summary, each sentence's cosine with the mean, both in a plane, and what a decoder writes in its place."""
    found = split_sentences(text)
    if sentences >= len(found):
        raise InputError(f"The text has {len(found)} sentences; a summary of {sentences} would leave nothing out.")
    embed = {"model": lambda: torch.tensor(text_vectors(model, list(found))), "words": lambda: word_vectors(found)}
    selections = {name: select(embed[name](), sentences) for name in VECTORS}
    selection = selections[vectors]
    return (
        row(
            _cosine_bars(found, selection),
            _cosine_map(found, selection),
            title="How near is each sentence to the mean of all?",
            question=ask_largest(
                "Which sentence is nearest to the mean of all?",
                {f"{at + 1}. {each}": float(selection.cosines[at]) for at, each in enumerate(found)},
            ),
        ),
        verdict_row(" ".join(found[at] for at in selection.chosen), title="The summary"),
        row(TablePicture(columns=("", "sentence"), rows=tuple((str(at), each) for at, each in enumerate(found, 1)))),
        _comparison_row(selections, sentences),
        _written_row(decoder, text, found),
    )


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text. Raises InputError where there are too few or too many."""
    found = tuple(part.strip() for part in SENTENCE_END.split(text) if WORD.search(part))
    if not 3 <= len(found) <= MOST_SENTENCES:
        raise InputError(
            f"A text of 3 to {MOST_SENTENCES} sentences can be summarised here, and this one has {len(found)}."
        )
    return found


def word_vectors(sentences: tuple[str, ...]) -> Float[Tensor, "sentence word"]:
    """How often each word stands in a sentence, times ln(sentences / sentences with the word): TF-IDF."""
    counted = [Counter(word.lower() for word in WORD.findall(each)) for each in sentences]
    words = sorted(set().union(*counted))
    counts = torch.tensor([[float(each[word]) for word in words] for each in counted])
    return counts * (len(sentences) / (counts > 0).sum(0)).log()


def select(vectors: Float[Tensor, "sentence channel"], count: int) -> Selection:
    """The sentences whose vectors have the largest cosine with the mean of all (Radev et al. 2004)."""
    unit = normalize(vectors, dim=-1)
    cosines = unit @ normalize(unit.mean(0), dim=-1)
    return Selection(vectors, cosines, tuple(sorted(cosines.topk(count).indices.tolist())))


def _cosine_bars(sentences: tuple[str, ...], selection: Selection) -> BarsPicture:
    return BarsPicture(
        title="Cosine of each sentence with the mean; ✓ is chosen",
        labels=tuple(f"{at + 1}{' ✓' if at in selection.chosen else ''}" for at in range(len(sentences))),
        series={"": selection.cosines},
        digits=3,
    )


def _cosine_map(sentences: tuple[str, ...], selection: Selection) -> HeatMapPicture:
    """The cosine of each two sentences, whose mean in a row is in proportion to the sentence's cosine with the mean."""
    unit = normalize(selection.vectors, dim=-1)
    numbers = tuple(str(at) for at in range(1, len(sentences) + 1))
    return HeatMapPicture(
        title="Cosine of each two sentences",
        values=unit @ unit.T,
        rows=numbers,
        columns=numbers,
        colours="signed",
        note="The larger the mean of a row, the nearer the sentence is to the mean of all.",
    )


def _comparison_row(selections: dict[str, Selection], count: int) -> Row:
    """What is chosen by the model's vectors, by counted words, and by taking the beginning."""
    chosen = {VECTORS[name]: each.chosen for name, each in selections.items()}
    chosen["none: the first sentences"] = tuple(range(count))
    rows = tuple((name, ", ".join(str(at + 1) for at in each)) for name, each in chosen.items())
    return row(
        TablePicture(columns=("vectors", "sentences chosen"), rows=rows),
        title="Does the network help?",
        text="Words can be counted without any network, and news put what matters first, so that the beginning of a "
        "text is a summary which is hard to beat. Judge for your text which choice says most.",
    )


def _written_row(decoder: Checkpoint, text: str, sentences: tuple[str, ...]) -> Row:
    """What a decoder writes after the text and words that announce a summary."""
    written = continuation(decoder, f"{text.strip()} {PROMPT}", temperature=0.0)
    words = {word.lower() for word in WORD.findall(" ".join(sentences))}
    own = [word for word in WORD.findall(written) if word.lower() not in words]
    return row(
        Verdict(
            text=f"{PROMPT} ▸{written} ({len(own)} of these {len(WORD.findall(written))} words do not stand in the "
            "text.)"
        ),
        title="A summary in words of its own",
        text="An encoder gives vectors; it writes nothing. For a new sentence about a text one trains an "
        "encoder-decoder on texts and their summaries (BART, T5), or asks a large decoder to go on after words that "
        f"announce one (GPT-2: “TL;DR:”). Here is what your decoder writes after the text and “{PROMPT}”: a small one "
        "only goes on with the story.",
    )


def _compare(model: str, decoder: str, text: str, sentences: int, vectors: str) -> StateFields:
    """The decoder reads the words that announce a summary, too."""
    return compared({"model": model, "text": text}, {"model": decoder, "text": f"{text.strip()} {PROMPT}"})


SUMMARY = Screen(
    title="A summary made of the text's own sentences",
    lesson="An encoder turns each sentence into a vector: the mean of its tokens' last vectors. What most of the text "
    "is about lies near the mean of all sentences, so those nearest to it make a summary. Nothing was trained for "
    "this, and nothing is understood: a sentence is chosen because it resembles the others.",
    controls={
        "model": ModelControl(title="Encoder", default="stories-masked", needs="encoder"),
        "decoder": ModelControl(
            title="Decoder, for a summary in its own words", default="stories-causal", needs="continues-texts"
        ),
        "text": TextControl(title="Text", default=TEXT, longest=2_000, lines=6),
        "sentences": NumberControl(title="Sentences of the summary", default="3", low=1, high=10, whole=True),
        "vectors": ChoiceControl(title="Vectors", default="model", options=VECTORS),
    },
    compute=summary,
    formulas=(
        r"c = \frac{1}{n} \sum_i \frac{s_i}{\lVert s_i \rVert}",
        r"\mathrm{score}_i = \cos(s_i, c)",
    ),
    code=(select, text_vectors, word_vectors),
    explore=link("model", "text"),
    elsewhere={"compare": _compare},
)
