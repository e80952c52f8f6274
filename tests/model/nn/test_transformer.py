"""Whole models: architectures, norms, feed-forwards, shared heads, padding."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from headlight import ATTENTION_FUNCTIONS, POSITIONAL_ENCODINGS, ImageError, TextError, Transformer
from headlight.config import EmbeddingConfig
from headlight.nn.layers import FEED_FORWARDS, NORMS
from headlight.nn.stack import NORM_PLACEMENTS
from tests.model import toys
from tests.sampling import combinations

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "decoder": {},
    "encoder": {"architecture": "encoder", "masks": (), "output_head": "masked-language-model"},
    "encoder-decoder": {"architecture": "encoder-decoder", "encoder.layers": 3},
    "captioner": {"architecture": "encoder-decoder", "image": toys.READS},
    "listener": {"architecture": "encoder-decoder", "sound": toys.HEARS},
}
IDS = toys.numbers(2, 6)
SOURCE = toys.numbers(2, 9, seed=1)
PIXELS = torch.randn(2, 3, 12, 18, generator=torch.Generator().manual_seed(2))

SIGNALS = {"captioner": PIXELS, "listener": torch.randn(2, 20, 18, generator=torch.Generator().manual_seed(3))}


def logits(model: Transformer, ids: Tensor = IDS, **others: Any) -> Tensor:
    """The logits of a forward pass, with a source or an image for models that read one."""
    signal = SIGNALS.get("captioner" if model.config.reads_image else "listener" if model.config.reads_sound else "")
    if signal is not None:
        others.setdefault("signal", signal[: len(ids)])
    elif model.config.has_cross_attention:
        others.setdefault("source", SOURCE[: len(ids)])
    answered = model(ids, **others)
    assert isinstance(answered, Tensor)
    return answered


# Each norm and each feed-forward, for each norm placement and architecture.
PARTS = sorted({*product(NORMS, ["gelu"]), *product(["layernorm"], FEED_FORWARDS)})


@pytest.mark.parametrize(
    ("parts", "architecture", "placement"), combinations(PARTS, ARCHITECTURES, sorted(NORM_PLACEMENTS))
)
def test_every_build_gives_finite_logits_and_gradients(
    parts: tuple[str, str], architecture: str, placement: str
) -> None:
    norm, feedforward = parts
    built = toys.config(
        norm=norm, norm_placement=placement, feed_forward=feedforward, bias=True, **ARCHITECTURES[architecture]
    )
    model = toys.spread(Transformer(built)).requires_grad_(True)
    answered = logits(model)
    assert answered.shape == (2, 6, 300)
    assert answered.isfinite().all()
    torch.autograd.backward(answered.square().mean())
    assert all(parameter.grad is not None for parameter in model.parameters()), "some weight is unused"
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters() if parameter.grad is not None)


@pytest.mark.parametrize(
    ("architecture", "position"),
    combinations(["decoder", "encoder-decoder", "captioner"], sorted(POSITIONAL_ENCODINGS)),
)
def test_what_comes_later_changes_nothing_before_it(architecture: str, position: str) -> None:
    model = toys.model(positional_encoding=position, **ARCHITECTURES[architecture])
    changed = IDS.clone()
    changed[:, 4:] = (changed[:, 4:] + 7) % 300
    before, after = logits(model), logits(model, changed)
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_an_encoder_sees_both_ways() -> None:
    model = toys.model(**ARCHITECTURES["encoder"])
    changed = IDS.clone()
    changed[:, 5] += 1
    assert not torch.allclose(logits(model)[:, 0], logits(model, changed)[:, 0])


def test_in_an_encoder_decoder_the_masks_are_the_decoders_and_the_source_is_seen_whole() -> None:
    model = toys.model(**ARCHITECTURES["encoder-decoder"])
    changed = SOURCE.clone()
    changed[:, -1] += 1
    before, after = model.encode(SOURCE), model.encode(changed)
    assert not torch.allclose(before[:, 0], after[:, 0])
    assert not torch.allclose(logits(model)[:, 0], logits(model, source=changed)[:, 0])


@pytest.mark.parametrize(
    ("architecture", "position", "kernel"),
    combinations(ARCHITECTURES, sorted(POSITIONAL_ENCODINGS), sorted(ATTENTION_FUNCTIONS)),
)
def test_a_batch_with_padding_equals_single_runs(architecture: str, position: str, kernel: str) -> None:
    model = toys.model(positional_encoding=position, attention_function=kernel, **ARCHITECTURES[architecture])
    lengths, source_lengths = (6, 3), (4, 9)
    together: dict[str, Any] = {"padding_mask": filled(lengths, 6)}
    if architecture == "encoder-decoder":
        together |= {"source": SOURCE, "source_padding_mask": filled(source_lengths, 9)}
    batch = logits(model, IDS, **together)
    for row, (length, source_length) in enumerate(zip(lengths, source_lengths, strict=True)):
        one = slice(row, row + 1)
        others: dict[str, Any] = {"source": SOURCE[one, :source_length]} if architecture == "encoder-decoder" else {}
        others |= {"signal": signal[one]} if (signal := SIGNALS.get(architecture)) is not None else {}
        alone = logits(model, IDS[one, :length], **others)
        torch.testing.assert_close(batch[one, :length], alone, atol=1e-4, rtol=1e-4)


def test_of_dropped_tokens_each_text_of_a_batch_has_its_own_share() -> None:
    model = toys.model(embedding=EmbeddingConfig(dropped_token_id=int(IDS[0, 1])), **ARCHITECTURES["encoder"])
    ids = IDS.clone()
    ids[0, 2] = ids[1, 0] = ids[0, 1]
    whole, alone = model.embed(ids, padding_mask=filled((6, 3), 6)), model.embed(ids[1:, :3])
    torch.testing.assert_close(whole[1:, :3], alone)
    assert whole[0, 1:3].abs().sum() == 0 and alone[0, 0].abs().sum() == 0
    torch.testing.assert_close(whole[0, 3], model.embedding.weight[ids[0, 3]] * 0.88 / (4 / 6))
    torch.testing.assert_close(alone[0, 1], model.embedding.weight[ids[1, 1]] * 0.88 / (2 / 3))


def filled(lengths: tuple[int, ...], to: int) -> Tensor:
    """A mask of the non-padding tokens of a batch."""
    return torch.arange(to) < torch.tensor(lengths)[:, None]


@pytest.mark.parametrize("sharing", [1, 2])
def test_shared_key_value_heads_equal_full_heads_with_repeated_weights(sharing: int) -> None:
    grouped = toys.model(key_value_heads=sharing, head_dim=6, value_head_dim=5)
    weights = dict(grouped.state_dict())
    for name, weight in weights.items():
        if name.endswith(("attention.key.weight", "attention.value.weight")):
            heads = weight.view(sharing, -1, weight.shape[1])
            weights[name] = heads.repeat_interleave(4 // sharing, dim=0).flatten(0, 1)
    full = Transformer(toys.config(head_dim=6, value_head_dim=5)).eval()
    full.load_state_dict(weights)
    torch.testing.assert_close(logits(grouped), logits(full))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_mask_given_to_a_run_takes_more_away(architecture: str) -> None:
    model = toys.model(**ARCHITECTURES[architecture])
    alone = torch.eye(6, dtype=torch.bool)[None, None]
    seen: dict[str, Tensor] = {}
    logits(model, mask=alone, hook=lambda name, value: seen.setdefault(name, value))
    weights = seen[f"{model.config.stacks[-1]}.0.self.weights"]
    torch.testing.assert_close(weights, torch.eye(6).expand_as(weights))


@pytest.mark.parametrize("placement", sorted(NORM_PLACEMENTS))
def test_the_stream_after_a_sublayer_is_the_formula_of_the_norm_placement(placement: str) -> None:
    model, seen = toys.model(norm_placement=placement), dict[str, Tensor]()
    logits(model, hook=lambda name, value: seen.setdefault(name, value))
    x = seen["decoder.embedding"] + seen["decoder.position_embedding"]
    for sublayer, after in (("self", "0.residual_after_self"), ("feed_forward", "1.residual")):
        norm, output_norm = (
            model.get_submodule(f"decoder.blocks.0.{sublayer.replace('self', 'self_attention')}_residual.{name}")
            for name in ("norm", "output_norm")
        )
        h, output = (seen[f"decoder.0.{sublayer}.{name}"] for name in ("input", "output"))
        wanted = {
            "pre": (norm(x), x + output),
            "post": (x, norm(x + output)),
            "post-sublayer": (x, x + output_norm(output)),
            "sandwich": (norm(x), x + output_norm(output)),
            "residual-from-norm": (norm(x), norm(x) + output),
            "none": (x, output),
        }
        torch.testing.assert_close((h, seen[f"decoder.{after}"]), wanted[placement])
        x = seen[f"decoder.{after}"]


def test_layernorm_and_rmsnorm_are_their_formulas() -> None:
    x = torch.randn(5, 16)
    layernorm, rmsnorm = (NORMS[name].make(16, 1e-5, True) for name in ("layernorm", "rmsnorm"))
    centred = x - x.mean(-1, keepdim=True)
    torch.testing.assert_close(layernorm(x), centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt())
    torch.testing.assert_close(rmsnorm(x), x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_text_longer_than_the_context_gets_a_sentence(architecture: str) -> None:
    model = toys.model(positional_encoding="learned", **ARCHITECTURES[architecture])
    with pytest.raises(TextError, match="25 tokens; this model reads at most 24"):
        logits(model, toys.numbers(1, 25))


def test_so_does_a_source_longer_than_the_context() -> None:
    model = toys.model(positional_encoding="learned", **ARCHITECTURES["encoder-decoder"])
    with pytest.raises(TextError, match="source has 25 tokens; this model reads at most 24"):
        logits(model, source=toys.numbers(2, 25))


@pytest.mark.parametrize(
    ("architecture", "wanted"),
    [("encoder-decoder", "a source text"), ("captioner", "an image"), ("listener", "a sound")],
)
def test_an_encoder_decoder_without_a_source_gets_a_sentence(architecture: str, wanted: str) -> None:
    with pytest.raises(TextError, match=f"give it {wanted}"):
        toys.model(**ARCHITECTURES[architecture])(IDS)


def test_an_encoder_reads_its_kind_of_source_alone() -> None:
    with pytest.raises(ImageError, match="reads texts, not images"):
        logits(toys.model(**ARCHITECTURES["encoder-decoder"]), signal=PIXELS)
    with pytest.raises(ImageError, match="reads an image"):
        toys.model(**ARCHITECTURES["captioner"])(IDS, source=SOURCE)


def test_every_patch_reaches_every_token_through_cross_attention_alone() -> None:
    model = toys.model(**ARCHITECTURES["captioner"])
    for row, column in ((0, 0), (1, 2)):
        changed = PIXELS.clone()
        changed[:, :, 6 * row : 6 * row + 6, 6 * column : 6 * column + 6] += 1
        assert not torch.isclose(logits(model), logits(model, signal=changed)).all(-1).any()
    memory = model.encode(IDS[:, :0], signal=PIXELS)
    assert memory.shape == (2, 6, 16)
    torch.testing.assert_close(model.logits(model.encode_hidden(IDS, memory=memory)), logits(model))


def test_a_seed_makes_the_same_model() -> None:
    def made() -> dict[str, Tensor]:
        torch.manual_seed(3)
        return Transformer(toys.config()).state_dict()

    first, second = made(), made()
    assert all(torch.equal(first[name], second[name]) for name in first)
