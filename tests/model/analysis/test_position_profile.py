"""The Positions page's profile of an encoding learned by distance."""

import numpy as np
import pytest
import torch

from headlight import variant
from headlight.analysis.position_profile import position_profile
from headlight.config import PerLayerConfig, RelativePositionConfig, RopeConfig
from headlight.errors import EditError
from tests.model import toys


@pytest.mark.parametrize("encoding", ["relative", "disentangled"])
def test_distances_that_share_a_row_are_shown(encoding: str) -> None:
    profile = position_profile(toys.model(positional_encoding=encoding, masks=()), 9)
    assert profile.buckets is not None and len(profile.buckets) == 9
    assert len(set(profile.buckets[:5].tolist())) == 5, "each small distance back has its own row"
    assert profile.embeddings is None, "nothing is added to the tokens"
    absolute = RelativePositionConfig(absolute_positions=True)
    beside = position_profile(toys.model(positional_encoding=encoding, relative_position=absolute, masks=()), 9)
    assert as_array(beside.embeddings).any() and beside.similarity is not None


@pytest.mark.parametrize("rotary_dim", [0, 2, 4])
def test_the_similarity_of_rotations_is_that_of_two_rotated_vectors(rotary_dim: int) -> None:
    model = toys.model(d_model=32, rope=RopeConfig(rotary_dim=rotary_dim))
    ones = torch.ones(1, 1, 9, model.config.head_dim)
    rotated = model.stack("decoder").positional_encoding.rotate(ones, torch.arange(9))[0, 0]
    expected = rotated @ rotated.T / model.config.head_dim
    similarity = position_profile(model, 9).similarity
    assert similarity is not None
    np.testing.assert_allclose(similarity, expected, atol=1e-5)


def test_positions_that_have_no_row_are_refused_with_their_number() -> None:
    model = toys.model(positional_encoding="learned")
    last = model.config.context_length
    assert position_profile(model, last).embeddings is not None
    with pytest.raises(EditError, match=f"at most {last:,} positions"):
        position_profile(model, last + 1)


def test_each_layer_has_its_own_profile_where_layers_differ() -> None:
    near, far = RopeConfig(theta=10.0), RopeConfig(theta=100_000.0)
    model = toys.model(layers=3, rope=far, per_layer=PerLayerConfig(ropes=(near, far, near)))
    assert model.config.per_layer.positions_differ and not toys.model().config.per_layer.positions_differ
    profiles = [position_profile(model, 9, "decoder", layer) for layer in range(3)]
    for layer, rope in enumerate((near, far, near)):
        alone = position_profile(toys.model(rope=rope), 9)
        assert np.array_equal(as_array(profiles[layer].angles), as_array(alone.angles))
        assert np.array_equal(as_array(profiles[layer].similarity), as_array(alone.similarity))
    assert not np.array_equal(as_array(profiles[0].angles), as_array(profiles[1].angles))
    with pytest.raises(EditError, match="no layer 3; the decoder has 3"):
        position_profile(model, 9, "decoder", 3)


def test_wider_heads_have_a_profile_of_their_own() -> None:
    share = RopeConfig(scaling="proportional", rotated_share=0.5)
    model = toys.model(rope=share, per_layer=PerLayerConfig(head_dims=(8, 4)))
    assert model.config.per_layer.positions_differ
    wide = position_profile(model, 9, "decoder", 0)
    assert np.array_equal(
        as_array(wide.similarity), as_array(position_profile(toys.model(head_dim=8, rope=share), 9).similarity)
    )
    assert not as_array(wide.angles)[:, 2:].any() and as_array(wide.angles)[1:, :2].all(), "half is rotated"


def test_a_layer_without_positions_says_so() -> None:
    model = toys.model(per_layer=PerLayerConfig(positional_encodings=("rope", "none")))
    assert [position_profile(model, 5, "decoder", layer).encoding for layer in (0, 1)] == ["rope", "none"]
    assert position_profile(model, 5, "decoder", 1).angles is None


def as_array(values: np.ndarray | None) -> np.ndarray:
    assert values is not None
    return values


def test_vectors_of_distances_are_compared_once_they_are_learned() -> None:
    learned = position_profile(toys.model(positional_encoding="disentangled"), 9).bucket_similarity
    assert learned is not None and np.allclose(np.diag(learned), 1, atol=1e-5)
    new = variant(toys.model(positional_encoding="none"), positional_encoding="disentangled")
    assert position_profile(new, 9).bucket_similarity is None
