"""ALTI-Logit: how much each token of a text adds to the logit of an answer (Ferrando et al. 2023, section 3.3).

At the predicting token every attention writes a sum over the tokens that it reads. The contribution of each to the
logit is exact, with norms frozen at their current scale (`attribution`). But in a deeper layer the vector of a token is
itself a mixture of all tokens before it. ALTI (Ferrando et al. 2022) estimates the proportions: in one layer the
proximity of a term to the whole, |y| - |y - term| in the 1-norm, never below zero, as a share of all terms; through
layers the product of these matrices. The contribution of a layer's token is divided among the tokens of the text in
these proportions.

So tokens and `rest` add up to the logit. `rest` is the contribution of feed-forward networks, biases and edits at the
predicting token, which no attention moved there; the mixing omits the feed-forward networks as well, because they do
not move anything between tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from headlight.analysis.attribution import attribute_probes
from headlight.analysis.information_flow import proximity
from headlight.analysis.moved_values import value_outputs
from headlight.analysis.residual_stream import KEEP as STREAM_KEEP
from headlight.analysis.residual_stream import Component, Probe, require_one_stream, through_residual
from headlight.array_types import Float
from headlight.errors import ConfigError
from headlight.nn.stack import Block
from headlight.nn.transformer import Transformer
from headlight.tracing.trace import Trace, position_index

KEEP = (*STREAM_KEEP, "*.residual*", "*.self.output", "*.self.weights", "*.self.v", "*.final_residual", "logits")
QUERIES_AT_ONCE = 16  # whose terms are in memory at a time


@dataclass(frozen=True)
class TokenAttribution:
    """The contribution of each token to a logit, and the `rest`, which belongs to no token."""

    tokens: Float[np.ndarray, " token"]
    rest: float


@torch.inference_mode()
def alti_logit(
    model: Transformer, trace: Trace, position: int, answer: int, relative: bool = False
) -> TokenAttribution:
    """The contribution of each token of a text to the logit of an answer at a position; the trace holds KEEP.

    If `relative`, to that logit minus the mean of all logits, before a soft cap of the logits. Raises ConfigError for
    an encoder-decoder, whose answers come from two texts, and for several residual streams; otherwise raises as
    `attribute_logits`.
    """
    require_one_stream(trace.config, "ALTI-Logit")
    if trace.config.has_cross_attention:
        raise ConfigError("ALTI-Logit divides an answer among the tokens of one text; this model reads two.")
    stack, place = trace.config.stacks[-1], position_index(position, len(trace.text.ids))
    paths = [f"{stack}.{layer}" for layer in range(trace.config.num_layers(stack))]
    outputs = [tuple(each.cpu() for each in value_outputs(model, trace, f"{path}.self")) for path in paths]
    rows = [torch.einsum("hk,hkd->kd", weights[:, place], values) for weights, values in outputs]
    probes = [Probe(f"{path}.self", row.double()) for path, row in zip(paths, rows, strict=True)]
    attribution = attribute_probes(model, trace, place, probes)
    if relative:
        logits = attribution.relative_logits(answer)
        total = float(logits.sum())
    else:
        logits = attribution.unedited_logits(np.array([answer]))[:, 0]
        total = float(attribution.logits(np.array([answer])).sum())
    components, length = attribution.components, len(trace.text.ids)
    own = sum(logits[components.index(Component(kind))] for kind in ("embedding", "positions"))
    by_layer = logits[len(logits) - len(paths) * length :].reshape(len(paths), length)
    tokens = torch.zeros(length, dtype=torch.float64)
    tokens[place] += own
    mixing = torch.eye(length, dtype=torch.float64)  # token of this layer x token of the text
    for layer, path in enumerate(paths):
        tokens += by_layer[layer] @ mixing
        mixing = _contributions(model, trace, path, layer, *outputs[layer]).double() @ mixing
    return TokenAttribution(tokens.numpy(), total - float(tokens.sum()))


def _contributions(
    model: Transformer, trace: Trace, path: str, layer: int, weights: torch.Tensor, values: torch.Tensor
) -> Float[torch.Tensor, "query key"]:
    """ALTI's matrix of one layer: the share of each token in every token after the attention."""
    block = model.stack(path.partition(".")[0]).blocks[layer]
    assert isinstance(block, Block)
    residual = block.self_attention_residual
    stream = torch.from_numpy(trace[f"{path}.residual"].astype(np.float32))
    output = torch.from_numpy(trace[f"{path}.self.output"].astype(np.float32))
    count, rows = len(stream), []
    for start in range(0, count, QUERIES_AT_ONCE):
        queries = range(start, min(start + QUERIES_AT_ONCE, count))
        written = torch.zeros(count + 1, len(queries), stream.shape[-1])
        written[:-1] = torch.einsum("hqk,hkd->kqd", weights[:, queries.start : queries.stop], values)
        written[-1] = output[queries.start : queries.stop] - written[:-1].sum(0)  # biases and edits
        read = torch.zeros_like(written)
        read[list(queries), range(len(queries))] = stream[queries.start : queries.stop]
        terms = through_residual(residual, read, written, count)
        whole = terms.sum(0)
        rows += [proximity(terms[:-1, query], whole[query]) for query in range(len(queries))]
    table = torch.stack(rows)
    return table / table.sum(-1, keepdim=True).clamp(min=1e-30)
