"""Linear attention in linear cost: the same numbers in another order of multiplication, and what that saves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from headlight.array_types import Float
from headlight.course.attention import attend
from headlight.course.controls import ChoiceControl, NumberControl, SeedControl
from headlight.course.pictures import LinesPicture, MatrixPicture, TablePicture, row, verdict_row
from headlight.course.questions import ask_nearest, ask_number
from headlight.course.screen import Answer, Screen
from headlight.course.timing import median_times
from headlight.errors import InputError, numbered
from headlight.nn.attention_functions import LinearAttention

Head = Callable[[Tensor, Tensor, Tensor], Tensor]


def linear_attention(
    q: Float[Tensor, "query head_dim"], k: Float[Tensor, "key head_dim"], v: Float[Tensor, "key value_head_dim"]
) -> Float[Tensor, "query value_head_dim"]:
    """phi(q) (phi(k)^T v), divided by phi(q) times the sum of phi(k) (Katharopoulos et al. 2020, equation 6).

    No matrix of query x key is made: cost and memory grow with the length, not with its square.
    """
    function = LinearAttention()
    features_q, features_k = function.feature_map(q), function.feature_map(k)
    summary, total = features_k.T @ v, features_k.sum(0)  # of all keys together: head_dim x value_head_dim numbers
    return (features_q @ summary) / (features_q @ total)[:, None]


def same_numbers(length: int, head_dim: int, seed: int) -> Answer:
    """Both orders on random numbers: the weights are made only by one of them."""
    q, k, v = random_head(length, head_dim, seed)
    full, linear = attend(q, k, v, attention_function="linear"), linear_attention(q, k, v)
    error = float((full.output - linear).abs().max())
    function = LinearAttention()
    return (
        row(
            MatrixPicture(title="φ(Q) φ(K)ᵀ, each row divided by its sum", values=full.weights, colours="weights"),
            MatrixPicture(title="times V", values=full.output, before="→"),
            title=f"With the weights: {length} × {length} numbers in between",
            question=ask_number(
                "Keys times values first: how many numbers stand in between, in place of the weights?",
                head_dim * head_dim,
                (length * length, "That is with the weights, one for each pair of tokens."),
                (length * head_dim, "That is as many as there are values; they are summed over the tokens."),
                hints=("φ(K)ᵀ V is summed over all tokens.", "It has a row and a column for each channel."),
            ),
        ),
        row(
            MatrixPicture(title="φ(K)ᵀ V", values=function.feature_map(k).T @ v),
            MatrixPicture(title="φ(Q) times it, divided", values=linear, before="→"),
            title=f"Without them: {head_dim} × {head_dim} numbers in between, whatever the length",
        ),
        verdict_row(f"The two outputs differ by at most {error:.1g}.", good=error < 1e-4),
    )


SAME_NUMBERS = Screen(
    title="Linear attention: multiply in another order",
    lesson=(
        "Without an exponential between them, the products can be taken in another order: keys times values first. The "
        "result is the same, but the matrix of all pairs of tokens is never made. Softmax does not allow this."
    ),
    controls={
        "length": NumberControl(title="Tokens", default="8", low=1, high=16, whole=True),
        "head_dim": NumberControl(title="Channels", default="3", low=1, high=6, whole=True),
        "seed": SeedControl(),
    },
    compute=same_numbers,
    formulas=(
        r"(\varphi(Q)\, \varphi(K)^\top)\, V = \varphi(Q)\, (\varphi(K)^\top V)",
        r"\varphi(x) = \mathrm{elu}(x) + 1",
    ),
    code=(linear_attention, LinearAttention),
)


def causal_linear_attention(
    q: Float[Tensor, "pos head_dim"], k: Float[Tensor, "pos head_dim"], v: Float[Tensor, "pos value_head_dim"]
) -> Float[Tensor, "pos value_head_dim"]:
    """The same under a causal mask, one token after the other (Katharopoulos et al. 2020, equations 16 to 20).

    What a token needs of all those before it is one state of head_dim x value_head_dim numbers, and one sum.
    """
    function = LinearAttention()
    state, total, outputs = torch.zeros(k.shape[1], v.shape[1]), torch.zeros(k.shape[1]), []
    for q_i, k_i, v_i in zip(function.feature_map(q), function.feature_map(k), v, strict=True):
        state, total = state + torch.outer(k_i, v_i), total + k_i
        outputs.append((q_i @ state) / (q_i @ total))
    return torch.stack(outputs)


def causal(length: int, token: int, head_dim: int, seed: int) -> Answer:
    """The state after a token, its output, and all outputs against those of the weights under a causal mask."""
    if token >= length:
        raise InputError(f"There is no token {token}: the text has {numbered('token', length)}.")
    q, k, v = random_head(length, head_dim, seed)
    function, before = LinearAttention(), slice(token + 1)
    state = function.feature_map(k)[before].T @ v[before]
    outputs = causal_linear_attention(q, k, v)
    allowed = torch.ones(length, length, dtype=torch.bool).tril()
    masked = attend(q, k, v, allowed=allowed, attention_function="linear")
    error = float((masked.output - outputs).abs().max())
    kept = head_dim * head_dim + head_dim
    return (
        row(
            MatrixPicture(title=f"State after token {token}: the sum of all φ(k)ᵀ v up to it", values=state),
            MatrixPicture(title=f"Output of token {token}", values=outputs[token][None], before="→"),
            title=f"Token after token: {head_dim} × {head_dim} numbers are carried on, and {head_dim} for the division",
            question=ask_number(
                f"Keys and values of {length} tokens are {2 * head_dim * length} numbers. How many are carried on "
                "here?",
                kept,
                (head_dim * head_dim, "The sum of all φ(k), by which one divides, is carried on, too."),
                (2 * head_dim * length, "That is what softmax needs: all keys and values."),
            ),
        ),
        row(
            MatrixPicture(
                title="The same with weights, under a causal mask",
                values=masked.weights,
                colours="weights",
                crossed=~allowed,
                row_axis="query",
                column_axis="key",
            ),
            MatrixPicture(
                title="Their output",
                values=masked.output,
                before="→",
                marked=tuple((token, channel) for channel in range(head_dim)),
            ),
        ),
        verdict_row(f"All {length} outputs agree to {error:.1g}.", good=error < 1e-4),
        row(
            TablePicture(
                columns=("numbers kept to write on", "after 10 tokens", "after 1,000", "after 100,000"),
                rows=(
                    ("softmax: all keys and values", *(f"{2 * head_dim * count:,}" for count in (10, 1_000, 100_000))),
                    ("linear: the state and the sum", *3 * (f"{kept:,}",)),
                ),
            )
        ),
    )


CAUSAL = Screen(
    title="Linear attention that writes: a recurrent network",
    lesson=(
        "Under a causal mask the sum of keys times values grows token by token. So a decoder with linear attention can "
        "carry one state of fixed size from token to token, as a recurrent network does, and forget all keys and "
        "values. Move on token by token and see the state change."
    ),
    controls={
        "length": NumberControl(title="Tokens", default="6", low=1, high=12, whole=True),
        "token": NumberControl(title="Token that is read (0 is the first)", default="2", low=0, high=11, whole=True),
        "head_dim": NumberControl(title="Channels", default="3", low=1, high=6, whole=True),
        "seed": SeedControl(),
    },
    compute=causal,
    formulas=(
        r"S_i = S_{i-1} + \varphi(k_i)^\top v_i,\quad z_i = z_{i-1} + \varphi(k_i)",
        r"o_i = \frac{\varphi(q_i)\, S_i}{\varphi(q_i) \cdot z_i}",
    ),
    code=(causal_linear_attention, LinearAttention),
)


def cost(longest: str, head_dim: int, seed: int) -> Answer:
    """Time and memory of softmax and of both orders of linear attention, over length."""
    lengths = [length for length in (64, 128, 256, 512, 1024, 2048) if length <= int(longest)]
    numbers = {length: random_head(length, head_dim, seed) for length in lengths}
    measured = median_times(
        {(name, length): partial(head, *numbers[length]) for name, head in HEADS.items() for length in lengths}
    )
    times = {name: [measured[name, length] for length in lengths] for name in HEADS}
    sizes = {name: [written_bytes(head, *numbers[length]) / 1e6 for length in lengths] for name, head in HEADS.items()}
    return (
        row(
            _lines("Time, measured now (ms)", "ms", lengths, times),
            _lines("Memory that its results take, counted (MB)", "MB", lengths, sizes),
            question=ask_nearest(
                f"From {lengths[-2]:,} to {lengths[-1]:,} tokens: by what factor does the memory of softmax grow?",
                {"2": 2, "4": 4, "8": 8},
                sizes["softmax"][-1] / sizes["softmax"][-2],
                {"2": "There are four times as many pairs of tokens.", "8": "A pair is of two tokens, not of three."},
            ),
        ),
        row(
            TablePicture(
                columns=(f"{lengths[-2]:,} → {lengths[-1]:,} tokens", "time grows by", "memory grows by"),
                rows=tuple(
                    (name, f"× {times[name][-1] / times[name][-2]:.1f}", f"× {sizes[name][-1] / sizes[name][-2]:.1f}")
                    for name in HEADS
                ),
            )
        ),
        verdict_row(
            "Twice the length is four times the pairs of tokens, and twice the tokens. The counted memory "
            "shows it exactly; measured times also depend on what else this machine computes."
        ),
    )


HEADS: dict[str, Head] = {
    "softmax": lambda q, k, v: attend(q, k, v).output,
    "linear, with the weights": lambda q, k, v: attend(q, k, v, attention_function="linear").output,
    "linear, keys times values first": linear_attention,
}


def random_head(length: int, head_dim: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values drawn from a normal distribution."""
    q, k, v = torch.randn(3, length, head_dim, generator=torch.Generator().manual_seed(seed))
    return q, k, v


class _WrittenBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of every new tensor that an operation gives."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.total: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {tensor.untyped_storage().data_ptr() for tensor in args if isinstance(tensor, Tensor)}
        if isinstance(result, Tensor) and result.untyped_storage().data_ptr() not in given:  # no view of an argument
            self.total += result.numel() * result.element_size()
        return result


def written_bytes(head: Head, q: Tensor, k: Tensor, v: Tensor) -> int:
    """The bytes of all results on the way, one after the other."""
    with _WrittenBytes() as counter:
        head(q, k, v)
    return int(counter.total)


def _lines(title: str, unit: str, lengths: list[int], series: dict[str, list[float]]) -> LinesPicture:
    return LinesPicture(title=title, x=lengths, series=series, x_title="tokens", y_title=unit, log_x=True, log_y=True)


COST = Screen(
    title="What length costs",
    lesson=(
        "Softmax attention compares all pairs of tokens: twice the length takes four times the memory, and in the "
        "end four times the time. Linear attention in its other order takes twice. Both are computed here and now."
    ),
    controls={
        "longest": ChoiceControl(
            title="Longest text",
            default="1024",
            options={"512": "512 tokens", "1024": "1,024 tokens", "2048": "2,048 tokens"},
        ),
        "head_dim": NumberControl(title="Channels", default="32", low=4, high=128, whole=True),
        "seed": SeedControl(),
    },
    compute=cost,
    formulas=(r"\mathrm{softmax:}\ n^2 d", r"\mathrm{linear:}\ n d^2"),
    code=(linear_attention, median_times, written_bytes),
    is_long=True,
)
