"""Reads the attention weights of other libraries as one array [layer head query key].

Accepted are one array; a list of layers, as `outputs.attentions` of transformers; the tuple of such lists that
`generate()` returns, one per step; and an activation cache of TransformerLens. Arrays can come from any library with
`__array__` or `__dlpack__`, on any device, in any precision.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headlight.array_types import Float
from headlight.errors import DataError
from headlight.views.words import three_digits

ROW_TOLERANCE = 1e-2  # rounding error of 16-bit numbers and row sums
HeadWeights = Float[np.ndarray, "layer head query key"]
_PATTERN = re.compile(r"blocks\.(\d+)\.attn\.hook_pattern")
_EAGER = (
    'transformers gives weights only if the model is opened with attn_implementation="eager" and called with '
    "output_attentions=True"
)
_SCORES = "attention weights are at least 0 and at most 1. Give them after the softmax, from model.eval()"


def read_attention(attention: Any, *, has_keys: bool = False) -> HeadWeights:
    """The weights of all heads; a layer without weights is empty. With `has_keys` the keys are tokens of another text.

    Raises DataError if there are no weights.
    """
    layers = _layers(attention, has_keys)
    known = [layer for layer in layers if layer is not None]
    if not known:
        raise DataError(f"There are no attention weights here: all layers are None. {_EAGER.capitalize()}.")
    shape = _common_shape(layers)
    weights = np.zeros((len(layers), *shape), np.float32)
    for layer, array in enumerate(layers):
        if array is not None:
            # With a sliding window, only the last keys are present.
            weights[layer, :, :, shape[2] - array.shape[2] :] = array.astype(np.float32)
    _require_weights(weights)
    return weights


def _layers(attention: Any, has_keys: bool) -> list[np.ndarray | None]:
    if attention is None:
        raise DataError(f"The attention is None: {_EAGER}.")
    if isinstance(attention, Mapping) or (hasattr(attention, "keys") and hasattr(attention, "__getitem__")):
        return _layers(_of_mapping(attention), has_keys)
    if _is_array(attention):
        return _of_array(_to_array(attention, "The attention"))
    if not isinstance(attention, Sequence) or isinstance(attention, str):
        raise DataError(
            f"A {type(attention).__name__} is not attention: give an array (layer, head, query, key), "
            "outputs.attentions of transformers, or an ActivationCache of TransformerLens."
        )
    if len(attention) == 0:
        raise DataError(f"The attention is empty: {_EAGER}.")
    first = next((layer for layer in attention if layer is not None), None)
    if isinstance(first, Sequence):
        if not any(each is None or _is_array(each) for each in first):  # numbers in lists
            return _of_array(_to_array(np.array(attention), "The attention"))
        return _of_generation(attention, has_keys)
    return [_one_text(layer, f"Layer {place}") for place, layer in enumerate(attention)]


def _of_mapping(cache: Any) -> Any:
    """The patterns of an activation cache, or the attentions of a model output."""
    names = [str(name) for name in cache.keys()]  # noqa: SIM118 - an ActivationCache iterates over its values
    found = {int(match[1]): name for name in names if (match := _PATTERN.fullmatch(name))}
    if found:
        return [cache[found[layer]] if layer in found else None for layer in range(max(found) + 1)]
    if "attentions" in names:
        return cache["attentions"]
    attentions = [name for name in names if name.endswith("attentions")]
    hint = f"Give one of {', '.join(attentions)}" if attentions else "Cache it: model.run_with_cache(text)"
    raise DataError(f"This {type(cache).__name__} has neither blocks.N.attn.hook_pattern nor attentions. {hint}.")


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") or hasattr(value, "__dlpack__")


def _to_array(value: Any, what: str) -> np.ndarray:
    """An array of numbers, copied to NumPy; 16-bit floats that NumPy lacks become 32-bit ones."""
    for method in ("detach", "cpu"):
        value = getattr(value, method, lambda value=value: value)()
    try:
        array = np.asarray(value) if hasattr(value, "__array__") else np.from_dlpack(value)
    except (TypeError, BufferError, RuntimeError, ValueError):
        array = _through_torch(value, what)
    if array.dtype == object or array.dtype.kind in "cSUmM":
        raise DataError(f"{what} contains {array.dtype}, not numbers; give arrays of numbers.")
    return array


def _through_torch(value: Any, what: str) -> np.ndarray:
    """Convert an array that NumPy cannot read, such as bfloat16."""
    import torch  # imported only here: everything else needs only NumPy

    try:
        tensor = value if isinstance(value, torch.Tensor) else torch.utils.dlpack.from_dlpack(value)
    except (TypeError, BufferError, RuntimeError, ValueError) as error:
        raise DataError(f"{what} cannot be read as an array: {error}") from error
    array: np.ndarray = tensor.detach().cpu().float().numpy()
    return array


def _of_array(array: np.ndarray) -> list[np.ndarray | None]:
    """The layers of one array; leading axes may be missing."""
    if array.ndim == 5:
        if array.shape[1] != 1:
            raise _batch(array.shape[1], "attention[:, 0]")
        array = array[:, 0]
    if not 2 <= array.ndim <= 4:
        raise DataError(f"The attention has the shape {array.shape}; it must have the axes layer, head, query, key.")
    return list(array.reshape((1,) * (4 - array.ndim) + array.shape))


def _one_text(layer: Any, what: str) -> np.ndarray | None:
    """The weights of a layer, [head query key], without the batch axis."""
    if layer is None:
        return None
    if not _is_array(layer):
        raise DataError(f"{what} is a {type(layer).__name__}; it must be an array with the axes head, query, key.")
    array = _to_array(layer, what)
    if array.ndim == 4:
        if len(array) != 1:
            raise _batch(len(array), "[layer[:1] for layer in attention]")
        array = array[0]
    if array.ndim != 3:
        raise DataError(f"{what} has the shape {array.shape}; it must have the axes batch, head, query, key.")
    return array


def _batch(count: int, remedy: str) -> DataError:
    return DataError(f"The attention is of a batch of {count} texts; show one of them: {remedy}.")


def _of_generation(steps: Sequence[Sequence[Any]], has_keys: bool) -> list[np.ndarray | None]:
    """The layers of a generated text: the rows of the prompt, then one row per step."""
    if len({len(step) for step in steps}) != 1:
        raise DataError(f"The steps have {sorted({len(step) for step in steps})} layers; each must have the same.")
    return [
        _rows_of_steps([_one_text(layer, f"Step {place}") for place, layer in enumerate(layers)], has_keys)
        for layers in zip(*steps, strict=True)
    ]


def _rows_of_steps(steps: Sequence[np.ndarray | None], has_keys: bool) -> np.ndarray | None:
    arrays = [step for step in steps if step is not None]
    if not arrays:
        return None
    first = arrays[0].shape[1]  # the queries of the prompt
    rows = [arrays[0], *(step[:, -1:] for step in arrays[1:])]  # without a key/value cache, steps have all rows
    size = max(each.shape[2] for each in rows) if has_keys else first + len(rows) - 1
    if any(row.shape[0] != rows[0].shape[0] for row in rows):
        raise DataError("The steps of a layer have different numbers of heads; give one model's.")
    found = np.zeros((len(arrays[0]), first + len(rows) - 1, size), rows[0].dtype)
    for step, row in enumerate(rows):
        end = size if has_keys else first + step
        row = row[:, :, :end]  # a cache of fixed size has unused columns
        start = 0 if step == 0 else first + step - 1
        found[:, start : start + row.shape[1], end - row.shape[2] : end] = row
    return found


def _common_shape(layers: Sequence[np.ndarray | None]) -> tuple[int, int, int]:
    """The heads, queries and keys of all layers. Raises DataError unless heads and queries are the same."""
    known = [(place, layer) for place, layer in enumerate(layers) if layer is not None]
    first_place, first = known[0]
    for axis, name in enumerate(("heads", "queries")):
        for place, layer in known:
            if layer.shape[axis] != first.shape[axis]:
                raise DataError(
                    f"Layer {place} has {layer.shape[axis]} {name} and layer {first_place} has {first.shape[axis]}; "
                    "each layer must have the same. Show a part of the layers."
                )
    if 0 in first.shape:
        raise DataError(f"The attention has the shape {first.shape} in layer {first_place}: there is nothing to show.")
    return first.shape[0], first.shape[1], max(layer.shape[2] for _, layer in known)


def _require_weights(weights: HeadWeights) -> None:
    """Raise DataError for numbers that no softmax returns."""
    for what, bad in (
        ("NaN or infinite", ~np.isfinite(weights)),
        ("below 0", weights < -ROW_TOLERANCE),
        ("above 1", weights > 1 + ROW_TOLERANCE),
    ):
        if bad.any():
            place = np.argwhere(bad)[0]
            where = ", ".join(f"{axis} {at}" for axis, at in zip(("layer", "head", "query", "key"), place, strict=True))
            raise DataError(f"The number at {where} is {what} ({three_digits(weights[tuple(place)])}); {_SCORES}.")


def token_texts(tokens: Any, name: str, count: int, axis: str, spare: int = 0) -> tuple[str, ...]:
    """The tokens of an axis with `count` positions, as texts; up to `spare` extra ones at the end are dropped.

    Raises DataError for any other number of tokens.
    """
    if isinstance(tokens, (str, bytes)) or not hasattr(tokens, "__iter__"):
        raise DataError(f"{name} is a {type(tokens).__name__}; give a list of texts, one per {axis}.")
    texts = tuple(map(_token_text, tokens))
    if not count <= len(texts) <= count + spare:
        plural = {"query": "queries", "key": "keys"}[axis]
        raise DataError(f"There are {len(texts)} {name}, but the attention has {count} {plural}; give one for each.")
    return texts[:count]


def _token_text(token: Any) -> str:
    return str(token.item() if hasattr(token, "item") else token)


def below_one(weights: HeadWeights) -> bool:
    """Whether a row that is not empty sums to less than 1."""
    sums = weights.sum(-1, dtype=np.float64)
    return bool(((sums > 0) & (sums < 1 - ROW_TOLERANCE)).any())


def with_nowhere(weights: HeadWeights) -> Float[np.ndarray, "layer head query key_or_nowhere"]:
    """The weights with one more key, which gets the difference of a row's sum to 1."""
    rest = np.clip(1 - weights.sum(-1, keepdims=True, dtype=np.float64), 0, 1).astype(np.float32)
    return np.concatenate((weights, rest), axis=-1)
