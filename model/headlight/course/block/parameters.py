"""The parts of a layer of an opened model, and the cost of depth, width and heads, counted on the module."""

from __future__ import annotations

import torch
from torch.nn import Module

from headlight.checkpoints.load import Checkpoint
from headlight.config import Config, EmbeddingConfig
from headlight.course.attention import require_equal_heads
from headlight.course.controls import ChoiceControl, CountControl, ModelControl, TextControl
from headlight.course.fitting import parameter_count
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import LAYER, require_layer
from headlight.course.timing import multiply_adds
from headlight.nn.layers import FEED_FORWARDS
from headlight.nn.stack import NORM_PLACEMENTS, Block
from headlight.nn.transformer import Transformer, meta_model
from headlight.questions.asking import ask_largest, ask_order
from headlight.questions.kinds import Question
from headlight.rendering.model_diagram import model_diagram
from headlight.tracing.inputs import encode_input
from headlight.views.forms import bars
from headlight.views.kinds import ModelDiagramView, TableView, Verdict
from headlight.views.rows import row
from headlight.views.words import format_bytes, percent

PARTS = {"self_attention": "self-attention", "cross_attention": "cross-attention", "feed_forward": "feed-forward"}
LEAST_STEPS = 3  # fewest steps that are worth putting in order


def diagram(model: Checkpoint, text: str, layer: int) -> ScreenRows:
    """The diagram with one layer open, and the parameters of its parts."""
    network = model.model
    path = require_layer(network, layer)
    encoded = encode_input(network, model.tokenizer, text)
    blocks = network.stack(path.split(".")[0]).blocks
    counts = parameters_by_part(blocks[layer])
    total, in_layers, whole = sum(counts.values()), parameter_count(blocks), parameter_count(network)
    return (
        row(
            ModelDiagramView(
                title="Click a part to see its numbers on Explore",
                diagram=model_diagram(network.config, len(encoded.ids), layer=layer),
                enterable=True,
            ),
            TableView(
                ("part", "parameters", "share of the layer"),
                tuple((name, f"{count:,}", percent(count / total)) for name, count in counts.items()),
                title=f"Parameters of layer {layer}",
                note=f"Counted in the open model. All {len(blocks)} layers have the same parts, each with its own "
                f"weights: together {in_layers:,} of the model's {whole:,} parameters.",
            ),
            question=_question(network.config, counts, layer),
        ),
        f"{len(encoded.ids)} tokens go in as vectors of {network.config.d_model} channels, and {len(encoded.ids)} "
        f"vectors of {network.config.d_model} channels come out of every layer: this is why layers can be stacked.",
    )


def steps_around(placement: str, sublayers: tuple[str, ...]) -> tuple[str, ...]:
    """The steps of a layer in order, from the row of its norm placement."""
    row_of = NORM_PLACEMENTS[placement]
    is_last = row_of.norm_on_stream == "after"
    steps = (
        ("the norm of the {}", row_of.norm_before and not is_last),
        ("the {}", True),
        ("the norm of the {}'s output", row_of.norm_after),
        ("add the {} to the stream", row_of.has_residual),
        ("the norm of the {}", is_last),
    )
    return tuple(step.format(sublayer) for sublayer in sublayers for step, is_taken in steps if is_taken)


def _question(config: Config, counts: dict[str, int], layer: int) -> Question:
    """Asks for the order of a layer's steps, or for its largest part if the steps are parallel or too few."""
    sublayers = tuple(name for name in PARTS.values() if name in counts)
    steps = steps_around(config.norm_placement, sublayers)
    if config.residual.parallel or len(steps) < LEAST_STEPS:
        return ask_largest(f"Which part of layer {layer} has the most parameters?", counts)
    others = (
        (
            steps_around(name, sublayers),
            "That is the order of another kind of model, with this place of the norms: "
            f"{NORM_PLACEMENTS[name].title.lower()}.",
        )
        for name in ("post", "pre")
    )
    told = NORM_PLACEMENTS[config.norm_placement].title
    return ask_order(
        f"Put the steps of layer {layer} of this model in order.",
        steps,
        *others,
        hints=(
            "Tokens exchange information before each is processed alone.",
            f"Where its norms stand: {told.lower()}.",
        ),
    )


def parameters_by_part(block: Module) -> dict[str, int]:
    """The number of parameters of each part of a layer, by its name; all others are those of norms."""
    counts: dict[str, int] = {}
    for name, parameter in block.named_parameters():
        part = PARTS.get(name.split(".")[0], "norms")
        counts[part] = counts.get(part, 0) + parameter.numel()
    return counts


DIAGRAM = Screen(
    title="Diagram of a layer",
    lesson="Every layer has two parts: attention, which moves information between tokens, and a feed-forward network, "
    "which works on each token by itself. Both add what they compute to the residual stream on the left. The screens "
    "of this chapter treat the parts one by one; this diagram shows how your chosen model connects them.",
    controls={
        "model": ModelControl(default="stories-causal"),
        "text": TextControl("Sentence", "Once upon a time there was a little girl"),
        "layer": LAYER,
    },
    compute=diagram,
    formulas=(r"x \leftarrow x + \mathrm{Attention}(x),\quad x \leftarrow x + \mathrm{FFN}(x)",),
    code=(Block, steps_around, parameters_by_part),
    explore=link("model", "text", "layer", fixed={"tab": "model"}),
)


KINDS = ("relu", "gelu", "swiglu", "none")
WIDTH_CHOICES = {str(2**power): str(2**power) for power in range(5, 14)}
Parts = dict[str, int]


def calculator(
    layers: int, d_model: str, heads: int, feed_forward: str, vocabulary: str, length: str, tied: str
) -> ScreenRows:
    """The formulas beside the counts on a module of this config."""
    require_equal_heads(int(d_model), heads)
    config = Config(
        vocabulary_size=int(vocabulary), context_length=int(length), d_model=int(d_model), layers=layers, heads=heads,
        feed_forward=feed_forward, embedding=EmbeddingConfig(tied=tied == "yes"),
    )  # fmt: skip
    model = meta_model(config)
    by_formula, counted = formula_parameters(config), counted_parameters(model)
    operations, real_operations = formula_multiplications(config), counted_multiplications(model)
    return (
        row(
            bars(
                "Parameters (millions)",
                tuple(counted),
                [count / 1e6 for count in counted.values()],
                digits=2,
                note=f"{sum(counted.values()):,} in all",
            ),
            bars(
                f"Multiply-adds to read {int(length):,} tokens (billions)",
                tuple(operations),
                [count / 1e9 for count in operations.values()],
                digits=2,
                note=f"{sum(operations.values()):,} in all",
            ),
            question=ask_largest("Where are most of the parameters?", counted),
        ),
        _check(by_formula, counted, operations, real_operations),
        _table(config, by_formula, counted),
        row(_memory(config, sum(counted.values())), title="Memory"),
    )


def formula_parameters(config: Config) -> Parts:
    """The numbers of parameters by formula, from the sizes alone."""
    d, layers = config.d_model, config.layers
    maps = 0 if not config.has_feed_forward else 3 if config.feed_forward == "swiglu" else 2
    norms = (2 if config.has_feed_forward else 1) * layers + 1
    return {
        "embedding": config.vocabulary_size * d * (1 if config.embedding.tied else 2),
        "attention": layers * 4 * d * d,
        "feed-forward": layers * maps * d * config.d_ff,
        "norms": norms * d,
    }


def counted_parameters(model: Transformer) -> Parts:
    """The numbers of parameters counted on the module; a tied matrix counts once."""
    parts = dict.fromkeys(("embedding", "attention", "feed-forward", "norms"), 0)
    for name, parameter in model.named_parameters():
        kind = (
            "norms"
            if "norm" in name
            else "attention"
            if "attention" in name
            else "feed-forward"
            if "feed_forward" in name
            else "embedding"
        )
        parts[kind] += parameter.numel()
    return parts


def formula_multiplications(config: Config) -> Parts:
    """The multiply-adds of all matrix products for a text of the context's length."""
    n, d, layers = config.context_length, config.d_model, config.layers
    maps = 0 if not config.has_feed_forward else 3 if config.feed_forward == "swiglu" else 2
    return {
        "Q, K, V, output": layers * 4 * n * d * d,
        "scores and weighted sum": layers * 2 * n * n * d,
        "feed-forward": layers * maps * n * d * config.d_ff,
        "to the vocabulary": n * d * config.vocabulary_size,
    }


def counted_multiplications(model: Transformer) -> int:
    """The multiply-adds counted by torch in a run on the meta device, which has shapes but no numbers."""
    ids = torch.zeros(1, model.config.context_length, dtype=torch.long, device="meta")
    with torch.no_grad():
        return multiply_adds(lambda: model(ids))


def _check(by_formula: Parts, counted: Parts, operations: Parts, real_operations: int) -> Verdict:
    same_parameters, same_operations = by_formula == counted, sum(operations.values()) == real_operations
    return Verdict(
        f"The module has {sum(counted.values()):,} parameters, and the formula gives {sum(by_formula.values()):,}. "
        f"Torch counts {real_operations:,} multiply-adds, and the formula gives {sum(operations.values()):,}.",
        good=same_parameters and same_operations,
    )


def _table(config: Config, by_formula: Parts, counted: Parts) -> TableView:
    maps = "0" if not config.has_feed_forward else "3" if config.feed_forward == "swiglu" else "2"
    formulas = {
        "embedding": "V d" if config.embedding.tied else "2 V d",
        "attention": "L · 4 d²",
        "feed-forward": f"L · {maps} d · d_ff",
        "norms": "(2 L + 1) d" if config.has_feed_forward else "(L + 1) d",
    }
    rows = tuple((name, formulas[name], f"{by_formula[name]:,}", f"{counted[name]:,}") for name in counted)
    return TableView(("part", "formula", "by the formula", "counted on the module"), rows)


def _memory(config: Config, parameters: int) -> TableView:
    n, layers = config.context_length, config.layers
    cache = 2 * layers * n * config.d_model
    scores = config.heads * n * n
    counts = {
        "weights": parameters,
        "keys and values kept while writing: 2 L n d": cache,
        "weights of all heads of one layer: H n²": scores,
    }
    rows = ((what, f"{count:,}", format_bytes(4 * count), format_bytes(2 * count)) for what, count in counts.items())
    adam = "training with Adam: weights, gradients, two moments"
    training = (adam, f"{4 * parameters:,}", format_bytes(16 * parameters), "—")
    return TableView(("what", "numbers", "in 32 bits", "in 16 bits"), (*rows, training))


CALCULATOR = Screen(
    title="What size costs",
    lesson="Depth and width decide how many numbers a model has to learn and how much it computes. Double the width, "
    "and its layers have four times as many parameters; double the length, and the scores take four times as many "
    "operations. The number of heads changes neither.",
    controls={
        "layers": CountControl("Layers L", "12", 1, 48),
        "d_model": ChoiceControl("Width d", "512", WIDTH_CHOICES),
        "heads": CountControl("Heads H", "8", 1, 64),
        "feed_forward": ChoiceControl(
            "Feed-forward (d_ff = 4 d)", "gelu", {name: FEED_FORWARDS[name].title for name in KINDS}
        ),
        "vocabulary": ChoiceControl(
            "Vocabulary V", "32000", {"100": "100", "8000": "8,000", "32000": "32,000", "128000": "128,000"}
        ),
        "length": ChoiceControl("Tokens n", "1024", {str(4**power): f"{4**power:,}" for power in range(2, 8)}),
        "tied": ChoiceControl("Embedding and output share a matrix", "yes", {"yes": "yes", "no": "no"}),
    },
    compute=calculator,
    formulas=(r"\mathrm{layers} \approx 12 L d^2", r"\mathrm{scores} \propto L n^2 d"),
    code=(counted_parameters, counted_multiplications),
)
