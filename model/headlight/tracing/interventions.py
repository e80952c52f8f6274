"""Interventions: edits of named values of a forward pass, with a text form that is also their URL form.

    decoder.1.self.weights[3]=set:0        head 3 of layer 1 contributes nothing
    decoder.*.self.weights[0]=uniform      head 0 of every layer attends uniformly over the allowed keys
    decoder.1.self.weights[3,5,2]=set:0    head 3 takes nothing from key 2 to query 5; other weights are unchanged
    decoder.1.self.mask[:,5,2]=set:0       in layer 1 query 5 may not attend to key 2; its other keys share the weight
    decoder.1.self.scale[3]=scale:0.5      the score scale of head 3 is halved
    decoder.*.self.scale=set:1             no layer divides scores by sqrt(head_dim)
    decoder.position_ids[5]=set:2.5        token 5 gets position id 2.5; masks still count it as token 5
    decoder.2.residual[4]=add:0.5          every channel of token 4 grows by 0.5

An index counts along the axes of the hook point (HOOK_POINTS), from 0: a number, a range `2:5`, or `:` for all. Edits
of the same value are applied in the order given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.cancellation import check_cancelled
from headlight.config import Config
from headlight.errors import EditError, shortened
from headlight.nn.hooks import HOOK_POINTS, HookPoint, HookScope, hook_point_of
from headlight.registry import Registry
from headlight.tracing.live_edits import LiveEdit, is_patch
from headlight.tracing.trace import Trace, is_on_residual_stream
from headlight.tracing.transformer_lens import native_edit

_EDIT_PATTERN = re.compile(r"([a-z_0-9.*]+)(?:\[([0-9:, ]*)\])?=([a-z]+)(?::(.+))?")
_RANGE_PATTERN = re.compile(r"\s*(?:(\d{1,9})|(\d{0,9}):(\d{0,9}))\s*")
_LAYER_PATTERN = re.compile(r"\.(\d+)\.")
EDIT_SYNTAX = "An edit has the form PATH[INDEX]=OPERATION:NUMBER, as in decoder.1.self.weights[3]=set:0."
MAX_MAGNITUDE = 1e38  # of the number in an edit: within float32
Range = tuple[int, int | None]


@dataclass(frozen=True)
class Selection:
    """The selected values, the values at all tokens, the cells that the mask allows, and the hook point."""

    values: Tensor
    all_tokens: Tensor | None
    allowed: Tensor | None
    hook_point: HookPoint


def _set(selection: Selection, number: float) -> Tensor:
    dtype = torch.promote_types(selection.values.dtype, torch.float32)  # a mask and half precision: 32 bits
    return torch.full_like(selection.values, number, dtype=dtype)


def _scale(selection: Selection, number: float) -> Tensor:
    return selection.values * number


def _add(selection: Selection, number: float) -> Tensor:
    return selection.values + number


def _mean(selection: Selection, number: float) -> Tensor:
    """Query x key values: the mean of each row's allowed keys. Others: the mean over all tokens (or pixels)."""
    values = selection.values
    if not values.is_floating_point():
        raise EditError("mean averages numbers, and a mask has none; set its cells to 0 or 1.")
    if selection.all_tokens is None:
        raise EditError(
            f"mean averages over tokens, and {selection.hook_point.title!r} has one number for all of them."
        )
    if selection.allowed is None:
        return selection.all_tokens.mean(token_axes(selection.hook_point), keepdim=True).expand_as(values)
    total = values.masked_fill(~selection.allowed, 0.0).sum(-1, keepdim=True)
    average = total / selection.allowed.sum(-1, keepdim=True).clamp(min=1)
    return torch.where(selection.allowed, average, values)


def _uniform(selection: Selection, number: float) -> Tensor:
    """Spread the sum of a row's selected cells evenly over the allowed ones among them; the row's sum is unchanged."""
    assert selection.allowed is not None  # the mask is seen before the weights
    total, count = selection.values.sum(-1, keepdim=True), selection.allowed.sum(-1, keepdim=True)
    return torch.where(count > 0, selection.allowed * total / count.clamp(min=1), selection.values)


@dataclass(frozen=True)
class EditOperation:
    """What an edit does with the selected values.

    `title` precedes the number in a menu; `description` completes a sentence about the value, with {number}, or
    {signed} for a number with its sign. `row_local` is False if a token's new values depend on other tokens.
    `keeps_zero`: zeros, such as forbidden cells of the weights, stay 0 for every number. It applies only to
    `hook_points` (empty: all).
    """

    apply: Callable[[Selection, float], Tensor]
    title: str
    description: str
    takes_number: bool = True
    row_local: bool = True
    keeps_zero: bool = True
    hook_points: tuple[str, ...] = ()


EDIT_OPERATIONS: Registry[EditOperation] = Registry(
    "edit operation",
    {
        "scale": EditOperation(_scale, "times", "× {number}"),
        "set": EditOperation(_set, "set to", "set to {number}", keeps_zero=False),
        "add": EditOperation(_add, "plus", "{signed}", keeps_zero=False),
        "mean": EditOperation(_mean, "averaged", "averaged", takes_number=False, row_local=False),
        "uniform": EditOperation(
            _uniform, "uniform", "every allowed token alike", takes_number=False, hook_points=("weights",)
        ),
    },
)


@dataclass(frozen=True)
class Intervention:
    """One edit: `operation`, with `number` if it takes one, applied to the values at `path` within `index`.

    `*` in a path stands for every layer.
    """

    path: str
    index: tuple[Range, ...]
    operation: str
    number: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Intervention:
        """Parse the text form. Raises EditError or UnknownNameError with a sentence about the fault."""
        match = _EDIT_PATTERN.fullmatch(text.strip())
        if not match:
            raise EditError(f"{text!r} is not an edit. {EDIT_SYNTAX}")
        path, index, operation, number = match.groups()
        axes = hook_point_of(path).axes
        takes_number = EDIT_OPERATIONS[operation].takes_number
        if takes_number != (number is not None):
            needs = "needs a number" if takes_number else "takes no number"
            raise EditError(f"{operation!r} {needs}, but {text!r} gives {number or 'none'}. {EDIT_SYNTAX}")
        ranges = tuple(_parse_range(part, text) for part in index.split(",")) if index else ()
        if len(ranges) > len(axes):
            raise EditError(f"{text!r} counts along {len(ranges)} axes; {path} has {len(axes)}: {', '.join(axes)}.")
        while ranges and ranges[-1] == (0, None):
            ranges = ranges[:-1]
        return cls(path, ranges, operation, _parse_number(number, text) if number else 0.0)

    def __str__(self) -> str:
        def show(span: Range) -> str:
            first, end = span
            if end == first + 1:
                return str(first)
            return f"{first or ''}:{'' if end is None else end}"

        index = f"[{','.join(map(show, self.index))}]" if self.index else ""
        number = f":{self.number!r}".removesuffix(".0") if EDIT_OPERATIONS[self.operation].takes_number else ""
        return f"{self.path}{index}={self.operation}{number}"

    @property
    def row_local(self) -> bool:
        """Whether no token's new values depend on a later token, so that cached keys and values stay valid.

        False for position ids: a later step would need those of earlier tokens again.
        """
        if self._opens_later_keys:
            return False
        return EDIT_OPERATIONS[self.operation].row_local and hook_point_of(self.path) is not HOOK_POINTS["position_ids"]

    @property
    def _opens_later_keys(self) -> bool:
        """Whether the edit may let a query attend to a later key that a causal mask forbids."""
        hook_point = self.path.rpartition(".")[2]
        keeps_zero = EDIT_OPERATIONS[self.operation].keeps_zero or self.number == 0
        # A forbidden cell is 0 in the mask and in the weights; its masked score is not, so any edit may change it.
        if hook_point not in ("mask", "masked_scores", "weights") or (keeps_zero and hook_point != "masked_scores"):
            return False
        _, (first_query, _), (_, end_key) = (*self.index, *[(0, None)] * 3)[:3]
        return ".cross." not in self.path and (end_key is None or end_key > first_query + 1)

    def matches(self, path: str) -> bool:
        """Whether this edit applies to the value at `path`."""
        if self.path.rpartition(".")[2] != path.rpartition(".")[2]:
            return False  # the quick case: most of the hundred values of a forward pass
        own_parts, other_parts = self.path.split("."), path.split(".")
        return len(own_parts) == len(other_parts) and all(
            part in ("*", other) for part, other in zip(own_parts, other_parts, strict=True)
        )

    def apply(
        self, path: str, value: Tensor, allowed: Tensor | None, start: int | None = None, total: int | None = None
    ) -> Tensor:
        """The edited value.

        If the value holds only some tokens of a text of `total` tokens, `start` is the position of the first, and
        indices of other tokens are skipped. Raises EditError for an index out of range.
        """
        hook_point, operation = hook_point_of(path), EDIT_OPERATIONS[self.operation]
        if operation.hook_points and path.rpartition(".")[2] not in operation.hook_points:
            raise EditError(f"{self.operation} is for {' and '.join(operation.hook_points)} only, not for {path}.")
        index = (slice(None), *self._slices(path, hook_point, value, start, total))
        tokens = token_axes(hook_point)
        all_tokens_index = tuple(slice(None) if axis in tokens else part for axis, part in enumerate(index))
        all_tokens = value[all_tokens_index] if tokens else None
        allowed_cells = allowed[index] if allowed is not None and hook_point.axes[-1] == "key" else None
        edited = value.clone()
        result = operation.apply(Selection(value[index], all_tokens, allowed_cells, hook_point), self.number)
        edited[index] = _clamp_to_dtype(result, value[index])
        return edited

    def _slices(
        self, path: str, hook_point: HookPoint, value: Tensor, start: int | None, total: int | None = None
    ) -> list[slice]:
        if len(self.index) >= value.dim():  # a classifier's answer is about the whole text
            raise EditError(
                f"The edit {self} counts along {len(self.index)} axes, but {path} has {value.dim() - 1} here."
            )
        slices = []
        for axis, (name, (first, end)) in enumerate(zip(hook_point.axes, self.index, strict=False), 1):
            is_growing = (
                start is not None and name in ("pos", "query", "key") and not is_source_axis(path, hook_point, name)
            )
            size = total if is_growing and total is not None and name in ("pos", "query") else value.shape[axis]
            if (not is_growing or total is not None) and (first + 1 if end is None else end) > size:
                wanted = first if end in (None, first + 1) else f"{first} to {end - 1}"
                raise EditError(f"The edit {self} asks for {name} {wanted}, but {path} has {size}, counted from 0.")
            shift = start if start is not None and is_growing and name != "key" else 0
            slices.append(slice(max(0, first - shift), None if end is None else max(0, end - shift)))
        return slices


InterventionLike = Intervention | str


class InterventionHook:
    """A hook that applies interventions.

    Use a new one for each run: it remembers each attention's mask for `uniform` and `mean`. `start` is None if a run
    reads the whole text, else the position of the first token that it reads; `total` is the number of tokens of the
    text, if known (`Intervention.apply`). `live` edits are applied after the others; they need whole values.
    """

    def __init__(
        self,
        interventions: Sequence[Intervention],
        start: int | None = None,
        total: int | None = None,
        live: Sequence[LiveEdit] = (),
    ) -> None:
        self.interventions, self.start, self.total = tuple(interventions), start, total
        self.live, self.live_paths = tuple(live), set[str]()
        self.applied: set[Intervention] = set()
        self.seen_paths: set[str] = set()
        self._allowed: dict[str, Tensor] = {}

    def scope(self, path: str) -> HookScope:
        """NONE without an edit, ALL for live edits and means over tokens, else ROWS: a mean over keys needs one row."""
        edits = [edit for edit in self.interventions if edit.matches(path)]
        if self.live or any(not edit.row_local and hook_point_of(path).axes[-1] != "key" for edit in edits):
            return HookScope.ALL
        return HookScope.ROWS if edits else HookScope.NONE

    def for_rows(self, start: int, total: int) -> InterventionHook:
        """The same edits for values with the rows from `start` on, out of `total`."""
        total_of_text = total if self.start is None else self.total
        hook = InterventionHook(self.interventions, start + (self.start or 0), total_of_text, self.live)
        hook.applied, hook.seen_paths = self.applied, self.seen_paths
        return hook

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value with the edits that match its path. Raises Cancelled once its answer is no longer needed."""
        check_cancelled()
        if not (self.interventions or self.live):
            return value
        part, _, hook_point = path.rpartition(".")
        self.seen_paths.add(path)
        for intervention in self.interventions:
            if intervention.matches(path):
                value = intervention.apply(path, value, self._allowed.get(part), self.start, self.total)
                self.applied.add(intervention)
        for live_edit in self.live:
            before, value = value, live_edit.apply(path, value)
            if value is not before:
                self.live_paths.add(path)
        if hook_point == "mask":
            self._allowed[part] = value
        if is_on_residual_stream(path) and not value.float().square().sum(-1).isfinite().all():
            raise EditError(
                f"These edits make numbers too large for the model to compute with, first at {path}; use smaller ones."
            )
        return value

    def require_all_applied(self) -> None:
        """Raise EditError if an edit matched no value: the model has no value of that name."""
        for intervention in self.interventions:
            if intervention not in self.applied:
                raise EditError(
                    f"The edit {intervention} changes nothing: this model has no value {intervention.path}. "
                    + self._describe_paths(intervention.path.rpartition(".")[2])
                )

        for live_edit in self.live:
            if live_edit.path and live_edit.path not in self.seen_paths:
                raise EditError(f"{live_edit.name} changes nothing: this model has no value {live_edit.path}.")

    def _describe_paths(self, hook_point: str) -> str:
        """A sentence on the paths of a hook point in this model."""
        last: dict[str, int] = {}
        for path in (path for path in self.seen_paths if path.rpartition(".")[2] == hook_point):
            pattern, layer = _LAYER_PATTERN.sub(".*.", path), _LAYER_PATTERN.search(path)
            last[pattern] = max(last.get(pattern, -1), int(layer[1]) if layer else -1)
        if not last:
            return "A path has the form STACK.LAYER.PART.HOOK_POINT, as in decoder.0.self.weights."
        descriptions = (
            form + (f" (layers 0 to {layer})" if layer >= 0 else "") for form, layer in sorted(last.items())
        )
        return f"Its {hook_point} are at {', '.join(descriptions)}."


def native_edits(config: Config, edits: Sequence[InterventionLike]) -> tuple[InterventionLike, ...]:
    """Edits with TransformerLens names replaced by paths. Raises EditError for an unknown name."""
    return tuple(native_edit(config, edit) if isinstance(edit, str) else edit for edit in _edit_list(edits))


def parse_interventions(edits: Sequence[InterventionLike]) -> tuple[Intervention, ...]:
    """Edits given as text or already parsed. Raises EditError or UnknownNameError for an invalid edit."""
    return tuple(map(_parse_intervention, _edit_list(edits)))


def _edit_list(edits: Sequence[InterventionLike]) -> Sequence[InterventionLike]:
    """The edits as a sequence. Raises EditError if they are one text in place of a list."""
    if isinstance(edits, str):
        raise EditError(f"{shortened(edits)!r} is one text; give a list of edits.")
    return edits


def _parse_intervention(edit: object) -> Intervention:
    if isinstance(edit, Intervention):
        return edit
    if is_patch(edit):
        raise EditError(f"{edit!r} is a patch, which needs a whole run; generation takes none.")
    if isinstance(edit, str):
        return Intervention.parse(edit)
    raise EditError(
        f"A {type(edit).__name__} is not an edit: an edit is a text such as decoder.1.self.weights[3]=set:0. Pass a "
        "function of a value's path and the value as hook=function."
    )


def is_edited(trace: Trace, *paths: str) -> bool:
    """Whether an edit or a live edit of a trace changed the value at one of the paths."""
    edits = [Intervention.parse(edit) for edit in trace.interventions]
    return any(path in trace.live_paths or any(edit.matches(path) for edit in edits) for path in paths)


def token_axes(hook_point: HookPoint) -> tuple[int, ...]:
    """The axes of a batched value that count tokens (queries, not keys), pixels or steps of a sound."""
    token_axis_names = ("pos", "query", "pixel_row", "pixel_column", "sound_step")
    return tuple(axis for axis, name in enumerate(hook_point.axes, 1) if name in token_axis_names)


def is_source_axis(path: str, hook_point: HookPoint, name: str) -> bool:
    """Whether an axis counts the source's tokens; cross-attention has all of them from the start."""
    return ".cross." in path and (name == "key" or hook_point.axes[0] == "key_value_head")


def _clamp_to_dtype(result: Tensor, original: Tensor) -> Tensor:
    """Cast to the value's dtype and clamped to half its finite range; cells already at the minimum stay.

    The minimum marks masked cells; a huge edited score must not look like one.
    """
    if original.is_floating_point():
        limit = torch.finfo(original.dtype).max / 2
        result = torch.where(result == original, original, result.clamp(-limit, limit))
    return result.to(original.dtype)


def _parse_range(part: str, text: str) -> Range:
    match = _RANGE_PATTERN.fullmatch(part)
    if not match:
        raise EditError(f"{part!r} in {text!r} is not an index; write a number, a range such as 2:5, or ':'.")
    if match[1]:
        return int(match[1]), int(match[1]) + 1
    first, end = int(match[2] or 0), int(match[3]) if match[3] else None
    if end is not None and end <= first:
        raise EditError(f"The range {part!r} in {text!r} is empty; 2:5 means 2, 3 and 4.")
    return first, end


def _parse_number(word: str, text: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not abs(number) <= MAX_MAGNITUDE:
        raise EditError(
            f"{word!r} in {text!r} is not a number between -{MAX_MAGNITUDE:g} and {MAX_MAGNITUDE:g}. {EDIT_SYNTAX}"
        )
    return number
