"""What an answer loses when a head is taken away: each head off in turn, several in one batch."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from model.array_types import Float
from model.errors import ConfigError, EditError, TextError
from model.nn.hooks import Interest, Tap, interest, rows, under
from model.nn.masks import Pair
from model.nn.transformer import Transformer, attention_at
from model.text.tokenizer import Encoded
from model.tracing.interventions import Edits, Intervention
from model.tracing.run import parsed
from model.tracing.trace import Trace

TOKENS = 1024  # in one batch; a larger one is no faster and cannot be stopped as soon
KEEP = ("*.residual", "encoder.final")
TOPS = ("language", "masked-language", "sequence-classifier", "token-classifier")


class _EachOff:
    """The tap after the edits of a run: in the first of the batch one head writes nothing, in the second the next.

    What a block reads is taken from a trace: there the edits of `begun` are made already.
    """

    def __init__(self, edits: Tap, path: str, first: int, begun: str) -> None:
        self.edits, self.path, self.first, self.begun = edits, path, first, begun

    def interest(self, path: str) -> Interest:
        """Rows of the weights suffice, and of everything else what the edits want."""
        return max(Interest.ROWS if path == self.path else Interest.NONE, interest(self.edits, path))

    def rows(self, start: int, total: int) -> Tap:
        """The same for a few rows at a time."""
        return _EachOff(rows(self.edits, start, total), self.path, self.first, self.begun)

    def __call__(self, path: str, value: Tensor) -> Tensor:
        value = value if path == self.begun else self.edits(path, value)
        if path != self.path:
            return value
        value = value.clone()
        each = torch.arange(len(value), device=value.device)
        value[each, self.first + each] = 0.0
        return value


def at_once(trace: Trace) -> int:
    """How many heads one batch takes away: as many as keep it small."""
    return max(1, TOKENS // (len(trace.text.ids) + (len(trace.source.ids) if trace.source else 0)))


def check(model: Transformer) -> None:
    """Raise ConfigError for a bare model, which answers nothing."""
    if model.config.top not in TOPS:
        raise ConfigError("This model ends without a head, so there is no answer that its heads could change.")


@torch.inference_mode()
def without_heads(
    model: Transformer, trace: Trace, attention: str, position: int, token: int, first: int, count: int
) -> Float[np.ndarray, " head"]:
    """The log-probability (nats) of a token or label at a position, without head `first`, without the next ...

    `attention` is a path such as `decoder.3.self`; text and edits are those of the trace, which holds KEEP. The same
    as running once for each head with the edit `decoder.3.self.weights[HEAD]=set:0` after the others. Raises
    ConfigError for a bare model, EditError for heads, TextError for a position or token that is not there.
    """
    check(model)
    heads = attention_at(model, attention)[0].heads
    if not (first >= 0 and count >= 1 and first + count <= heads):
        raise EditError(f"There are no heads {first} to {first + count - 1}; each layer has {heads}, counted from 0.")
    edits = Edits(parsed(trace.interventions))
    name, layer, _ = attention.split(".")
    tap = _EachOff(edits, f"{attention}.weights", first, f"{name}.{layer}.residual")
    final = _onward(model, trace, name, int(layer), count, tap)
    if name != model.config.stacks[-1]:
        final = model.hidden(_ids(trace.text, model, count), memory=final, tap=edits)
    counted = model.counted(_ids(trace.text, model, count))
    logs = _answered(model, final, counted, position, edits.interventions).log_softmax(-1)
    if not 0 <= token < logs.shape[-1]:
        raise TextError(f"There is no answer {token}: this model chooses among {logs.shape[-1]}.")
    found: np.ndarray = logs[:, token].float().cpu().numpy()
    return found


def _onward(model: Transformer, trace: Trace, name: str, layer: int, count: int, tap: Tap) -> Tensor:
    """What a stack makes of the stream that enters a layer: all before it is the same whichever head is off."""

    def kept(path: str) -> Tensor:
        values = torch.tensor(trace[path], device=model.device, dtype=model.embedding.weight.dtype)
        return values.expand(count, -1, -1)

    stack, x = model.stack(name), kept(f"{name}.{layer}.residual")
    places = torch.arange(x.shape[1], device=x.device)
    at = stack.stands(places, under(tap, name))
    memory = kept("encoder.final") if model.config.has_cross and name == "decoder" else None
    across = None if memory is None else stack.across(Pair(places, torch.arange(memory.shape[1], device=x.device)))
    looks = stack.looks(Pair(places, places), None, Pair(at, at))
    final: Tensor = stack.onward(x, layer, looks, memory, across, under(tap, name))
    return final


def _ids(text: Encoded, model: Transformer, count: int) -> Tensor:
    return torch.tensor([text.ids], device=model.device).expand(count, -1)


def _answered(
    model: Transformer, final: Tensor, counted: Tensor | None, position: int, edits: tuple[Intervention, ...]
) -> Tensor:
    """The logits at one position only: those of the whole text would be many."""
    if model.config.top == "sequence-classifier":
        logits: Tensor = model.top(final, counted)
        return logits
    length = final.shape[1]
    if not -length <= position < length:
        raise TextError(f"There is no token {position}: the text has {length}, counted from 0.")
    place = position % length
    return Edits(edits, start=place)("logits", model.top(final[:, place : place + 1]))[:, 0]
