"""The residual connection: what a sublayer adds to what was there."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import cosine_similarity

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, NumberControl, TextControl
from headlight.course.pictures import LinesPicture, MatrixPicture, TablePicture, Verdict, row
from headlight.course.question_kinds import Question
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import LAYER, TOKEN, require_layer, require_token, token_labels, value
from headlight.nn.stack import NORM_PLACEMENTS, ResidualConnection
from headlight.nn.transformer import Transformer
from headlight.tracing.run import run
from headlight.tracing.trace import Trace

SHOWN_CHANNELS = 6
TOLERANCE = 1e-4
# What the stream becomes in models whose norms change the sum; f(x) is what the sublayer itself gives.
BECOMES = {"post": "norm(x + f(x))", "post-sublayer": "x + norm(f(x))", "sandwich": "x + norm(f(x))", "none": "f(x)"}
Step = tuple[str, Tensor, Tensor, Tensor]  # what it is called; the stream before it, what it adds, the stream after it


def residual(model: Checkpoint, text: str, layer: int, token: int) -> Answer:
    """The stream of one token, and what each sublayer adds to it."""
    network = model.model
    chosen = require_layer(network, layer)
    trace = run(network, model.tokenizer, text, keep=("*.residual*", "*.output"))
    at = require_token(trace.text, token)
    steps = sublayer_steps(network, trace, at)
    first = next(index for index, step in enumerate(steps) if step[0].startswith(f"layer {chosen.split('.')[1]},"))
    width = network.config.d_model
    shown = min(SHOWN_CHANNELS, width)
    return (
        row(
            *_sum_pictures(steps[first], network.config.norm_placement),
            title=f"“{token_labels(trace.text)[at]}”: {steps[first][0]}",
            text=f"The first {shown} of {width} channels.",
            question=_question([step for step in steps if step[0].startswith(f"layer {layer},")], layer),
        ),
        row(_verdict(network, steps)),
        row(_lengths(steps), title="The same token through all layers"),
        row(_table(steps)),
    )


def sublayer_steps(model: Transformer, trace: Trace, token: int) -> list[Step]:
    """Every sublayer of the predicting stack, in the order in which they run, at one token."""
    stack, config, steps = model.config.stacks[-1], model.config, []
    for layer in range(config.num_layers(stack)):
        path = f"{stack}.{layer}"
        last = f"{stack}.{layer + 1}" if layer + 1 < config.num_layers(stack) else stack
        sublayers = [("attention", f"{path}.self.output", f"{path}.residual_after_self")]
        if config.has_feed_forward:
            sublayers.append(("feed-forward", f"{path}.feed_forward.output", f"{last}.residual"))
        before = value(trace, f"{path}.residual")[token]
        for name, output, after in sublayers:
            following = value(trace, after)[token]
            steps.append((f"layer {layer}, {name}", before, value(trace, output)[token], following))
            before = following
    return steps


def _question(steps: list[Step], layer: int) -> Question:
    """How much each sublayer adds; where there is one alone, how much beside the stream."""
    lengths = {name.partition(", ")[2]: float(added.norm()) for name, _, added, _ in steps}
    if len(lengths) == 1:
        lengths["the stream"] = float(steps[0][1].norm())
    told = " and ".join(f"{name} {length:.2f}" for name, length in lengths.items())
    return ask_largest(
        f"In layer {layer}, which is longer for this token: what is added by ...",
        lengths,
        because=f"Lengths (2-norm): {told}.",
    )


def _is_sum(step: Step) -> bool:
    _, before, added, after = step
    return bool((after - before - added).abs().max() < TOLERANCE * after.abs().max())


def _sum_pictures(step: Step, norm_placement: str) -> tuple[MatrixPicture, ...]:
    """x and f(x), and what the stream becomes: their sum, or what the model's norms make of it."""
    _, before, added, after = step
    columns = tuple(str(channel) for channel in range(SHOWN_CHANNELS))

    def picture(title: str, numbers: Float[Tensor, " channel"], sign: str = "") -> MatrixPicture:
        shown = numbers[None, :SHOWN_CHANNELS]
        return MatrixPicture(title=title, values=shown, columns=columns, column_axis="channel", before=sign)

    becomes, sign = ("x + f(x)", "=") if _is_sum(step) else (BECOMES.get(norm_placement, "the stream after it"), "→")
    return picture("x", before), picture("f(x)", added, "+"), picture(becomes, after, sign)


def _verdict(model: Transformer, steps: list[Step]) -> Verdict:
    error = max(float((after - before - added).abs().max()) for _, before, added, after in steps)
    placement = NORM_PLACEMENTS[model.config.norm_placement]
    if all(map(_is_sum, steps)):
        return Verdict(
            text=f"Checked in all {len(steps)} sublayers: the stream after each is the sum of the two to {error:.1g}.",
            good=True,
        )
    return Verdict(
        text="In this model the stream is not a plain sum. "
        f"Its norms: {placement.title[0].lower()}{placement.title[1:]}."
    )


def _lengths(steps: list[Step]) -> LinesPicture:
    return LinesPicture(
        title="Length (2-norm) of the stream and of what is added to it",
        x=list(range(len(steps))),
        series={
            "stream before": [float(before.norm()) for _, before, _, _ in steps],
            "added": [float(added.norm()) for _, _, added, _ in steps],
        },
        x_title="sublayer (0 is the first)",
        y_title="length",
    )


def _table(steps: list[Step]) -> TablePicture:
    rows = tuple(
        (
            name,
            float(before.norm()),
            float(added.norm()),
            float(after.norm()),
            float(cosine_similarity(before, added, dim=0)),
        )
        for name, before, added, after in steps
    )
    return TablePicture(
        columns=("sublayer", "length of x", "length of f(x)", "length after", "cosine of x and f(x)"),
        rows=rows,
        digits=2,
    )


RESIDUAL = Screen(
    title="Residual connections: a stream that each sublayer adds to",
    lesson="Attention and feed-forward do not replace a token's vector: what each computes from it is added to it. "
    "With the norms inside the sublayers (pre-norm), what one layer has written is still there for all later ones, "
    "and the gradient has a straight way back. With post-norm each sum is normed anew: LN(x + f(x)).",
    controls={
        "model": ModelControl(default="stories-causal"),
        "text": TextControl(title="Sentence", default="Once upon a time there was a little girl"),
        "layer": LAYER,
        "token": NumberControl(title=TOKEN.title, default="5", low=0, high=31, whole=True),
    },
    compute=residual,
    formulas=(
        r"\text{pre-norm: } x \leftarrow x + f(\mathrm{LN}(x))",
        r"\text{post-norm: } x \leftarrow \mathrm{LN}(x + f(x))",
    ),
    code=(ResidualConnection,),
    explore=link("model", "text", "layer", query="token", fixed={"tab": "layers"}),
)
