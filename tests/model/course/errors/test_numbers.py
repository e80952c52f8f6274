"""Errors in notes, each compared with a number computed independently: on numbers and in a model."""

from math import cos, exp, pi, sin, sqrt

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from headlight import find_checkpoint, load
from headlight.checkpoints.load import Checkpoint
from headlight.course.attention_by_hand.projections import PROJECTIONS
from headlight.course.attention_by_hand.scaling import ROOT, SCALING
from headlight.course.errors.channels import PAIRS, read_as_channels, sign_changes
from headlight.course.errors.missing_names import CALLS, MISSING_NAMES, needed_names
from headlight.course.masks.look_ahead import LIFTED, OTHER_MASKS, decoder_parts, other_mask
from headlight.course.masks.matrices import BEFORE_AFTER, BROADCAST
from headlight.course.positions.waves import waves
from headlight.course.screen import ScreenRows
from headlight.course.tokens.model_screens import CONTEXT
from headlight.course.tokens.model_vectors import classify_alone, first_mask
from headlight.errors import InputError
from headlight.nn.masks import QueryKeyPositions, combine_masks, parse_masks
from headlight.nn.transformer import variant
from headlight.tracing.run import run
from headlight.views.kinds import BarsView, LinesView, MatrixView, TableView, Verdict
from tests.model import toys
from tests.model.course.shown import compute, sentences, tensor, verdict, views


def bars(answer: ScreenRows) -> dict[str, Tensor]:
    (picture,) = views(answer, BarsView)[-1:]
    return {name: tensor(values) for name, values in picture.series.items()}


def matrices(answer: ScreenRows) -> list[Tensor]:
    return [tensor(view.values) for view in views(answer, MatrixView)]


def test_i_counts_pairs_of_channels() -> None:
    read, right = read_as_channels(5, 6), waves(5, 6, 10_000.0)
    for place in range(5):
        for channel in range(6):
            wave = sin if channel % 2 == 0 else cos
            assert float(read[place, channel]) == pytest.approx(wave(place / 10_000 ** (2 * channel / 6)))
            assert float(right[place, channel]) == pytest.approx(wave(place / 10_000 ** (2 * (channel // 2) / 6)))


def test_the_longest_waves_are_those_of_both_readings() -> None:
    answer = compute(PAIRS, d_model="8", length="20")
    assert views(answer, TableView)[0].rows[-1] == (
        "7",
        "3",
        f"{2 * pi * 10_000**0.75:,.1f}",
        f"{2 * pi * 10_000**1.75:,.1f}",
    )
    span = {
        (channel, number): max(wave) - min(wave)
        for channel in range(8)
        for number in (channel, channel // 2)
        for wave in [[(sin, cos)[channel % 2](place / 10_000 ** (2 * number / 8)) for place in range(20)]]
    }
    still = [sum(span[channel, number(channel)] < 0.1 for channel in range(8)) for number in (int, lambda c: c // 2)]
    assert (
        f"{still[0]} of 8 channels then hardly move (by less than 0.1), but only {still[1]}"
        in views(answer, Verdict)[0].text
    )
    assert "distances between positions stay the same" in views(answer, Verdict)[1].text


@given(st.integers(2, 32).map(lambda half: 2 * half), st.integers(4, 60).map(lambda half: 2 * half))
def test_a_channel_is_as_fast_late_as_it_is_early(d_model: int, length: int) -> None:
    encodings = waves(length, d_model, 10_000.0)
    first, second = sign_changes(encodings[: length // 2]), sign_changes(encodings[length // 2 :])
    assert int((first - second).abs().max()) <= 1, "the two halves differ by at most one crossing, at their ends"
    assert int(first[0]) >= int(first[-1])


def test_the_fast_channel_is_counted_on_the_screen() -> None:
    first, second = bars(compute(PAIRS, d_model="32", length="200")).values()
    assert first[0] == pytest.approx(100 / pi, abs=1) and second[0] == pytest.approx(100 / pi, abs=1)
    assert first[-1] == second[-1] == 0


def test_a_score_of_zero_gets_weight() -> None:
    answer = compute(BEFORE_AFTER, way="scores", scores="1,5;2,3")
    right, wrong = matrices(answer)[1], matrices(answer)[3]
    assert right.tolist() == [[1.0, 0.0], pytest.approx([1 / (1 + exp(1)), exp(1) / (1 + exp(1))])]
    assert wrong[0].tolist() == pytest.approx([exp(1) / (exp(1) + 1), 1 / (exp(1) + 1)])
    assert bars(answer)[""].tolist() == pytest.approx([exp(1) / (exp(1) + 1), 1])
    kept, overwritten = matrices(answer)[-2:]
    assert kept.tolist() == [[1, 5], [2, 3]] and overwritten.tolist() == [[1, -torch.inf], [2, 3]]
    with pytest.raises(InputError, match="3 rows and 2 columns"):
        compute(BEFORE_AFTER, scores="1,2;3,4;5,6")


def test_a_weight_of_zero_after_the_softmax_leaves_less_than_one() -> None:
    answer = compute(BEFORE_AFTER, scores="0,0;0,0")
    assert matrices(answer)[3].tolist() == [[0.5, 0], [0.5, 0.5]]
    assert views(answer, MatrixView)[3].row_sums and not views(answer, BarsView)  # the sums, once


@pytest.mark.parametrize(
    ("keys", "d_model", "words"),
    [("6", "16", "it needs 6 cells"), ("6", "6", "as many tokens as"), ("6", "1", "an axis of 1")],
)
def test_a_mask_of_channels_fits_by_chance_alone(keys: str, d_model: str, words: str) -> None:
    answer = compute(BROADCAST, way="channels", keys=keys, d_model=d_model)
    (said,) = views(answer, Verdict)
    assert words in said.text and said.good is False
    assert said.text.startswith("RuntimeError: ") is (words == "it needs 6 cells")
    question = answer[1].question
    assert question and (question.right == "an error") is (d_model == "16")


def test_only_the_root_of_the_width_of_a_head_keeps_the_spread() -> None:
    answer = compute(SCALING, width="64", heads="4")
    spread = {str(name): float(found) for name, _, _, found, _ in views(answer, TableView)[0].rows}
    assert spread[ROOT] == pytest.approx(1, abs=0.1)
    assert spread["nothing"] == pytest.approx(8, abs=0.8) and spread["d_k itself"] == pytest.approx(1 / 8, abs=0.02)
    assert spread["√d_model, the width of all heads"] == pytest.approx(1 / 2, abs=0.05)
    largest = dict(zip(spread, bars(answer)[""].tolist(), strict=True))
    assert largest["nothing"] > largest[ROOT] > largest["√d_model, the width of all heads"] > largest["d_k itself"]
    one = {row[0]: row[1] for row in views(compute(SCALING, heads="1"), TableView)[0].rows}
    assert one[ROOT] == one["√d_model, the width of all heads"] == sqrt(64)


def test_rows_and_columns_need_a_transpose() -> None:
    answer = compute(PROJECTIONS, target="1,2;3,4", w_q="1,2;0,1", w_k="0,1;1,0")
    columns, mixed, rows = matrices(answer)[-3:]
    # Q x = (5, 2), (11, 4); K x = (2, 1), (4, 3)
    assert columns.tolist() == [[12, 26], [26, 56]] and rows.tolist() == columns.tolist()
    # x Q = (1, 4), (3, 10); x K = (2, 1), (4, 3)
    assert mixed.tolist() == [[6, 16], [16, 42]]
    said = views(answer, Verdict)[1]
    assert "differ by up to 14" in said.text and said.good is False
    same = views(compute(PROJECTIONS, w_q="1,2;2,1", w_k="3,0;0,1"), Verdict)[1]
    assert same.good and "agree" in same.text
    assert len(views(compute(PROJECTIONS, w_q="1,2,3;2,1,3", w_k="3,0,1;0,1,1"), Verdict)) == 2, "not square"


@pytest.mark.parametrize("function", CALLS)
def test_a_function_fails_when_it_is_called_without_its_imports(function: str) -> None:
    needed = needed_names(CALLS[function][0])
    bare, whole = (compute(MISSING_NAMES, function=function, imports=imports) for imports in ("nothing", "all"))
    result = views(bare, TableView)[1].rows[1][1]
    assert str(result).startswith("NameError: name ") is bool(needed)
    assert str(views(whole, TableView)[1].rows[1][1]).startswith("an answer of shape")
    assert views(whole, Verdict)[0].good and views(bare, Verdict)[0].good is (not needed)


STRICT = OTHER_MASKS["itself"].masks


def test_the_strict_mask_forbids_the_diagonal_and_no_more(decoder: Checkpoint) -> None:
    places = torch.arange(9)
    allowed = combine_masks(parse_masks(STRICT), QueryKeyPositions(places, places))[0, 0]
    assert torch.equal(allowed, torch.ones(9, 9).tril(-1).bool())
    answer = other_mask(decoder, toys.SENTENCE, "itself")
    (bars,) = views(answer, BarsView)
    for name, masks in (("j ≤ i", "causal"), ("j < i", STRICT)):
        trace = run(variant(decoder.model, masks=masks), decoder.tokenizer, toys.SENTENCE)
        logits = torch.tensor(trace["logits"])[:-1]
        losses = torch.nn.functional.cross_entropy(logits, torch.tensor(trace.text.ids)[1:], reduction="none")
        assert tensor(bars.series[name]).tolist() == pytest.approx(losses.tolist(), rel=1e-3)
    assert LIFTED.explore is not None and LIFTED.explore(model="m", text="t", mask="itself")["masks"] == STRICT


def test_the_classifier_reads_one_vector_which_has_read_the_sentence(encoder: Checkpoint) -> None:
    text, other = "the cat [MASK] on the mat", "the dog [MASK] on the mat"
    answer = compute(CONTEXT, encoder, word="[MASK]", one=text, other=other)
    cosines = tensor(views(answer, LinesView)[0].series["cosine"])
    assert float(cosines[0]) == pytest.approx(1) and float(cosines[-1]) < 1 - 1e-6, "layers mix in the changed word"
    trace, place = first_mask(encoder, text)
    alone = classify_alone(encoder.model, torch.tensor(trace["encoder.final_residual"][place]))
    assert alone.tolist() == pytest.approx(trace["logits"][place].tolist(), abs=1e-5)
    assert "gives the same logits, up to rounding." in sentences(answer)
    with pytest.raises(InputError, match="does not contain the word"):
        compute(CONTEXT, encoder, word="[MASK]", one=text, other="the cat sat")


def test_a_decoder_has_a_mask_and_cross_attention_only_beside_an_encoder(decoder: Checkpoint) -> None:
    alone = decoder_parts(decoder, "nothing", toys.SENTENCE)
    both = decoder_parts(load(find_checkpoint("dates")), "third of March 2021", "2021-03")
    for answer, cross in ((alone, 0), (both, 2)):
        (table,) = views(answer, TableView)
        kinds = [str(row[0]) for row in table.rows]
        assert sum("cross" in kind for kind in kinds) == cross and verdict(answer).good
        masked = [row for row in table.rows if "self" in str(row[0])]
        assert all(row[4] == "0.00" and float(row[5]) > 0 for row in masked)
    lifted = Checkpoint(variant(decoder.model, masks="none"), decoder.tokenizer, "")
    assert verdict(decoder_parts(lifted, "", toys.SENTENCE)).good is False
    trace = run(lifted.model, lifted.tokenizer, toys.SENTENCE)
    most = max(float(np.triu(trace[path], 1).max()) for path in trace.values if path.endswith("self.weights"))
    assert f"more than {most:.2f}" in verdict(decoder_parts(lifted, "", toys.SENTENCE)).text
