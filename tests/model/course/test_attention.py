"""Attention on typed numbers equals PyTorch's."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from headlight.checkpoints import find_checkpoint, load
from headlight.course.attention import attend
from headlight.course.attention_by_hand.design import GOALS, TOLERANCE, learn
from headlight.course.attention_by_hand.projections import MOVING
from headlight.course.attention_by_hand.steps import look_up
from headlight.course.attention_by_hand.who_wrote import WHO_WROTE, writer_name
from headlight.course.chapters import CHAPTERS
from headlight.errors import InputError
from headlight.views.encoding import plain
from headlight.views.kinds import BarsView, HeatMapView, MovingPointsView, Verdict
from headlight.views.rows import as_rows
from tests.model.course.shown import tensor


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 4), st.integers(1, 4), st.integers(0, 99))
def test_a_head_computes_what_torch_computes(queries: int, keys: int, width: int, value_width: int, seed: int) -> None:
    torch.manual_seed(seed)
    q, k, v = torch.randn(queries, width), torch.randn(keys, width), torch.randn(keys, value_width)
    allowed = torch.rand(queries, keys) < 0.8
    allowed[:, 0] = True
    head = attend(q, k, v, allowed=allowed)
    expected = functional.scaled_dot_product_attention(q[None], k[None], v[None], allowed)[0]
    torch.testing.assert_close(head.output, expected)
    torch.testing.assert_close(head.weights.sum(-1), torch.ones(queries))
    assert (head.masked_scores[~allowed] == -torch.inf).all()


def test_matrices_that_do_not_fit_are_told_apart() -> None:
    with pytest.raises(InputError, match="2 channels and keys have 3"):
        attend(torch.zeros(1, 2), torch.zeros(2, 3), torch.zeros(2, 1))
    with pytest.raises(InputError, match="2 keys and 3 values"):
        attend(torch.zeros(1, 2), torch.zeros(2, 2), torch.zeros(3, 1))


def test_a_sharp_look_up_is_a_hard_one() -> None:
    query, keys, values = torch.tensor([[1.0, 0.5]]), torch.tensor([[1.0, 0], [0, 1], [-1, 0]]), torch.eye(3)
    rows = as_rows(look_up(query, keys, values, 20.0))
    bars = rows[0].views[1]
    assert isinstance(bars, BarsView)
    torch.testing.assert_close(
        torch.as_tensor(bars.series["hard"]), torch.as_tensor(bars.series["soft"]), atol=1e-4, rtol=0
    )


def test_points_move_from_the_tokens_to_queries_keys_and_values_and_on_to_the_mean() -> None:
    inputs = MOVING.parse({"query": "1"})
    x, (w_q, w_k, w_v) = inputs["x"], (inputs[name] for name in ("w_q", "w_k", "w_v"))
    moving, weights = MOVING.rows(**inputs)[0].views
    assert isinstance(moving, MovingPointsView) and isinstance(weights, BarsView)
    expected = torch.softmax((x[1] @ w_q) @ (x @ w_k).T / 2**0.5, -1)
    torch.testing.assert_close(tensor(weights.series[""]), expected)
    frames = tensor(moving.frames)
    first, middle, last = frames[0], frames[len(frames) // 2], frames[-1]
    torch.testing.assert_close(first, torch.cat((x[[1]], x, x, x[[1]])))
    torch.testing.assert_close(middle, torch.cat((x[[1]] @ w_q, x @ w_k, x @ w_v, x[[1]] @ w_v)))
    torch.testing.assert_close(last[-1], expected @ (x @ w_v))
    assert len(moving.names) == len(frames) and len(moving.labels) == len(moving.groups) == len(last)
    with pytest.raises(InputError, match="no token 3"):
        MOVING.rows(**MOVING.parse({"query": "3"}))


def test_a_seed_drops_the_same_weights_whatever_was_computed_before() -> None:
    screen = CHAPTERS["attention"].screens["dropout"]
    once, again = (plain(screen.rows(**screen.parse({"rate": "0.15"}))) for _ in range(2))
    assert once == again


@pytest.mark.parametrize("goal", GOALS)
def test_learned_matrices_reach_the_goal_that_a_learner_designs_for(goal: str) -> None:
    found, wanted = learn(goal, 150, 1), torch.tensor(GOALS[goal].weights)
    assert found.missed < TOLERANCE and found.losses[-1] < 0.01 < found.losses[0]
    torch.testing.assert_close(found.values["weights"][0], wanted, atol=TOLERANCE, rtol=0)


def test_the_previous_token_head_wrote_the_key_of_the_induction_head() -> None:
    """With the screen's defaults the answer is the previous-token head of layer 0, and all parts add up."""
    model = load(find_checkpoint("induction"))
    rows = WHO_WROTE.rows(**{**WHO_WROTE.parse({}), "model": model})
    assert rows[0].question is not None and rows[0].question.right == "layer 0, head 1"
    pairs, (verdict,) = rows[1].views[1], rows[2].views
    assert isinstance(pairs, HeatMapView) and isinstance(verdict, Verdict) and verdict.good
    score = float(verdict.text.partition("the score is ")[2].split()[0].rstrip("."))
    assert float(tensor(pairs.values).sum()) == pytest.approx(score, abs=1e-2)
    assert tensor(pairs.values).shape == (len(pairs.rows), len(pairs.columns))


def test_writers_have_names_in_words() -> None:
    paths = ("decoder.0.self[3]", "encoder.2.feed_forward", "decoder.1.bias", "decoder.embedding", "relative_position")
    names = ["layer 0, head 3", "layer 2, network", "layer 1, biases", "token embedding", "relative position"]
    assert [writer_name(path) for path in paths] == names
