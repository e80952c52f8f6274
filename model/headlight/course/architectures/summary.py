"""A summary by selection: the sentences of a text whose vectors are nearest to their mean."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.architectures.cross_attention import write
from headlight.course.controls import ChoiceControl, CountControl, ModelControl, TextControl
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import require_layer, token_labels, value
from headlight.course.tokens.model_vectors import text_vectors
from headlight.errors import InputError, TextError
from headlight.questions.asking import ask_largest
from headlight.tracing.run import run
from headlight.views.forms import bars, weights_map
from headlight.views.kinds import HeatMapView, TableView
from headlight.views.rows import Row, row

MOST_SENTENCES = 20
SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+")
WORD = re.compile(r"\w+")
VECTORS = {"model": "the encoder's mean vector", "words": "words, counted (TF-IDF)"}
TEXT = (
    "It had rained all day. In the park, Tom let the ball drop and went on. Rosa walked by with a hat. "
    "Anna brought back the ball. The sun was warm."
)


@dataclass(frozen=True, eq=False)
class Selection:
    """The vectors of a text's sentences, their cosines with the mean, and the chosen sentences in the text's order."""

    vectors: Float[Tensor, "sentence channel"]
    cosines: Float[Tensor, " sentence"]
    chosen: tuple[int, ...]


def summary(model: Checkpoint, decoder: Checkpoint, text: str, sentences: int, vectors: str) -> ScreenRows:
    """The chosen sentences, each sentence's cosine with the mean, and an encoder-decoder's summary for comparison."""
    found = split_sentences(text)
    if sentences >= len(found):
        raise InputError(f"The text has {len(found)} sentences; a summary of {sentences} would leave nothing out.")
    embed = {"model": lambda: torch.tensor(text_vectors(model, list(found))), "words": lambda: word_vectors(found)}
    selections = {name: select(embed[name](), sentences) for name in VECTORS}
    selection = selections[vectors]
    return (
        row(
            bars(
                "Cosine of each sentence with the mean; ✓ is chosen",
                tuple(f"{at + 1}{' ✓' if at in selection.chosen else ''}" for at in range(len(found))),
                selection.cosines,
                digits=3,
            ),
            _cosine_map(found, selection),
            title="How near is each sentence to the mean of all?",
            question=ask_largest(
                "Which sentence is nearest to the mean of all?",
                {f"{at + 1}. {each}": float(selection.cosines[at]) for at, each in enumerate(found)},
            ),
        ),
        row(" ".join(found[at] for at in selection.chosen), title="The summary"),
        TableView(("", "sentence"), tuple((str(at), each) for at, each in enumerate(found, 1))),
        _comparison_row(selections, sentences),
        *_written_rows(decoder, text),
    )


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text. Raises InputError if there are too few or too many."""
    found = tuple(part.strip() for part in SENTENCE_END.split(text) if WORD.search(part))
    if not 3 <= len(found) <= MOST_SENTENCES:
        raise InputError(
            f"A text of 3 to {MOST_SENTENCES} sentences can be summarised here; this one has {len(found)}."
        )
    return found


def word_vectors(sentences: tuple[str, ...]) -> Float[Tensor, "sentence word"]:
    """TF-IDF: the count of each word in a sentence, times ln(sentences / sentences with the word)."""
    counted = [Counter(word.lower() for word in WORD.findall(each)) for each in sentences]
    words = sorted(set().union(*counted))
    counts = torch.tensor([[float(each[word]) for word in words] for each in counted])
    return counts * (len(sentences) / (counts > 0).sum(0)).log()


def select(vectors: Float[Tensor, "sentence channel"], count: int) -> Selection:
    """The sentences whose vectors have the largest cosine with the mean of all (Radev et al. 2004)."""
    unit = normalize(vectors, dim=-1)
    cosines = unit @ normalize(unit.mean(0), dim=-1)
    return Selection(vectors, cosines, tuple(sorted(cosines.topk(count).indices.tolist())))


def _cosine_map(sentences: tuple[str, ...], selection: Selection) -> HeatMapView:
    """The cosine of each pair of sentences; a row's mean is proportional to the sentence's cosine with the mean."""
    unit = normalize(selection.vectors, dim=-1)
    numbers = tuple(str(at) for at in range(1, len(sentences) + 1))
    return HeatMapView(
        "Cosine of each pair of sentences",
        unit @ unit.T,
        rows=numbers,
        columns=numbers,
        colours="signed",
        note="The larger the mean of a row, the nearer the sentence is to the mean of all.",
    )


def _comparison_row(selections: dict[str, Selection], count: int) -> Row:
    """The sentences chosen by the model's vectors, by counted words, and by taking the beginning."""
    chosen = {VECTORS[name]: each.chosen for name, each in selections.items()}
    chosen["none: the first sentences"] = tuple(range(count))
    rows = tuple((name, ", ".join(str(at + 1) for at in each)) for name, each in chosen.items())
    return row(
        TableView(("vectors", "sentences chosen"), rows),
        title="Does the network help?",
        text="Words can be counted without any network. News articles put what matters first, so the beginning is a "
        "summary that is hard to beat. Judge for your text which choice says most.",
    )


def _written_rows(writer: Checkpoint, text: str) -> ScreenRows:
    """An encoder-decoder's summary of the text, and where each of its words looked."""
    try:
        written = write(writer, text)
        path = require_layer(writer.model, writer.model.config.layers - 1) + ".cross.weights"
        trace = run(writer.model, writer.tokenizer, written, source=text, keep=(path,))
    except TextError as error:  # the text is too long for it
        return (row(str(error), title="A summary in its own words"),)
    assert trace.source is not None  # of an encoder-decoder
    words = {word.lower() for word in WORD.findall(text)}
    own = [word for word in WORD.findall(written) if word.lower() not in words]
    return (
        row(
            f"{written} (Not in the text: {', '.join(own) or 'no word'}.)",
            title="A summary in its own words",
            text="A vector cannot write. An encoder-decoder that was trained on texts and their summaries writes a new "
            "sentence (BART, T5). The shipped one knows only short stories of one kind: change a sentence that "
            "matters, or one that does not. It summarises any other text as the same kind of story.",
        ),
        weights_map(
            "Where each word looked to write the next: cross-attention of the last layer, mean of its heads",
            value(trace, path).mean(0),
            token_labels(trace.text),
            token_labels(trace.source),
        ),
    )


SUMMARY = Screen(
    title="A summary: chosen from the text, or written",
    lesson="An encoder turns each sentence into a vector: the mean of its tokens' last vectors. The main topic lies "
    "near the mean of all sentences, so the nearest sentences make a summary, though nothing was trained for this. An "
    "encoder-decoder that was trained for it writes a summary in its own words.",
    controls={
        "model": ModelControl(title="Encoder", default="stories-masked", needs="encoder"),
        "decoder": ModelControl(title="Encoder-decoder", default="summary", needs="encoder-decoder"),
        "text": TextControl("Text", TEXT, longest=2_000, lines=6),
        "sentences": CountControl("Sentences of the summary", "3", 1, 10),
        "vectors": ChoiceControl("Vectors", "model", VECTORS),
    },
    compute=summary,
    formulas=(
        r"c = \frac{1}{n} \sum_i \frac{s_i}{\lVert s_i \rVert}",
        r"\mathrm{score}_i = \cos(s_i, c)",
    ),
    code=(select, text_vectors, word_vectors, write),
    explore=link("model", "text"),
    elsewhere={"generate": link(model="decoder", source="text", fixed={"text": ""})},
)
