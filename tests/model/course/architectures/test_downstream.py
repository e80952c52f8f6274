"""Question answering and summaries: the screens show the models' answers for the learner's own text."""

from functools import lru_cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import find_checkpoint, load
from headlight.checkpoints import Checkpoint
from headlight.course.architectures.asked_decoder import (
    QUESTION_ANSWERING,
    parse_questions,
    passage_words,
    question_answering,
    rank_words,
)
from headlight.course.architectures.summary import SUMMARY, select, split_sentences, summary, word_vectors
from headlight.course.sentences import word_pieces
from headlight.errors import InputError
from headlight.views.kinds import HeatMapView, TableView, Verdict
from headlight.views.rows import as_rows
from tests.model.course.shown import tensor, views

PASSAGE = "Ben has a blue kite and Anna has a red car, said Hezekiah."


@lru_cache(maxsize=2)
def opened(name: str) -> Checkpoint:
    return load(find_checkpoint(name))


@torch.inference_mode()
def test_a_word_is_as_likely_as_its_tokens_one_after_the_other() -> None:
    model = opened("stories-causal")
    words = passage_words(PASSAGE)
    assert any(len(word_pieces(model, word)) > 1 for word in words)
    ranking = rank_words(model, f"{PASSAGE} Ben has a blue", words)
    prompt = list(model.tokenizer.encode(f"{PASSAGE} Ben has a blue").ids)
    for word, found in zip(words, ranking.probabilities, strict=True):
        pieces, chance = word_pieces(model, word), 1.0
        for at, token in enumerate(pieces):
            chance *= float(model.model(torch.tensor([prompt + list(pieces[:at])]))[0, -1].softmax(-1)[token])
        assert float(found) == pytest.approx(chance, rel=1e-3)
    assert ranking.best == words[int(ranking.probabilities.argmax())]
    assert float(ranking.shares.sum()) == pytest.approx(1)


def test_an_answer_comes_from_the_passage_and_another_passage_gives_another() -> None:
    model = opened("stories-causal")
    for place in ("garden", "kitchen"):
        passage = f"Mia had a hat and a ball. She lost her hat in the {place}."
        table = as_rows(question_answering(model, passage, f"The hat was in the: {place}", 1))[0]
        (picture,) = table.views
        assert isinstance(picture, TableView) and str(picture.rows[0][2]).startswith(f"✓ {place}")


def test_what_is_no_question_gets_a_sentence() -> None:
    for text, said in (("Ben has a blue", "Line 1"), (": kite", "Line 1"), ("a: b\n" * 7, "7 questions")):
        with pytest.raises(InputError, match=said):
            parse_questions(text)
    with pytest.raises(InputError, match="no question 3"):
        question_answering(opened("stories-causal"), PASSAGE, "Ben has a: kite\nAnna has a: car", 3)
    assert QUESTION_ANSWERING.explore is not None
    assert QUESTION_ANSWERING.explore("stories-causal", PASSAGE, "x: y", 9)["text"] == f"{PASSAGE} x"


@given(
    sentences=st.lists(st.text("abc ", min_size=1, max_size=9).filter(str.strip), min_size=3, max_size=20),
    end=st.sampled_from([". ", "! ", "?\n", ".” ", "\n"]),
)
def test_a_text_comes_apart_into_its_sentences(sentences: list[str], end: str) -> None:
    assert len(split_sentences("".join(each.strip() + end for each in sentences))) == len(sentences)


@given(
    st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3), min_size=3, max_size=8), st.integers(1, 3)
)
def test_a_summary_keeps_the_order_and_takes_the_nearest(vectors: list[list[float]], count: int) -> None:
    selection = select(torch.tensor(vectors), count)
    left_out = [at for at in range(len(vectors)) if at not in selection.chosen]
    assert selection.chosen == tuple(sorted(selection.chosen)) and len(selection.chosen) == count
    if left_out:
        assert selection.cosines[list(selection.chosen)].min() >= selection.cosines[left_out].max()


def test_a_word_of_every_sentence_counts_nothing_and_a_rare_one_much() -> None:
    vectors = word_vectors(("the cat", "the dog", "the dog the"))
    assert vectors.shape == (3, 3)  # cat, dog, the
    assert vectors[:, 2].abs().max() == 0 and vectors[0, 0] > vectors[1, 1] > 0


def test_a_summary_leaves_something_out() -> None:
    values = SUMMARY.parse({}) | {"model": opened("stories-masked"), "decoder": opened("summary")}
    written = as_rows(summary(**values))[1].views[0]
    assert isinstance(written, Verdict) and len(split_sentences(written.text)) == values["sentences"]
    with pytest.raises(InputError, match="5 sentences"):
        summary(**values | {"sentences": 5})
    for text in ("One. Two.", "A b. " * 21):
        with pytest.raises(InputError, match="3 to 20 sentences"):
            split_sentences(text)


@pytest.mark.parametrize(
    ("text", "summary_of_it"),
    [
        (SUMMARY.controls["text"].default, "Tom lost a ball in the park, and Anna helped."),
        ("Ben sang. In the barn, Nora sat on the drum by mistake. Tim slammed the door.",
         "Nora broke a drum in the barn, and Tim was angry."),
    ],
)  # fmt: skip
def test_a_summary_is_written_in_words_that_the_text_does_not_have(text: str, summary_of_it: str) -> None:
    values = SUMMARY.parse({"text": text, "sentences": "1"})
    answer = summary(**values | {"model": opened("stories-masked"), "decoder": opened("summary")})
    assert any(summary_of_it in each.text for each in views(answer, Verdict))
    (weights,) = [each for each in views(answer, HeatMapView) if each.row_axis == "query"]
    torch.testing.assert_close(tensor(weights.values).sum(1), torch.ones(len(weights.rows)), atol=0.01, rtol=0)
