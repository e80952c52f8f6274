"""What one can see of an attention besides its weights, and how to leave out what one does not want to see.

Forbidden cells and empty rows have weights of zero; nothing here ever divides by them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.attention import repeat
from model.contributions import moved
from model.errors import EditError, TextError
from model.intervention import Edits, Intervention
from model.pictures import numbers, pixels
from model.shapes import Bool, Float
from model.trace import Trace
from model.transformer import Transformer, attention_at


@torch.inference_mode()
def weighted_norm(model: Transformer, trace: Trace, path: str) -> Float[np.ndarray, "head query key"]:
    """How much each query really fetches from each key: the length of weight x value x output projection.

    Kobayashi et al. 2020, equation 5: the norm of a_ij v_j W_O, for the attention at `path` (`decoder.3.self`), whose
    `weights` and `v` the trace must hold. Rows do not sum to one.
    """
    attention, _ = attention_at(model, path)
    values = torch.from_numpy(trace[f"{path}.v"].copy())[None].to(attention.output.weight.device)
    written = moved(attention, repeat(values.float(), attention.shared)[0])  # head key width
    lengths: np.ndarray = written.norm(dim=-1).cpu().numpy()
    fetched: np.ndarray = trace[f"{path}.weights"] * lengths[:, None, :]
    return fetched.astype(np.float32)


def gradient(
    model: Transformer, trace: Trace, path: str, position: int, token: int
) -> Float[np.ndarray, "head query key"]:
    """How the log-probability of a token (or label) at a position grows with each weight of the attention at `path`.

    The derivative of log p, all later layers included, with each weight taken as free. Weight x gradient tells, to
    first order, what would be lost without the weight (Simonyan et al. 2013; Hao et al. 2021, equation 2, in one step).
    The run of `trace` is made again, with its edits. Raises TextError for a token or position that is not there.
    """
    edits, free = Edits(tuple(map(Intervention.parse, trace.interventions))), []

    def tap(name: str, value: Tensor) -> Tensor:
        value = edits(name, value)
        if name == f"{path}.weights":
            value = value.detach().requires_grad_()
            free.append(value)
        return value

    with torch.enable_grad():
        source = _ids(model, trace.source.ids) if trace.source else None
        seen = None if (given := pixels(trace.text)) is None else torch.tensor(given, device=model.device)[None]
        logits = model(_ids(model, numbers(trace.text)), pixels=seen, source=source, tap=tap)
        if not free:
            raise EditError(f"This model has no attention {path!r}.")
        shares = _answer(logits, trace, position).float().log_softmax(-1)
        if not 0 <= token < len(shares):
            raise TextError(f"There is no token {token}: this model knows {len(shares)}, counted from 0.")
        (slope,) = torch.autograd.grad(shares[token], free, allow_unused=True)
    flat = torch.zeros_like(free[0]) if slope is None else slope
    found: np.ndarray = flat[0].detach().float().cpu().numpy()
    return found


def _ids(model: Transformer, ids: tuple[int, ...]) -> Tensor:
    return torch.tensor([ids], device=model.device)


def _answer(logits: Tensor | None, trace: Trace, position: int) -> Tensor:
    """The logits of the prediction at a position; of the whole text where a model labels that."""
    if logits is None:
        raise TextError("This model ends without a head: there is no prediction whose gradient could be taken.")
    if trace.config.top == "sequence-classifier":
        whole: Tensor = logits[0]
        return whole
    if not 0 <= position < len(trace.text.ids):
        raise TextError(f"There is no token {position}: the text has {len(trace.text.ids)}, counted from 0.")
    return logits[0, position]


@dataclass(frozen=True, eq=False)
class JointMap:
    """Queries and keys of one head in one plane; `shares` are the parts of the variance that its two axes hold."""

    queries: Float[np.ndarray, "query axis"]
    keys: Float[np.ndarray, "key axis"]
    shares: tuple[float, float]


def joint_map(trace: Trace, path: str, head: int) -> JointMap:
    """The two principal components of a head's queries and keys taken together (as in Yeh et al. 2023, section 4).

    Positions are applied to both where the scheme rotates; the trace must hold `rotated_q` and `rotated_k`. An axis
    points to where the farthest vector lies.
    """
    q, keys = trace[f"{path}.rotated_q"], trace[f"{path}.rotated_k"]
    if not 0 <= head < len(q):
        raise EditError(f"There is no head {head}; this layer has {len(q)}, counted from 0.")
    k = keys[head * len(keys) // len(q)]
    vectors = np.concatenate([q[head], k]).astype(np.float64)
    centred = vectors - vectors.mean(0)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    plane = np.zeros((len(vectors), 2), dtype=np.float32)
    axes = min(2, len(lengths))
    plane[:, :axes] = (left * lengths)[:, :axes]
    plane *= np.where(np.take_along_axis(plane, np.abs(plane).argmax(0)[None], 0) < 0, -1, 1)
    variances = np.pad(lengths**2, (0, 2))[:2] / max(float((lengths**2).sum()), np.finfo(np.float64).tiny)
    return JointMap(plane[: len(q[head])], plane[len(q[head]) :], (float(variances[0]), float(variances[1])))


def renormalised(weights: Float[np.ndarray, "*shape query key"]) -> Float[np.ndarray, "*shape query key"]:
    """Rows that sum to one again, after keys were left out; an empty row stays empty."""
    total = weights.sum(-1, keepdims=True)
    rows: np.ndarray = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return rows


def largest(values: Float[np.ndarray, "*shape query key"], share: float) -> Bool[np.ndarray, "*shape query key"]:
    """The fewest cells of each row that together hold at least `share` of it (0 to 1), by size, without the sign.

    Of equal cells the earlier come first; cells of zero are never among them.
    """
    sizes = np.abs(values).astype(np.float64)
    order = np.argsort(-sizes, axis=-1, kind="stable")
    ranked = np.take_along_axis(sizes, order, -1)
    before = ranked.cumsum(-1) - ranked
    total = ranked.sum(-1, keepdims=True)
    # What rounding leaves of the last share must not call for one more cell.
    needed = (before < share * total * (1 - 1e-9)) & (ranked > 0)
    kept = np.zeros(values.shape, dtype=bool)
    np.put_along_axis(kept, order, needed, -1)
    return kept
