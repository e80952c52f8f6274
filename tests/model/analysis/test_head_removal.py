"""A head switched off: direct effect, responses and norms add up to the change, each by its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from headlight import EditError, Transformer
from headlight.analysis.head_removal import KEEP, HeadRemoval, remove_head
from headlight.config import ResidualConfig
from headlight.nn.layers import RMSNorm
from headlight.nn.stack import NORM_PLACEMENTS
from tests.model import toys
from tests.model.toys import traced

TOKEN = 7


def assert_adds_up(model: Transformer, path: str, head: int, *edits: str, position: int = 4, source: str = "") -> None:
    """The parts add up to the change between two runs."""
    more = {"source": source} if source else {}
    before = traced(model, *edits, **more)
    after = traced(model, *edits, f"{path}.weights[{head}]=set:0", **more)
    found = remove_head(model, before, path, head, position, TOKEN)
    assert before.logits is not None and after.logits is not None
    assert found.before == pytest.approx(before.logits[position, TOKEN], abs=1e-4)
    assert found.after == pytest.approx(after.logits[position, TOKEN], abs=1e-4)
    whole = found.direct + sum(found.responses.values()) + found.norms
    assert whole == pytest.approx(after.logits[position, TOKEN] - before.logits[position, TOKEN], abs=2e-4)


@pytest.mark.parametrize("placement", NORM_PLACEMENTS)
def test_the_parts_make_the_whole_change(placement: str) -> None:
    model = toys.decoder(norm_placement=placement, bias=True, residual=ResidualConfig(parallel=placement == "sandwich"))
    for parameter in model.parameters():
        parameter.data *= 0.5 if placement == "none" else 1
    for layer in range(2):
        assert_adds_up(model, f"decoder.{layer}.self", 1)


@pytest.mark.parametrize("layer", range(4))
def test_layers_that_share_keys_and_values(layer: int) -> None:
    for parts in toys.UNUSUAL:
        assert_adds_up(toys.decoder(**parts), f"decoder.{layer}.self", 1, "decoder.1.self.v[0,2]=scale:3")


def test_heads_of_every_attention_and_edited_texts() -> None:
    model = toys.both(bias=True)
    for path in ("decoder.0.self", "decoder.1.cross", "encoder.2.self"):
        assert_adds_up(model, path, 2, position=1, source="a small bird sang")
    assert_adds_up(
        toys.decoder(), "decoder.0.self", 0, "decoder.1.self.weights[2]=uniform", "decoder.0.residual[3]=add:1"
    )


def test_a_head_of_the_encoder_has_no_direct_effect() -> None:
    """It writes into the encoder's residual stream, which the output head does not read."""
    before = traced(toys.both(bias=True), source="a small bird sang", keep=KEEP)
    found = remove_head(toys.both(bias=True), before, "encoder.2.self", 2, 1, TOKEN)
    assert found.direct == 0.0
    assert found.after != found.before


def test_direct_effect_responses_and_norm_by_hand() -> None:
    """Pre-norm RMSNorm: outputs at the old scale, and the effect of the new scale on the stream afterwards."""
    model, position = toys.decoder(feed_forward="none"), 5
    before, after = traced(model), traced(model, "decoder.0.self.weights[3]=set:0")
    found = remove_head(model, traced(model, keep=KEEP), "decoder.0.self", 3, position, TOKEN)
    norm = model.stack("decoder").final_norm
    assert isinstance(norm, RMSNorm)
    streams = [trace["decoder.residual"][position].astype(np.float64) for trace in (before, after)]
    old, new = (1 / np.sqrt((stream**2).mean() + norm.eps) for stream in streams)
    unembed = model.embedding.weight[TOKEN].double().numpy() * norm.weight.double().numpy()
    projection = model.stack("decoder").blocks[0].self_attention.output.weight  # type: ignore[union-attr]
    head = torch.tensor(before["decoder.0.self.weighted_values"][3, position])
    wanted = -float(unembed @ (projection[:, 12:16] @ head).double().numpy() * old)  # type: ignore[index]
    assert found.direct == pytest.approx(wanted, abs=1e-5)
    assert found.norms == pytest.approx(float(unembed @ streams[1] * (new - old)), abs=1e-5)
    assert set(found.responses) == {f"decoder.1.self[{other}]" for other in range(4)}


def test_self_repair_is_the_share_of_the_direct_effect_that_the_rest_undoes() -> None:
    model = toys.decoder()
    found = [remove_head(model, traced(model), "decoder.0.self", head, 4, TOKEN) for head in range(4)]
    for each in found:
        if each.self_repair is None:
            assert abs(each.direct) < max(0.01, 0.1 * abs(each.largest[1]))
            continue
        undone = -(sum(each.responses.values()) + each.norms) / each.direct
        assert each.self_repair == pytest.approx(undone, abs=1e-6)
        assert each.repairs_itself == (undone > 1 / 3)
    assert len({each.repairs_itself for each in found}) == 2, "some heads are repaired and some are not"


def test_no_share_is_taken_of_a_tiny_direct_effect() -> None:
    """It would be a huge number about nothing: here 5 of 0.0001 logits."""
    assert HeadRemoval(1.0, 1.5, -1e-4, {}, 0.5).self_repair is None
    assert HeadRemoval(1.0, 1.5, 0.0, {}, 0.5).self_repair is None
    assert not HeadRemoval(1.0, 1.5, -1e-4, {}, 0.5).repairs_itself
    assert HeadRemoval(1.0, 0.98, -0.04, {}, 0.02).self_repair == pytest.approx(0.5)


def test_no_share_is_taken_of_a_direct_effect_below_a_tenth_of_the_largest_part() -> None:
    """The logit fell by 1.08, and the share would be 5,500 %: it says nothing about the head."""
    found = HeadRemoval(5.0, 3.92, 0.02, {"decoder.1.self[0]": -1.0}, -0.1)
    assert found.self_repair is None and not found.repairs_itself
    assert found.largest == ("decoder.1.self[0]", -1.0)
    resisted = HeadRemoval(5.0, 4.42, 0.02, {"decoder.1.self[0]": -0.9, "decoder.1.self[1]": -0.7}, 1.0)
    assert (resisted.largest, resisted.carrier) == (("norms", 1.0), ("decoder.1.self[0]", -0.9)), "the logit fell"
    assert HeadRemoval(5.0, 3.9, -0.1, {"decoder.1.self[0]": -1.0}, 0.0).self_repair == pytest.approx(-10)


def test_a_head_that_does_not_exist_is_a_sentence() -> None:
    model = toys.decoder()
    with pytest.raises(EditError, match="no head 4"):
        remove_head(model, traced(model), "decoder.0.self", 4, 4, TOKEN)
