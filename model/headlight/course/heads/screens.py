"""Heads: splitting, joining, other widths, and their cost, counted in runs of attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import lcm

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints import Checkpoint
from headlight.config import Config, EncoderConfig
from headlight.course.attention import context_without_positions, require_equal_heads
from headlight.course.controls import CountControl, ModelControl, TextControl
from headlight.course.fitting import parameter_count
from headlight.course.requirements import require_part
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import HEAD, LAYER, require_layer
from headlight.course.timing import multiply_adds
from headlight.errors import counted
from headlight.nn.attention import Attention, AttentionInputs, merge_heads, split_heads
from headlight.nn.hooks import no_hook
from headlight.nn.transformer import Transformer, attention_at
from headlight.questions.asking import ask_largest, ask_nearest, ask_number
from headlight.text.tokenizer import Encoded
from headlight.tracing.recording import RecordingHook
from headlight.tracing.run import run
from headlight.views.forms import agreement, bars, shape_text, weights_map
from headlight.views.kinds import HeatMapView, MatrixView, TableView, Verdict
from headlight.views.rows import fold, row

VOCABULARY, CHANNELS_AT_LEAST = 32, 48


def run_two_stacks(
    encoder_heads: int, decoder_heads: int, source_length: int, length: int, seed: int = 0
) -> dict[str, Float[Tensor, "head query key"]]:
    """The attention weights of an encoder-decoder with random weights, by the name of each attention."""
    heads = lcm(encoder_heads, decoder_heads)
    config = Config(
        architecture="encoder-decoder", vocabulary_size=VOCABULARY, context_length=max(source_length, length),
        d_model=heads * -(-CHANNELS_AT_LEAST // heads), layers=1, heads=decoder_heads,
        encoder=EncoderConfig(heads=encoder_heads), positional_encoding="sinusoidal",
    )  # fmt: skip
    recorder = RecordingHook(no_hook, ("*.weights",))
    with torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(seed)
        model = Transformer(config).eval()
        source, target = (torch.randint(VOCABULARY, (1, size)) for size in (source_length, length))
        model(target, source=source, hook=recorder)
    values = {path: value[0] for path, value in recorder.values.items()}
    return {
        "Encoder self-attention": values["encoder.0.self.weights"],
        "Decoder self-attention": values["decoder.0.self.weights"],
        "Decoder cross-attention": values["decoder.0.cross.weights"],
    }


@dataclass(frozen=True, eq=False)
class JoinedHeads:
    """One layer's self-attention of a text, from its heads to its output.

    `by_head` is each head's contribution to the output by its own rows of W_O; their sum, with the bias of the
    projection, is the output up to `error`.
    """

    text: Encoded
    head_outputs: Float[Tensor, "head pos value_head_dim"]
    concatenated: Float[Tensor, "pos heads_times_value_head_dim"]
    projection: Float[Tensor, "heads_times_value_head_dim d_model"]
    output: Float[Tensor, "pos d_model"]
    by_head: Float[Tensor, "head pos d_model"]
    error: float


@torch.inference_mode()
def join_heads(checkpoint: Checkpoint, text: str, layer: int) -> JoinedHeads:
    """Run a text and follow the heads of a layer (from 0) to the output. Raises InputError for a missing layer."""
    model = checkpoint.model
    path = f"{require_layer(model, layer)}.self"
    trace = run(model, checkpoint.tokenizer, text, keep=(f"{path}.weighted_values", f"{path}.output"))
    head_outputs, output = (torch.tensor(trace[f"{path}.{name}"]) for name in ("weighted_values", "output"))
    linear = attention_at(model, path)[0].output
    projection = linear.weight.detach().float().cpu().T
    rows = projection.view(len(head_outputs), -1, projection.shape[1])  # the rows of each head
    by_head = head_outputs @ rows
    summed = by_head.sum(0) if linear.bias is None else by_head.sum(0) + linear.bias.float().cpu()
    error = float((summed - output).abs().max())
    return JoinedHeads(trace.text, head_outputs, merge_heads(head_outputs[None])[0], projection, output, by_head, error)


@dataclass(frozen=True, eq=False)
class AttentionRun:
    """One forward pass of one attention: each value by its hook point, without the batch, and its cost."""

    values: Mapping[str, Tensor]
    parameters: int
    multiply_adds: int


def run_attention(
    d_model: int, heads: int, length: int, *, head_dim: int = 0, value_head_dim: int = 0, seed: int = 0
) -> AttentionRun:
    """Attention with random weights over random tokens, without a mask.

    Sizes of 0 are d_model / heads. Raises ConfigError if the sizes do not fit together.
    """
    config = Config(
        vocabulary_size=1, context_length=1, layers=1, d_model=d_model, heads=heads, head_dim=head_dim,
        value_head_dim=value_head_dim, positional_encoding="none", masks=(),
    )  # fmt: skip
    context = context_without_positions(config, torch.ones(length, length, dtype=torch.bool))
    recorder = RecordingHook(no_hook, None)
    with torch.random.fork_rng(devices=()), torch.inference_mode():
        torch.manual_seed(seed)
        attention, x = Attention(config).eval(), torch.randn(1, length, d_model)
        products = multiply_adds(lambda: attention(x, AttentionInputs(context), recorder))
    values = {name: value[0] for name, value in recorder.values.items()}
    return AttentionRun(values, parameter_count(attention), products)


SHOWN_TOKENS, SHOWN_CHANNELS = 24, 128


def cut_heads(tokens: int, d_model: int, heads: int) -> ScreenRows:
    """Numbered channels split into heads and joined again by the network's own functions."""
    require_equal_heads(d_model, heads)
    config = Config(vocabulary_size=1, context_length=1, layers=1, d_model=d_model, heads=heads)
    x = torch.arange(float(tokens * d_model)).view(1, tokens, d_model)
    cut = split_heads(x, heads)
    names = tuple(f"token {number}" for number in range(tokens))
    return (
        row(
            MatrixView(
                f"{counted(tokens, 'token')} × {counted(d_model, 'channel')}",
                x[0],
                rows=names,
                column_axis="channel",
                columns=tuple(map(str, range(d_model))),
                colours="none",
                digits=0,
            ),
            question=ask_number(
                f"{counted(d_model, 'channel')}, {counted(heads, 'head')}: how many channels does each head have?",
                config.head_dim,
                (d_model, "A head does not get all channels: heads share them."),
                (heads, "That is how many heads there are."),
                because=f"{d_model} / {heads} = {config.head_dim}.",
            ),
        ),
        row(
            *(
                MatrixView(
                    f"Head {number}",
                    head,
                    rows=names,
                    colours="none",
                    digits=0,
                    columns=tuple(map(str, range(number * config.head_dim, (number + 1) * config.head_dim))),
                )
                for number, head in enumerate(cut[0])
            ),
            title=f"Split: {counted(heads, 'head')} × {counted(tokens, 'token')} × "
            f"{counted(config.head_dim, 'channel')}",
        ),
        Verdict(
            "Joined again, every number is where it was: splitting and joining compute nothing.",
            good=bool((merge_heads(cut) == x).all()),
        ),
    )


def show_joining(model: Checkpoint, text: str, layer: int, head: int) -> ScreenRows:
    """The heads' outputs side by side, the rows of W_O of one head, and each head's contribution."""
    require_part(model.model.config, "head", head)
    found = join_heads(model, text, layer)
    heads, _, width = found.head_outputs.shape
    names = tuple(found.text.token_texts[:SHOWN_TOKENS])
    lengths = found.by_head[:, :SHOWN_TOKENS].norm(dim=-1)
    return (
        HeatMapView(
            f"{heads} heads side by side: {heads} × {width} channels",
            found.concatenated[:SHOWN_TOKENS],
            rows=names,
            column_axis="channel",
            column_groups=width,
        ),
        HeatMapView(
            f"W_O: the {counted(width, 'row')} of head {head}",
            found.projection[head * width : (head + 1) * width, :SHOWN_CHANNELS],
            before="×",
            note=_shown_columns(found.projection),
            row_axis="channel of the head",
            column_axis="channel of the model",
        ),
        HeatMapView(
            "Output of attention",
            found.output[:SHOWN_TOKENS, :SHOWN_CHANNELS],
            before="=",
            note=_shown_columns(found.output),
            rows=names,
            column_axis="channel",
        ),
        row(
            MatrixView(
                "Length of each head's contribution to each token",
                lengths.T,
                rows=names,
                columns=tuple(f"head {number}" for number in range(heads)),
                colours="signed",
            ),
            question=ask_largest(
                f"Which head contributes most to “{names[-1]}”?",
                {f"head {number}": float(length) for number, length in enumerate(lengths[:, -1])},
            ),
        ),
        agreement(
            "Joining the heads and multiplying by W_O is the same as a sum: each head times its own rows of W_O. The "
            f"sum over {heads} heads equals the output up to rounding.",
            found.error,
            found.output.abs().max(),
            bound=1e-3,
        ),
    )


def _shown_columns(projection: Tensor) -> str:
    channels = projection.shape[1]
    return f"The first {SHOWN_CHANNELS} of {channels} channels." if channels > SHOWN_CHANNELS else ""


def compare_costs(d_model: int, heads: int, length: int) -> ScreenRows:
    """One wide head, many narrow ones, and many wide ones: parameters and multiply-adds, counted in a run."""
    require_equal_heads(d_model, heads)
    runs = {
        f"1 head of {d_model}": run_attention(d_model, 1, length),
        f"{heads} heads of {d_model // heads}": run_attention(d_model, heads, length),
        f"{heads} heads of {d_model}": run_attention(d_model, heads, length, head_dim=d_model),
    }
    one, many, wide = runs.values()
    return (
        row(
            *(
                bars(title, tuple(runs), [getattr(each, name) for each in runs.values()], name=title, digits=0)
                for title, name in (("Parameters", "parameters"), ("Multiply-adds of one pass", "multiply_adds"))
            ),
            question=ask_nearest(
                f"How many parameters do {heads} heads that share the {d_model} channels have, compared with one head "
                "of full width?",
                {f"1/{heads} as many": 1 / heads, "as many": 1, f"{heads} times as many": heads},
                many.parameters / one.parameters,
            ),
        ),
        TableView(
            ("attention", "parameters", "multiply-adds", "attention weights: heads × queries × keys"),
            tuple(
                (name, f"{each.parameters:,}", f"{each.multiply_adds:,}", f"{each.values['weights'].numel():,}")
                for name, each in runs.items()
            ),
            title="Counted",
        ),
        f"{heads} narrow heads take {many.parameters:,} parameters and {many.multiply_adds:,} multiply-adds, one wide "
        f"head {one.parameters:,} and {one.multiply_adds:,}. Heads of full width take "
        f"{wide.parameters / one.parameters:.1f} times the parameters: “more heads at no more cost” is true only if "
        "each is d / h wide.",
    )


def show_widths(
    d_model: int, heads: int, head_dim: int, value_head_dim: int, length: int, encoder_heads: int, source_length: int
) -> ScreenRows:
    """The shape of each value in attention for any widths, and two stacks with different numbers of heads."""
    found = run_attention(d_model, heads, length, head_dim=head_dim, value_head_dim=value_head_dim)
    shapes = {name: shape_text(each.shape) for name, each in found.values.items()}
    joined = merge_heads(found.values["weighted_values"][None])[0]
    return (
        row(
            TableView(
                ("value", "shape", "axes"),
                (
                    ("input", shapes["input"], "tokens × channels"),
                    ("queries", shapes["q"], "heads × tokens × d_k"),
                    ("keys", shapes["k"], "heads × tokens × d_k"),
                    ("values", shapes["v"], "heads × tokens × d_v"),
                    ("weights", shapes["weights"], "heads × queries × keys"),
                    ("outputs of the heads", shapes["weighted_values"], "heads × tokens × d_v"),
                    ("joined", shape_text(joined.shape), "tokens × (heads · d_v)"),
                    ("after W_O", shapes["output"], "tokens × channels"),
                ),
                title="Shapes of one pass",
            ),
            question=ask_number(
                "How many channels does a token have after the heads are joined, before W_O?",
                heads * value_head_dim,
                (d_model, "That is the width after W_O. Before it, each head gives d_v channels."),
                (heads * head_dim, "That is the width of all queries, h · d_k; heads give values."),
            ),
        ),
        row(
            HeatMapView(
                f"Joined: {heads} × {value_head_dim} channels",
                joined,
                column_groups=value_head_dim,
                row_axis="token",
                column_axis="channel",
            ),
            HeatMapView(
                f"After W_O: {d_model} channels again",
                found.values["output"],
                before="→",
                row_axis="token",
                column_axis="channel",
            ),
        ),
        "Queries and keys must be equally wide, since they are multiplied; values may have any width. W_O brings "
        f"{heads} · {value_head_dim} = {heads * value_head_dim} channels back to {d_model}. {found.parameters:,} "
        f"parameters, {found.multiply_adds:,} multiply-adds.",
        *fold(*_two_stacks(encoder_heads, heads, source_length, length)),
    )


def _two_stacks(encoder_heads: int, decoder_heads: int, source_length: int, length: int) -> ScreenRows:
    """A run of an encoder and a decoder with different numbers of heads."""
    weights = run_two_stacks(encoder_heads, decoder_heads, source_length, length)
    return (
        row(
            TableView(
                ("attention", "heads", "queries", "keys"), tuple((name, *each.shape) for name, each in weights.items())
            ),
            title="A different number of heads in the encoder",
        ),
        row(*(weights_map(f"{name}, head 0", each[0]) for name, each in weights.items())),
        "The encoder passes on vectors of d channels, not heads, so it may have any number of heads. Cross-attention "
        "belongs to the decoder: it has the decoder's heads, as many queries as the target has tokens, and as many "
        "keys as the source has. This network is not trained, so it looks almost evenly at all visible tokens.",
    )


D_MODEL = CountControl("Channels d", "64", 8.0, 256.0, step=8.0)
HEADS = CountControl("Heads h", "8", 1.0, 16.0)
LENGTH = CountControl("Tokens", "16", 2.0, 64.0)

CUTTING = Screen(
    title="Split into heads",
    lesson="Several heads do not need several networks. One matrix computes all queries at once, and the channels are "
    "then split into heads: a view and a transpose, which move no number to another token. After attention the heads "
    "are put side by side again.",
    controls={
        "tokens": CountControl("Tokens", "3", 1.0, 6.0),
        "d_model": CountControl("Channels d", "8", 2.0, 12.0, step=1.0),
        "heads": CountControl("Heads h", "4", 1.0, 6.0),
    },
    compute=cut_heads,
    formulas=(r"\mathbf{R}^{n \times d} \to \mathbf{R}^{h \times n \times d/h} \to \mathbf{R}^{n \times d}",),
    code=(split_heads, merge_heads),
)
JOINING = Screen(
    title="Joined and projected",
    lesson="Each head gives a short vector for every token. They are put side by side, and W_O turns the long vector "
    "into the change of the residual stream. Because W_O has separate rows for every head, the output is also a sum of "
    "one contribution from each head.",
    controls={
        "model": ModelControl(default="stories-causal"),
        "text": TextControl("Text", "The cat sat on the mat."),
        "layer": replace(LAYER, default="1"),
        "head": HEAD,
    },
    compute=show_joining,
    formulas=(r"\mathrm{Concat}(z_1, \dots, z_h)\,W^O = \sum_{n=1}^{h} z_n W^O_n",),
    code=(merge_heads, Attention.forward, join_heads),
    explore=link("model", "text", "layer", "head"),
)
COSTS = Screen(
    title="More heads at no more cost?",
    lesson="Several heads give several patterns instead of one; what do they cost? Three attentions are run, and each "
    "matrix product is counted: one wide head, heads that share its channels, and heads that each have the full width.",
    controls={
        "d_model": D_MODEL,
        "heads": CountControl("Heads h", "8", 2.0, 16.0),
        "length": LENGTH,
    },
    compute=compare_costs,
    formulas=(
        r"4d^2\ \text{parameters}",
        r"4nd^2 + 2n^2d\ \text{multiply-adds},\quad h\,d_k = d",
    ),
    code=(run_attention, multiply_adds, Attention),
)
WIDTHS = Screen(
    title="Heads of any width",
    lesson="A head need not be d / h wide. Heads of full width give h · d channels, which W_O brings back to d; or the "
    "values get a width of their own, d_v. An encoder and its decoder may have different numbers of heads: they meet "
    "only in cross-attention, and only vectors of d channels pass there.",
    controls={
        "d_model": D_MODEL,
        "heads": HEADS,
        "head_dim": CountControl("Width of queries and keys d_k", "64", 1.0, 256.0),
        "value_head_dim": CountControl("Width of values d_v", "8", 1.0, 256.0),
        "length": CountControl("Tokens", "8", 2.0, 32.0),
        "encoder_heads": CountControl("Heads of an encoder before it", "2", 1.0, 16.0),
        "source_length": CountControl("Tokens of its source", "7", 1.0, 24.0),
    },
    compute=show_widths,
    formulas=(
        r"W^Q, W^K \in \mathbf{R}^{d \times h d_k}",
        r"W^V \in \mathbf{R}^{d \times h d_v}",
        r"W^O \in \mathbf{R}^{h d_v \times d}",
        r"A_\mathrm{cross} \in \mathbf{R}^{h_d \times m \times n}",
    ),
    code=(Attention, run_attention, run_two_stacks, Config.for_stack),
)
