"""Config: sizes filled in, and a sentence for what does not go together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from model import Config, ConfigError
from tests.model import toys


def test_sizes_left_out_are_filled_in() -> None:
    config = toys.config()
    assert (config.key_value_heads, config.head_dim, config.value_head_dim, config.d_ff) == (4, 4, 4, 64)
    both = toys.config(architecture="encoder-decoder")
    assert (both.encoder_layers, both.num_layers("encoder"), both.num_layers("decoder")) == (2, 2, 2)


@pytest.mark.parametrize("choices", [{}, {"architecture": "encoder-decoder", "encoder_layers": 5}, {"labels": ("a",)}])
def test_a_config_survives_json(choices: dict[str, Any]) -> None:
    config = toys.config(**choices)
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"architecture": "tower"}, "'tower'; possible are decoder, encoder, encoder-decoder"),
        ({"pooling": "middle"}, "'middle'; possible are first, mean, max, last"),
        ({"heads": 0}, "at least one"),
        ({"heads": 3}, "width 16 does not divide into 3 heads"),
        ({"key_value_heads": 3}, "4 heads cannot share 3 key/value heads"),
        ({"width": -1}, "width is -1"),
        ({"vocabulary": 0}, "vocabulary is 0"),
        ({"context": 2**40}, "context is"),
        ({"layers": 10**6}, "layers is 1000000"),
        ({"width": 2**30}, "width is"),
        ({"layers": 2.5}, r"layers is 2\.5; wanted int"),
        ({"layers": True}, "layers is True; wanted int"),
        ({"layers": "2"}, "layers is '2'; wanted int"),
        ({"bias": 1}, "bias is 1; wanted bool"),
        ({"masks": "causal"}, "masks is 'causal'; wanted a list of str"),
        ({"masks": [1]}, "masks is 1; wanted str"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"dropout": float("nan")}, "dropout is nan"),
        ({"norm_epsilon": -1.0}, "norm_epsilon is -1.0"),
        ({"norm_epsilon": float("nan")}, "norm_epsilon is nan"),
        ({"rope_base": 0}, "rotation.base is 0"),
        ({"rope_base": -5.0}, "rotation.base is -5.0"),
        ({"rope_base": 10**400}, "base is 1000000000.*; wanted float"),
        ({"rope_base": float("inf")}, "rotation.base is inf"),
        ({"start_token_id": -1}, "start_token is -1"),
        ({"start_token_id": 300}, "start_token is 300; .* vocabulary of 300"),
        ({"colour": "red"}, "Unknown config fields: colour"),
    ],
)
def test_what_does_not_go_together_gets_a_sentence(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        Config.from_dict({**toys.config().to_dict(), "key_value_heads": 0, "head_dim": 0, **values})
    assert str(caught.value).endswith(".")


def test_missing_fields_are_listed() -> None:
    with pytest.raises(ConfigError, match="misses heads, width"):
        Config.from_dict({"vocabulary_size": 3, "context_length": 4, "layers": 1})
