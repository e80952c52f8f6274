"""Heads: cut, joined, counted, and of other widths."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from headlight.checkpoints import Checkpoint
from headlight.config import Config
from headlight.course.attention import require_equal_heads
from headlight.course.controls import ModelControl, NumberControl, TextControl
from headlight.course.heads.counting import AttentionRun, MultiplyAdds, join_heads, run_attention, run_two_stacks
from headlight.course.pictures import (
    BarsPicture,
    HeatMapPicture,
    MatrixPicture,
    TablePicture,
    fold,
    row,
    verdict_row,
    weights_map,
)
from headlight.course.questions import ask_largest, ask_nearest, ask_number
from headlight.course.requirements import require_part
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import HEAD, LAYER, counted
from headlight.nn.attention import Attention, merge_heads, split_heads

SHOWN_TOKENS, SHOWN_CHANNELS = 24, 128


def cut_heads(tokens: int, d_model: int, heads: int) -> Answer:
    """Numbered channels cut into heads and joined again, by the network's own functions."""
    require_equal_heads(d_model, heads)
    config = Config(vocabulary_size=1, context_length=1, layers=1, d_model=d_model, heads=heads)
    x = torch.arange(float(tokens * d_model)).view(1, tokens, d_model)
    cut = split_heads(x, heads)
    names = tuple(f"token {number}" for number in range(tokens))
    return (
        row(
            MatrixPicture(
                title=f"{counted(tokens, 'token')} × {counted(d_model, 'channel')}",
                values=x[0],
                rows=names,
                column_axis="channel",
                columns=tuple(map(str, range(d_model))),
                colours="none",
                digits=0,
            ),
            question=ask_number(
                f"{counted(d_model, 'channel')}, {counted(heads, 'head')}: how many channels has each head?",
                config.head_dim,
                (d_model, "Heads do not each get all channels: they share them."),
                (heads, "That is how many heads there are."),
                because=f"{d_model} / {heads} = {config.head_dim}.",
            ),
        ),
        row(
            *(
                MatrixPicture(
                    title=f"Head {number}",
                    values=head,
                    rows=names,
                    colours="none",
                    digits=0,
                    columns=tuple(map(str, range(number * config.head_dim, (number + 1) * config.head_dim))),
                )
                for number, head in enumerate(cut[0])
            ),
            title=f"Cut: {counted(heads, 'head')} × {counted(tokens, 'token')} × {counted(config.head_dim, 'channel')}",
        ),
        verdict_row(
            "Joined again, every number stands where it stood: cutting and joining compute nothing.",
            good=bool((merge_heads(cut) == x).all()),
        ),
    )


def show_joining(model: Checkpoint, text: str, layer: int, head: int) -> Answer:
    """Outputs of the heads side by side, times W_O, of which the rows of one head are shown, and what each adds."""
    require_part(model.model.config, "head", head)
    found = join_heads(model, text, layer)
    heads, _, width = found.head_outputs.shape
    names = tuple(found.text.token_texts[:SHOWN_TOKENS])
    lengths = found.by_head[:, :SHOWN_TOKENS].norm(dim=-1)
    return (
        row(
            HeatMapPicture(
                title=f"{heads} heads side by side: {heads} × {width} channels",
                values=found.concatenated[:SHOWN_TOKENS],
                rows=names,
                column_axis="channel",
                column_groups=width,
            )
        ),
        row(
            HeatMapPicture(
                before="×",
                title=f"W_O: the {counted(width, 'row')} of head {head}",
                values=found.projection[head * width : (head + 1) * width, :SHOWN_CHANNELS],
                note=_shown_columns(found.projection),
                row_axis="channel of the head",
                column_axis="channel of the model",
            )
        ),
        row(
            HeatMapPicture(
                before="=",
                title="Output of attention",
                values=found.output[:SHOWN_TOKENS, :SHOWN_CHANNELS],
                note=_shown_columns(found.output),
                rows=names,
                column_axis="channel",
            )
        ),
        row(
            MatrixPicture(
                title="Length of what each head adds to each token",
                values=lengths.T,
                rows=names,
                columns=tuple(f"head {number}" for number in range(heads)),
                colours="signed",
            ),
            question=ask_largest(
                f"Which head adds most to “{names[-1]}”?",
                {f"head {number}": float(length) for number, length in enumerate(lengths[:, -1])},
            ),
        ),
        verdict_row(
            "Joining and multiplying by W_O is the same as a sum: each head times its own rows of W_O. "
            f"Added up, the {heads} heads give the output up to {found.error:.1g}.",
            good=found.error < 1e-3,
        ),
    )


def _shown_columns(projection: Tensor) -> str:
    channels = projection.shape[1]
    return f"The first {SHOWN_CHANNELS} of {channels} channels." if channels > SHOWN_CHANNELS else ""


def compare_costs(d_model: int, heads: int, length: int) -> Answer:
    """One wide head, many narrow ones, and many wide ones: weights and multiply-adds as counted in a run."""
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
                BarsPicture(
                    title=title,
                    labels=tuple(runs),
                    series={title: [getattr(each, name) for each in runs.values()]},
                    digits=0,
                )
                for title, name in (("Parameters", "parameters"), ("Multiply-adds of one pass", "multiply_adds"))
            ),
            question=ask_nearest(
                f"How many parameters have {heads} heads that share the {d_model} channels, beside one head of all?",
                {f"1/{heads} of them": 1 / heads, "as many": 1, f"{heads} times as many": heads},
                many.parameters / one.parameters,
            ),
        ),
        row(
            TablePicture(
                title="Counted",
                columns=("attention", "parameters", "multiply-adds", "attention weights: heads × queries × keys"),
                rows=tuple(
                    (name, f"{each.parameters:,}", f"{each.multiply_adds:,}", f"{each.values['weights'].numel():,}")
                    for name, each in runs.items()
                ),
            )
        ),
        verdict_row(
            f"{heads} narrow heads take {many.parameters:,} parameters and {many.multiply_adds:,} "
            f"multiply-adds, one wide head {one.parameters:,} and {one.multiply_adds:,}. Heads of full width take "
            f"{wide.parameters / one.parameters:.1f} times the parameters: “more heads at no more cost” holds only "
            "where each is d / h wide."
        ),
    )


def show_widths(
    d_model: int, heads: int, head_dim: int, value_head_dim: int, length: int, encoder_heads: int, source_length: int
) -> Answer:
    """The shape of each value on its way through attention, for any widths, and of two stacks with other heads."""
    found = run_attention(d_model, heads, length, head_dim=head_dim, value_head_dim=value_head_dim)
    joined = merge_heads(found.values["weighted_values"][None])[0]
    return (
        row(
            TablePicture(
                title="Shapes of one pass",
                columns=("value", "shape", "axes"),
                rows=(
                    ("input", _shape(found, "input"), "tokens × channels"),
                    ("queries", _shape(found, "q"), "heads × tokens × d_k"),
                    ("keys", _shape(found, "k"), "heads × tokens × d_k"),
                    ("values", _shape(found, "v"), "heads × tokens × d_v"),
                    ("weights", _shape(found, "weights"), "heads × queries × keys"),
                    ("outputs of the heads", _shape(found, "weighted_values"), "heads × tokens × d_v"),
                    ("joined", " × ".join(map(str, joined.shape)), "tokens × (heads · d_v)"),
                    ("after W_O", _shape(found, "output"), "tokens × channels"),
                ),
            ),
            question=ask_number(
                "How many channels has a token when the heads are joined, before W_O?",
                heads * value_head_dim,
                (d_model, "That is after W_O. Before it, each head gives d_v channels."),
                (heads * head_dim, "That is the width of all queries, h · d_k; heads give values."),
            ),
        ),
        row(
            HeatMapPicture(
                title=f"Joined: {heads} × {value_head_dim} channels",
                values=joined,
                column_groups=value_head_dim,
                row_axis="token",
                column_axis="channel",
            ),
            HeatMapPicture(
                before="→",
                title=f"After W_O: {d_model} channels again",
                values=found.values["output"],
                row_axis="token",
                column_axis="channel",
            ),
        ),
        verdict_row(
            "Queries and keys must be equally wide, since they are multiplied; values may have any width. W_O brings "
            f"{heads} · {value_head_dim} = {heads * value_head_dim} channels back to {d_model}. {found.parameters:,} "
            f"parameters, {found.multiply_adds:,} multiply-adds."
        ),
        *fold(*_two_stacks(encoder_heads, heads, source_length, length)),
    )


def _shape(run: AttentionRun, name: str) -> str:
    return " × ".join(map(str, run.values[name].shape))


def _two_stacks(encoder_heads: int, decoder_heads: int, source_length: int, length: int) -> Answer:
    """An encoder and a decoder that have different numbers of heads, run together."""
    weights = run_two_stacks(encoder_heads, decoder_heads, source_length, length)
    return (
        row(
            TablePicture(
                columns=("attention", "heads", "queries", "keys"),
                rows=tuple((name, *each.shape) for name, each in weights.items()),
            ),
            title="Another number of heads in the encoder",
        ),
        row(*(weights_map(f"{name}, head 0", each[0]) for name, each in weights.items())),
        verdict_row(
            "The encoder hands over vectors of d channels and no heads, so it may have any number of "
            "heads. Cross-attention belongs to the decoder: it has the decoder's heads, as many queries as the "
            "target has tokens, and as many keys as the source has. This network is not trained, so it looks "
            "almost evenly at all that it may see."
        ),
    )


D_MODEL = NumberControl(title="Channels d", default="64", low=8.0, high=256.0, step=8.0, whole=True)
HEADS = NumberControl(title="Heads h", default="8", low=1.0, high=16.0, whole=True)
LENGTH = NumberControl(title="Tokens", default="16", low=2.0, high=64.0, whole=True)

CUTTING = Screen(
    title="Cut into heads",
    lesson="Several heads do not need several networks. One matrix makes all queries at once, and the channels are "
    "then cut into heads: a view and a transpose that move no number to another token. After attention the heads are "
    "put side by side again.",
    controls={
        "tokens": NumberControl(title="Tokens", default="3", low=1.0, high=6.0, whole=True),
        "d_model": NumberControl(title="Channels d", default="8", low=2.0, high=12.0, step=1.0, whole=True),
        "heads": NumberControl(title="Heads h", default="4", low=1.0, high=6.0, whole=True),
    },
    compute=cut_heads,
    formulas=(r"\mathbf{R}^{n \times d} \to \mathbf{R}^{h \times n \times d/h} \to \mathbf{R}^{n \times d}",),
    code=(split_heads, merge_heads),
)
JOINING = Screen(
    title="Joined and projected",
    lesson="Each head gives a short vector for every token. They are put side by side, and W_O turns the long vector "
    "into the change of the residual stream. Because W_O has rows of its own for every head, the output is also a sum "
    "of what each head writes.",
    controls={
        "model": ModelControl(default="stories-causal"),
        "text": TextControl(title="Text", default="The cat sat on the mat."),
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
    lesson="The three attentions below are really run, and each matrix product is counted. Heads that share the "
    "channels among them cost what one wide head costs and give several patterns in place of one. Heads of full width "
    "cost about h times as much.",
    controls={
        "d_model": D_MODEL,
        "heads": NumberControl(title="Heads h", default="8", low=2.0, high=16.0, whole=True),
        "length": LENGTH,
    },
    compute=compare_costs,
    formulas=(
        r"4d^2\ \text{parameters}",
        r"4nd^2 + 2n^2d\ \text{multiply-adds}\quad (h\,d_k = d)",
    ),
    code=(run_attention, MultiplyAdds, Attention),
)
WIDTHS = Screen(
    title="Heads of any width",
    lesson="Nothing forces a head to be d / h wide. Heads of full width make h · d channels, which W_O brings back to "
    "d; or the values get a width of their own, d_v. An encoder may have another number of heads than its decoder: "
    "they meet in cross-attention alone, and what passes there are vectors of d channels.",
    controls={
        "d_model": D_MODEL,
        "heads": HEADS,
        "head_dim": NumberControl(title="Width of queries and keys d_k", default="64", low=1.0, high=256.0, whole=True),
        "value_head_dim": NumberControl(title="Width of values d_v", default="8", low=1.0, high=256.0, whole=True),
        "length": NumberControl(title="Tokens", default="8", low=2.0, high=32.0, whole=True),
        "encoder_heads": NumberControl(
            title="Heads of an encoder before it", default="2", low=1.0, high=16.0, whole=True
        ),
        "source_length": NumberControl(title="Tokens of its source", default="7", low=1.0, high=24.0, whole=True),
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
