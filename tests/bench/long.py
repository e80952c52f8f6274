"""The cost of 4,096 tokens: the traced forward compared with the fused one, in time and memory, then one head."""

import multiprocessing
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from headlight import Encoded, Trace, Transformer
from headlight.nn.hooks import no_hook
from headlight.tracing.recompute import max_pooled_value
from headlight.tracing.recording import RecordingHook
from headlight.tracing.request import RECOMPUTE_FROM
from tests.bench.forward import SHAPE, plain
from tests.bench.measure import compare, table

LONG = SHAPE.replace(context_length=4_096)
SIDE = 384  # cells on each side of a picture, as on the page
TURNS = 5
Work = Callable[[Transformer, Tensor], object]
HEAD = ("decoder.5.self", 3)


def lines() -> Iterator[str]:
    """The ratio of the forwards, the memory of each in a separate process, and the seconds for a head."""
    model, ids = shaped()
    ours, theirs = partial(seeds, model, ids), partial(fused, model, ids)
    yield from table([compare("traced forward, 4,096 tokens", ours, "fused", theirs, TURNS)])
    traced, bare = (peak(work) / 1e9 for work in (seeds, fused))
    yield f"\npeak memory: {traced:.2f} GB traced, {bare:.2f} GB fused, {traced - bare:.2f} GB more"
    yield f"one head after the forward, all weights recomputed and max-pooled: {head(model, ids):.2f} s"


def shaped() -> tuple[Transformer, Tensor]:
    """A model of GPT-2's width and depth with a context of 4,096 tokens, and a text of that length."""
    torch.manual_seed(0)
    model = Transformer(LONG).eval().requires_grad_(False)
    return model, torch.randint(LONG.vocabulary_size, (1, LONG.context_length))


def seeds(model: Transformer, ids: Tensor) -> dict[str, np.ndarray]:
    """The values that `run` keeps for a long text: enough to recompute the others, without logits."""
    record = RecordingHook(no_hook, RECOMPUTE_FROM)
    with torch.inference_mode():
        model.encode_hidden(ids, hook=record)
        return record.arrays()


def fused(model: Transformer, ids: Tensor) -> Tensor:
    """The fused forward up to the input of the language head, like the traced one."""
    return plain(model, ids, top=False)


def head(model: Transformer, ids: Tensor) -> float:
    """Seconds for one head's picture; the median of TURNS runs."""
    pieces = tuple(map(str, range(ids.shape[1])))
    nowhere, marks = ((0, 0),) * len(pieces), (False,) * len(pieces)
    text = Encoded("", tuple(ids[0].tolist()), pieces, pieces, nowhere, marks)
    trace = Trace(LONG, text, None, seeds(model, ids))
    (path, number), taken = HEAD, []
    for _ in range(TURNS):
        began = perf_counter()
        max_pooled_value(model, trace, f"{path}.weights", SIDE, slice(number, number + 1))
        taken.append(perf_counter() - began)
    return float(np.median(taken))


def peak(work: Work) -> int:
    """The peak memory in bytes of a separate process during one forward, including the model (Linux only)."""
    with multiprocessing.get_context("spawn").Pool(1) as pool_:
        taken: int = pool_.apply(_peak, (work,))
    return taken


def _peak(work: Work) -> int:
    model, ids = shaped()
    process = Path("/proc/self")
    (process / "clear_refs").write_text("5")  # reset the peak: building the model took more (man 5 proc)
    work(model, ids)
    marks = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return int(marks["VmHWM"].split()[0]) * 1024
