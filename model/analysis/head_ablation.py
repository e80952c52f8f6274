"""Head ablation: the log-probability of a token with each head's weights set to zero, several heads in one batch."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from model.array_types import Float
from model.errors import ConfigError, EditError, TextError
from model.nn.hooks import Hook, HookScope, hook_for_rows, hook_scope, with_prefix
from model.nn.transformer import Transformer, attention_at
from model.tasks import task_of
from model.text.tokenizer import Encoded
from model.tracing.indices import position_index
from model.tracing.recompute import attention_contexts, intervention_hook, traced_tensor
from model.tracing.run import token_tensor
from model.tracing.trace import Trace

TOKENS_PER_BATCH = 1024  # a larger batch is no faster and takes longer to cancel
KEEP = ("*.residual", "encoder.final_residual")


class _AblateEachHead:
    """A hook, after that of the edits, that sets another head's weights to zero in each row of the batch.

    The value at `entry_path` is taken from a trace, so the edits are in it already.
    """

    def __init__(self, hook: Hook, weights_path: str, first_head: int, entry_path: str) -> None:
        self.hook, self.weights_path, self.first_head, self.entry_path = hook, weights_path, first_head, entry_path

    def scope(self, path: str) -> HookScope:
        """Rows of the weights suffice; of any other value what the edits want."""
        return max(HookScope.ROWS if path == self.weights_path else HookScope.NONE, hook_scope(self.hook, path))

    def for_rows(self, start: int, total: int) -> Hook:
        """The same for a few rows at a time."""
        return _AblateEachHead(
            hook_for_rows(self.hook, start, total), self.weights_path, self.first_head, self.entry_path
        )

    def __call__(self, path: str, value: Tensor) -> Tensor:
        value = value if path == self.entry_path else self.hook(path, value)
        if path != self.weights_path:
            return value
        value = value.clone()
        batch = torch.arange(len(value), device=value.device)
        value[batch, self.first_head + batch] = 0.0
        return value


def heads_per_batch(trace: Trace) -> int:
    """How many heads to ablate in one batch of at most TOKENS_PER_BATCH tokens."""
    return max(1, TOKENS_PER_BATCH // (len(trace.text.ids) + (len(trace.source.ids) if trace.source else 0)))


def require_prediction(model: Transformer) -> None:
    """Raise ConfigError for a model without an output head."""
    if not task_of(model.config).predicts:
        raise ConfigError(
            "This model ends without an output head, so there is no prediction that its heads could change."
        )


@torch.inference_mode()
def ablate_heads(
    model: Transformer, trace: Trace, path: str, position: int, token: int, first_head: int, count: int
) -> Float[np.ndarray, " head"]:
    """The log-probability (nats) of a token or label at a position without each of `count` heads from `first_head` on.

    `path` names an attention (`decoder.3.self`); text and edits are those of the trace, which holds KEEP. Equal to
    running once for each head with a last edit `decoder.3.self.weights[HEAD]=set:0`. Raises ConfigError for a model
    without an output head, EditError for heads, TextError for a position or token that does not exist.
    """
    require_prediction(model)
    heads = attention_at(model, path)[0].heads
    if not (first_head >= 0 and count >= 1 and first_head + count <= heads):
        raise EditError(
            f"There are no heads {first_head} to {first_head + count - 1}; each layer has {heads}, counted from 0."
        )
    edits = intervention_hook(trace)
    name, layer, _ = path.split(".")
    ablation_hook = _AblateEachHead(edits, f"{path}.weights", first_head, f"{name}.{layer}.residual")
    final = _forward_from_layer(model, trace, name, int(layer), count, ablation_hook)
    if name != model.config.stacks[-1]:
        final = model.encode_hidden(_token_tensor(trace.text, model, count), memory=final, hook=edits)
    index = position_index(position, final.shape[1])
    answerable = model.answerable(_token_tensor(trace.text, model, count))
    logits = model.logits(final, answerable, edits, slice(index, index + 1))
    assert logits is not None  # `require_prediction` refuses models without an output head
    log_probabilities = logits.flatten(0, -2).log_softmax(-1)
    if not 0 <= token < log_probabilities.shape[-1]:
        raise TextError(f"There is no token or label {token}: this model has {log_probabilities.shape[-1]}.")
    found: np.ndarray = log_probabilities[:, token].float().cpu().numpy()
    return found


def _forward_from_layer(model: Transformer, trace: Trace, name: str, layer: int, count: int, hook: Hook) -> Tensor:
    """The final residuals of a stack, computed from the recorded input of a layer, `count` times in a batch."""

    def from_trace(path: str) -> Tensor:
        return traced_tensor(model, trace, path).expand(count, -1, -1)

    memory = from_trace("encoder.final_residual") if model.config.has_cross_attention and name == "decoder" else None
    contexts, cross_context = attention_contexts(model, trace, name, hook)
    final: Tensor = model.stack(name).forward_from(
        from_trace(f"{name}.{layer}.residual"), layer, contexts, memory, cross_context, with_prefix(hook, name)
    )
    return final


def _token_tensor(text: Encoded, model: Transformer, count: int) -> Tensor:
    return token_tensor(text, model).expand(count, -1)
