"""The cost of tracing: a traced forward compared with one that uses torch's fused attention and keeps nothing."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from headlight import Config, Transformer
from headlight.nn.attention import split_heads
from headlight.nn.hooks import no_hook
from headlight.nn.stack import Block, ResidualConnection
from headlight.tracing.continuation import FinishedRun
from headlight.tracing.recompute import logits_at
from headlight.tracing.recording import RecordingHook
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request
from tests.bench.measure import Ratio, compare
from tests.model import toys

SHAPE = Config(
    vocabulary_size=8_192,
    context_length=128,
    d_model=768,
    layers=12,
    heads=12,
    positional_encoding="learned",
    norm="layernorm",
    feed_forward="gelu",
    bias=True,
)
GPT2 = SHAPE.replace(vocabulary_size=50_257, context_length=1_024)
TYPED = "the cat sat on the mat and the dog ran away w"
ALL, HEADS = None, ("*.weights", "*.mask", "logits")


def ratios() -> Iterator[Ratio]:
    """At 128 tokens: keeping all values, the page's values, or none, each against the plain forward.

    Then a letter at the end of a short text, continuing from the previous run, against the whole text.
    """
    torch.manual_seed(0)
    model = Transformer(SHAPE).eval().requires_grad_(False)
    ids = torch.randint(SHAPE.vocabulary_size, (1, SHAPE.context_length))
    torch.testing.assert_close(plain(model, ids), model(ids), atol=1e-3, rtol=1e-3)
    for what, keep in (("traced forward, every value", ALL), ("traced forward, weights and logits", HEADS)):
        yield compare(what, partial(traced, model, ids, keep), "plain forward", partial(plain, model, ids))
    yield compare(
        "the same, nothing kept", partial(traced, model, ids, ()), "plain forward", partial(plain, model, ids)
    )
    yield typed_letter()


def typed_letter() -> Ratio:
    """A letter at the end of 15 tokens, as requested by the page: weights of all heads, and the next token's logits."""
    model, tokenizer, keep = (
        Transformer(GPT2).eval().requires_grad_(False),
        toys.causal(),
        ("*.weights", "*.mask", "*.final_residual"),
    )
    before = run_request(model, RunRequest.encode(model, tokenizer, TYPED, keep=keep))

    def answer(previous: FinishedRun | None) -> object:
        trace = run_request(model, RunRequest.encode(model, tokenizer, TYPED + "e", keep=keep), previous).trace
        assert len(trace.text.ids) == 15
        return logits_at(model, trace, -1)

    what = "a letter at the end of 15 tokens, GPT-2's size, continuing from the previous run"
    return compare(what, partial(answer, before), "the whole text", partial(answer, None))


def traced(model: Transformer, ids: Tensor, keep: tuple[str, ...] | None) -> object:
    """A forward as in `run`, with conversion to arrays."""
    record = RecordingHook(no_hook, keep)
    with torch.inference_mode():
        model(ids, hook=record)
        return record.arrays()


@torch.inference_mode()
def plain(model: Transformer, ids: Tensor, top: bool = True) -> Tensor:
    """The same pre-norm decoder in the simplest form: no taps, F.scaled_dot_product_attention, no weights.

    Without `top` it ends before the language head.
    """
    stack = model.stack("decoder")
    x = model.embedding(ids) + stack.positional_encoding.embed(torch.arange(ids.shape[1]))
    for block in stack.blocks:
        assert isinstance(block, Block) and block.feed_forward is not None and block.feed_forward_residual is not None
        x = x + attend(block, normed(block.self_attention_residual, x))
        x = x + block.feed_forward(normed(block.feed_forward_residual, x), no_hook)
    final: Tensor = stack.final_norm(x)
    return model.output_head(final) if top else final


def normed(residual: ResidualConnection, x: Tensor) -> Tensor:
    """Apply the norm before a sublayer."""
    result: Tensor = residual.norm(x)
    return result


def attend(block: Block, x: Tensor) -> Tensor:
    """Causal self-attention, fused."""
    weights = block.self_attention
    q, k, v = (split_heads(project(x), weights.heads) for project in weights.projections)
    mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=weights.scale)
    output: Tensor = weights.output(mixed.transpose(1, 2).flatten(2))
    return output
