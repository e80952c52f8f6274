"""The layers of an opened model, drawn from its config, and the parameters that each part has."""

from __future__ import annotations

from torch.nn import Module

from headlight.checkpoints.load import Checkpoint
from headlight.config import Config
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import ModelDiagramPicture, TablePicture, row, verdict_row
from headlight.course.question_kinds import Question
from headlight.course.questions import ask_largest, ask_order
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import LAYER, require_layer
from headlight.nn.stack import NORM_PLACEMENTS, Block
from headlight.rendering.model_diagram import model_diagram
from headlight.tracing.run import encode_input

PARTS = {"self_attention": "self-attention", "cross_attention": "cross-attention", "feed_forward": "feed-forward"}
LEAST_STEPS = 3  # that are worth putting in order


def diagram(model: Checkpoint, text: str, layer: int) -> Answer:
    """The diagram with one layer open, and the parameters of its parts."""
    network = model.model
    path = require_layer(network, layer)
    encoded = encode_input(network, model.tokenizer, text)
    blocks = network.stack(path.split(".")[0]).blocks
    counts = parameters_by_part(blocks[layer])
    total, in_layers, whole = sum(counts.values()), _count(blocks), _count(network)
    return (
        row(
            ModelDiagramPicture(
                title="Click a part to see its numbers on Explore",
                diagram=model_diagram(network.config, len(encoded.ids), layer=layer),
                enterable=True,
            ),
            TablePicture(
                title=f"Parameters of layer {layer}",
                columns=("part", "parameters", "share of the layer"),
                rows=tuple((name, f"{count:,}", f"{count / total:.1%}") for name, count in counts.items()),
                note=f"Counted in the open model. All {len(blocks)} layers have the same parts, each with weights "
                f"of its own: together {in_layers:,} of the model's {whole:,} parameters.",
            ),
            question=_question(network.config, counts, layer),
        ),
        verdict_row(
            f"{len(encoded.ids)} tokens go in as vectors of {network.config.d_model} channels, and {len(encoded.ids)} "
            f"vectors of {network.config.d_model} channels come out of every layer: that is why layers can be stacked."
        ),
    )


def steps_around(placement: str, sublayers: tuple[str, ...]) -> tuple[str, ...]:
    """What a layer does, first to last, as the row of its norm placement says it."""
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
    """In which order the parts of a layer come; where they come at once, or are two, which is the largest."""
    sublayers = tuple(name for name in PARTS.values() if name in counts)
    steps = steps_around(config.norm_placement, sublayers)
    if config.parallel_residual or len(steps) < LEAST_STEPS:
        return ask_largest(f"Which part of layer {layer} has the most parameters?", counts)
    others = (
        (steps_around(name, sublayers), f"That is another order. {NORM_PLACEMENTS[name].title}: not in this model.")
        for name in ("post", "pre")
    )
    told = NORM_PLACEMENTS[config.norm_placement].title
    return ask_order(
        f"Put in order what layer {layer} of this model does.",
        steps,
        *others,
        hints=("Tokens exchange something before each works on it alone.", f"Where its norms stand: {told.lower()}."),
    )


def parameters_by_part(block: Module) -> dict[str, int]:
    """How many parameters each part of a layer has, by its name; what is in no part are norms."""
    counts: dict[str, int] = {}
    for name, parameter in block.named_parameters():
        part = PARTS.get(name.split(".")[0], "norms")
        counts[part] = counts.get(part, 0) + parameter.numel()
    return counts


def _count(module: Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


DIAGRAM = Screen(
    title="A layer, drawn",
    lesson="Every layer has two parts: attention, which moves information between tokens, and a feed-forward network, "
    "which works on each token by itself. Both add what they compute to the residual stream on the left. The screens "
    "of this chapter take the parts one by one; this is how the model that you choose joins them.",
    controls={
        "model": ModelControl(default="stories-causal"),
        "text": TextControl(title="Sentence", default="Once upon a time there was a little girl"),
        "layer": LAYER,
    },
    compute=diagram,
    formulas=(r"x \leftarrow x + \mathrm{Attention}(x),\quad x \leftarrow x + \mathrm{FFN}(x)",),
    code=(Block, steps_around, parameters_by_part),
    explore=link("model", "text", "layer", fixed={"tab": "model"}),
)
