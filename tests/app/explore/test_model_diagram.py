"""The diagram of a model shows its architecture, family by family."""

from typing import Any

import pytest

from headlight.config import (
    Config,
    EmbeddingConfig,
    EncoderConfig,
    ExpertsConfig,
    ImageConfig,
    PerLayerConfig,
    ResidualConfig,
)
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.rendering.model_diagram import ModelDiagram, StackDiagram, model_diagram
from tests.model import toys

LENGTH = 7


def diagram(**choices: Any) -> ModelDiagram:
    sizes = {"vocabulary_size": 100, "context_length": 32, "d_model": 16, "layers": 3, "heads": 4}
    return model_diagram(Config(**(sizes | choices)), LENGTH, source_length=5)


def branches(stack: StackDiagram) -> list[list[str]]:
    """The kinds of the parts of each sublayer in order; a norm on the stream itself is in brackets."""
    return [
        [
            *(["(norm)"] if sublayer.norm_on_stream == "before" else []),
            *(part.kind for part in sublayer.parts),
            *(["(norm)"] if sublayer.norm_on_stream == "after" else []),
        ]
        for sublayer in stack.sublayers
    ]


def test_a_pre_norm_decoder_from_its_tokens_to_its_logits() -> None:
    found = diagram(key_value_heads=2, d_ff=40)
    (stack,) = found.stacks
    assert [part.kind for part in stack.inputs] == ["input", "embedding"]
    assert (stack.inputs[-1].shape, stack.residual_shape) == ((LENGTH, 16), (LENGTH, 16))
    assert stack.positions is None, "rotary positions act in attention"
    assert branches(stack) == [["norm", "self"], ["norm", "feed_forward"]]
    attention, feed_forward = (sublayer.parts[-1] for sublayer in stack.sublayers)
    assert attention.details == ("4 heads × 4 channels, 2 for keys", "weights 4 × 7 × 7", "Causal", "RoPE (rotary)")
    assert feed_forward.details == ("SwiGLU", "16 → 40 → 16")
    assert [part.title for part in stack.outputs] == ["Final RMSNorm"]
    assert [(part.kind, part.shape) for part in found.head] == [("output", (LENGTH, 100))]


@pytest.mark.parametrize(
    ("placement", "attention"),
    [
        ("pre", ["norm", "self"]),
        ("post", ["self", "(norm)"]),
        ("post-sublayer", ["self", "norm"]),
        ("sandwich", ["norm", "self", "norm"]),
        ("residual-from-norm", ["(norm)", "self"]),
        ("none", ["self"]),
    ],
)
def test_norms_stand_where_the_placement_has_them(placement: str, attention: list[str]) -> None:
    (stack,) = diagram(norm_placement=placement).stacks
    assert branches(stack)[0] == attention
    assert bool(stack.outputs) != NORM_PLACEMENTS[placement].output_is_normed
    assert all(sublayer.added == (placement != "none") for sublayer in stack.sublayers)


def test_parallel_blocks_and_blocks_of_attention_alone() -> None:
    assert diagram(residual=ResidualConfig(parallel=True)).stacks[0].parallel
    assert branches(diagram(feed_forward="none").stacks[0]) == [["norm", "self"]]


def test_what_differs_from_layer_to_layer_is_that_of_the_open_one() -> None:
    config = Config(
        vocabulary_size=100,
        context_length=32,
        d_model=16,
        layers=2,
        heads=4,
        first_norm=False,
        per_layer=PerLayerConfig(masks=("none", "window:3"), positional_encodings=("none", "rope")),
    )
    first, second = (model_diagram(config, LENGTH, layer=layer).stacks[0] for layer in (0, 9))
    assert (first.layer, second.layer) == (0, 1)
    assert branches(first)[0] == ["self"] and branches(second)[0] == ["norm", "self"]
    assert first.sublayers[0].parts[-1].details[2:] == ("Causal",)
    assert second.sublayers[0].parts[-1].details[2:] == ("Causal + sliding window (3)", "RoPE (rotary)")


def test_a_layer_has_its_own_sizes_and_may_read_keys_of_another() -> None:
    config = toys.config(vocabulary_size=320, context_length=32, **toys.UNLIKE)
    first, last = (model_diagram(config, LENGTH, layer=layer).stacks[0].sublayers for layer in (0, 3))
    assert [sublayer.kind for sublayer in last] == ["self", "feed_forward", "layer_embedding"]
    assert [part.kind for part in last[2].parts] == ["layer_embedding", "norm"]
    assert first[0].parts[1].details[0] == "4 heads × 6 channels, 2 for keys"
    assert last[0].parts[1].details[0] == "4 heads × 4 channels, 1 for keys"
    assert "keys and values of layer 1" in last[0].parts[1].details
    assert [each[1].parts[1].details[1] for each in (first, last)] == ["16 → 24 → 16", "16 → 48 → 16"]


def test_experts_stand_in_the_layers_that_have_them() -> None:
    choices = {"d_ff": 40, "experts": ExpertsConfig(count=4, d_ff=5, shared_d_ff=6, dense_layers=(1,))}
    first, second = (
        model_diagram(toys.config(layers=3, **choices), LENGTH, layer=layer).stacks[0].sublayers[1].parts[-1].details
        for layer in range(2)
    )
    assert first == ("SwiGLU", "2 of 4 experts", "16 → 5 → 16", "and one of 6 neurons for every token")
    assert second == ("SwiGLU", "16 → 40 → 16")


def test_layers_of_linear_attention_stand_between_the_others() -> None:
    found = [model_diagram(toys.config(**toys.HYBRID), LENGTH, layer=layer).stacks[0] for layer in range(2)]
    assert found[0].after_positions[-1].title == "2 layers of linear attention"
    assert [each.sublayers[-1].parts[0].title for each in found] == ["1 layer of linear attention"] * 2
    assert not found[0].sublayers[-1].added


def test_several_streams_are_predicted_and_corrected_around_the_sublayers() -> None:
    config = toys.config(vocabulary_size=320, context_length=32, **toys.STREAMS)
    (stack,) = model_diagram(config, LENGTH).stacks
    assert [part.shape for part in stack.after_positions] == [(LENGTH, 3, 16)]
    assert [each.kind for each in stack.sublayers] == ["streams", "self", "feed_forward", "streams", "layer_embedding"]
    assert [each.added for each in stack.sublayers] == [False, True, True, False, True]
    assert stack.sublayers[0].parts[0].details == ("goes on with stream 1 of 0 to 2",)
    assert "with a map of rank 3 beside it" in stack.sublayers[1].parts[1].details
    assert "about 60 % of neurons at 0" in stack.sublayers[2].parts[1].details
    assert [part.title for part in stack.outputs] == ["Mean of 3 streams", "Final RMSNorm"]


@pytest.mark.parametrize("name", POSITIONAL_ENCODINGS)
def test_positions_enter_at_one_place(name: str) -> None:
    (stack,) = diagram(positional_encoding=name).stacks
    title = POSITIONAL_ENCODINGS[name].title
    in_attention = title in stack.sublayers[0].parts[-1].details
    assert (stack.positions is not None) + in_attention == (name != "none")


def test_an_encoder_stands_beside_its_decoder_which_looks_at_it() -> None:
    found = diagram(architecture="encoder-decoder", positional_encoding="sinusoidal", encoder=EncoderConfig(layers=2))
    encoder, decoder = found.stacks
    assert (encoder.layers, decoder.layers) == (2, 3)
    assert branches(encoder) == [["norm", "self"], ["norm", "feed_forward"]]
    assert branches(decoder) == [["norm", "self"], ["norm", "cross"], ["norm", "feed_forward"]]
    assert encoder.residual_shape == (5, 16) and decoder.residual_shape == (LENGTH, 16)
    assert "weights 4 × 7 × 5" in decoder.sublayers[1].parts[-1].details
    assert "Bidirectional" in encoder.sublayers[0].parts[-1].details
    assert encoder.positions and decoder.positions


def test_an_image_is_cut_into_patches() -> None:
    image = ImageConfig(channels=3, height=12, width=8, patch_height=4, patch_width=4)
    found = diagram(
        architecture="encoder", image=image, masks=(), positional_encoding="learned",
        output_head="sequence-classifier", labels=("cat", "dog"), embedding=EmbeddingConfig(tied=False),
    )  # fmt: skip
    (stack,) = found.stacks
    assert stack.inputs[0].shape == (3, 12, 8)
    assert stack.inputs[1].title == "Patch embedding" and "3 × 2 of 4 × 4 pixels" in stack.inputs[1].details
    assert [part.kind for part in found.head] == ["pooling", "output"]
    assert found.head[-1].shape == (2,) and "logits over 2 labels" in found.head[-1].details
