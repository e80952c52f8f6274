"""Config: default sizes, and a message for incompatible fields."""

import json
from typing import Any

import pytest

from headlight import Config, ConfigError
from headlight.config import AttentionConfig, EncoderConfig, PerLayerConfig, RopeConfig
from headlight.config.flat_names import FLAT_NAMES
from tests.model import toys

YARN = {"scaling": "yarn", "factor": 2.0, "original_context_length": 8}


def test_sizes_left_out_are_filled_in() -> None:
    config = toys.config()
    assert (config.key_value_heads, config.head_dim, config.value_head_dim, config.d_ff) == (4, 4, 4, 64)
    both = toys.config(architecture="encoder-decoder")
    assert (both.encoder.layers, both.num_layers("encoder"), both.num_layers("decoder")) == (2, 2, 2)


@pytest.mark.parametrize("choices", [{}, {"architecture": "encoder-decoder", "encoder.layers": 5}, {"labels": ("a",)}])
def test_a_config_survives_json(choices: dict[str, Any]) -> None:
    config = toys.config(**choices)
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"architecture": "tower"}, "'tower'; possible are decoder, encoder, encoder-decoder"),
        ({"embedding": {"projection": "some"}}, r"embedding\.projection is 'some'; possible are none, tokens, all"),
        ({"output_head_config": {"transform": "wide"}}, "'wide'; possible are none, dense, norm, dense-norm"),
        (
            {"image": {"processor": {"resample": "sharp"}}},
            r"image\.processor\.resample is 'sharp'; possible are nearest",
        ),
        ({"biases": ["query", "rise"]}, "biases is 'rise'; possible are query, key, value, output"),
        ({"heads": 0}, "at least one"),
        ({"heads": 3}, "d_model 16 does not divide into 3 heads"),
        ({"key_value_heads": 3}, "4 heads cannot share 3 key/value heads"),
        ({"d_model": -1}, "d_model is -1"),
        ({"vocabulary_size": 0}, "vocabulary_size is 0"),
        ({"context_length": 2**40}, "context_length is"),
        ({"layers": 10**6}, "layers is 1000000"),
        ({"d_model": 2**30}, "d_model is"),
        ({"layers": 2.5}, r"layers is 2\.5; expected a whole number"),
        ({"layers": True}, "layers is True; expected a whole number"),
        ({"layers": "2"}, "layers is '2'; expected a whole number"),
        ({"bias": 1}, "bias is 1; expected true or false"),
        ({"masks": "causal"}, "masks is 'causal'; expected a list"),
        ({"masks": [1]}, r"masks\[0\] is 1; expected a text"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"dropout": float("nan")}, "dropout is nan"),
        ({"norm_epsilon": -1.0}, "norm_epsilon is -1.0"),
        ({"norm_epsilon": float("nan")}, "norm_epsilon is nan"),
        ({"attention": {"qkv_limit": 3.5e38}}, r"attention\.qkv_limit is 3.5e\+38"),
        ({"attention": {"score_soft_cap": -1.0}}, r"attention\.score_soft_cap is -1.0"),
        ({"rope": {"theta": 0}}, "rope.theta is 0"),
        ({"rope": {"theta": -5.0}}, "rope.theta is -5.0"),
        ({"rope": {"theta": 10**400}}, "rope.theta is 1000000000.*; expected a number"),
        ({"rope": {"theta": float("inf")}}, "rope.theta is inf"),
        ({"rope": {"rotated_share": 1.5}}, "rope.rotated_share is 1.5"),
        ({"rope": YARN | {"high_freq_factor": -1.0}}, "rope.high_freq_factor is -1.0; for yarn"),
        ({"rope": YARN | {"low_freq_factor": 0.0}}, "rope.low_freq_factor is 0.0; for yarn"),
        ({"rope": YARN | {"theta": 1.0}}, "rope.theta is 1.0; for yarn it must be above 1"),
        ({"rope": YARN | {"factor": 0.0}}, "rope.factor is 0.0; it must be a number above 0"),
        *(
            ({"rope": {"scaling": scaling}}, f"original_context_length is 0; for {scaling} it must be above 0")
            for scaling in ("dynamic", "llama3", "yarn")
        ),
        ({"rope": YARN | {"scaling": "llama3"}}, "high_freq_factor is 1.0; for llama3 it must be above 1.0"),
        ({"rope": {"scaling": "longrope", "short_factor": [1.0, 0.0], "long_factor": [1.0, 2.0]}}, "is 0 or not a"),
        ({"per_layer": {"ropes": [{}, {"theta": -5.0}]}}, "rope.theta is -5.0"),
        ({"per_layer": {"head_dims": [4, 0.5]}}, r"head_dims\[1\] is 0.5; expected a whole number"),
        ({"per_layer": {"key_value_heads": [4, 3]}}, "4 heads cannot share 3 key/value heads"),
        ({"per_layer": {"key_value_layers": [0, 2]}}, "key_value_layers has 2 for layer 1"),
        ({"per_layer": {"key_value_layers": [0, 0], "head_dims": [4, 6]}}, "cannot read the keys of layer 0"),
        ({"attention": {"keys_as_values": True}, "value_head_dim": 3}, r"attention\.keys_as_values needs values"),
        ({"layer_embedding": {"dim": -1}}, "layer_embedding.dim is -1"),
        ({"layer_embedding": {"vocabulary_size": -2}}, "layer_embedding.vocabulary_size is -2"),
        (
            {"residual": {"alternating_updates": {"streams": 99}}},
            "alternating_updates.streams is 99; .* 1 to 64",
        ),
        (
            {"residual": {"alternating_updates": {"streams": 2, "active": 2}}},
            "active is 2; there are 2 streams",
        ),
        (
            {"residual": {"alternating_updates": {"streams": 2}}, "architecture": "encoder-decoder"},
            "a model that reads one text",
        ),
        ({"activation_sparsity": 1.0}, "activation_sparsity is 1.0; it is from 0 to below 1"),
        ({"activation_sparsity": 0.5, "experts": {"count": 2, "per_token": 1}}, "and 0 where experts are"),
        ({"residual": {"laurel_rank": -1}}, "residual.laurel_rank is -1"),
        ({"layer_embedding": {"dim": 2}, "architecture": "encoder-decoder"}, "for a model that reads one text"),
        ({"encoder": {"layers": 2**11}}, "encoder.layers is 2048"),
        ({"decoder": {"start_token_id": -1}}, "decoder.start_token_id is -1"),
        ({"decoder": {"start_token_id": 300}}, "decoder.start_token_id is 300; .* vocabulary of 300"),
        ({"colour": "red"}, "Unknown config fields: colour"),
        ({"rope": {"base": 1.0}}, "Unknown rope fields: base. Known: .*theta"),
        ({"per_layer": {"ropes": [{"base": 1.0}]}}, "Unknown ropes fields: base"),
        ({"rope": 5}, "rope is 5; expected a table of fields"),
        ({"attention": 5}, "attention is 5; expected a table of fields"),
        ({"qk_norm": "none"}, r"qk_norm is the old name of attention\.qk_norm; the config has both"),
    ],
)
def test_what_does_not_go_together_gets_a_sentence(values: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        Config.from_dict({**toys.config().to_dict(), "key_value_heads": 0, "head_dim": 0, **values})
    assert str(caught.value).endswith(".")


def test_a_scaling_that_nothing_uses_is_not_checked() -> None:
    assert toys.config(positional_encoding="learned", rope=RopeConfig(scaling="dynamic")).rope.scaling == "dynamic"


def test_a_path_belongs_to_a_layer_with_its_own_sizes() -> None:
    config = Config.from_dict(toys.config(**toys.UNLIKE).to_dict())
    assert config == toys.config(**toys.UNLIKE)
    assert [config.for_path(f"decoder.{layer}.self.q").head_dim for layer in range(4)] == [6, 4, 6, 4]
    assert config.for_path("decoder.embedding").head_dim == config.head_dim == 4
    assert config.key_value_path("decoder.3.self") == "decoder.1.self"
    encoder = toys.config(
        architecture="encoder-decoder", encoder=EncoderConfig(d_ff=7), per_layer=PerLayerConfig(d_ffs=(9, 11))
    )
    assert [encoder.for_path(path).d_ff for path in ("encoder.1.self.q", "decoder.1.cross.q")] == [7, 11]


# Each field that older files have outside of its group, with a value that is not the default.
FLAT: dict[str, Any] = {
    "encoder_layers": 3, "encoder_heads": 2, "encoder_d_ff": 7, "scale": False, "score_soft_cap": 2.0, "qkv_limit": 0.5,
    "attention_sinks": True, "latent": {"query_channels": 5}, "qk_norm": "per-head", "value_norm": True,
    "keys_as_values": True, "parallel_residual": True, "stream_scale": True, "laurel_rank": 3,
    "alternating_updates": {"streams": 3}, "embedding_norm": True, "tied_embeddings": False, "start_token_id": 7,
    "prompt_token_ids": [1, 2], "alignment_heads": [[1, 0]], "contact_end_id": 2,
}  # fmt: skip


@pytest.mark.parametrize("name", FLAT_NAMES)
def test_an_older_file_with_flat_names_opens_and_one_with_both_is_refused(name: str) -> None:
    plain = {"vocabulary_size": 300, "context_length": 24, "d_model": 16, "layers": 2, "heads": 4}
    group, inner = FLAT_NAMES[name].split(".")
    config = Config.from_dict({**plain, group: {}, name: FLAT[name]})
    assert config == Config.from_dict({**plain, group: {inner: FLAT[name]}}) != Config.from_dict(plain)
    with pytest.raises(ConfigError, match=f"{name} is the old name of {group}.{inner}; the config has both"):
        Config.from_dict({**plain, group: {inner: FLAT[name]}, name: FLAT[name]})


def test_a_field_in_a_group_is_replaced_by_its_path() -> None:
    config = toys.config(attention=AttentionConfig(sinks=True)).replace(**{"attention.scale": False})
    assert config.attention == AttentionConfig(sinks=True, scale=False)
    assert config.to_paths()["attention.scale"] is False and config.to_paths()["rope.theta"] == 10_000.0


def test_missing_fields_are_listed() -> None:
    with pytest.raises(ConfigError, match="lacks d_model, heads"):
        Config.from_dict({"vocabulary_size": 3, "context_length": 4, "layers": 1})


def test_half_a_character_in_place_of_a_number_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match="lone surrogate"):
        Config.from_dict(toys.config().to_dict() | {"d_model": "\ud800"})
