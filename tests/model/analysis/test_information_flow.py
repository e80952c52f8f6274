"""Information flow: the importances of a sum add up to one, and the graph follows the attention weights."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
import torch

from headlight import ConfigError, TextError
from headlight.analysis.information_flow import KEEP, Edge, information_flow, proximity
from headlight.config import ResidualConfig
from headlight.nn.stack import NORM_PLACEMENTS
from tests.model import toys
from tests.model.toys import traced
from tests.sampling import combinations

ALL = 1e-9  # a threshold that keeps every edge


def importances_by_sum(edges: tuple[Edge, ...]) -> dict[tuple[int, int, str], list[float]]:
    """The importances of each sum; a feed-forward's sum has no edge for its stream."""
    sums = defaultdict(list)
    for edge in edges:
        sums[edge.layer, edge.target, "feed_forward" if edge.kind == "feed_forward" else "attention"].append(
            edge.importance
        )
    return sums


@pytest.mark.parametrize(
    ("placement", "parallel", "more"),
    combinations(NORM_PLACEMENTS, [False, True], [{}, {"feed_forward": "none"}, {"residual.laurel_rank": 3}]),
    ids=str,
)
def test_the_importances_of_a_sum_add_up_to_one(placement: str, parallel: bool, more: dict[str, Any]) -> None:
    model = toys.decoder(norm_placement=placement, residual=ResidualConfig(parallel=parallel), bias=True, **more)
    sums = importances_by_sum(information_flow(model, traced(model), 4, ALL))
    for (_, _, kind), shares in sums.items():
        assert all(share >= 0 for share in shares)
        assert sum(shares) == pytest.approx(1.0, abs=1e-4) if kind == "attention" else sum(shares) <= 1


def test_a_layer_embedding_has_an_edge_and_the_sums_stay_one() -> None:
    model = toys.decoder(**toys.UNLIKE)
    edges = information_flow(model, traced(model), 4, ALL)
    assert {edge.layer for edge in edges if edge.kind == "layer_embedding"} == {0, 1, 2, 3}
    attention = [edge for edge in edges if edge.kind in ("residual", "self")]
    for layer in range(4):
        for target in {edge.target for edge in attention if edge.layer == layer}:
            shares = [edge.importance for edge in attention if (edge.layer, edge.target) == (layer, target)]
            assert sum(shares) == pytest.approx(1.0, abs=1e-4)


def test_several_streams_are_refused() -> None:
    model = toys.decoder(**toys.STREAMS)
    with pytest.raises(ConfigError, match="several residual streams side by side; information flow is not available"):
        information_flow(model, traced(model))


def test_an_edge_is_the_sum_of_its_heads() -> None:
    model = toys.decoder()
    edges = [edge for edge in information_flow(model, traced(model), 4, ALL) if edge.kind == "self"]
    assert edges
    for edge in edges:
        shares = [share for _, share in edge.heads]
        assert sum(shares) == pytest.approx(edge.importance, abs=1e-6)
        assert shares == sorted(shares, reverse=True)
        assert edge.source <= edge.target


def test_importances_by_hand_in_a_pre_norm_block() -> None:
    """Ferrando and Voita 2024, equations 3 to 5, term by term in NumPy."""
    model = toys.decoder(layers=1)
    trace = traced(model)
    attention = model.stack("decoder").blocks[0].self_attention
    weights, v = trace["decoder.0.self.weights"], trace["decoder.0.self.v"]
    projection = attention.output.weight.numpy()  # type: ignore[union-attr, operator]
    stream = trace["decoder.0.residual"][3].astype(np.float64)
    terms = {
        (head, j): projection[:, head * 4 : head * 4 + 4] @ (weights[head, 3, j] * v[head, j])
        for head in range(4)
        for j in range(4)
    }
    whole = stream + sum(terms.values())
    near = {key: max(0.0, np.abs(whole).sum() - np.abs(whole - term).sum()) for key, term in terms.items()}
    rest = max(0.0, np.abs(whole).sum() - np.abs(whole - stream).sum())
    total = sum(near.values()) + rest
    found = {(edge.kind, edge.source): edge for edge in information_flow(model, trace, 3, ALL)}
    assert found["residual", 3].importance == pytest.approx(rest / total, abs=1e-5)
    for j in range(4):
        wanted = sum(near[head, j] for head in range(4)) / total
        assert found["self", j].importance == pytest.approx(wanted, abs=1e-5) if wanted > 1e-6 else True


def test_a_token_without_attention_has_no_edge() -> None:
    model = toys.decoder()

    def sources(*edits: str) -> set[int]:
        return {
            edge.source
            for edge in information_flow(model, traced(model, *edits), 4, ALL)
            if edge.kind == "self" and edge.target == 4
        }

    before = sources()
    assert len(before) > 1
    for source in before:
        assert source not in sources(f"decoder.*.self.mask[:,4,{source}]=set:0")


def test_a_higher_threshold_leaves_a_part_of_the_graph() -> None:
    model = toys.decoder()
    few, many = (set(information_flow(model, traced(model), 5, threshold)) for threshold in (0.1, 0.01))
    assert few < many
    assert all(edge.importance >= 0.1 for edge in few)


def test_cross_attention_edges_end_at_the_source() -> None:
    model = toys.both()
    edges = information_flow(model, traced(model, source="a small bird sang in the tree"), 3, 0.001)
    assert {edge.kind for edge in edges} == {"residual", "self", "cross", "feed_forward"}
    assert max(edge.source for edge in edges if edge.kind == "cross") < 9
    assert max(edge.target for edge in edges) == 3


def test_a_term_that_points_away_has_no_importance() -> None:
    whole = torch.tensor([1.0, 2.0])
    found = proximity(torch.stack((whole, -whole, 0.5 * whole, torch.zeros(2))), whole)
    assert found.tolist() == pytest.approx([3.0, 0.0, 1.5, 0.0])


def test_keep_is_enough() -> None:
    model, edit = toys.decoder(key_value_heads=2), "decoder.0.self.weights[1]=set:0"
    small = traced(model, edit, keep=KEEP)
    assert "decoder.0.self.weights" not in small.values
    assert information_flow(model, small, 4) == information_flow(model, traced(model, edit), 4)


def test_skipped_terms_are_negligible(monkeypatch: pytest.MonkeyPatch) -> None:
    model = toys.decoder()
    trace = traced(model, "decoder.*.self.weights=scale:0.02")  # many small terms
    some = {
        (edge.layer, edge.kind, edge.target, edge.source): edge.importance
        for edge in information_flow(model, trace, 5, ALL)
    }
    monkeypatch.setattr("headlight.analysis.information_flow.NEGLIGIBLE_SHARE", 0.0)
    all_of_it = {
        (edge.layer, edge.kind, edge.target, edge.source): edge.importance
        for edge in information_flow(model, trace, 5, ALL)
    }
    assert some != all_of_it
    for edge, share in all_of_it.items():
        assert some.get(edge, 0.0) == pytest.approx(share, abs=2e-3)


def test_a_position_or_threshold_out_of_range_gets_a_sentence() -> None:
    model = toys.decoder()
    with pytest.raises(TextError, match="no token 40"):
        information_flow(model, traced(model), 40)
    with pytest.raises(TextError, match="threshold"):
        information_flow(model, traced(model), 0, 0.0)
