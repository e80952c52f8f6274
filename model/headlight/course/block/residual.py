"""The residual stream: the sublayers' additions, layer norm on typed numbers, and the placement of norms."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from headlight.analysis.residual_stream import require_attention_alone, require_one_stream
from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config
from headlight.course.controls import Axis, ChoiceControl, CountControl, MatrixControl, ModelControl, TextControl
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import LAYER, TOKEN, require_layer, require_token, require_width, token_labels, value
from headlight.nn.layers import NORMS, RMSNorm
from headlight.nn.stack import NORM_PLACEMENTS, ResidualConnection
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_largest, ask_order
from headlight.questions.kinds import Question
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.views.kinds import Equations, LinesView, MatrixView, TableView, Verdict
from headlight.views.rows import row
from headlight.views.words import digits, equals, rounded, three_digits

SHOWN_CHANNELS = 6
TOLERANCE = 1e-4
# The new stream in models whose norms change the sum; f(x) is the sublayer's own output.
BECOMES = {"post": "norm(x + f(x))", "post-sublayer": "x + norm(f(x))", "sandwich": "x + norm(f(x))", "none": "f(x)"}
Step = tuple[str, Tensor, Tensor, Tensor]  # name; stream before, added vector, stream after


def residual(model: Checkpoint, text: str, layer: int, token: int) -> ScreenRows:
    """The stream of one token, and the addition of each sublayer."""
    network = model.model
    require_one_stream(network.config, "the sum of what sublayers add")
    require_attention_alone(network.config, "the sum of what sublayers add")
    chosen = require_layer(network, layer)
    trace = run(network, model.tokenizer, text, keep=("*.residual*", "*.output"))
    at = require_token(trace.text, token)
    steps = sublayer_steps(network, trace, at)
    first = next(index for index, step in enumerate(steps) if step[0].startswith(f"layer {chosen.split('.')[1]},"))
    width = network.config.d_model
    shown = min(SHOWN_CHANNELS, width)
    return (
        row(
            *_summands(steps[first], network.config),
            title=f"“{token_labels(trace.text)[at]}”: {steps[first][0]}",
            text=f"The first {shown} of {width} channels.",
            question=_question([step for step in steps if step[0].startswith(f"layer {layer},")], layer),
        ),
        _verdict(network, steps),
        row(_lengths(steps), title="The same token through all layers"),
        _table(steps),
    )


def sublayer_steps(model: Transformer, trace: Trace, token: int) -> list[Step]:
    """Every sublayer of the predicting stack at one token, in order of execution."""
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
    """Asks which sublayer adds most, or, if there is only one, whether its output is longer than the stream."""
    lengths = {name.partition(", ")[2]: float(added.norm()) for name, _, added, _ in steps}
    if len(lengths) == 1:
        lengths["the stream"] = float(steps[0][1].norm())
    told = " and ".join(f"{name} {length:.2f}" for name, length in lengths.items())
    return ask_largest(
        f"In layer {layer}, which vector is longer for this token? (A sublayer stands for the vector that it adds.)",
        lengths,
        because=f"Lengths (2-norm): {told}.",
    )


def _is_sum(step: Step) -> bool:
    _, before, added, after = step
    return bool((after - before - added).abs().max() < TOLERANCE * after.abs().max())


def _summands(step: Step, config: Config) -> tuple[MatrixView, ...]:
    """x and f(x), and the new stream: their sum, or the result of the model's norms."""
    _, before, added, after = step
    columns = tuple(str(channel) for channel in range(SHOWN_CHANNELS))

    def picture(title: str, numbers: Float[Tensor, " channel"], sign: str = "") -> MatrixView:
        shown = numbers[None, :SHOWN_CHANNELS]
        return MatrixView(title, shown, columns=columns, column_axis="channel", before=sign)

    formulas = BECOMES if config.only_adds_sublayers else {}
    becomes = "x + f(x)" if _is_sum(step) else formulas.get(config.norm_placement, "the stream after it")
    sign = "=" if _is_sum(step) else "→"
    return picture("x", before), picture("f(x)", added, "+"), picture(becomes, after, sign)


def _verdict(model: Transformer, steps: list[Step]) -> Verdict:
    placement = NORM_PLACEMENTS[model.config.norm_placement]
    if all(map(_is_sum, steps)):
        return Verdict(
            f"Checked in all {len(steps)} sublayers: the stream after each is the sum x + f(x), up to rounding.",
            good=True,
        )
    return Verdict(
        f"In this model the stream is not a plain sum. Its norms: {placement.title[0].lower()}{placement.title[1:]}."
    )


def _lengths(steps: list[Step]) -> LinesView:
    return LinesView(
        "Length (2-norm) of the stream and of the added vectors",
        range(len(steps)),
        {
            "stream before": [float(before.norm()) for _, before, _, _ in steps],
            "added": [float(added.norm()) for _, _, added, _ in steps],
        },
        "sublayer (0 is the first)",
        "length",
    )


def _table(steps: list[Step]) -> TableView:
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
    return TableView(
        ("sublayer", "length of x", "length of f(x)", "length after", "cosine of x and f(x)"), rows, digits=2
    )


RESIDUAL = Screen(
    title="Residual connections: a stream that each sublayer adds to",
    lesson="Attention and feed-forward do not replace a token's vector: each adds its output to it. With the norms "
    "inside the sublayers (pre-norm), the output of one layer is still there for all later ones, and the gradient has "
    "a direct way back. With post-norm each sum is normalized again: LN(x + f(x)).",
    controls={
        "model": ModelControl(default="stories-causal"),
        "text": TextControl("Sentence", "Once upon a time there was a little girl"),
        "layer": LAYER,
        "token": CountControl(TOKEN.title, "5", 0, 31),
    },
    compute=residual,
    formulas=(
        r"\text{pre-norm: } x \leftarrow x + f(\mathrm{LN}(x))",
        r"\text{post-norm: } x \leftarrow \mathrm{LN}(x + f(x))",
    ),
    code=(ResidualConnection,),
    explore=link("model", "text", "layer", query="token", fixed={"tab": "layers"}),
)


TOKENS, NORM_CHANNELS, ONE = Axis("tokens", 1, 4), Axis("channels", 2, 6), Axis("row", 1, 1)
KINDS = ("layernorm", "rmsnorm")
ZERO = 1e-3  # smaller means are rounding errors


def normalize(
    x: Float[Tensor, "token channel"],
    norm: str,
    gain: Float[Tensor, "1 channel"],
    shift: Float[Tensor, "1 channel"],
    epsilon: float,
) -> Float[Tensor, "token channel"]:
    """x after the project's norm of that name; RMSNorm has no shift."""
    module = NORMS[norm].make(x.shape[1], epsilon, True)
    with torch.no_grad():
        module.get_parameter("weight").copy_(gain[0])
        if norm == "layernorm":
            module.get_parameter("bias").copy_(shift[0])
        normed: Tensor = module(x)
    return normed


def layer_norm(x: Tensor, norm: str, gain: Tensor, shift: Tensor, epsilon: str) -> ScreenRows:
    """The norm with and without gain and shift, and its effect on means and variances."""
    require_width(x.shape[1], {"gain": gain.shape[1], "shift": shift.shape[1]})
    plain = normalize(x, norm, torch.ones_like(gain), torch.zeros_like(shift), float(epsilon))
    normed = normalize(x, norm, gain, shift, float(epsilon))
    names = tuple(f"token {label}" for label in TOKENS.label_all(len(x)))
    return (
        row(
            MatrixView("x", x, rows=names, column_axis="channel"),
            MatrixView("Normalized", plain, rows=names, column_axis="channel", before="→"),
            MatrixView("With gain and shift", normed, rows=names, column_axis="channel", before="→"),
            question=_ask_of_means(plain),
        ),
        row(_statistics(names, x, plain, normed), title="Each token by itself"),
        row(Equations(lines=_pencil(x[0], plain[0], norm, float(epsilon))), title="Token 0, by hand"),
        _said_of_norm(x, plain, norm),
    )


def _ask_of_means(plain: Float[Tensor, "token channel"]) -> Question:
    """Asks whether each token or each channel has a mean of 0 after the norm; after RMSNorm neither has."""
    means = {"all channels of a token": plain.mean(1), "all tokens in a channel": plain.mean(0)}
    largest = {name: float(mean.abs().max()) for name, mean in means.items()}
    says = {name: f"A mean of {digits(mean, 2)} is among them." for name, mean in largest.items()}
    says["neither"] = "This norm subtracts a mean."
    return ask_largest(
        "Before gain and shift, which numbers have a mean of 0?", largest | {"neither": ZERO}, says, least=True
    )


def _statistics(names: tuple[str, ...], *stages: Tensor) -> TableView:
    def of(numbers: Tensor) -> tuple[float, float]:
        mean, variance = float(numbers.mean()), float(numbers.var(unbiased=False))
        return round(mean, 6), round(variance, 6)

    stages_shown = ("of x", "normalized", "at the end")
    columns = ("", *(f"{what} {stage}" for stage in stages_shown for what in ("mean", "variance")))
    rows: list[tuple[str | float, ...]] = []
    for at, name in enumerate(names):
        rows.append((name, *(each for stage in stages for each in of(stage[at]))))
    return TableView(columns, tuple(rows), digits=3)


def _pencil(x: Float[Tensor, " channel"], normed: Tensor, norm: str, epsilon: float) -> tuple[str, ...]:
    """The first number of the norm from the typed ones; a step is “≈” if its written numbers are too short for it."""
    typed, count = _as_written(x), len(x)
    if norm == "rmsnorm":
        squares = " + ".join(f"{_bracketed(float(each))}^2" for each in x)
        mean_square = (x * x).mean()
        return (
            rf"\mathrm{{mean\ square}} = ({squares}) / {count} {_result((typed**2).mean(), mean_square)}",
            rf"{_written(float(x[0]))} / {_divisor(typed[0], mean_square, epsilon, normed[0])}",
        )
    mean, variance = x.mean(), x.var(unbiased=False)
    numbers = " + ".join(_bracketed(float(each)) for each in x)
    deviations = " + ".join(f"({_written(float(each))})^2" for each in x - mean)
    difference = f"({_written(float(x[0]))} - {_bracketed(float(mean))})"
    return (
        rf"\mu = ({numbers}) / {count} {_result(typed.mean(), mean)}",
        rf"\sigma^2 = ({deviations}) / {count} {_result((_as_written(x - mean) ** 2).mean(), variance)}",
        rf"{difference} / {_divisor(typed[0] - _as_written(mean), variance, epsilon, normed[0])}",
    )


def _divisor(above: Tensor, below: Tensor, epsilon: float, result: Tensor) -> str:
    """The root below a fraction, and the result."""
    written = above / (_as_written(below) + epsilon).sqrt()
    root = rf"\sqrt{{{_written(float(below))} + {_written(epsilon)}}}"
    return f"{root} {equals(written, result, '{:.3f}'.format)} {float(result):.3f}"


def _result(written: Tensor, result: Tensor) -> str:
    return f"{equals(written, result, _written)} {_written(float(result))}"


def _as_written(numbers: Tensor) -> Tensor:
    """Numbers in the digits that `_written` writes."""
    return torch.tensor([rounded(each, 4) for each in numbers.flatten().tolist()]).double().view(numbers.shape)


def _bracketed(number: float) -> str:
    return f"({_written(number)})" if number < 0 else _written(number)


def _written(number: float) -> str:
    """A number in LaTeX with four significant digits and a power of ten instead of an exponent like e-05."""
    digits, _, exponent = f"{number:.4g}".partition("e")
    if not exponent:
        return digits
    power = f"10^{{{int(exponent)}}}"
    return power if digits == "1" else rf"{digits} \cdot {power}"


def _said_of_norm(x: Tensor, normed: Tensor, norm: str) -> Verdict:
    if not bool(normed.isfinite().all()):
        return Verdict(
            "A token whose channels are all equal has variance 0, and 0 / 0 is not a number. ε prevents this.",
            good=False,
        )
    pairs = [(i, j) for i in range(len(x)) for j in range(i) if torch.allclose(normed[i], normed[j], atol=1e-3)]
    pairs = [(i, j) for i, j in pairs if not torch.equal(x[i], x[j])]
    if pairs:
        i, j = pairs[0]
        lost = "their sizes" if norm == "rmsnorm" else "their sizes and means"
        return Verdict(f"Tokens {j} and {i} have become the same: they differed only in {lost}.", good=True)
    return Verdict("No token looks at another one here: change one row, and only that row of the result changes.")


LAYER_NORM = Screen(
    title="Layer norm",
    lesson="Numbers of any size are shifted and scaled to mean 0 and variance 1, so that a layer always reads numbers "
    "of about the same size: find out which numbers are taken together. Then each channel is multiplied by a gain and "
    "a shift is added, both learned. RMSNorm leaves out the mean and the shift.",
    controls={
        "x": MatrixControl("x", "1,2,3,6;10,20,30,60;-1,0,0,1", rows=TOKENS, columns=NORM_CHANNELS),
        "norm": ChoiceControl("Norm", "layernorm", {name: NORMS[name].title for name in KINDS}),
        "gain": MatrixControl("Gain γ", "1,1,1,2", rows=ONE, columns=NORM_CHANNELS),
        "shift": MatrixControl("Shift β", "0,0,0,0.5", rows=ONE, columns=NORM_CHANNELS),
        "epsilon": ChoiceControl("ε", "1e-05", {"0": "0", "1e-05": "0.00001", "0.1": "0.1", "1": "1"}),
    },
    compute=layer_norm,
    formulas=(
        r"\mathrm{LN}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta",
        r"\mathrm{RMSNorm}(x) = \gamma \odot \frac{x}{\sqrt{\mathrm{mean}(x^2) + \varepsilon}}",
    ),
    code=(normalize, RMSNorm),
)


STREAM_CHANNELS = Axis("channels", 2, 4)
# post-norm, pre-norm and those between; "residual-from-norm" is a pre-norm with another stream
PLACEMENTS = ("post", "pre", "post-sublayer", "sandwich", "none")


def through_blocks(
    x: Float[Tensor, "1 channel"], matrix: Float[Tensor, "channel channel"], placement: str, depth: int
) -> Float[Tensor, "depth channel"]:
    """The stream before and after each of `depth` residual connections around the same sublayer f(h) = h M."""
    config = Config(
        vocabulary_size=1, context_length=1, d_model=x.shape[1], layers=1, heads=1,
        norm="layernorm", norm_placement=placement, positional_encoding="none",
    )  # fmt: skip
    connection, stream = ResidualConnection(config), [x[None]]
    with torch.no_grad():
        for _ in range(depth):
            h = connection.sublayer_input(stream[-1])
            stream.append(connection.add(stream[-1], h, h @ matrix))
    return torch.cat(stream)[:, 0]


def norm_placement(x: Tensor, matrix: Tensor, depth: int) -> ScreenRows:
    """Each norm placement on the same numbers, after one sublayer and after many."""
    require_width(x.shape[1], {"rows of M": matrix.shape[0], "columns of M": matrix.shape[1]})
    streams = {name: through_blocks(x, matrix, name, depth) for name in PLACEMENTS}
    return (
        row(_one_block(streams), title="After one sublayer", question=_ask_of_lengths(streams, depth)),
        row(
            LinesView(
                "Length of the stream",
                range(len(next(iter(streams.values())))),
                {NORM_PLACEMENTS[name].title: stream.norm(dim=1).tolist() for name, stream in streams.items()},
                "sublayers passed",
                "length (2-norm)",
                broken=(NORM_PLACEMENTS["none"].title,),
                log_y=True,
            ),
            title="The same sublayer again and again",
        ),
        _said_of_lengths(streams, depth),
    )


def _one_block(streams: dict[str, Tensor]) -> TableView:
    channels = next(iter(streams.values())).shape[1]
    columns = ("norm placement", *(f"channel {at}" for at in range(channels)), "mean", "variance")
    rows = tuple(
        (
            NORM_PLACEMENTS[name].title,
            *stream[1].tolist(),
            round(float(stream[1].mean()), 6),
            float(stream[1].var(unbiased=False)),
        )
        for name, stream in streams.items()
    )
    return TableView(columns, rows, digits=3)


def _ask_of_lengths(streams: dict[str, Tensor], depth: int) -> Question:
    lengths = {NORM_PLACEMENTS[name].title: float(streams[name][-1].norm()) for name in ("post", "pre", "none")}
    order = tuple(sorted(lengths, key=lambda name: lengths[name]))
    return ask_order(
        f"Put them in order by the length of the stream after {depth} sublayers, the shortest first.",
        order,
        (order[::-1], "Reverse the order: the shortest comes first."),
        hints=("Post-norm brings the stream back to the same length each time; pre-norm does not normalize it.",),
        because=f"The lengths are {', '.join(three_digits(lengths[name]) for name in order)}.",
    )


def _said_of_lengths(streams: dict[str, Tensor], depth: int) -> Verdict:
    post, pre, none = (float(streams[name][-1].norm()) for name in ("post", "pre", "none"))
    return Verdict(
        f"After {depth} sublayers: post-norm {three_digits(post)}, pre-norm {three_digits(pre)}, neither norm nor "
        f"residual {three_digits(none)}. Post-norm brings the stream back to the same length each time. Pre-norm does "
        "not, so such models have one more norm at the end."
    )


NORM_PLACEMENT = Screen(
    title="Post-norm and pre-norm",
    lesson="The Transformer of 2017 has its norms after each residual connection (post-norm). Most later models "
    "normalize only the input of a sublayer, not the stream itself (pre-norm): then no norm is on the gradient's way "
    "back, and deep models train without a warm-up.",
    controls={
        "x": MatrixControl("x", "3,-1,2", rows=ONE, columns=STREAM_CHANNELS),
        "matrix": MatrixControl(
            "Sublayer f(h) = h M",
            "0.5,0.5,0;-0.5,0.5,0;0,0,0.5",
            rows=STREAM_CHANNELS,
            columns=STREAM_CHANNELS,
            low=-10.0,
            high=10.0,
        ),
        "depth": CountControl("Sublayers", "16", 1, 48),
    },
    compute=norm_placement,
    formulas=(r"\mathrm{post:}\ \mathrm{LN}(x + f(x))", r"\mathrm{pre:}\ x + f(\mathrm{LN}(x))"),
    code=(ResidualConnection, through_blocks),
)
