"""Scores of labels, their baselines, and the joining of labelled words into texts."""

import torch
from torch.nn import functional

from headlight.data.bag_of_words import PENALTY, LogisticRegression, NaiveBayes, character_ngrams, fitted_weights
from headlight.data.examples import Example
from headlight.data.text_tasks import join_words, tagged_example
from headlight.evaluation.example_accuracy import AnswerBigrams
from headlight.evaluation.text_tasks import EntityScore, MostFrequentLabels, accuracy, entities, entity_score

KINDS = ("PER", "LOC", "ORG")


def test_words_are_joined_as_people_type_them() -> None:
    words = ["Ida", "(", "30", ")", "did", "n't", "see", "Ben", "'s", "dog", ",", "she", "said", "."]
    text, starts = join_words(words)
    assert text == "Ida (30) didn't see Ben's dog, she said."
    assert [text[start : start + len(word)] for word, start in zip(words, starts, strict=True)] == words


def test_each_word_and_mark_keeps_its_label_when_words_are_joined() -> None:
    example = tagged_example(["Ida-May", "did", "n't", "see", "Rome", "."], ["PER", "O", "O", "O", "LOC", "O"])
    assert example == Example("Ida-May didn't see Rome.", "PER PER PER O O O O LOC O")


def test_a_name_counts_where_kind_and_extent_are_right() -> None:
    assert entities("PER PER O LOC PER", KINDS) == {("PER", 0, 2), ("LOC", 3, 4), ("PER", 4, 5)}
    examples = [Example("a b c d", "PER PER O LOC"), Example("a b", "O ORG")]
    score = entity_score(examples, ["PER O O LOC", "O ORG"], KINDS)
    assert score == EntityScore(right=2, found=3, wanted=3) and score.precision == score.recall == score.f1 == 2 / 3
    assert entity_score(examples, ["O O O O", "O O"], KINDS).f1 == 0
    assert entity_score(examples, ["PER O O LOC", "O ORG"], ["LOC"]) == EntityScore(1, 1, 1)


def test_naive_bayes_answers_with_the_likelier_label() -> None:
    bayes = NaiveBayes([Example("not good", "bad"), Example("very good", "fine"), Example("not bad at all", "fine")])
    assert bayes.answer("it was not good") == "bad" and bayes.answer("Not bad") == "fine"
    result = accuracy([Example("not good", "bad"), Example("very good", "bad")], ["bad", "fine"])
    assert result.value == 0.5 and abs(result.standard_error - 0.3536) < 1e-3


def test_characters_of_words_are_counted_with_their_ends() -> None:
    assert list(character_ngrams("So! Dogs")) == [
        *("<so", "so>", "<so>", "<!>"),
        *("<do", "dog", "ogs", "gs>", "<dog", "dogs", "ogs>", "<dogs", "dogs>"),
    ]
    examples = [
        Example("unlovable", "bad"),
        Example("lovely", "fine"),
        Example("hated", "bad"),
        Example("love", "fine"),
    ]
    assert NaiveBayes(examples, character_ngrams).answer("lover") == "fine", "an unseen word with known n-grams"


def test_a_regression_counts_words_that_come_together_once() -> None:
    examples = [Example(text, "fine") for text in ("warm honest fun", "warm honest", "warm honest play", "lovely")]
    examples += [Example(text, "bad") for text in ("dull", "dull play", "lovely but dull", "a dull mess")]
    found = {
        text: LogisticRegression(examples).log_probabilities(text) for text in ("warm honest", "dull", "unheard of")
    }
    assert found["warm honest"]["fine"] > found["warm honest"]["bad"] and found["dull"]["bad"] > found["dull"]["fine"]
    log_odds = {text: each["fine"] - each["bad"] for text, each in found.items()}
    counted = NaiveBayes(examples).log_probabilities("warm honest")
    assert log_odds["warm honest"] < counted["fine"] - counted["bad"]
    assert abs(log_odds["unheard of"]) < log_odds["warm honest"] / 2, "an unseen word is no evidence"


def test_a_regression_has_found_the_least_loss() -> None:
    ratios = torch.tensor([[1.0, -1.0], [0.5, -0.5], [-2.0, 2.0]])
    bags, targets = [[0, 1], [2], [1], [0, 2]], torch.tensor([0, 1, 0, 1])
    weights, bias = fitted_weights(ratios, bags, targets)
    factors = (weights / ratios).requires_grad_()
    logits = torch.stack([(factors * ratios)[bag].sum(0) for bag in bags]) + torch.tensor(bias)
    loss = functional.cross_entropy(logits, targets, reduction="sum") + PENALTY * factors.square().sum()
    (slope,) = torch.autograd.grad(loss, factors)
    assert slope.abs().max() < 1e-3 and loss < 4 * 0.6


def test_each_word_gets_its_most_frequent_label() -> None:
    frequent = MostFrequentLabels(
        [Example("Rome won", "ORG O"), Example("in Rome", "O LOC"), Example("to Rome", "O LOC")]
    )
    assert frequent.answer("Rome, never!") == "LOC O O O"


def test_bigrams_of_answers_guess_what_usually_follows() -> None:
    bigrams = AnswerBigrams([["a", "red", "dog"], ["a", "red", "cat"], ["a", "big", "cat"], ["the", "cat"]])
    assert bigrams.tokens_right(["a", "red", "dog"]) == 3  # "dog" and "cat" are tied after "red": the first wins
    assert bigrams.tokens_right(["the", "red", "fox"]) == 0 and bigrams.tokens_right(["a", "big", "cat"]) == 2
