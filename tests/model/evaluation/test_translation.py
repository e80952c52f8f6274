"""BLEU: all translations of a sentence count, and sentences may have different numbers of them."""

import pytest

from headlight.data.examples import Example
from headlight.evaluation.text_tasks import Sample, corpus_bleu, group_references, sample_table


def test_translations_of_the_same_words_are_references_together() -> None:
    examples = [Example("Go on.", "Continue."), Example("Stop!", "Arrête !"), Example("Go on!", "Continuez !")]
    examples += [Example("Go on.", "Continue.")]
    assert group_references(examples) == {"Go on.": ("Continue.", "Continuez !"), "Stop!": ("Arrête !",)}


def test_any_reference_makes_a_translation_right() -> None:
    right = [
        Sample("", "Le chat noir dort là.", ("Un chien brun court ici.", "Le chat noir dort là.")),
        Sample("", "Nous allons à la mer.", ("Nous allons à la mer.",)),
    ]
    bleu = corpus_bleu(right)
    assert bleu.score == pytest.approx(100) and bleu.sentences == 2 and "nrefs:var" in bleu.signature
    assert corpus_bleu([Sample("", "Rien du tout ici.", right[0].right)]).score < 20


def test_samples_say_what_would_have_been_right() -> None:
    table = sample_table([Sample("a", "b", ("b",)), Sample("c|d", "e", ("f", "g"))])
    assert table.splitlines()[2:] == ["| a | b | yes |", "| c\\|d | e | no: f / g |"]
