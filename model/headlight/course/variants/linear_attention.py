"""Linear attention at linear cost: the same result by another order of multiplication, and the savings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from headlight.array_types import Float
from headlight.course.attention import attend
from headlight.course.controls import ChoiceControl, CountControl, SeedControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows
from headlight.course.timing import median_times
from headlight.nn.attention_functions import LinearAttention
from headlight.questions.asking import ask_measured, ask_number
from headlight.questions.kinds import Question
from headlight.views.forms import agreement, weights_matrix
from headlight.views.kinds import LinesView, MatrixView, TableView
from headlight.views.rows import Row, row
from headlight.views.words import digits

Head = Callable[[Tensor, Tensor, Tensor], Tensor]


def linear_attention(
    q: Float[Tensor, "query head_dim"], k: Float[Tensor, "key head_dim"], v: Float[Tensor, "key value_head_dim"]
) -> Float[Tensor, "query value_head_dim"]:
    """phi(q) (phi(k)^T v), divided by phi(q) times the sum of phi(k) (Katharopoulos et al. 2020, equation 6).

    No query x key matrix is computed: cost and memory grow with the length, not with its square.
    """
    function = LinearAttention()
    features_q, features_k = function.feature_map(q), function.feature_map(k)
    summary, total = features_k.T @ v, features_k.sum(0)  # sum over all keys: head_dim x value_head_dim numbers
    return (features_q @ summary) / (features_q @ total)[:, None]


def causal_linear_attention(
    q: Float[Tensor, "pos head_dim"], k: Float[Tensor, "pos head_dim"], v: Float[Tensor, "pos value_head_dim"]
) -> Float[Tensor, "pos value_head_dim"]:
    """The same under a causal mask, token by token (Katharopoulos et al. 2020, equations 16 to 20).

    A token needs only one state of head_dim x value_head_dim numbers and one sum from all tokens before it.
    """
    function = LinearAttention()
    state, total, outputs = torch.zeros(k.shape[1], v.shape[1]), torch.zeros(k.shape[1]), []
    for q_i, k_i, v_i in zip(function.feature_map(q), function.feature_map(k), v, strict=True):
        state, total = state + torch.outer(k_i, v_i), total + k_i
        outputs.append((q_i @ state) / (q_i @ total))
    return torch.stack(outputs)


def linear(mask: str, length: int, token: int, head_dim: int, seed: int) -> ScreenRows:
    """Both orders on random numbers, only one of which computes weights; with a causal mask, the kept state."""
    q, k, v = random_head(length, head_dim, seed)
    is_causal = mask == "causal"
    if is_causal:
        require_index(token, length, "token", "the text")
    allowed = torch.ones(length, length, dtype=torch.bool).tril() if is_causal else None
    full = attend(q, k, v, allowed=allowed, attention_function="linear")
    found = causal_linear_attention(q, k, v) if is_causal else linear_attention(q, k, v)
    error = float((full.output - found).abs().max())
    marked = tuple((token, channel) for channel in range(head_dim)) if is_causal else ()
    return (
        row(
            weights_matrix("φ(Q) φ(K)ᵀ, each row divided by its sum", full.weights, crossed=~full.allowed),
            MatrixView("times V", full.output, before="→", marked=marked),
            title=f"With the weights: {length} × {length} intermediate numbers",
            question=_ask_of_state(length, head_dim)
            if is_causal
            else ask_number(
                "Keys times values first: how many intermediate numbers replace the weights?",
                head_dim * head_dim,
                (length * length, "That is the number of weights, one for each pair of tokens."),
                (length * head_dim, "That is the number of values; they are summed over the tokens."),
                hints=("φ(K)ᵀ V is summed over all tokens.", "It has a row and a column for each channel."),
            ),
        ),
        _state_row(k, v, found, token) if is_causal else _sum_row(k, v, found),
        agreement(f"All {length} outputs agree up to rounding.", error, full.output.abs().max()),
        *((_kept_row(head_dim),) if is_causal else ()),
    )


def _ask_of_state(length: int, head_dim: int) -> Question:
    return ask_number(
        f"Keys and values of {length} tokens are {2 * head_dim * length} numbers. How many numbers does linear "
        "attention carry on?",
        head_dim * head_dim + head_dim,
        (head_dim * head_dim, "The sum of all φ(k), the divisor, is carried on, too."),
        (2 * head_dim * length, "That is what softmax needs: all keys and values."),
    )


def _sum_row(k: Tensor, v: Tensor, output: Tensor) -> Row:
    """Keys times values, summed over all tokens."""
    return row(
        MatrixView("φ(K)ᵀ V", LinearAttention().feature_map(k).T @ v),
        MatrixView("φ(Q) times this sum, divided", output, before="→"),
        title=f"Without the weights: {k.shape[1]} × {k.shape[1]} intermediate numbers, for any length",
    )


def _state_row(k: Tensor, v: Tensor, outputs: Tensor, token: int) -> Row:
    """The sum up to one token, which is all that it needs from the tokens before it."""
    width, before = k.shape[1], slice(token + 1)
    state = LinearAttention().feature_map(k)[before].T @ v[before]
    return row(
        MatrixView(f"State after token {token}: the sum of all φ(k)ᵀ v up to it", state),
        MatrixView(f"Output of token {token}", outputs[token][None], before="→"),
        title=f"Token by token: {width} × {width} numbers are carried on, and {width} for the division",
    )


def _kept_row(head_dim: int) -> Row:
    counts, kept = (10, 1_000, 100_000), head_dim * head_dim + head_dim
    return row(
        TableView(
            ("numbers kept for writing on", "after 10 tokens", "after 1,000", "after 100,000"),
            (
                ("softmax: all keys and values", *(f"{2 * head_dim * count:,}" for count in counts)),
                ("linear: the state and the sum", *3 * (f"{kept:,}",)),
            ),
        )
    )


MASKS = {"none": "None: all tokens at once", "causal": "Causal: token by token"}
LINEAR = Screen(
    title="Linear attention: multiply in another order",
    lesson="Without an exponential between them, the products can be computed in another order: keys times values "
    "first. The result is the same, but the matrix of all pairs of tokens is never computed. Under a causal mask the "
    "sum grows token by token: a decoder carries on one state of fixed size, as a recurrent network does.",
    controls={
        "mask": ChoiceControl("Mask", "none", MASKS),
        "length": CountControl("Tokens", "8", 1, 16),
        "token": CountControl("Token shown (0 is the first)", "2", 0, 15, when="mask=causal"),
        "head_dim": CountControl("Channels", "3", 1, 6),
        "seed": SeedControl(),
    },
    compute=linear,
    formulas=(
        r"(\varphi(Q)\, \varphi(K)^\top)\, V = \varphi(Q)\, (\varphi(K)^\top V)",
        r"\varphi(x) = \mathrm{elu}(x) + 1",
        r"S_i = S_{i-1} + \varphi(k_i)^\top v_i,\quad z_i = z_{i-1} + \varphi(k_i)",
        r"o_i = \frac{\varphi(q_i)\, S_i}{\varphi(q_i) \cdot z_i}",
    ),
    code=(linear_attention, causal_linear_attention, LinearAttention),
)


def cost(longest: str, head_dim: int, seed: int) -> ScreenRows:
    """Time and memory of softmax and of both orders of linear attention, by length."""
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
            _lines("Memory of all results, counted (MB)", "MB", lengths, sizes),
            question=ask_measured(
                f"From {lengths[-2]:,} to {lengths[-1]:,} tokens: by what factor does the memory of softmax grow?",
                (2.0, 4.0, 8.0),
                sizes["softmax"][-1] / sizes["softmax"][-2],
                partial(digits, count=2),
                {2.0: "There are four times as many pairs of tokens.", 8.0: "A pair has two tokens, not three."},
            ),
        ),
        TableView(
            (f"{lengths[-2]:,} → {lengths[-1]:,} tokens", "time grows by", "memory grows by"),
            tuple(
                (name, f"× {times[name][-1] / times[name][-2]:.1f}", f"× {sizes[name][-1] / sizes[name][-2]:.1f}")
                for name in HEADS
            ),
        ),
        "Twice the length means twice the tokens and four times the pairs of tokens. The counted memory shows this "
        "exactly; measured times also depend on other work of this machine.",
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
    """Counts the bytes of every new tensor returned by an operation."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.total: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {tensor.untyped_storage().data_ptr() for tensor in args if isinstance(tensor, Tensor)}
        if isinstance(result, Tensor) and result.untyped_storage().data_ptr() not in given:  # not a view of an argument
            self.total += result.numel() * result.element_size()
        return result


def written_bytes(head: Head, q: Tensor, k: Tensor, v: Tensor) -> int:
    """The total bytes of all intermediate and final results."""
    with _WrittenBytes() as counter:
        head(q, k, v)
    return int(counter.total)


def _lines(title: str, unit: str, lengths: list[int], series: dict[str, list[float]]) -> LinesView:
    return LinesView(title, lengths, series, "tokens", unit, log_x=True, log_y=True)


COST = Screen(
    title="What length costs",
    lesson="Softmax attention compares all pairs of tokens: twice the length takes four times the memory, and, for "
    "long texts, four times the time. Linear attention in its other order takes only twice as much of both. Both are "
    "computed here and now.",
    controls={
        "longest": ChoiceControl(
            "Longest text", "1024", {"512": "512 tokens", "1024": "1,024 tokens", "2048": "2,048 tokens"}
        ),
        "head_dim": CountControl("Channels", "32", 4, 128),
        "seed": SeedControl(),
    },
    compute=cost,
    formulas=(r"\mathrm{softmax:}\ n^2 d", r"\mathrm{linear:}\ n d^2"),
    code=(linear_attention, median_times, written_bytes),
    is_long=True,
)
