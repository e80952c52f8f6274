"""Depth, width and heads, and what they cost: parameters, memory and operations, counted on the real module."""

from __future__ import annotations

import torch
from torch.utils.flop_counter import FlopCounterMode

from headlight.config import Config
from headlight.course.attention import require_equal_heads
from headlight.course.controls import ChoiceControl, NumberControl
from headlight.course.pictures import BarsPicture, TablePicture, Verdict, row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen
from headlight.nn.layers import FEED_FORWARDS
from headlight.nn.transformer import Transformer, meta_model

KINDS = ("relu", "gelu", "swiglu", "none")
WIDTH_CHOICES = {str(2**power): str(2**power) for power in range(5, 14)}
Parts = dict[str, int]


def calculator(
    layers: int, d_model: str, heads: int, feed_forward: str, vocabulary: str, length: str, tied: str
) -> Answer:
    """The formulas beside what is counted on a module of this config."""
    require_equal_heads(int(d_model), heads)
    config = Config(
        vocabulary_size=int(vocabulary), context_length=int(length), d_model=int(d_model), layers=layers, heads=heads,
        feed_forward=feed_forward, tied_embeddings=tied == "yes",
    )  # fmt: skip
    model = meta_model(config)
    by_formula, counted = formula_parameters(config), counted_parameters(model)
    operations, real_operations = formula_multiplications(config), counted_multiplications(model)
    return (
        row(
            BarsPicture(
                title="Parameters (millions)",
                labels=tuple(counted),
                series={"": [count / 1e6 for count in counted.values()]},
                digits=2,
                note=f"{sum(counted.values()):,} in all",
            ),
            BarsPicture(
                title=f"Multiply-adds to read {int(length):,} tokens (billions)",
                labels=tuple(operations),
                series={"": [count / 1e9 for count in operations.values()]},
                digits=2,
                note=f"{sum(operations.values()):,} in all",
            ),
            question=ask_largest("Where do most of the parameters lie?", counted),
        ),
        row(_check(by_formula, counted, operations, real_operations)),
        row(_table(config, by_formula, counted)),
        row(_memory(config, sum(counted.values())), title="Memory"),
    )


def formula_parameters(config: Config) -> Parts:
    """Parameters from the sizes alone."""
    d, layers = config.d_model, config.layers
    maps = 0 if not config.has_feed_forward else 3 if config.feed_forward == "swiglu" else 2
    norms = (2 if config.has_feed_forward else 1) * layers + 1
    return {
        "embedding": config.vocabulary_size * d * (1 if config.tied_embeddings else 2),
        "attention": layers * 4 * d * d,
        "feed-forward": layers * maps * d * config.d_ff,
        "norms": norms * d,
    }


def counted_parameters(model: Transformer) -> Parts:
    """Parameters of the module, one by one; a tied matrix counts once."""
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
    """Multiply-adds of all matrix products when a text of the context's length is read."""
    n, d, layers = config.context_length, config.d_model, config.layers
    maps = 0 if not config.has_feed_forward else 3 if config.feed_forward == "swiglu" else 2
    return {
        "Q, K, V, output": layers * 4 * n * d * d,
        "scores and weighted sum": layers * 2 * n * n * d,
        "feed-forward": layers * maps * n * d * config.d_ff,
        "to the vocabulary": n * d * config.vocabulary_size,
    }


def counted_multiplications(model: Transformer) -> int:
    """What torch counts when the module runs on the meta device, which has shapes and no numbers."""
    counter = FlopCounterMode(display=False)
    ids = torch.zeros(1, model.config.context_length, dtype=torch.long, device="meta")
    with counter, torch.no_grad():
        model(ids)
    return int(counter.get_total_flops()) // 2  # torch counts a multiplication and an addition as two


def _check(by_formula: Parts, counted: Parts, operations: Parts, real_operations: int) -> Verdict:
    same_parameters, same_operations = by_formula == counted, sum(operations.values()) == real_operations
    return Verdict(
        text=f"The module has {sum(counted.values()):,} parameters, and the formula says {sum(by_formula.values()):,}. "
        f"Torch counts {real_operations:,} multiply-adds, and the formula says {sum(operations.values()):,}.",
        good=same_parameters and same_operations,
    )


def _table(config: Config, by_formula: Parts, counted: Parts) -> TablePicture:
    maps = "0" if not config.has_feed_forward else "3" if config.feed_forward == "swiglu" else "2"
    formulas = {
        "embedding": "V d" if config.tied_embeddings else "2 V d",
        "attention": "L · 4 d²",
        "feed-forward": f"L · {maps} d · d_ff",
        "norms": "(2 L + 1) d" if config.has_feed_forward else "(L + 1) d",
    }
    rows = tuple((name, formulas[name], f"{by_formula[name]:,}", f"{counted[name]:,}") for name in counted)
    return TablePicture(columns=("part", "formula", "by the formula", "counted on the module"), rows=rows)


def _memory(config: Config, parameters: int) -> TablePicture:
    n, layers = config.context_length, config.layers
    cache = 2 * layers * n * config.d_model
    scores = config.heads * n * n
    rows = (
        ("weights", f"{parameters:,}", _bytes(4 * parameters), _bytes(2 * parameters)),
        ("keys and values kept while writing: 2 L n d", f"{cache:,}", _bytes(4 * cache), _bytes(2 * cache)),
        ("weights of all heads of one layer: H n²", f"{scores:,}", _bytes(4 * scores), _bytes(2 * scores)),
        ("training with Adam: weights, gradients, two moments", f"{4 * parameters:,}", _bytes(16 * parameters), "—"),
    )
    return TablePicture(columns=("what", "numbers", "in 32 bits", "in 16 bits"), rows=rows)


def _bytes(count: int) -> str:
    units = ("bytes", "kB", "MB", "GB", "TB")
    power = min(len(units) - 1, max(0, (len(str(count)) - 1) // 3))
    return f"{count / 1000**power:.3g} {units[power]}"


CALCULATOR = Screen(
    title="What size costs",
    lesson="Depth and width decide how many numbers a model has to learn and how much it computes. Double the width, "
    "and its layers have four times as many parameters; double the length, and the scores take four times as much. "
    "The number of heads changes neither.",
    controls={
        "layers": NumberControl(title="Layers L", default="12", low=1, high=48, whole=True),
        "d_model": ChoiceControl(title="Width d", default="512", options=WIDTH_CHOICES),
        "heads": NumberControl(title="Heads H", default="8", low=1, high=64, whole=True),
        "feed_forward": ChoiceControl(
            title="Feed-forward (d_ff = 4 d)",
            default="gelu",
            options={name: FEED_FORWARDS[name].title for name in KINDS},
        ),
        "vocabulary": ChoiceControl(
            title="Vocabulary V",
            default="32000",
            options={"100": "100", "8000": "8,000", "32000": "32,000", "128000": "128,000"},
        ),
        "length": ChoiceControl(
            title="Tokens n", default="1024", options={str(4**power): f"{4**power:,}" for power in range(2, 8)}
        ),
        "tied": ChoiceControl(
            title="Embedding and output share a matrix", default="yes", options={"yes": "yes", "no": "no"}
        ),
    },
    compute=calculator,
    formulas=(r"\mathrm{layers} \approx 12 L d^2", r"\mathrm{scores} \propto L n^2 d"),
    code=(counted_parameters, counted_multiplications),
)
