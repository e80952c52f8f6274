"""The logit lens, compared with the model's own output and with NumPy."""

import numpy as np
import pytest

from headlight import ConfigError, EditError, Transformer, run
from headlight.analysis.lenses.logit_lens import KEEP, lens_at, lens_of_text, logit_lens, residual_norms, target_tokens
from headlight.analysis.lenses.tuned_lens import lens_shape
from headlight.config import EmbeddingConfig, OutputHeadConfig
from headlight.nn.layers import RMSNorm
from headlight.nn.output_heads import POOLINGS
from headlight.vision.image import process_image
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
            assert list(found.answers[place]) == list(best)
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
    monkeypatch.setattr("headlight.nn.attention.CELLS_AT_ONCE", 2 * model.config.vocabulary_size)
    pieces = lens_at(model, trace, 1, target_tokens(trace))
    assert np.array_equal(whole.answers, pieces.answers)
    assert whole.negative_log_likelihood == pytest.approx(pieces.negative_log_likelihood, abs=1e-5, nan_ok=True)


def test_the_last_depth_follows_edits_of_the_logits() -> None:
    model = toys.decoder()
    trace = run(model, toys.causal(), TEXT, ["logits[2,7]=set:50"])
    found = lens_at(model, trace, 2, target_tokens(trace))
    assert found.answers[2, 0] == 7
    assert found.probabilities[2, 0] == pytest.approx(1.0)


def test_several_streams_are_read_as_the_last_layer_reads_them() -> None:
    model = toys.decoder(**toys.STREAMS)
    trace = run(model, toys.causal(), TEXT, keep=KEEP)
    stack = model.stack("decoder")
    first, *others = trace["decoder.2.residual_streams"][5].astype(np.float64)
    length, merged = np.sqrt((first**2).mean()), [first]
    assert stack.residual_streams is not None and isinstance(stack.final_norm, RMSNorm)
    for projection, other in zip(stack.residual_streams.merge_projections, others, strict=True):
        projected = projection.weight.double().numpy() @ other  # type: ignore[operator]
        merged.append(projected * length / np.sqrt((projected**2).mean()))
    stream = np.mean(merged, axis=0)
    normed = stream / np.sqrt((stream**2).mean() + stack.final_norm.eps) * stack.final_norm.weight.double().numpy()
    scores = model.embedding.weight.double().numpy() @ normed
    wanted = np.exp(scores - scores.max())
    found = logit_lens(model, trace, 5)
    np.testing.assert_allclose(found[2], wanted / wanted.sum(), atol=1e-5)
    assert found.shape[0] == 5 and residual_norms(trace).shape == (5, len(trace.text.ids))
    with pytest.raises(ConfigError, match="a tuned lens is not available"):
        lens_shape(model.config)


def test_residual_norms() -> None:
    trace = run(toys.decoder(), toys.causal(), TEXT)
    found = residual_norms(trace)
    assert found.shape == (3, len(trace.text.ids))
    stream = trace["decoder.1.residual"][4].astype(np.float64)
    assert found[1, 4] == pytest.approx(np.sqrt((stream**2).sum()), rel=1e-5)
    assert found[2, 0] == pytest.approx(np.linalg.norm(trace["decoder.residual"][0]), rel=1e-5)


LABELS = ("good", "bad", "neither")
POOL = {
    "first": lambda rows: rows[0],
    "second": lambda rows: rows[1],
    "mean": lambda rows: rows.mean(0),
    "mean-but-first": lambda rows: rows[1:].mean(0),
    "max": lambda rows: rows.max(0),
    "last": lambda rows: rows[-1],
}


def classifier(pooling: str, head: str = "sequence-classifier") -> Transformer:
    return toys.decoder(output_head=head, labels=LABELS, pooling=pooling, embedding=EmbeddingConfig(tied=False))


def label_shares(model: Transformer, rows: np.ndarray) -> np.ndarray:
    """A bare label head and its softmax, in NumPy, for normed rows from any pooling."""
    project = model.output_head.projection
    logits = rows @ project.weight.double().numpy().T + project.bias.double().numpy()  # type: ignore[union-attr, operator]
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    found: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return found


def normed(model: Transformer, residual: np.ndarray) -> np.ndarray:
    norm, stream = model.stack("decoder").final_norm, residual.astype(np.float64)
    assert isinstance(norm, RMSNorm) and norm.eps is not None
    found: np.ndarray = stream / np.sqrt((stream**2).mean(-1, keepdims=True) + norm.eps) * norm.weight.double().numpy()
    return found


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_label_head_reads_each_depth_as_it_reads_the_last(pooling: str) -> None:
    model = classifier(pooling)
    trace = run(model, toys.causal(), TEXT)
    whole = logit_lens(model, trace)
    assert whole[-1] == pytest.approx(trace.probabilities(0), abs=1e-5)
    for depth, path in enumerate(("decoder.0.residual", "decoder.1.residual", "decoder.residual")):
        rows = normed(model, trace[path])
        shares = label_shares(model, POOL[pooling](rows))
        assert whole[depth] == pytest.approx(shares, abs=1e-5)
        found = lens_of_text(model, trace, depth, count=9)
        best = np.argsort(-shares, kind="stable")
        assert list(found.answers[0]) == list(best) and found.probabilities[0] == pytest.approx(shares[best], abs=1e-5)
        alone = lens_at(model, trace, depth, target_tokens(trace), count=3)
        for place, own in enumerate(label_shares(model, rows)):
            assert own[alone.answers[place]] == pytest.approx(alone.probabilities[place], abs=1e-5)
        assert not alone.rank.any() and np.isnan(alone.negative_log_likelihood).all()


def test_where_one_token_is_pooled_its_column_is_the_answer() -> None:
    model = classifier("first")
    trace = run(model, toys.causal(), TEXT)
    for depth in range(3):
        alone, whole = lens_at(model, trace, depth, target_tokens(trace)), lens_of_text(model, trace, depth)
        assert alone.probabilities[0] == pytest.approx(whole.probabilities[0], abs=1e-6)


def test_padding_is_not_pooled_at_any_depth() -> None:
    ids = toys.causal().encode(TEXT).ids
    padded = {"output_head_config": OutputHeadConfig(pad_token_id=ids[-1]), "pooling": "last"}
    model = toys.decoder(
        output_head="sequence-classifier", labels=LABELS, embedding=EmbeddingConfig(tied=False), **padded
    )
    trace = run(model, toys.causal(), TEXT)
    assert logit_lens(model, trace)[1] == pytest.approx(
        label_shares(model, normed(model, trace["decoder.1.residual"])[-2]), abs=1e-5
    )


def test_a_classifier_of_tokens_labels_each_token_at_each_depth() -> None:
    model = classifier("first", "token-classifier")
    trace = run(model, toys.causal(), TEXT, ["logits[2,1]=set:50"])
    assert logit_lens(model, trace, 4)[1] == pytest.approx(
        label_shares(model, normed(model, trace["decoder.1.residual"][4])), abs=1e-5
    )
    assert logit_lens(model, trace, 4)[-1] == pytest.approx(trace.probabilities(4), abs=1e-5)
    found = lens_at(model, trace, 2, target_tokens(trace), count=9)
    assert found.answers.shape == (len(trace.text.ids), 3)
    assert found.answers[2, 0] == 1 and found.probabilities[2, 0] == pytest.approx(1.0)


def test_a_classifier_of_images_has_a_lens() -> None:
    model = toys.seer()
    trace = run(model, toys.causal(), process_image(toys.photo(), model.config.image))
    assert logit_lens(model, trace)[-1] == pytest.approx(trace.probabilities(0), abs=1e-5)
    assert lens_at(model, trace, 1, target_tokens(trace)).answers.shape == (7, 2)


def test_no_output_head_or_a_row_that_is_not_there_gets_a_sentence() -> None:
    bare = toys.decoder(output_head="none")
    with pytest.raises(ConfigError, match="output head"):
        logit_lens(bare, run(bare, toys.causal(), TEXT))
    model = toys.decoder()
    trace = run(model, toys.causal(), TEXT)
    with pytest.raises(EditError, match="2 layers"):
        lens_at(model, trace, 3, target_tokens(trace))
    with pytest.raises(ConfigError, match="at each token"):
        lens_of_text(model, trace, 0)
