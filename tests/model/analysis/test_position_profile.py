"""What the Positions page draws of an encoding that learns by distance."""

import numpy as np
import pytest
import torch

from headlight import variant
from headlight.analysis.position_profile import position_profile
from headlight.config_groups import RopeConfig
from tests.model import toys


@pytest.mark.parametrize("encoding", ["relative", "disentangled"])
def test_distances_that_share_a_row_are_shown(encoding: str) -> None:
    profile = position_profile(toys.model(positional_encoding=encoding, masks=()), 9)
    assert profile.buckets is not None and len(profile.buckets) == 9
    assert len(set(profile.buckets[:5].tolist())) == 5, "small distances back have a row each"


@pytest.mark.parametrize("rotary_dim", [0, 2, 4])
def test_the_similarity_of_rotations_is_that_of_two_rotated_vectors(rotary_dim: int) -> None:
    model = toys.model(d_model=32, rope=RopeConfig(rotary_dim=rotary_dim))
    ones = torch.ones(1, 1, 9, model.config.head_dim)
    rotated = model.stack("decoder").positional_encoding.rotate(ones, torch.arange(9))[0, 0]
    expected = rotated @ rotated.T / model.config.head_dim
    similarity = position_profile(model, 9).similarity
    assert similarity is not None
    np.testing.assert_allclose(similarity, expected, atol=1e-5)


def test_vectors_of_distances_are_compared_once_they_are_learned() -> None:
    learned = position_profile(toys.model(positional_encoding="disentangled"), 9).bucket_similarity
    assert learned is not None and np.allclose(np.diag(learned), 1, atol=1e-5)
    new = variant(toys.model(positional_encoding="none"), positional_encoding="disentangled")
    assert position_profile(new, 9).bucket_similarity is None
