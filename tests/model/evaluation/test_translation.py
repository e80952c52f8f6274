"""BLEU: all reference translations count, and their number may differ between sentences."""

import pytest

from headlight import find_checkpoint, load
from headlight.data.examples import Example
from headlight.errors import DataError
from headlight.evaluation.text_tasks import (
    BEAMS,
    SHORT_WORDS,
    Sample,
    corpus_bleu,
    group_references,
    sample_table,
    translate,
    translation_quality,
)


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


SENTENCES = {
    "We will go to the sea tomorrow with our friends.": ("Nous allons aller à la mer demain avec nos amis.",),
    "The black cat sleeps on the old chair.": ("Le chat noir dort.", "Le chat noir dort sur la vieille chaise."),
    "I am happy.": ("Je suis heureux.",),
}


def test_a_translator_is_measured_on_so_many_sentences_with_all_their_translations() -> None:
    checkpoint = load(find_checkpoint("translate"), device="cpu")
    examples = [Example(text, answer) for text, answers in SENTENCES.items() for answer in answers]
    found = translation_quality(checkpoint, "translate", examples, 9, seed=1)
    assert found.examples == 3 and {sample.text: sample.right for sample in found.samples} == SENTENCES
    greedy, beam = "greedy decoding", f"beam search with {BEAMS} beams"
    assert {name: bleu.sentences for name, bleu in found.bleu.items()} == {
        beam: 3, f"{beam}, up to {SHORT_WORDS} words": 2, greedy: 3, f"{greedy}, up to {SHORT_WORDS} words": 2,
    }  # fmt: skip
    assert found.bleu[greedy].score > found.bleu[beam].score + 5, "beam search writes irons instead of allons"
    assert [sample.answer for sample in found.samples] == [
        translate(checkpoint, text.text, 1) for text in found.samples
    ]
    drawn = {translation_quality(checkpoint, "translate", examples, 1, seed).samples[0].text for seed in range(4)}
    assert len(drawn) > 1 and drawn <= set(SENTENCES)


def test_without_sacrebleu_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headlight.evaluation.text_tasks.find_spec", lambda name: None)
    checkpoint = load(find_checkpoint("translate"), device="cpu")
    with pytest.raises(DataError, match="pip install sacrebleu"):
        translation_quality(checkpoint, "translate", [Example("a", "b")], 1, seed=0)
