"""Interventions: an edit of one named value, with a text form that is also its URL form.

    decoder.1.self.weights[3]=set:0        head 3 of layer 1 moves nothing
    decoder.*.self.weights[0]=uniform      head 0 of every layer looks at all allowed keys alike
    decoder.1.self.weights[3,5,2]=set:0    head 3 moves nothing from key 2 to query 5; the row's other weights stay
    decoder.1.self.mask[:,5,2]=set:0       in layer 1 query 5 may not see key 2; its other keys share that weight
    decoder.1.self.scale[3]=scale:0.5      head 3 multiplies its queries and keys by half as much
    decoder.*.self.scale=set:1             no layer divides by the root of d
    decoder.at[5]=set:2.5                  token 5 stands at 2.5 for the position scheme; the mask counts it as before
    decoder.2.residual[4]=add:0.5          every channel of token 4 grows

The index counts along the site's axes (SITES), from 0: a number, a range `2:5`, or `:` for all. Edits of the same
value are made in the order given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.errors import EditError
from model.nn.hooks import Interest
from model.nn.sites import SITES, Site, site_of
from model.registry import Registry

_FORM = re.compile(r"([a-z_0-9.*]+)(?:\[([0-9:, ]*)\])?=([a-z]+)(?::(.+))?")
_AXIS = re.compile(r"\s*(?:(\d{1,9})|(\d{0,9}):(\d{0,9}))\s*")
_LAYER = re.compile(r"\.(\d+)\.")
_HELP = "An edit reads PATH[INDEX]=OPERATION:NUMBER, as in decoder.1.self.weights[3]=set:0."
LARGEST = 1e38  # what 32 bits hold
Range = tuple[int, int | None]


@dataclass(frozen=True)
class Region:
    """The selected values, the same of all tokens, which the mask allows (pairs of tokens only), and their site."""

    values: Tensor
    everywhere: Tensor | None
    allowed: Tensor | None
    site: Site


def _set(region: Region, number: float) -> Tensor:
    return torch.full_like(region.values, number, dtype=torch.float32)


def _scale(region: Region, number: float) -> Tensor:
    return region.values * number


def _add(region: Region, number: float) -> Tensor:
    return region.values + number


def _mean(region: Region, number: float) -> Tensor:
    """Pairs: each row's average over its allowed keys. All else: that over all tokens (or pixels), selected or not."""
    values = region.values
    if not values.is_floating_point():
        raise EditError("mean averages numbers, and a mask has none; set its cells to 0 or 1.")
    if region.everywhere is None:
        raise EditError(f"mean averages over tokens, and {region.site.title!r} has one number for all of them.")
    if region.allowed is None:
        return region.everywhere.mean(token_axes(region.site), keepdim=True).expand_as(values)
    total = values.masked_fill(~region.allowed, 0.0).sum(-1, keepdim=True)
    average = total / region.allowed.sum(-1, keepdim=True).clamp(min=1)
    return torch.where(region.allowed, average, values)


def _uniform(region: Region, number: float) -> Tensor:
    """What the selected cells of a row hold together goes evenly to the allowed ones: the row's sum stays."""
    if region.allowed is None or region.site is not SITES["weights"]:
        raise EditError("uniform spreads attention evenly over the allowed keys; it is for weights only.")
    together, count = region.values.sum(-1, keepdim=True), region.allowed.sum(-1, keepdim=True)
    return torch.where(count > 0, region.allowed * together / count.clamp(min=1), region.values)


@dataclass(frozen=True)
class Operation:
    """What an edit does with the selected values, and whether it needs a number."""

    apply: Callable[[Region, float], Tensor]
    takes_number: bool
    one_row: bool = True  # whether a token's values change without a look at other tokens' values


EDITS: Registry[Operation] = Registry(
    "edit",
    {
        "set": Operation(_set, takes_number=True),
        "scale": Operation(_scale, takes_number=True),
        "add": Operation(_add, takes_number=True),
        "mean": Operation(_mean, takes_number=False, one_row=False),
        "uniform": Operation(_uniform, takes_number=False),
    },
)


@dataclass(frozen=True)
class Intervention:
    """One edit: the values at `path` (`*`: every layer) within `index` become what `operation` makes of them."""

    path: str
    index: tuple[Range, ...]
    operation: str
    number: float = 0.0

    @classmethod
    def parse(cls, text: str) -> Intervention:
        """From its text form. Raises EditError or UnknownName with a sentence that says what is wrong."""
        match = _FORM.fullmatch(text.strip())
        if not match:
            raise EditError(f"{text!r} is no edit. {_HELP}")
        path, index, operation, number = match.groups()
        axes = site_of(path).axes
        takes_number = EDITS[operation].takes_number
        if takes_number != (number is not None):
            needs = "needs a number" if takes_number else "takes no number"
            raise EditError(f"{operation!r} {needs}, but {text!r} gives {number or 'none'}. {_HELP}")
        ranges = tuple(_range(part, text) for part in index.split(",")) if index else ()
        if len(ranges) > len(axes):
            raise EditError(f"{text!r} counts along {len(ranges)} axes; {path} has {len(axes)}: {', '.join(axes)}.")
        while ranges and ranges[-1] == (0, None):
            ranges = ranges[:-1]
        return cls(path, ranges, operation, _number(number, text) if number else 0.0)

    def __str__(self) -> str:
        def show(span: Range) -> str:
            first, end = span
            if end == first + 1:
                return str(first)
            return f"{first or ''}:{'' if end is None else end}"

        index = f"[{','.join(map(show, self.index))}]" if self.index else ""
        number = f":{self.number!r}".removesuffix(".0") if EDITS[self.operation].takes_number else ""
        return f"{self.path}{index}={self.operation}{number}"

    @property
    def one_row(self) -> bool:
        """Whether a token's values change without a look at other tokens, so that what was read stays what it is.

        Where a token stands is asked again for each later token.
        """
        return EDITS[self.operation].one_row and site_of(self.path) is not SITES["at"]

    def matches(self, path: str) -> bool:
        """Whether this edit is meant for the value at `path`."""
        mine, theirs = self.path.split("."), path.split(".")
        return len(mine) == len(theirs) and all(part in ("*", other) for part, other in zip(mine, theirs, strict=True))

    def apply(
        self, path: str, value: Tensor, allowed: Tensor | None, start: int | None = None, total: int | None = None
    ) -> Tensor:
        """The value with the edit made.

        Where a text grows, or comes a few rows at a time (of `total`), `start` is the position of the value's first
        token, and tokens that are not there yet, or no longer, are passed over.
        """
        site = site_of(path)
        index = (slice(None), *self._slices(path, site, value, start, total))
        tokens = token_axes(site)
        whole = tuple(slice(None) if axis in tokens else part for axis, part in enumerate(index))
        everywhere = value[whole] if tokens else None
        cells = allowed[index] if allowed is not None and site.axes[-1] == "key" else None
        edited = value.clone()
        result = EDITS[self.operation].apply(Region(value[index], everywhere, cells, site), self.number)
        edited[index] = _fitted(result, value[index])
        return edited

    def _slices(self, path: str, site: Site, value: Tensor, start: int | None, total: int | None = None) -> list[slice]:
        slices = []
        for axis, (name, (first, end)) in enumerate(zip(site.axes, self.index, strict=False), 1):
            grows = start is not None and name in ("pos", "query", "key") and not _of_source(path, site, name)
            there = total if grows and total is not None and name in ("pos", "query") else value.shape[axis]
            if (not grows or total is not None) and (first + 1 if end is None else end) > there:
                asked = first if end in (None, first + 1) else f"{first} to {end - 1}"
                raise EditError(f"The edit {self} asks for {name} {asked}, but {path} has {there}, counted from 0.")
            shift = start if start is not None and grows and name != "key" else 0
            slices.append(slice(max(0, first - shift), None if end is None else max(0, end - shift)))
        return slices


class Edits:
    """The tap that makes interventions. It lives for one run: it notes the mask of an attention for its weights.

    `start` is None where the text is whole, else the position of the first token of this step (`Intervention.apply`).
    """

    def __init__(self, interventions: Sequence[Intervention], start: int | None = None) -> None:
        self.interventions, self.start = tuple(interventions), start
        self.total: int | None = None
        self.made: set[Intervention] = set()
        self.seen: set[str] = set()
        self._allowed: dict[str, Tensor] = {}

    def interest(self, path: str) -> Interest:
        """Rows suffice: no edit of a pair of tokens looks at another query's row."""
        return Interest.ROWS if any(each.matches(path) for each in self.interventions) else Interest.NONE

    def rows(self, start: int, total: int) -> Edits:
        """The same edits, for values that hold the rows from `start` on, of `total`."""
        narrowed = Edits(self.interventions, start + (self.start or 0))
        narrowed.total = total if self.start is None else None
        narrowed.made, narrowed.seen = self.made, self.seen
        return narrowed

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """The value, edited where an intervention is meant for it."""
        part, _, site = path.rpartition(".")
        self.seen.add(path)
        for intervention in self.interventions:
            if intervention.matches(path):
                value = intervention.apply(path, value, self._allowed.get(part), self.start, self.total)
                self.made.add(intervention)
        if site == "mask":
            self._allowed[part] = value
        if site in ("final", "logits") and self.interventions and not value.isfinite().all():
            raise EditError("With these edits the numbers grow past what a model can compute with; use smaller ones.")
        return value

    def require_all(self) -> None:
        """Raise EditError if an intervention met no value: this model has none by that name."""
        for intervention in self.interventions:
            if intervention not in self.made:
                raise EditError(
                    f"The edit {intervention} changes nothing: this model has no value {intervention.path}. "
                    + self._alike(intervention.path.rpartition(".")[2])
                )

    def _alike(self, site: str) -> str:
        """Where there are values of a site."""
        last: dict[str, int] = {}
        for path in (path for path in self.seen if path.rpartition(".")[2] == site):
            form, layer = _LAYER.sub(".*.", path), _LAYER.search(path)
            last[form] = max(last.get(form, -1), int(layer[1]) if layer else -1)
        if not last:
            return "A path reads STACK.LAYER.PART.SITE, as in decoder.0.self.weights."
        told = (form + (f" (layers 0 to {layer})" if layer >= 0 else "") for form, layer in sorted(last.items()))
        return f"Its {site} are at {', '.join(told)}."


def token_axes(site: Site) -> tuple[int, ...]:
    """Which axes of a value with its batch count the tokens that are computed (queries, not keys), or the pixels."""
    counting = ("pos", "query", "pixel_row", "pixel_column")
    return tuple(axis for axis, name in enumerate(site.axes, 1) if name in counting)


def _of_source(path: str, site: Site, name: str) -> bool:
    """Whether an axis of tokens counts the source's: what cross-attention looks at is all there from the start."""
    return ".cross." in path and (name == "key" or site.axes[0] == "key_value_head")


def _fitted(result: Tensor, before: Tensor) -> Tensor:
    """In the value's own type and short of infinity, and of the lowest number unless that was there before.

    The lowest number marks forbidden cells; a score that an edit makes huge must not look like one.
    """
    if before.is_floating_point():
        limit = torch.finfo(before.dtype).max / 2
        result = torch.where(result == before, before, result.clamp(-limit, limit))
    return result.to(before.dtype)


def _range(part: str, text: str) -> Range:
    match = _AXIS.fullmatch(part)
    if not match:
        raise EditError(f"{part!r} in {text!r} is no index; write a number, a range such as 2:5, or ':'.")
    if match[1]:
        return int(match[1]), int(match[1]) + 1
    first, end = int(match[2] or 0), int(match[3]) if match[3] else None
    if end is not None and end <= first:
        raise EditError(f"The range {part!r} in {text!r} is empty; 2:5 means 2, 3 and 4.")
    return first, end


def _number(word: str, text: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not abs(number) <= LARGEST:
        raise EditError(f"{word!r} in {text!r} is no number between -{LARGEST:g} and {LARGEST:g}. {_HELP}")
    return number
