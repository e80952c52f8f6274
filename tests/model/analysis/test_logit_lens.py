"""Logit lens, against the model's own output and against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from model import ConfigError, EditError, run
from model.analysis.logit_lens import KEEP, lens_at, logit_lens, residual_norms, target_tokens
from model.config_groups import EmbeddingConfig
from tests.model import toys

TEXT = "the cat sat on the mat and the dog ran away"


@pytest.mark.parametrize("placement", ["pre", "post"])
def test_the_last_row_of_the_logit_lens_is_the_prediction(placement: str) -> None:
    model = toys.decoder(norm_placement=placement, embedding=EmbeddingConfig(dim=8, projection="tokens"))
    trace = run(model, toys.causal(), TEXT)
    for position in (0, -1):
        rows = logit_lens(model, trace, position)
        assert rows.shape == (3, toys.causal().vocabulary_size)
        assert rows.sum(-1) == pytest.approx(np.ones(3), abs=1e-5)
        assert rows[-1] == pytest.approx(trace.probabilities(position), abs=1e-5)


def test_lens_at_all_tokens_equals_the_logit_lens_of_each() -> None:
    model = toys.decoder()
    trace = run(model, toys.causal(), TEXT, keep=KEEP)
    right = target_tokens(trace)
    assert right == (*trace.text.ids[1:], -1)
    for depth in range(3):
        found = lens_at(model, trace, depth, right, count=4)
        for place, token in enumerate(right):
            shares = logit_lens(model, trace, place)[depth]
            best = np.argsort(-shares, kind="stable")[:4]
            assert found.probabilities[place] == pytest.approx(shares[best], abs=1e-6)
            assert list(found.token_ids[place]) == list(best)
            if token >= 0:
                assert found.rank[place] == 1 + (shares > shares[token]).sum()
                assert found.negative_log_likelihood[place] == pytest.approx(-np.log(shares[token]), abs=1e-4)
    assert found.rank[-1] == 0
    assert np.isnan(found.negative_log_likelihood[-1])


def test_the_targets_of_a_masked_language_model_are_the_original_tokens() -> None:
    model, tokenizer = toys.encoder(), toys.masked()
    ids = tokenizer.encode(TEXT).ids
    trace = run(model, tokenizer, TEXT, masked_positions=(3,))
    assert target_tokens(trace, ids) == ids
    assert target_tokens(trace)[3] == tokenizer.mask_id
    found = lens_at(model, trace, 2, target_tokens(trace, ids))
    assert found.negative_log_likelihood[3] == pytest.approx(-np.log(trace.probabilities(3)[ids[3]]), abs=1e-4)


def test_chunks_of_a_long_text_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = toys.decoder()
    trace = run(model, toys.causal(), TEXT)
    whole = lens_at(model, trace, 1, target_tokens(trace))
    monkeypatch.setattr("model.nn.attention.CELLS_AT_ONCE", 2 * model.config.vocabulary_size)
    pieces = lens_at(model, trace, 1, target_tokens(trace))
    assert np.array_equal(whole.token_ids, pieces.token_ids)
    assert whole.negative_log_likelihood == pytest.approx(pieces.negative_log_likelihood, abs=1e-5, nan_ok=True)


def test_the_last_depth_follows_edits_of_the_logits() -> None:
    model = toys.decoder()
    trace = run(model, toys.causal(), TEXT, ["logits[2,7]=set:50"])
    found = lens_at(model, trace, 2, target_tokens(trace))
    assert found.token_ids[2, 0] == 7
    assert found.probabilities[2, 0] == pytest.approx(1.0)


def test_residual_norms() -> None:
    trace = run(toys.decoder(), toys.causal(), TEXT)
    found = residual_norms(trace)
    assert found.shape == (3, len(trace.text.ids))
    stream = trace["decoder.1.residual"][4].astype(np.float64)
    assert found[1, 4] == pytest.approx(np.sqrt((stream**2).sum()), rel=1e-5)
    assert found[2, 0] == pytest.approx(np.linalg.norm(trace["decoder.residual"][0]), rel=1e-5)


def test_no_language_head_or_a_depth_out_of_range_gets_a_sentence() -> None:
    bare = toys.decoder(output_head="none")
    with pytest.raises(ConfigError, match="language head"):
        logit_lens(bare, run(bare, toys.causal(), TEXT))
    model = toys.decoder()
    trace = run(model, toys.causal(), TEXT)
    with pytest.raises(EditError, match="2 layers"):
        lens_at(model, trace, 3, target_tokens(trace))
