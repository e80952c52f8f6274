"""Rotary positions in the config files of old and new transformers versions."""

from __future__ import annotations

import math
from typing import Any

from model.checkpoints.config_reader import Fields
from model.checkpoints.families.common import SCALINGS
from model.config_groups import Rotation
from model.errors import CheckpointError


def rotation(
    fields: Fields,
    head_width: int,
    context: int,
    *,
    base: float = 10_000.0,
    share: float | None = None,
    original: int = 0,
    layer_type: str = "",
    names: tuple[str, str] = ("rope_theta", "partial_rotary_factor"),
    **choices: Any,
) -> Rotation:
    """The group `Rotation`; `base` and `share` (of a head that turns; None: this family turns all)
    are what holds where no field says.

    New files keep `rope_parameters`, where layers differ one for each `layer_type`; old ones keep `rope_scaling` and,
    under `names`, base and share beside it.
    """
    group = scaling(fields, layer_type)
    base = group.number("rope_theta", fields.number((names[0], "rope_theta"), base))
    usual = 1.0 if share is None else share
    turning = group.number("partial_rotary_factor", fields.number((names[1], "partial_rotary_factor"), usual))
    if share is None and turning != 1:
        raise CheckpointError(f"{fields.name}: its partial_rotary_factor is {turning}, unknown in this family.")
    kind = group.choice(("rope_type", "type"), "default", SCALINGS)
    channels = int(head_width * turning)
    if base <= 1 or not 0 < turning <= 1 or not channels:
        raise CheckpointError(f"{fields.name}: rotary positions with base {base} over a share of {turning} cannot be.")
    everything = 0 if channels == head_width // 2 * 2 else channels
    found = {"base": base, "channels": everything, "scaling": kind, **choices}
    if kind != "none":
        found |= _scaled(fields, group, kind, (context, original or context), channels)
    return Rotation(**found)


def scaling(fields: Fields, layer_type: str = "") -> Fields:
    """The group of fields that scales rotary positions; an empty one where there is none."""
    group = fields.group(("rope_scaling", "rope_parameters")) or fields.group("rope_parameters")
    empty = Fields({}, fields.name)
    if group is None:
        return empty
    return (group.group(layer_type) or empty) if layer_type and layer_type in group.values else group


def _scaled(fields: Fields, group: Fields, kind: str, contexts: tuple[int, int], channels: int) -> dict[str, Any]:
    """What each kind of scaling needs besides its factor."""
    context, original = contexts
    name = "original_max_position_embeddings"
    original = fields.size(name, 0) or group.size(name, original)
    if kind == "dynamic":
        original = context
    factor = group.number("factor", context / max(original, 1))
    if factor <= 0 or original < 1:
        raise CheckpointError(f"{fields.name}: a rope scaling by {factor} from {original} tokens cannot be.")
    found: dict[str, Any] = {"factor": factor, "original": original}
    if kind == "banded":
        found |= {"low": group.number("low_freq_factor"), "high": group.number("high_freq_factor")}
        if found["high"] <= found["low"]:
            raise CheckpointError(f"{fields.name}: its high_freq_factor is not above its low_freq_factor.")
    elif kind == "yarn":
        if channels % 2:
            raise CheckpointError(f"{fields.name}: yarn scales pairs of channels, but {channels} are to turn.")
        found |= {"low": group.number("beta_slow", 1) or 1.0, "high": group.number("beta_fast", 32) or 32.0}
        found |= {"whole": group.flag("truncate", True), "strength": _yarn_strength(group, factor)}
    elif kind == "longrope":
        found |= {name: _divisors(group, f"{name}_factor", channels) for name in ("short", "long")}
        usual = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 and original > 1 else 1.0
        found["strength"] = group.number("attention_factor", usual)
    return found


def _yarn_strength(group: Fields, factor: float) -> float:
    """How much longer queries and keys become (Peng et al. 2024, section 3.4)."""

    def strength(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0

    above, below = group.number("mscale", 0), group.number("mscale_all_dim", 0)
    return group.number("attention_factor", strength(above) / strength(below) if above and below else strength(1))


def _divisors(group: Fields, name: str, channels: int) -> tuple[float, ...]:
    divisors = tuple(float(each) for each in group.listing(name, (int, float)))
    if len(divisors) != (channels + 1) // 2 or not all(divisors):
        raise CheckpointError(
            f"{group.name}: its {name} has {len(divisors)} numbers for {(channels + 1) // 2} turning pairs of channels."
        )
    return divisors


def windows(fields: Fields, layers: int, usual: list[str], window: int) -> tuple[str, ...]:
    """Each layer's extra mask: a window of tokens where `layer_types` (or `usual`) says sliding, else none."""
    types = fields.listing("layer_types", str, usual)
    known = {"full_attention": "none", "sliding_attention": f"window:{window}" if window else "none"}
    unknown = sorted(set(types) - set(known))
    if unknown or len(types) != layers:
        told = f"names {unknown[0]!r}" if unknown else f"has {len(types)} entries for {layers} layers"
        raise CheckpointError(f"{fields.name}: its layer_types {told}; known are {', '.join(known)}.")
    masks = tuple(known[each] for each in types)
    return masks if set(masks) != {"none"} else ()
