"""A model as a diagram: its parts in the order in which a text passes through them, with actual shapes."""

from __future__ import annotations

from dataclasses import dataclass

from headlight.attention_groups import STACK_TITLES
from headlight.config import Config
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.layers import FEED_FORWARDS, NORMS
from headlight.nn.masks import masks_title, parse_masks
from headlight.nn.output_heads import pooling_names, pooling_title
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.nn.stack import NORM_PLACEMENTS
from headlight.tasks import task_of
from headlight.views.words import digits, percent

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """A box of the diagram: its title, short lines of details, and the shape of its output.

    `kind` decides what the page opens when the box is clicked.
    """

    kind: str
    title: str
    details: tuple[str, ...] = ()
    shape: Shape = ()


@dataclass(frozen=True)
class Sublayer:
    """A branch of the residual stream, `parts` in order; its output is `added` to the stream, or else replaces it.

    A `norm` is on the stream itself if `norm_on_stream` is "before" (the branch leaves the stream) or "after" (the
    sum).
    """

    kind: str
    parts: tuple[Part, ...]
    added: bool = True
    norm: Part | None = None
    norm_on_stream: str = ""


@dataclass(frozen=True)
class StackDiagram:
    """An encoder or a decoder: the parts before its blocks, the block of one layer, and the parts after the blocks.

    `positions`, if any, are added to the embedding. In a `parallel` block all branches read the same stream.
    """

    name: str
    title: str
    inputs: tuple[Part, ...]
    positions: Part | None
    after_positions: tuple[Part, ...]
    layers: int
    layer: int
    sublayers: tuple[Sublayer, ...]
    parallel: bool
    outputs: tuple[Part, ...]
    residual_shape: Shape


@dataclass(frozen=True)
class ModelDiagram:
    """The stacks in running order, and the output head."""

    stacks: tuple[StackDiagram, ...]
    head: tuple[Part, ...]


def model_diagram(config: Config, text_length: int, source_length: int = 0, layer: int = 0) -> ModelDiagram:
    """The diagram of a model that reads a text (and a source) with these numbers of tokens."""
    stacks = tuple(
        _stack(
            config, name, source_length if name == "encoder" and source_length else text_length, source_length, layer
        )
        for name in config.stacks
    )
    return ModelDiagram(stacks, _output_head(config, text_length))


def _stack(config: Config, name: str, length: int, source_length: int, layer: int) -> StackDiagram:
    own = config.for_stack(name)
    layer = min(max(layer, 0), max(own.layers - 1, 0))
    return StackDiagram(
        name,
        STACK_TITLES[name],
        _inputs(own, name, length),
        _added_positions(own, length),
        _after_positions(own, length),
        own.layers,
        layer,
        _sublayers(own, name, length, source_length, layer) if own.layers else (),
        own.residual.parallel,
        (*_outputs(own, length), *_projected(config, name, length)),
        (length, own.d_model),
    )


def _inputs(config: Config, name: str, length: int) -> tuple[Part, ...]:
    """The parts that embed each token, patch or frame of a stack's input."""
    embedded, image = (length, config.embedding_dim), config.image
    if config.predicts_from_image or (config.reads_image and name == "encoder"):
        patches = f"{image.patch_rows} × {image.patch_columns} of {image.patch_height} × {image.patch_width} pixels"
        place = ("after a class token",) if config.predicts_from_image else ()
        pixels = Part("input", "Pixels", ("as the model reads them",), (image.channels, image.height, image.width))
        return pixels, Part("embedding", "Patch embedding", (patches, *place), embedded)
    if config.predicts_from_sound or (config.reads_sound and name == "encoder"):
        sound, kernels = config.sound, " · ".join(map(str, config.sound.kernels))
        read = ("samples", f"{sound.rate:,} a second") if not sound.mel_bins else (f"{sound.mel_bins} mel bins", "log")
        heard = Part("input", "Sound", read)
        return heard, Part("embedding", "Convolutions over time", (f"kernels {kernels}",), embedded)
    details = [f"a row for each of {config.vocabulary_size:,} tokens"]
    details += [f"times {digits(config.embedding.scale, 4)}"] if config.embedding.scale != 1 else []
    details += ["plus the segment's"] if config.embedding.segments else []
    parts = [
        Part("input", f"{length:,} token{'' if length == 1 else 's'}"),
        Part("embedding", "Token embedding", tuple(details), embedded),
    ]
    if config.embedding.projection == "tokens":
        parts.append(Part("projection", "Projection", (), (length, config.d_model)))
    return tuple(parts)


def _added_positions(config: Config, length: int) -> Part | None:
    """The position embeddings, if the positional encoding adds any."""
    encoding = POSITIONAL_ENCODINGS[config.positional_encoding]
    if not encoding.adds_embeddings(config):
        return None
    return Part("positions", "Positions", (encoding.title,), (length, config.embedding_sum_dim))


def _after_positions(config: Config, length: int) -> tuple[Part, ...]:
    parts = [_norm(config, (length, config.embedding_sum_dim))] if config.embedding.norm else []
    if config.embedding.projection == "all":
        parts.append(Part("projection", "Projection", (), (length, config.d_model)))
    if (count := config.residual.alternating_updates.streams) > 1:
        parts.append(
            Part("streams", "Residual streams", ("one, and projections of it",), (length, count, config.d_model))
        )
    return (*parts, *_recurrence(config, 0, length))


def _norm(config: Config, shape: Shape) -> Part:
    return Part("norm", NORMS[config.norm].title, (), shape)


def _sublayers(config: Config, name: str, length: int, source_length: int, layer: int) -> tuple[Sublayer, ...]:
    """Self-attention, cross-attention (if any), and the feed-forward network of one layer."""
    shape = (length, config.d_model)
    has_first_norm = config.first_norm or layer > 0
    sublayers = [_sublayer(config, "self", _self_attention(config, name, length, layer), has_first_norm)]
    if config.has_cross_attention and name == "decoder":
        details = (_heads(config), f"weights {config.heads} × {length} × {source_length}", "reads the encoder's output")
        sublayers.append(_sublayer(config, "cross", Part("cross", "Cross-attention", details, shape)))
    if config.has_feed_forward:
        part = Part("feed_forward", "Feed-forward", _feed_forward(config, layer), shape)
        sublayers.append(_sublayer(config, "feed_forward", part))
    if config.has_several_streams:
        sublayers = _alternating(config, length, sublayers)
    if dim := config.layer_embedding.dim:
        to_others = ("added to all streams but the first",) * config.has_several_streams
        part = Part("layer_embedding", "Layer embedding", (f"{dim:,} channels", "of each token", *to_others), shape)
        sublayers.append(_sublayer(config.replace(norm_placement="post-sublayer"), "layer_embedding", part))
    after = _recurrence(config, layer + 1, length)
    return (*sublayers, *(Sublayer("streams", (part,), added=False) for part in after))


def _recurrence(config: Config, place: int, length: int) -> tuple[Part, ...]:
    """The layers of linear attention before a layer, as one part; none if there are none."""
    count = config.recurrence.counts[place] if config.has_recurrence else 0
    title = f"{count:,} layer{'' if count == 1 else 's'} of linear attention"
    part = Part("streams", title, ("a state instead of weights",), (length, config.d_model))
    return (part,) * (count > 0)


def _feed_forward(config: Config, layer: int) -> tuple[str, ...]:
    """The details of a layer's feed-forward network, or of its experts."""
    own, experts, title = config.for_layer(layer), config.experts, FEED_FORWARDS[config.feed_forward].title
    has_experts = layer in config.expert_layers
    neurons = (experts.d_ff or own.d_ff) if has_experts else own.d_ff
    width = f"{config.d_model:,} → {neurons:,} → {config.d_model:,}"
    if not has_experts:
        still = f"about {percent(own.activation_sparsity, 0)} of neurons at 0"
        return title, width, *(still,) * (own.activation_sparsity > 0)
    shared = own.d_ff if experts.own_norms else experts.shared_d_ff
    for_every_token = (f"and one of {shared:,} neurons for every token",) * (shared > 0)
    return title, f"{experts.per_token:,} of {experts.count:,} experts", width, *for_every_token


def _alternating(config: Config, length: int, sublayers: list[Sublayer]) -> list[Sublayer]:
    """The sublayers of one stream, between the prediction and the correction of all streams."""
    count, active = config.residual.alternating_updates.streams, config.residual.alternating_updates.active
    shape = (length, count, config.d_model)
    predicted = Part(
        "streams", "Prediction of all streams", (f"goes on with stream {active} of 0 to {count - 1}",), shape
    )
    corrected = Part("streams", "Correction of all streams", (f"by what stream {active} has become",), shape)
    first, last = (Sublayer("streams", (part,), added=False) for part in (predicted, corrected))
    return [first, *sublayers, last]


def _sublayer(config: Config, kind: str, part: Part, has_norm: bool = True) -> Sublayer:
    """A sublayer with its norms, as the norm placement requires."""
    placement, norm = NORM_PLACEMENTS[config.norm_placement], _norm(config, part.shape)
    before = (norm,) if placement.norm_before and not placement.norm_on_stream and has_norm else ()
    after = (norm,) if placement.norm_after else ()
    on_stream = placement.norm_on_stream if has_norm else ""
    return Sublayer(kind, (*before, part, *after), placement.has_residual, norm if on_stream else None, on_stream)


def _self_attention(config: Config, name: str, length: int, layer: int) -> Part:
    per_layer, key_value_layer = config.per_layer, config.key_value_layer(layer)
    masks = (*config.masks, *(parse_masks(per_layer.masks[layer]) if per_layer.masks else ()))
    own = config.for_layer(layer)
    encoding = POSITIONAL_ENCODINGS[own.positional_encoding]
    details = [_heads(own), f"weights {config.heads} × {length} × {length}", masks_title(masks)]
    details += [f"keys and values of layer {key_value_layer}"] if key_value_layer != layer else []
    details += [encoding.title] if encoding.acts_in_attention() else []
    details += [f"with a map of rank {config.residual.laurel_rank} beside it"] if config.residual.laurel_rank else []
    details += [ATTENTION_FUNCTIONS[config.attention_function].title] if config.attention_function != "softmax" else []
    return Part("self", "Self-attention", tuple(details), (length, config.d_model))


def _heads(config: Config) -> str:
    shared = f", {config.key_value_heads} for keys" if config.key_value_heads != config.heads else ""
    return f"{config.heads} heads × {config.head_dim} channels{shared}"


def _outputs(config: Config, length: int) -> tuple[Part, ...]:
    """The parts after the last block."""
    has_norm = config.final_norm and not NORM_PLACEMENTS[config.norm_placement].output_is_normed
    count, shape = config.residual.alternating_updates.streams, (length, config.d_model)
    merged = [Part("streams", f"Mean of {count} streams", ("projections of all but the first",), shape)] * (count > 1)
    parts = [Part("final_norm", f"Final {NORMS[config.norm].title}", (), shape)] if has_norm else []
    if config.embedding.projection == "tokens":
        parts.append(Part("projection", "Projection", (), (length, config.embedding_dim)))
    return (*merged, *parts)


def _projected(config: Config, stack: str, length: int) -> tuple[Part, ...]:
    """The linear map from an encoder's width to the decoder's, if there is one."""
    is_projected = config.encoder.projected and stack == "encoder"
    return (Part("projection", "Projection", ("to the decoder's width",), (length, config.d_model)),) * is_projected


def _output_head(config: Config, length: int) -> tuple[Part, ...]:
    """The parts that compute logits, and the meaning of the logits; empty for a model without an output head."""
    task = task_of(config)
    if not task.predicts:
        return ()
    parts = (
        [Part("pooling", "Pooling", (pooling_title(config),), (config.d_model * len(pooling_names(config)),))]
        if task.whole_text
        else []
    )
    answers = len(config.labels) if task.predicts_labels else config.vocabulary_size
    over = f"over {answers:,} {'labels' if task.predicts_labels else 'tokens'}"
    tied = ("the embedding, transposed",) if config.embedding.tied and task.predicts_tokens else ()
    transform = config.output_head_config.transform or ("dense-norm" if task.fills_masks else "none")
    channels = config.output_head_config.transform_dim or config.d_model
    if transform != "none":
        parts.append(
            Part(
                "transform",
                "Transform",
                ("linear map, activation",),
                (channels,) if task.whole_text else (length, channels),
            )
        )
    shape = (answers,) if task.whole_text else (length, answers)
    return (*parts, Part("output", "Output head", (f"logits {over}", *tied), shape))
