"""The importance of attention weights: the gradient of a prediction, and the norms of the weighted values."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from headlight.analysis.moved_values import value_outputs
from headlight.array_types import Float
from headlight.errors import EditError, TextError
from headlight.nn.transformer import Transformer
from headlight.problem_types import problem_type_of
from headlight.tasks import task_of
from headlight.text.word_groups import TokenGroups
from headlight.tracing.inputs import segment_tensor, signal_tensor, token_tensor
from headlight.tracing.recompute import intervention_hook
from headlight.tracing.recording import to_numpy
from headlight.tracing.trace import Trace, require_position


def attention_gradient(
    model: Transformer, trace: Trace, path: str, position: int, token: int
) -> Float[np.ndarray, "head query key"]:
    """The derivative of the log-probability of a token (or label) at a position with respect to each attention weight.

    `path` names the attention (`decoder.3.self`); weights are treated as independent, through all later layers. Weight
    x gradient is, to first order, the log-probability that is lost without the weight (Simonyan et al. 2013; Hao et al.
    2021, equation 2, with one step). Runs the trace's text and edits again. Raises TextError for a token or position
    that does not exist, EditError for an attention that does not.
    """
    _, derivative = log_probability_gradient(model, trace, f"{path}.weights", position, token)
    return to_numpy(derivative)


def gradient_times_input(model: Transformer, trace: Trace, position: int, token: int) -> Float[np.ndarray, " token"]:
    """The derivative of a log-probability by each token's embedding, times that embedding (Denil et al. 2014).

    To first order, the log-probability (nats) that the answer `token` at `position` loses if the embedding shrinks to
    zero; in the stack that predicts, through everything that follows. Raises as `attention_gradient`.
    """
    path = f"{trace.config.stacks[-1]}.embedding"
    value, derivative = log_probability_gradient(model, trace, path, position, token)
    return to_numpy((value * derivative).sum(-1))


def log_probability_gradient(
    model: Transformer, trace: Trace, path: str, position: int, token: int
) -> tuple[Float[Tensor, "*axis"], Float[Tensor, "*axis"]]:
    """The value at a path, and the derivative of the log-probability of a token (or label) with respect to it.

    For a model whose answers are scores, it is the derivative of the score (`headlight.problem_types`).

    Runs the trace's text and edits again. Raises as `attention_gradient`.
    """
    edits, leaves = intervention_hook(trace), []

    def hook(name: str, value: Tensor) -> Tensor:
        value = edits(name, value)
        if name == path:
            value = value.detach().requires_grad_()
            leaves.append(value)
        return value

    with torch.enable_grad():
        source = token_tensor(trace.source, model, source=True) if trace.source else None
        signal = signal_tensor(trace.source or trace.text, model)
        segments = segment_tensor(trace.text, model)
        ids = token_tensor(trace.text, model)
        logits = model(ids, signal=signal, source=source, segment_ids=segments, hook=hook)
        if not leaves:
            raise EditError(f"This model has no attention {path.rpartition('.')[0]!r}.")
        log_probabilities = problem_type_of(model.config).compared(_prediction_logits(logits, trace, position).float())
        if not 0 <= token < len(log_probabilities):
            raise TextError(f"There is no token {token}: this model knows {len(log_probabilities)}, counted from 0.")
        (derivative,) = torch.autograd.grad(log_probabilities[token], leaves, allow_unused=True)
    value = leaves[0].detach()[0]
    return value, torch.zeros_like(value) if derivative is None else derivative[0]


def _prediction_logits(logits: Tensor | None, trace: Trace, position: int) -> Tensor:
    """The logits at a position, or of the whole text if the model labels whole texts."""
    if logits is None:
        raise TextError("This model ends without a head: there is no prediction to differentiate.")
    if task_of(trace.config).whole_text:
        text_logits: Tensor = logits[0]
        return text_logits
    require_position(position, len(trace.text.ids))
    return logits[0, position]


@torch.inference_mode()
def weighted_value_norm(
    model: Transformer, trace: Trace, path: str, key_groups: TokenGroups | None = None
) -> Float[np.ndarray, "head query key"]:
    """The norm of the weighted, projected value, ||a_ij v_j W_O|| (Kobayashi et al. 2020, equation 5).

    For the attention at `path` (`decoder.3.self`), whose `weights` and `v` the trace must hold; rows do not sum to one.
    With `key_groups` a column is a group of keys, such as the tokens of a word: the norm of the sum of their vectors.
    """
    weights, outputs = value_outputs(model, trace, path)
    if key_groups is None:
        return np.asarray((weights * outputs.norm(dim=-1)[:, None]).cpu())
    sums = (weights[..., list(group)] @ outputs[:, list(group)] for group in key_groups)  # head query d_model
    return np.asarray(torch.stack([each.norm(dim=-1) for each in sums], dim=-1).cpu())
