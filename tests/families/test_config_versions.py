"""Config files of old and new versions of transformers, with other field names and without defaults, mean the same."""

import json
from functools import cache
from typing import Any

import pytest
import torch
import transformers

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.convert import plan_conversion
from headlight.checkpoints.families.common import GATED_MLP_ACTIVATIONS, MLP_ACTIVATIONS
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.config import Config
from headlight.nn.layers import ACTIVATIONS, FEED_FORWARDS, GatedMLP
from tests.families.cases import CASES, EACH_CASE
from tests.families.reference import VOCABULARY, Case, with_vocabulary
from tests.families.two_models import TWO_MODELS
from tests.model import toys

OF_TRANSFORMERS = [case for case in EACH_CASE if "timm_wrapper" not in case.values]  # timm's files have other fields
NEVER_BARE = ("paligemma", "mistral3", "timm_wrapper", *TWO_MODELS)  # families whose files always nest their fields
NULL_ACTS = ("attn_logit_softcapping", "final_logit_softcapping")
# The names in old files of a family's rotary base and the rotated share of a head.
ROTARY = {"gpt_neox": ("rotary_emb_base", "rotary_pct")}
WINDOWED = {"full_attention": "rope_theta", "sliding_attention": "rope_local_base_freq"}
# Fields of new files for each kind of layer, and their counterparts in old files.
LAYERED = {
    "olmo3": {"full_attention": "rope_theta", "sliding_attention": "rope_theta"},
    "gemma3_text": WINDOWED,
    "gemma3n_text": WINDOWED,
    "modernbert": {"full_attention": "global_rope_theta", "sliding_attention": "local_rope_theta"},
}


@cache
def made(kind: str, fields: str) -> tuple[str, tuple[str, ...]]:
    """The text of a case's config file and its tensor names, without weights."""
    made = getattr(transformers, kind)
    config = made.config_class(**json.loads(fields))
    with torch.device("meta"):
        model = made(config)
    return config.to_json_string(use_diff=False), tuple(model.state_dict())


def read(family: str, values: dict[str, Any], names: tuple[str, ...]) -> Config:
    names = tuple(name for name in names if not name.endswith("inv_freq"))  # a table whose numbers would be compared
    tensors = LazyTensors(dict.fromkeys(names, lambda: torch.empty(0)))
    return plan_conversion(ConfigReader({**values, "model_type": family}, "case"), tensors).plan.config


def of(case: Case) -> tuple[dict[str, Any], tuple[str, ...]]:
    text, names = made(case.kind, json.dumps(with_vocabulary(case)))
    return {**json.loads(text), "architectures": [case.kind]}, names


def test_an_absent_number_is_its_default_also_where_that_is_whole() -> None:
    assert ConfigReader({}, "case").number("max_relative_positions", -1) == -1


@pytest.mark.parametrize("name", MLP_ACTIVATIONS)
def test_activations_are_those_of_the_same_name(name: str) -> None:
    x = torch.linspace(-9, 9, 601)
    expected = transformers.activations.ACT2FN[name](x)
    torch.testing.assert_close(ACTIVATIONS[MLP_ACTIVATIONS[name]](x), expected, atol=1e-5, rtol=0)
    if name in GATED_MLP_ACTIVATIONS:
        gated = FEED_FORWARDS[GATED_MLP_ACTIVATIONS[name]].make(toys.config())
        assert isinstance(gated, GatedMLP)
        torch.testing.assert_close(gated.activation(x), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("family", "case"), OF_TRANSFORMERS)
def test_old_files_say_the_same(family: str, case: Case) -> None:
    values, names = of(case)
    old = dict(values)
    old["torch_dtype"] = old.pop("dtype", None)
    rope = old.pop("rope_parameters", None)
    if family == "gemma4_text":
        rope, old["rope_parameters"] = None, rope
        wide = old.pop("per_layer_config").popitem()[1]
        old |= {"global_head_dim": wide["head_dim"], "num_global_key_value_heads": wide.get("num_key_value_heads")}
    elif rope and family in LAYERED:
        for layer, base in LAYERED[family].items():
            old[base] = rope[layer].pop("rope_theta")
        old |= scaled(rope["full_attention"])
    elif rope:
        base, share = ROTARY.get(family, ("rope_theta", "partial_rotary_factor"))
        old[base] = rope.pop("rope_theta")
        if "partial_rotary_factor" in rope:
            old[share] = rope.pop("partial_rotary_factor")
        old |= scaled(rope)
    assert read(family, old, names) == read(family, of(case)[0], names)


def scaled(rope: dict[str, Any]) -> dict[str, Any]:
    """The old rope_scaling field; absent in files without scaling."""
    kind = rope.pop("rope_type")
    return {"rope_scaling": {"type": kind, **rope}} if kind != "default" else {}


@pytest.mark.parametrize(("family", "case"), OF_TRANSFORMERS)
def test_defaults_may_be_left_out_and_fields_may_have_other_names(family: str, case: Case) -> None:
    values, names = of(case)
    usual = json.loads(getattr(transformers, case.kind).config_class().to_json_string(use_diff=False))
    short = {name: value for name, value in values.items() if value != usual.get(name)}
    assert read(family, short, names) == read(family, values, names)
    nothing = {name: None if name not in (*short, *NULL_ACTS) else value for name, value in values.items()}
    assert read(family, nothing, names) == read(family, values, names), "null means absent"
    others = getattr(transformers, case.kind).config_class.attribute_map
    back = {theirs: other for other, theirs in others.items() if theirs in values}
    renamed = {back.get(name, name): value for name, value in values.items()}
    assert read(family, renamed, names) == read(family, values, names)


@pytest.mark.parametrize("family", [name for name in CASES if name not in NEVER_BARE])
def test_a_file_that_says_nothing_says_the_usual(family: str) -> None:
    case = CASES[family][0]
    values = json.loads(getattr(transformers, case.kind).config_class().to_json_string(use_diff=False))
    named = {"architectures": [case.kind]}
    assert read(family, named, of(case)[1]) == read(family, values | named, of(case)[1])


def test_nomics_first_files_say_the_same_under_gpts_names() -> None:
    values, names = of(CASES["nomic_bert"][1])
    first = {
        "n_embd": 24, "n_head": 3, "n_layer": 2, "n_inner": 38, "n_positions": 20, "vocab_size": VOCABULARY,
        "activation_function": "swiglu", "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0, "head_dim": 10,
        "type_vocab_size": 1, "layer_norm_epsilon": 1e-12, "qkv_proj_bias": False, "architectures": ["NomicBertModel"],
    }  # fmt: skip
    assert read("nomic_bert", first, names) == read("nomic_bert", values, names)
