"""Encoder, decoder and encoder-decoder of the same sizes: their connections, and which tokens may look at which."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from headlight.array_types import Bool
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config, EncoderConfig, PerLayerConfig
from headlight.course.controls import ChoiceControl, ModelControl, TextControl
from headlight.course.fitting import parameter_count
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import token_labels
from headlight.nn.hooks import no_hook
from headlight.nn.masks import MASKS, QueryKeyPositions, combine_masks
from headlight.nn.stack import Stack
from headlight.nn.transformer import Transformer, meta_model
from headlight.questions.asking import ask_number
from headlight.questions.kinds import Question
from headlight.rendering.model_diagram import ModelDiagram, model_diagram
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import encode_input, encode_source
from headlight.tracing.recording import RecordingHook
from headlight.views.forms import shape_text, weights_map
from headlight.views.kinds import ModelDiagramView, Verdict
from headlight.views.rows import Row, row

ARCHITECTURES = ("encoder", "decoder", "encoder-decoder")
TITLES = {"encoder": "Encoder", "decoder": "Decoder", "encoder-decoder": "Encoder-decoder"}
Shapes = dict[str, tuple[int, ...]]


def three_shapes(model: Checkpoint, shape: str, text: str, source: str) -> ScreenRows:
    """The model's sizes in one of three shapes: allowed pairs of tokens, its diagram, and the shapes of a run."""
    own = model.model.config
    read, written = _encode(model, source, text)
    config = with_architecture(own, shape)
    length, source_length = len(written.ids), len(read.ids) if config.has_cross_attention else 0
    diagram = model_diagram(config, length, source_length)
    is_own = shape == own.architecture
    drawn = ModelDiagramView(
        title=TITLES[shape] + (": this model" if is_own else ""), diagram=diagram, enterable=is_own
    )
    usual = with_architecture(own, "encoder-decoder")
    return (
        _shape_row(shape, usual, drawn, token_labels(read), token_labels(written)),
        _measured_row(config, source_length, length, diagram),
    )


def with_architecture(config: Config, architecture: str) -> Config:
    """A config of the same sizes in another architecture, with its usual mask and output head."""
    if architecture == config.architecture:
        return config
    is_encoder = architecture == "encoder"
    return config.replace(
        architecture=architecture,
        masks=() if is_encoder else ("causal",),
        per_layer=PerLayerConfig(),
        encoder=EncoderConfig(),
        own_encoder=None,
        output_head="masked-language-model" if is_encoder else "language-model",
        labels=(),
    )


def run_shapes(config: Config, source_length: int, length: int) -> tuple[Transformer, Shapes]:
    """A model of this config with zero weights, and the shapes of the values of a forward pass."""
    recorder = RecordingHook(no_hook, ("*.weights", "*.final_residual", "logits"))
    model = zero_model(config)
    ids, source = (torch.zeros(1, size, dtype=torch.long) for size in (length, source_length))
    with torch.no_grad():
        model(ids, source=source if config.has_cross_attention else None, hook=recorder)
    return model, {path: tuple(value.shape[1:]) for path, value in recorder.values.items()}


def zero_model(config: Config) -> Transformer:
    """A model whose parameters are all views of one single zero, so that they take no memory.

    The meta device would work, too, but there torch imports its compiler to compute an embedding, which takes a second.
    """
    model, zeros = meta_model(config), dict[nn.Parameter, nn.Parameter]()
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            if parameter not in zeros:  # a shared one stays one
                zeros[parameter] = nn.Parameter(torch.zeros(()).expand(parameter.shape), requires_grad=False)
            setattr(module, name, zeros[parameter])
    return model


def drawn_shapes(diagram: ModelDiagram) -> Shapes:
    """The shapes of each stack's output and of the logits in a diagram."""
    last = {stack.name: [stack.residual_shape, *(part.shape for part in stack.outputs)][-1] for stack in diagram.stacks}
    drawn = {f"{stack}.final_residual": shape for stack, shape in last.items()}
    return drawn | ({"logits": diagram.head[-1].shape} if diagram.head else {})


def allowed_cells(config: Config, stack: str, length: int) -> Bool[Tensor, "query key"]:
    """Which tokens each token may look at in a stack's self-attention."""
    at = torch.arange(length)
    masks = config.for_stack(stack).masks
    return combine_masks(masks, QueryKeyPositions(at, at)).expand(1, 1, length, length)[0, 0]


def _encode(model: Checkpoint, source: str, text: str) -> tuple[Encoded, Encoded]:
    network, tokenizer = model.model, model.tokenizer
    read = encode_source(network, tokenizer, source) if network.config.has_cross_attention else None
    return read or encode_input(network, tokenizer, source), encode_input(network, tokenizer, text)


def _shape_row(
    shape: str, config: Config, drawn: ModelDiagramView, read: tuple[str, ...], written: tuple[str, ...]
) -> Row:
    """The allowed pairs of the attention that is special to a shape, beside its diagram."""
    title, cells, queries, keys = {
        "encoder": ("Encoder: all tokens are seen", allowed_cells(config, "encoder", len(written)), written, written),
        "decoder": ("Decoder: tokens look back", allowed_cells(config, "decoder", len(written)), written, written),
        "encoder-decoder": (
            "Cross-attention: every decoder token looks at every encoder token",
            torch.ones(len(written), len(read)).bool(), written, read,
        ),
    }[shape]  # fmt: skip
    return row(
        weights_map(
            title,
            cells.float(),
            queries,
            keys,
            note="1: may look" + (f". “{queries[0]}” begins every text." if queries[0].startswith("<") else ""),
        ),
        drawn,
        title="Which token may look at which",
        question=_question(shape, len(queries), len(keys)),
    )


def _question(shape: str, queries: int, keys: int) -> Question:
    asked = (
        f"{queries} queries meet {keys} keys in this attention. "
        f"How many of the {queries} × {keys} pairs of query and key are allowed?"
    )
    looking_back = queries * (queries + 1) // 2
    if shape != "decoder":
        return ask_number(
            asked,
            queries * keys,
            (looking_back, "That many are allowed in a decoder's self-attention. Here no token waits for another."),
        )
    return ask_number(
        asked,
        looking_back,
        (
            queries * keys,
            "In an encoder all of them are allowed. A token of a decoder does not see the tokens after it.",
        ),
        (queries * (queries - 1) // 2, "A token sees itself, too: the diagonal counts."),
        hints=("Token 0 sees one token, itself; token 1 sees two.", f"Add up 1 + 2 + ... + {queries}."),
    )


def _measured_row(config: Config, source_length: int, length: int, diagram: ModelDiagram) -> Row:
    """The shapes of a forward pass, and whether the diagram agrees."""
    model, shapes = run_shapes(config, source_length, length)
    weights = {path: shape for path, shape in shapes.items() if path.endswith(".weights")}
    each = "; ".join(dict.fromkeys(f"{_kind(path)} {shape_text(shape)}" for path, shape in weights.items()))
    parameters = parameter_count(model)
    agree = drawn_shapes(diagram).items() <= shapes.items()
    same = "are" if agree else "are not"
    text = (
        f"Run on your tokens, this shape has {len(weights)} attentions and {parameters:,} parameters. "
        f"Weights, heads × queries × keys: {each}. The shapes in the drawing {same} those of the run."
    )
    return row(Verdict(text, good=agree))


def _kind(path: str) -> str:
    stack, _, kind, _ = path.split(".")
    return "cross-attention" if kind == "cross" else f"{stack} self-attention"


THREE_SHAPES = Screen(
    title="One block, three shapes",
    lesson="In an encoder, which reads, every token looks at every other; in a decoder, which writes, each sees only "
    "itself and the tokens before it. Cross-attention joins the two.",
    controls={
        "model": ModelControl(default="dates", needs="text"),
        "shape": ChoiceControl("Shape", "decoder", TITLES),
        "text": TextControl("Text", "2021-03", longest=120),
        "source": TextControl(
            "What the encoder reads", "third of March 2021", longest=120, when="shape=encoder-decoder"
        ),
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
