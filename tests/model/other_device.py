"""A device that is not there, for tests on machines without a GPU: it refuses what a GPU would refuse.

Tensors on OTHER keep their numbers in memory, and the processor computes with them; but an operation of one of them
with a tensor of the processor raises, unless that has no axes, and so does NumPy.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

OTHER = torch.device("lazy", 0)  # torch knows the name, but an ordinary program has no code for it
MOVES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)  # from one device to another
Made = TypeVar("Made", bound=nn.Module)


class OtherTensor(Tensor):
    """A tensor on OTHER; `held` has its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> "OtherTensor":
        made: OtherTensor = Tensor._make_wrapper_subclass(
            cls, held.size(), held.stride(), held.storage_offset(), dtype=held.dtype, device=OTHER
        )
        made.held = held
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (Tensor.numpy, Tensor.__array__):
            raise RuntimeError("NumPy reads no tensor of another device; use Tensor.cpu() first.")
        if func is Tensor.tolist:
            return args[0].held.tolist()
        if func is Tensor.__getitem__:  # torch makes a tensor of a list by itself
            args = args[0], tree_map(_index, args[1], is_leaf=lambda part: isinstance(part, list))
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:  # type: ignore[override]
        return _compute(func, args, kwargs or {})


class _EveryOperation(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees operations without any tensor of the other device, too: those that make the first ones."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with self:
            found = func.decompose(*args, **(kwargs or {}))
        return _compute(func, args, kwargs or {}) if found is NotImplemented else found


class _Constants(TorchFunctionMode):
    """Numbers of Python are first tensors of the processor, for which torch calls no `__torch_dispatch__`."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = dict(kwargs or {})
        if func is torch.tensor and (device := given.pop("device", None)) is not None:
            return torch.tensor(*args, **given).to(device)
        return func(*args, **given)


@contextmanager
def other_device() -> Iterator[torch.device]:
    """OTHER, on which tensors can be made as long as the context lasts."""
    with _EveryOperation(), _Constants():  # type: ignore[no-untyped-call]
        yield OTHER


def moved(module: Made) -> Made:
    """The module with its parameters and buffers on OTHER; two names of one parameter stay that."""
    known: dict[Tensor, nn.Parameter] = {}
    for part in module.modules():
        for name, value in part._parameters.items():
            if value is not None:
                there = known.setdefault(value, nn.Parameter(OtherTensor(value.detach()), requires_grad=False))
                part._parameters[name] = there
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = OtherTensor(buffer)
    return module


def _compute(func: Any, args: Any, kwargs: Any) -> Any:
    """The result of an operation, on OTHER if that is asked for or an input is there."""
    inputs = [value for value in tree_leaves((args, kwargs)) if isinstance(value, Tensor)]
    there = [value for value in inputs if isinstance(value, OtherTensor)]
    if there and func not in MOVES and any(value.dim() for value in inputs if not isinstance(value, OtherTensor)):
        raise RuntimeError(f"{func} of tensors on two devices")
    holders = {id(value.held): value for value in there}
    asked = kwargs.get("device")
    is_there = bool(there) if asked is None else asked == OTHER
    if asked == OTHER:
        kwargs = kwargs | {"device": "cpu"}
    found = func(*tree_map(_held, args), **tree_map(_held, kwargs))

    def placed(value: Any) -> Any:
        """The result of an operation in place is the tensor that it changed."""
        if id(value) in holders or not (is_there and isinstance(value, Tensor)):
            return holders.get(id(value), value)
        with torch.inference_mode(value.is_inference()):  # a view of a parameter is none
            return OtherTensor(value)

    return tree_map(placed, found)


def _index(part: Any) -> Any:
    return torch.tensor(part).to(OTHER) if isinstance(part, list) else part


def _held(value: Any) -> Any:
    return value.held if isinstance(value, OtherTensor) else value
