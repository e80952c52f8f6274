"""The hand-written sentences of `assets/held_out` as examples of the tasks on texts."""

from __future__ import annotations

import re

from headlight.data.examples import Example, Link
from headlight.data.text_tasks import sentiment
from headlight.data.text_tasks.entities import OUTSIDE, tagged_example
from headlight.data.text_tasks.words import join_words
from headlight.evaluation.held_out import read_aligned, read_labeled, read_tagged, read_translated
from headlight.paths import assets_dir

_ELIDED = re.compile(r"\w+'")  # J' in J'ai


def hand_written_examples(task: str) -> list[Example]:
    """The examples of a task on texts; a sentence with several translations is as many examples."""
    folder = assets_dir() / "held_out"
    if task == "sentiment":
        return [Example(one.text, sentiment.LABELS[one.label]) for one in read_labeled(folder / "sentiment.tsv")]
    if task == "entities":
        return [
            tagged_example(one.words, [OUTSIDE if tag == "O" else tag[2:] for tag in one.tags])
            for one in read_tagged(folder / "entities.conll")
        ]
    translated = read_translated(folder / "english_french.tsv") if task == "translate" else ()
    return [Example(one.source, reference) for one in translated for reference in one.references]


def aligned_examples() -> list[Example]:
    """English sentences and their French translations, with links between the words that translate each other."""
    examples = []
    for one in read_aligned(assets_dir() / "held_out" / "alignments.tsv"):
        source, source_starts = join_words(one.source)
        target, target_starts = join_french(one.target)
        links = [
            Link(
                (target_starts[second], target_starts[second] + len(one.target[second])),
                (source_starts[first], source_starts[first] + len(one.source[first])),
            )
            for first, second in sorted(one.links)
        ]
        examples.append(Example(source, target, tuple(links)))
    return examples


def join_french(words: tuple[str, ...]) -> tuple[str, list[int]]:
    """French words as one text, and where each begins."""
    text, starts, opens = "", [], True
    for word in words:
        text += "" if opens or word in (".", ",", ")") else " "
        starts.append(len(text))
        text, opens = text + word, word == "(" or _ELIDED.fullmatch(word) is not None
    return text, starts
