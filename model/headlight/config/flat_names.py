"""Older files have these fields outside of their groups, under other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headlight.errors import ConfigError

FLAT_NAMES = {
    "encoder_layers": "encoder.layers", "encoder_heads": "encoder.heads", "encoder_d_ff": "encoder.d_ff",
    "scale": "attention.scale", "score_soft_cap": "attention.score_soft_cap", "qkv_limit": "attention.qkv_limit",
    "attention_sinks": "attention.sinks", "latent": "attention.latent", "qk_norm": "attention.qk_norm",
    "value_norm": "attention.value_norm", "keys_as_values": "attention.keys_as_values",
    "parallel_residual": "residual.parallel", "stream_scale": "residual.scale",
    "laurel_rank": "residual.laurel_rank", "alternating_updates": "residual.alternating_updates",
    "embedding_norm": "embedding.norm", "tied_embeddings": "embedding.tied",
    "start_token_id": "decoder.start_token_id", "prompt_token_ids": "decoder.prompt_token_ids",
    "alignment_heads": "decoder.alignment_heads", "contact_end_id": "output_head_config.contact_end_id",
}  # fmt: skip


def in_groups(values: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values of a config with those under flat names put into their groups.

    Raises ConfigError if a field is given under both names.
    """
    grouped = {name: value for name, value in values.items() if name not in FLAT_NAMES}
    for name in filter(FLAT_NAMES.__contains__, values):
        group, _, inner = FLAT_NAMES[name].partition(".")
        others = grouped.get(group, {})
        if not isinstance(others, Mapping):
            raise ConfigError(f"{group} is {repr(others)[:60]}; expected a table of fields.")
        if inner in others:
            raise ConfigError(f"{name} is the old name of {FLAT_NAMES[name]}; the config has both.")
        grouped[group] = {**others, inner: values[name]}
    return grouped
