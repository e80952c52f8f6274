"""What it costs to ask why: the ledger of a cell, beside the forward of the same text."""

from collections.abc import Iterator
from functools import partial

import torch

from headlight import Transformer
from headlight.analysis.ledger import KEEP, cell_ledger
from headlight.tracing.run import RunRequest
from tests.bench.forward import GPT2, plain
from tests.bench.measure import Ratio, compare
from tests.model import toys

TEXT = "the cat sat on the mat and the dog ran away " * 10 + "and swam in it"  # 128 tokens of the toys' tokenizer


def ratios() -> Iterator[Ratio]:
    """A cell of the last layer of GPT-2's size, 144 heads and 128 tokens; random weights cost as much as others."""
    torch.manual_seed(0)
    model, tokenizer = Transformer(GPT2).eval().requires_grad_(False), toys.causal()
    request = RunRequest.encode(model, tokenizer, TEXT, keep=KEEP)
    trace, ids = request.run(model)[0], torch.tensor([request.text.ids])
    forward = partial(plain, model, ids)
    ledger = partial(cell_ledger, model, trace, "decoder.11.self[3,100,50]")
    yield compare(f"the ledger of a cell, GPT-2's size, {ids.shape[1]} tokens", ledger, "plain forward", forward)
    yield compare("a run that keeps what a ledger needs", partial(request.run, model), "plain forward", forward)
