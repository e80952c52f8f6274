"""The cost of each explanation for a model of GPT-2's size, compared with the forward of the same text."""

from collections.abc import Callable, Iterator
from functools import partial

import torch

from headlight import Transformer
from headlight.analysis import head_removal, ledger
from headlight.analysis import moved_values as moved
from headlight.analysis.faithfulness import copying
from headlight.analysis.faithfulness.copying import trace_copying
from headlight.analysis.head_removal import remove_head
from headlight.analysis.ledger import cell_ledger
from headlight.analysis.moved_values import attention_sinks, moved_values
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request
from tests.bench.forward import GPT2, plain
from tests.bench.measure import Ratio, compare
from tests.model import toys

KEEP = (*ledger.KEEP, *moved.KEEP, *head_removal.KEEP, *copying.KEEP)
TEXT = "the cat sat on the mat and the dog ran away " * 10 + "and swam in it"  # 128 tokens of the toy tokenizer


def ratios() -> Iterator[Ratio]:
    """Each explanation at 144 heads and 128 tokens; random weights cost as much as trained ones."""
    torch.manual_seed(0)
    model, tokenizer = Transformer(GPT2).eval().requires_grad_(False), toys.causal()
    request = RunRequest.encode(model, tokenizer, TEXT, keep=KEEP)
    trace, ids = run_request(model, request).trace, torch.tensor([request.text.ids])
    last, path, token = ids.shape[1] - 1, "decoder.11.self", int(ids[0, -1])
    forward = partial(plain, model, ids)
    works: dict[str, Callable[[], object]] = {
        f"the ledger of a cell, GPT-2's size, {last + 1} tokens": partial(
            cell_ledger, model, trace, f"{path}[3,100,50]"
        ),
        "the values moved by one attention": partial(moved_values, model, trace, path),
        "the sinks of all 144 heads": partial(attention_sinks, model, trace),
        "a head switched off, and the effects": partial(remove_head, model, trace, "decoder.5.self", 3, last, token),
        "where a token was copied from": partial(trace_copying, model, trace, last, token),
        "a run that keeps the values for all of these": partial(run_request, model, request, continuable=False),
    }
    for what, work in works.items():
        yield compare(what, work, "plain forward", forward)
