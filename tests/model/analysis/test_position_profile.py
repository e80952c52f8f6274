"""What the Positions page draws of an encoding that learns by distance."""

import numpy as np
import pytest

from headlight import variant
from headlight.analysis.position_profile import position_profile
from tests.model import toys


@pytest.mark.parametrize("encoding", ["relative", "disentangled"])
def test_distances_that_share_a_row_are_shown(encoding: str) -> None:
    profile = position_profile(toys.model(positional_encoding=encoding, masks=()), 9)
    assert profile.buckets is not None and len(profile.buckets) == 9
    assert len(set(profile.buckets[:5].tolist())) == 5, "small distances back have a row each"


def test_vectors_of_distances_are_compared_once_they_are_learned() -> None:
    learned = position_profile(toys.model(positional_encoding="disentangled"), 9).bucket_similarity
    assert learned is not None and np.allclose(np.diag(learned), 1, atol=1e-5)
    new = variant(toys.model(positional_encoding="none"), positional_encoding="disentangled")
    assert position_profile(new, 9).bucket_similarity is None
