"""Tests of token rankings: deletion, measurement, and the scores behind each ranking."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headlight import ConfigError, TextError, Transformer, find_checkpoint, load, run
from headlight.analysis.faithfulness.rankings import KEEP, RANKINGS, compare_rankings, most_faithful
from headlight.analysis.weight_importance import gradient_times_input
from headlight.config import EmbeddingConfig, OutputHeadConfig
from headlight.vision.image import process_image
from tests.model import toys
from tests.model.toys import traced

ANSWER = 7


def probability(model: Transformer, text_ids: tuple[int, ...], gone: list[int], position: int) -> float:
    """The answer's probability with some tokens hidden."""
    seen = torch.ones(1, len(text_ids), dtype=torch.bool)
    seen[0, gone] = False
    logits = model(torch.tensor([text_ids]), padding_mask=seen)
    assert logits is not None
    return float(logits[0, position].softmax(-1)[ANSWER])


def test_curves_are_what_deleting_and_keeping_tokens_gives() -> None:
    model = toys.decoder()
    trace, position = traced(model, keep=KEEP), 5
    found = compare_rankings(model, trace, position, ANSWER)
    assert set(found) == {*RANKINGS, "random"}
    for name in RANKINGS:
        each = found[name]
        assert sorted(each.order) == [0, 1, 2, 3, 4] and each.steps.tolist() == [0, 1, 2, 3, 4, 5]
        assert (np.diff(each.scores[each.order]) <= 0).all(), "largest first"
        for step in each.steps:
            gone, there = each.order[:step].tolist(), each.order[step:].tolist()
            assert each.deletion[step] == pytest.approx(probability(model, trace.text.ids, gone, position), abs=1e-6)
            assert each.insertion[step] == pytest.approx(probability(model, trace.text.ids, there, position), abs=1e-6)
        assert each.deletion_area == pytest.approx((each.deletion[:-1] + each.deletion[1:]).mean() / 2, abs=1e-6)
        assert each.insertion_area == pytest.approx((each.insertion[:-1] + each.insertion[1:]).mean() / 2, abs=1e-6)
    assert np.isnan(found["random"].scores).all()
    assert found["random"].deletion[[0, -1]] == pytest.approx(found["weight"].deletion[[0, -1]], abs=1e-6)


def test_a_ranking_is_most_faithful_only_where_it_beats_random_order() -> None:
    """Rankings with the same order are named together."""
    opened = load(find_checkpoint("ladder-7-depth"))
    trace = run(opened.model, opened.tokenizer, "was Anna old boy", keep=KEEP)
    found = compare_rankings(opened.model, trace, -1, int(trace["logits"][-1].argmax()))
    assert most_faithful(found) == (("gradient-times-input", "deletion"), ())


def test_deletion_ranks_by_what_each_token_alone_takes_away() -> None:
    model, position = toys.encoder(), 3
    trace = traced(model)
    scores = compare_rankings(model, trace, position, ANSWER)["deletion"].scores
    whole = np.log(probability(model, trace.text.ids, [], position))
    for token in (0, 4):
        lost = whole - np.log(probability(model, trace.text.ids, [token], position))
        assert scores[token] == pytest.approx(lost, abs=1e-4)


def test_gradient_times_input_is_the_derivative_by_the_size_of_an_embedding() -> None:
    model, step = toys.decoder(), 1e-2
    found = gradient_times_input(model, traced(model), 4, ANSWER)

    def log_probability(scale: float) -> float:
        trace = traced(model, f"decoder.embedding[2]=scale:{scale}")
        return float(torch.tensor(trace["logits"][4]).double().log_softmax(-1)[ANSWER])

    assert found[2] == pytest.approx((log_probability(1 + step) - log_probability(1 - step)) / (2 * step), rel=1e-2)
    assert not found[5:].any()


def test_texts_and_images_that_are_labelled_as_a_whole() -> None:
    judge = toys.encoder(
        output_head="sequence-classifier", labels=("a", "b"), embedding=EmbeddingConfig(tied=False), pooling="mean"
    )
    found = compare_rankings(judge, traced(judge), 0, 1)
    assert set(found) == {*RANKINGS, "random"} - {"alti-logit"}
    assert len(found["weight"].order) == len(traced(judge).text.ids), "every token can be deleted"
    seer = toys.seer()
    trace = run(seer, toys.causal(), process_image(toys.photo(), seer.config.image))
    assert sorted(compare_rankings(seer, trace, 0, 1)["rollout"].order) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(("second", "rows", "kept"), [("second", [0, 1], 2), ("mean-but-first", [0, 3, 4, 5, 6], 1)])
def test_a_head_that_reads_two_vectors_is_asked_for_both(second: str, rows: list[int], kept: int) -> None:
    seer = toys.seer(output_head_config=OutputHeadConfig(second_pooling=second, skipped_tokens=2 * (kept == 1)))
    trace = run(seer, toys.causal(), process_image(toys.photo(), seer.config.image))
    found = compare_rankings(seer, trace, -1, 1)["weight"]
    assert sorted(found.order) == list(range(kept, 7)), "what the head reads itself cannot be deleted"
    assert found.scores == pytest.approx(trace.attention().mean((0, 1))[rows].mean(0), abs=1e-6)


def test_what_cannot_be_compared_gets_a_sentence() -> None:
    model = toys.decoder()
    for position, answer, sentence in ((99, 7, "no token 99"), (3, 9999, "no answer 9999"), (0, 7, "none to delete")):
        with pytest.raises(TextError, match=sentence):
            compare_rankings(model, traced(model), position, answer)
    for other, sentence in ((toys.both(), "reads two"), (toys.encoder(output_head="none"), "no prediction|without")):
        with pytest.raises(ConfigError, match=sentence):
            compare_rankings(other, traced(other, source=toys.source(other, "a small bird")), 1, 7)
