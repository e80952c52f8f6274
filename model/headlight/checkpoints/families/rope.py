"""Rotary positions in the config files of old and new transformers versions."""

from __future__ import annotations

import math
from typing import Any

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.families.common import ROPE_TYPES
from headlight.config_groups import RopeConfig
from headlight.errors import CheckpointError


def rope_config(
    fields: ConfigReader,
    head_width: int,
    context: int,
    *,
    theta: float = 10_000.0,
    rotary_fraction: float | None = None,
    original_context: int = 0,
    layer_type: str = "",
    field_names: tuple[str, str] = ("rope_theta", "partial_rotary_factor"),
    **choices: Any,
) -> RopeConfig:
    """The RopeConfig of a file; `theta` and `rotary_fraction` (None: always the whole head) are defaults.

    New files have `rope_parameters`, one for each `layer_type` where layers differ; old files have `rope_scaling`, with
    theta and rotary fraction beside it under `field_names`.
    """
    group = scaling_fields(fields, layer_type)
    theta = group.number("rope_theta", fields.number((field_names[0], "rope_theta"), theta))
    default_fraction = 1.0 if rotary_fraction is None else rotary_fraction
    fraction = group.number(
        "partial_rotary_factor", fields.number((field_names[1], "partial_rotary_factor"), default_fraction)
    )
    if rotary_fraction is None and fraction != 1:
        raise CheckpointError(f"{fields.name}: its partial_rotary_factor is {fraction}, unknown in this family.")
    kind = group.choice(("rope_type", "type"), "default", ROPE_TYPES)
    rotary_dim = int(head_width * fraction)
    if theta <= 1 or not 0 < fraction <= 1 or not rotary_dim:
        raise CheckpointError(
            f"{fields.name}: a rope theta of {theta} over a fraction of {fraction} of each head is not possible."
        )
    stored_rotary_dim = 0 if rotary_dim == head_width // 2 * 2 else rotary_dim
    found = {"theta": theta, "rotary_dim": stored_rotary_dim, "scaling": kind, **choices}
    if kind != "none":
        found |= _scaling_values(fields, group, kind, (context, original_context or context), rotary_dim)
    return RopeConfig(**found)


def scaling_fields(fields: ConfigReader, layer_type: str = "") -> ConfigReader:
    """The nested fields of rotary scaling; empty where there are none."""
    group = fields.nested(("rope_scaling", "rope_parameters")) or fields.nested("rope_parameters")
    empty = ConfigReader({}, fields.name)
    if group is None:
        return empty
    return (group.nested(layer_type) or empty) if layer_type and layer_type in group.values else group


def _scaling_values(
    fields: ConfigReader, group: ConfigReader, kind: str, contexts: tuple[int, int], rotary_dim: int
) -> dict[str, Any]:
    """The fields of RopeConfig that a type of scaling needs."""
    context, original = contexts
    name = "original_max_position_embeddings"
    original = fields.integer(name, 0) or group.integer(name, original)
    if kind == "dynamic":
        original = context
    factor = group.number("factor", context / max(original, 1))
    if factor <= 0 or original < 1:
        raise CheckpointError(f"{fields.name}: a rope scaling by {factor} from {original} tokens is not possible.")
    values: dict[str, Any] = {"factor": factor, "original_context_length": original}
    if kind == "llama3":
        names = ("low_freq_factor", "high_freq_factor")
        values |= {name: group.number(name) for name in names}
        if values["high_freq_factor"] <= values["low_freq_factor"]:
            raise CheckpointError(f"{fields.name}: its high_freq_factor is not above its low_freq_factor.")
    elif kind == "yarn":
        if rotary_dim % 2:
            raise CheckpointError(f"{fields.name}: yarn scales pairs of channels, but {rotary_dim} are rotated.")
        values |= {
            "low_freq_factor": group.number("beta_slow", 1) or 1.0,
            "high_freq_factor": group.number("beta_fast", 32) or 32.0,
            "truncate": group.boolean("truncate", True),
            "attention_factor": _yarn_attention_factor(group, factor),
        }
    elif kind == "longrope":
        values |= {name: _frequency_factors(group, name, rotary_dim) for name in ("short_factor", "long_factor")}
        usual = math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 and original > 1 else 1.0
        values["attention_factor"] = group.number("attention_factor", usual)
    return values


def _yarn_attention_factor(group: ConfigReader, factor: float) -> float:
    """What queries and keys are multiplied by (Peng et al. 2024, section 3.4)."""

    def strength(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0

    above, below = group.number("mscale", 0), group.number("mscale_all_dim", 0)
    return group.number("attention_factor", strength(above) / strength(below) if above and below else strength(1))


def _frequency_factors(group: ConfigReader, name: str, rotary_dim: int) -> tuple[float, ...]:
    divisors = tuple(float(each) for each in group.list_of(name, (int, float)))
    if len(divisors) != (rotary_dim + 1) // 2 or not all(divisors):
        raise CheckpointError(
            f"{group.name}: its {name} has {len(divisors)} numbers for {(rotary_dim + 1) // 2} "
            f"rotated pairs of channels."
        )
    return divisors


def layer_masks(fields: ConfigReader, layers: int, default_types: list[str], window: int) -> tuple[str, ...]:
    """Each layer's extra mask: a sliding window where `layer_types` (or `default_types`) asks for one, else none."""
    types = fields.list_of("layer_types", str, default_types)
    known = {"full_attention": "none", "sliding_attention": f"window:{window}" if window else "none"}
    unknown = sorted(set(types) - set(known))
    if unknown or len(types) != layers:
        problem = f"names {unknown[0]!r}" if unknown else f"has {len(types)} entries for {layers} layers"
        raise CheckpointError(f"{fields.name}: its layer_types {problem}; known are {', '.join(known)}.")
    masks = tuple(known[each] for each in types)
    return masks if set(masks) != {"none"} else ()
