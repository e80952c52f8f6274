"""While nobody asks, the caches of a worker keep the last results alone."""

import pytest

from headlight_app.inference.trace_cache import trace_cache
from headlight_app.worker import cache_sizes
from tests.app.asking import ask_worker

TEXT = "the cat sat on the mat and the dog ran to the big tree "


def test_the_last_run_stays_and_earlier_ones_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def weights(text: str) -> bytes:
        return ask_worker("trace", model="stories-causal", text=text)[1]

    texts = [f"{TEXT * 3}{number}" for number in range(6)]
    before = [weights(text) for text in texts]
    runs = trace_cache().runs
    assert len(runs) >= len(texts)
    monkeypatch.setattr(cache_sizes, "RESTING_BYTES", 1)
    cache_sizes.shrink_caches()
    assert [key[0].text for key in runs] == [texts[-1]]
    assert [weights(text) for text in texts] == before
