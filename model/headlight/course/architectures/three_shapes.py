"""Encoder, decoder and encoder-decoder of the same sizes: what is joined to what, and who may look at whom."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from headlight.array_types import Bool
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config
from headlight.config_groups import PerLayerConfig
from headlight.course.controls import ChoiceControl, ModelControl, TextControl
from headlight.course.pictures import (
    ModelDiagramPicture,
    Question,
    Row,
    TablePicture,
    row,
    verdict_row,
    weights_map,
)
from headlight.course.questions import ask_number
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import token_labels
from headlight.nn.hooks import no_hook
from headlight.nn.masks import MASKS, QueryKeyPositions, combine_masks
from headlight.nn.stack import Stack
from headlight.nn.transformer import Transformer, meta_model
from headlight.rendering.model_diagram import ModelDiagram, model_diagram
from headlight.text.tokenizer import Encoded
from headlight.tracing.run import RecordingHook, encode_input, encode_source

ARCHITECTURES = ("encoder", "decoder", "encoder-decoder")
TITLES = {"encoder": "Encoder", "decoder": "Decoder", "encoder-decoder": "Encoder-decoder"}
Shapes = dict[str, tuple[int, ...]]


def three_shapes(model: Checkpoint, source: str, text: str, shape: str) -> Answer:
    """The model's sizes in three shapes: who may look at whom, the diagram of one, and what a run of each computes."""
    own = model.model.config
    read, written = _encode(model, source, text)
    configs = {name: with_architecture(own, name) for name in ARCHITECTURES}
    lengths = {name: (len(read.ids), len(written.ids)) for name in ARCHITECTURES}
    lengths["encoder"], lengths["decoder"] = (0, len(read.ids)), (0, len(written.ids))
    diagrams = {
        name: model_diagram(config, written_length, read_length)
        for (name, config), (read_length, written_length) in zip(configs.items(), lengths.values(), strict=True)
    }
    is_own = shape == own.architecture
    title = TITLES[shape] + (": this model" if is_own else "")
    return (
        _masks_row(configs["encoder-decoder"], token_labels(read), token_labels(written)),
        row(
            ModelDiagramPicture(title=title, diagram=diagrams[shape], enterable=is_own),
            title="One stack, or two that cross-attention joins",
        ),
        *_measured_rows(configs, lengths, diagrams),
    )


def with_architecture(config: Config, architecture: str) -> Config:
    """A config of the same sizes in another architecture, with the mask and the output head that are usual there."""
    if architecture == config.architecture:
        return config
    is_encoder = architecture == "encoder"
    return config.replace(
        architecture=architecture,
        masks=() if is_encoder else ("causal",),
        per_layer=PerLayerConfig(),
        encoder_layers=0,
        encoder_heads=0,
        encoder_d_ff=0,
        output_head="masked-language-model" if is_encoder else "language-model",
        labels=(),
    )


def run_shapes(config: Config, source_length: int, length: int) -> tuple[Transformer, Shapes]:
    """A model of this config whose weights are zeros, and the shapes of what a forward pass of it computes."""
    recorder = RecordingHook(no_hook, ("*.weights", "*.final_residual", "logits"))
    model = zero_model(config)
    ids, source = (torch.zeros(1, size, dtype=torch.long) for size in (length, source_length))
    with torch.no_grad():
        model(ids, source=source if config.has_cross_attention else None, hook=recorder)
    return model, {path: tuple(value.shape[1:]) for path, value in recorder.values.items()}


def zero_model(config: Config) -> Transformer:
    """A model all of whose parameters show the same single zero, so that they take no memory.

    It could also run on the meta device, where there are no numbers at all; but torch computes an embedding there by
    importing its compiler, which takes a second.
    """
    model, zeros = meta_model(config), dict[nn.Parameter, nn.Parameter]()
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in zeros:  # a shared one stays one
                zeros[parameter] = nn.Parameter(torch.zeros(()).expand(parameter.shape), requires_grad=False)
            setattr(module, name, zeros[parameter])
    return model


def drawn_shapes(diagram: ModelDiagram) -> Shapes:
    """The shapes of each stack's output and of the logits, as a diagram has them."""
    drawn = {f"{stack.name}.final_residual": stack.residual_shape for stack in diagram.stacks}
    return drawn | ({"logits": diagram.head[-1].shape} if diagram.head else {})


def allowed_cells(config: Config, stack: str, length: int) -> Bool[Tensor, "query key"]:
    """Which tokens a stack's self-attention lets each token look at."""
    at = torch.arange(length)
    masks = config.for_stack(stack).masks
    return combine_masks(masks, QueryKeyPositions(at, at)).expand(1, 1, length, length)[0, 0]


def _encode(model: Checkpoint, source: str, text: str) -> tuple[Encoded, Encoded]:
    network, tokenizer = model.model, model.tokenizer
    read = encode_source(network, tokenizer, source) if network.config.has_cross_attention else None
    return read or encode_input(network, tokenizer, source), encode_input(network, tokenizer, text)


def _masks_row(config: Config, read: tuple[str, ...], written: tuple[str, ...]) -> Row:
    cross = torch.ones(len(written), len(read))
    maps = (
        ("Encoder: all look at all", allowed_cells(config, "encoder", len(read)), read, read),
        ("Decoder: each looks back", allowed_cells(config, "decoder", len(written)), written, written),
        ("Cross-attention: all look at the source", cross, written, read),
    )
    return row(
        *(
            weights_map(title, cells.float(), queries, keys, note="1: may look")
            for title, cells, queries, keys in maps
        ),
        title="Who may look at whom",
        question=_question(len(written)),
    )  # fmt: skip


def _question(count: int) -> Question:
    return ask_number(
        f"The decoder has {count} tokens. How many of its {count} × {count} pairs of query and key are allowed?",
        count * (count + 1) // 2,
        (count * count, "In an encoder all of them are. A token of a decoder does not see those after it."),
        (count * (count - 1) // 2, "A token sees itself, too: the diagonal counts."),
        hints=("Token 0 sees one token, itself; token 1 sees two.", f"Add up 1 + 2 + ... + {count}."),
    )


def _measured_rows(
    configs: dict[str, Config], lengths: dict[str, tuple[int, int]], diagrams: dict[str, ModelDiagram]
) -> tuple[Row, Row]:
    """What a forward pass of each shape computes, and whether the diagrams say the same."""
    rows, agree = [], True
    for name, config in configs.items():
        model, shapes = run_shapes(config, *lengths[name])
        weights = {path: shape for path, shape in shapes.items() if path.endswith(".weights")}
        attentions = [f"{_kind(path)} {shape_text(shape)}" for path, shape in weights.items()]
        parameters = sum(parameter.numel() for parameter in model.parameters())
        agree &= drawn_shapes(diagrams[name]).items() <= shapes.items()
        rows.append((TITLES[name], len(weights), "; ".join(dict.fromkeys(attentions)), f"{parameters:,}"))
    columns = ("shape", "attentions", "weights of each: heads × queries × keys", "parameters")
    return (
        row(TablePicture(columns=columns, rows=tuple(rows)), title="The same sizes, run in three shapes"),
        verdict_row("Each shape was built from the config and run on your tokens; the shapes in the drawings are "
                "those of the run." if agree else "The shapes in the drawings are not those of the run.", good=agree),
    )  # fmt: skip


def shape_text(shape: Sequence[int]) -> str:
    """A shape as it stands in a table, on one line."""
    return "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}".join(map(str, shape))


def _kind(path: str) -> str:
    stack, _, kind, _ = path.split(".")
    return "cross-attention" if kind == "cross" else f"{stack} self-attention"


THREE_SHAPES = Screen(
    title="One block, three shapes",
    lesson="In an encoder, which reads, every token looks at every other; in a decoder, which writes, each token sees "
    "only itself and what stands before it. An encoder-decoder has both, and its decoder looks into what the encoder "
    "has read by cross-attention. Below are the sizes of the model that you choose, in all three shapes.",
    controls={
        "model": ModelControl(default="dates", needs="text"),
        "source": TextControl(title="What is read", default="third of March 2021", longest=120),
        "text": TextControl(title="What is written", default="2021-03", longest=120),
        "shape": ChoiceControl(title="Shape that is drawn", default="encoder-decoder", options=TITLES),
    },
    compute=three_shapes,
    formulas=(
        r"\text{encoder: } m_{ij} = 1",
        rf"\text{{decoder: }} {MASKS['causal'].formula}",
        r"\text{cross-attention: } m_{ij} = 1",
    ),
    code=(with_architecture, run_shapes, Stack),
    explore=link("model", "text", "source", fixed={"tab": "model"}),
)
