"""Adapters give what PEFT gives: patterns of ranks and scales, kinds of changes, whole tensors, and ways to begin."""

import json
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from headlight.checkpoints import load
from headlight.checkpoints.source import folders_read
from headlight.errors import CheckpointError
from headlight.generation.generate import generate
from headlight.tracing.run import run
from tests.families.cases import CASES
from tests.families.decoders import GPT2, LLAMA, NEOX
from tests.families.image_models import VIT
from tests.families.reference import TEXT, Case, build, inputs, outputs, tokenizer
from tests.families.two_models import TWO_MODELS

# PEFT warns about itself, and of patterns without a module.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning", "ignore::RuntimeWarning")
DECODER = Case("LlamaForCausalLM", LLAMA | {"num_hidden_layers": 3})
ENCODER = Case("BertForMaskedLM", NEOX, special=True)
TRANSPOSED = Case("GPT2LMHeadModel", GPT2)
TIED = Case("LlamaForCausalLM", LLAMA | {"tie_word_embeddings": True})
BIASED = Case("LlamaForCausalLM", LLAMA | {"attention_bias": True})
WRITER, TRANSPOSED_WRITER = (TWO_MODELS["vision-encoder-decoder"][number] for number in (0, 4))
LAYER_1 = r"layers\.1\.self_attn\.q_proj"
# Settings of LoraConfig, and the model that they change.
ADAPTERS: dict[str, tuple[Case, dict[str, Any]]] = {
    "one scale": (DECODER, {"target_modules": ["q_proj", "v_proj"]}),
    "patterns that are expressions": (
        DECODER,
        {"target_modules": ["q_proj", "v_proj"], "rank_pattern": {LAYER_1: 5}, "alpha_pattern": {LAYER_1: 64}},
    ),
    "a pattern from the start of the path": (
        DECODER, {"target_modules": ["q_proj"], "alpha_pattern": {r"^model\.layers\.2\.self_attn\.q_proj": 50}},
    ),
    "the first pattern that matches": (
        DECODER, {"target_modules": ["q_proj", "k_proj"], "alpha_pattern": {"k_proj": 9, "._proj": 40, "q_proj": 2}},
    ),
    "a part of a name is not a pattern": (DECODER, {"target_modules": ["q_proj"], "alpha_pattern": {"proj": 64}}),
    "rank-stabilized": (DECODER, {"target_modules": ["up_proj"], "use_rslora": True, "rank_pattern": {"up_proj": 5}}),
    "magnitudes": (DECODER, {"target_modules": ["q_proj", "down_proj"], "use_dora": True}),
    "magnitudes of transposed weights": (
        TRANSPOSED, {"target_modules": ["c_attn", "c_proj"], "use_dora": True, "fan_in_fan_out": True},
    ),
    "an embedding": (DECODER, {"target_modules": ["embed_tokens", "q_proj"]}),
    "a whole embedding": (DECODER, {"target_modules": ["q_proj"], "modules_to_save": ["embed_tokens", "lm_head"]}),
    "principal values": (DECODER, {"target_modules": ["q_proj", "v_proj"], "init_lora_weights": "pissa"}),
    "orthonormal columns": (DECODER, {"target_modules": ["q_proj", "v_proj"], "init_lora_weights": "olora"}),
    "transposed": (TRANSPOSED, {"target_modules": ["c_attn"], "fan_in_fan_out": True, "init_lora_weights": "gaussian"}),
    "an encoder": (ENCODER, {"target_modules": ["query", "dense"]}),
    "biases": (BIASED, {"target_modules": ["q_proj"], "bias": "all"}),
    "biases of changed modules": (ENCODER, {"target_modules": ["query", "dense"], "bias": "lora_only"}),
    "all linear layers": (
        DECODER, {"target_modules": "all-linear", "use_rslora": True, "alpha_pattern": {"mlp.*": 32}},
    ),
    "a model with experts": (CASES["qwen3_moe"][0], {"target_modules": ["q_proj", "o_proj"]}),
    "magnitudes of an embedding": (DECODER, {"target_modules": ["embed_tokens"], "use_dora": True}),
    # PEFT changes one of two tied weights, unless it is asked to keep them tied.
    "a tied embedding": (TIED, {"target_modules": ["embed_tokens", "q_proj"]}),
    "a tied embedding, kept tied": (TIED, {"target_modules": ["embed_tokens"], "ensure_weight_tying": True}),
    "a whole tied embedding": (TRANSPOSED, {"target_modules": ["c_attn"], "modules_to_save": ["wte"]}),
    "a whole tied embedding, kept tied": (
        TIED, {"target_modules": ["q_proj"], "modules_to_save": ["embed_tokens"], "ensure_weight_tying": True},
    ),
    "a tied output head": (TIED, {"target_modules": ["q_proj", "lm_head"]}),
    "both of two tied weights": (TIED, {"target_modules": ["embed_tokens", "lm_head"]}),
    "principal values beside an embedding": (
        TIED, {"target_modules": ["embed_tokens", "q_proj"], "init_lora_weights": "pissa"},
    ),
    "a picture's encoder and a text's decoder": (WRITER, {"target_modules": ["q_proj", "fc1"]}),
    "a decoder's tied embedding": (WRITER, {"target_modules": ["embed_tokens", "q_proj"]}),
    "a decoder whose weights are transposed": (
        TRANSPOSED_WRITER, {"target_modules": ["c_attn", "q_attn", "c_proj", "q_proj"]},
    ),
    "two encoders, one as a decoder": (TWO_MODELS["encoder-decoder"][1], {"target_modules": ["query", "dense"]}),
    # PEFT writes fan_in_fan_out as of the last module, which is not transposed here.
    "square transposed weights and others": (TRANSPOSED, {"target_modules": ["attn.c_proj", "lm_head"]}),
}  # fmt: skip


def adapted(model: Any, folder: Path, **settings: Any) -> Any:
    """Save an adapter that looks trained; returns the base model with the saved adapter, as PEFT runs it."""
    torch.manual_seed(1)
    base = deepcopy(model)
    changed = peft.get_peft_model(model, peft.LoraConfig(r=3, lora_alpha=6, **settings))
    with torch.no_grad():
        for name, parameter in changed.named_parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter), alpha=0.3 if "magnitude" in name else 0.2)
    changed.save_pretrained(str(folder), save_embedding_layers=False)
    change_settings(folder, base_model_name_or_path="someone/base")
    return peft.PeftModel.from_pretrained(base, folder).eval().base_model.model


def change_settings(folder: Path, **fields: Any) -> None:
    path = folder / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def logits(folder: Path, case: Case = DECODER) -> np.ndarray:
    opened = load(folder)
    return np.asarray(run(opened.model, opened.tokenizer, **inputs(case, opened.model.config)).logits)


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_adapter_gives_what_peft_gives(name: str, tmp_path: Path) -> None:
    case, settings = ADAPTERS[name]
    plain = outputs(model := build(case, tmp_path / "base"), case)["logits"]
    changed = adapted(model, tmp_path / "adapter", **settings)
    expected = outputs(changed, case)["logits"]
    found = logits(tmp_path / "adapter", case)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert np.abs(plain - expected).max() > 0.01, "the adapter changes something"


DISTILBERT = {"dim": 24, "n_heads": 3, "n_layers": 2, "hidden_dim": 38, "max_position_embeddings": 20}
# The class of a base model, the class that is trained from it with new outputs, and one of its modules.
HEADS: dict[str, tuple[Case, str, str]] = {
    "bert": (Case("BertForPreTraining", NEOX, special=True), "BertForSequenceClassification", "query"),
    "llama": (Case("LlamaForCausalLM", LLAMA | {"pad_token_id": 0}), "LlamaForSequenceClassification", "q_proj"),
    "distilbert": (
        Case("DistilBertForMaskedLM", DISTILBERT, special=True), "DistilBertForSequenceClassification", "q_lin"
    ),
    "electra, tokens": (
        Case("ElectraForPreTraining", NEOX | {"embedding_size": 13}, special=True),
        "ElectraForTokenClassification", "query",
    ),
}  # fmt: skip
TASKS = {"ForSequenceClassification": "SEQ_CLS", "ForTokenClassification": "TOKEN_CLS"}


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("has_task", [True, False])
def test_a_classifier_in_an_adapter_replaces_the_bases_head(
    name: str, count: int, has_task: bool, tmp_path: Path
) -> None:
    base, kind, module = HEADS[name]
    build(base, tmp_path / "base")
    options = {"num_labels": count, "attn_implementation": "eager"}
    classifier = getattr(transformers, kind).from_pretrained(tmp_path / "base", **options).eval()
    told: dict[str, Any] = {"task_type": next(task for ending, task in TASKS.items() if kind.endswith(ending))}
    heads = {"llama": ["score"], "distilbert": ["pre_classifier", "classifier"]}.get(name, ["classifier"])
    settings = told if has_task else {"modules_to_save": heads}
    changed = adapted(classifier, tmp_path / "adapter", target_modules=[module], **settings)
    expected = outputs(changed, Case(kind, base.config | {"num_labels": count}, special=base.special))["logits"]
    opened = load(tmp_path / "adapter")
    assert opened.model.config.labels == tuple(f"LABEL_{number}" for number in range(count))
    np.testing.assert_allclose(logits(tmp_path / "adapter"), expected, atol=1e-4)


@pytest.mark.parametrize("settings", [{"task_type": "QUESTION_ANS"}, {"modules_to_save": ["qa_outputs"]}])
def test_an_adapter_may_bring_a_head_that_answers_questions(settings: dict[str, Any], tmp_path: Path) -> None:
    build(ENCODER, tmp_path / "base")
    kind: Any = transformers.BertForQuestionAnswering
    model = kind.from_pretrained(tmp_path / "base", attn_implementation="eager").eval()
    changed = adapted(model, tmp_path / "adapter", target_modules=["query"], **settings)
    expected = outputs(changed, Case("BertForQuestionAnswering", NEOX, special=True))["logits"]
    np.testing.assert_allclose(logits(tmp_path / "adapter"), expected, atol=1e-4)


@pytest.mark.parametrize("kind", ["ViTForImageClassification", "DeiTForImageClassification"])
def test_an_adapter_of_a_model_of_pictures_may_name_modules_as_transformers_5(kind: str, tmp_path: Path) -> None:
    case = Case(kind, VIT | {"num_labels": 5}, image=(40, 31))
    model = build(case, tmp_path / "base")
    changed = adapted(
        model, tmp_path / "adapter", target_modules=["q_proj", "fc1", "query"], modules_to_save=["classifier"]
    )
    opened = load(tmp_path / "adapter")
    traced = run(opened.model, opened.tokenizer, **inputs(case, opened.model.config))
    np.testing.assert_allclose(np.asarray(traced.logits), outputs(changed, case)["logits"], atol=1e-4)


def test_an_adapter_may_bring_more_tokens_than_its_base(tmp_path: Path) -> None:
    model = build(DECODER, tmp_path / "base")
    model.resize_token_embeddings(model.config.vocab_size + 5)
    changed = adapted(
        model, tmp_path / "adapter", target_modules=["q_proj"], modules_to_save=["embed_tokens", "lm_head"]
    )
    tokenizer(False).save(str(tmp_path / "adapter" / "tokenizer.json"))
    expected = outputs(changed, DECODER)["logits"]
    np.testing.assert_allclose(logits(tmp_path / "adapter"), expected, atol=1e-4)


def test_an_adapter_with_a_tokenizer_ends_and_goes_on_as_its_base(tmp_path: Path) -> None:
    changed = adapted(build(DECODER, tmp_path / "base"), tmp_path / "adapter", target_modules=["q_proj"])
    tokenizer(False).save(str(tmp_path / "adapter" / "tokenizer.json"))
    rules = {"eos_token_id": [23, 24], "repetition_penalty": 4.0, "suppress_tokens": [5, 6]}
    (tmp_path / "base" / "generation_config.json").write_text(json.dumps(rules))
    ids, opened = torch.tensor([tokenizer(False).encode(TEXT).ids]), load(tmp_path / "adapter")
    expected = changed.generate(ids, max_new_tokens=7, do_sample=False, pad_token_id=0, **rules)[0, ids.shape[1] :]
    steps = generate(opened.model, opened.tokenizer, TEXT, steps=7, temperature=0.0)
    assert [step.chosen_token for step in steps] == expected.tolist()


def test_an_adapter_may_bring_a_tokenizer_of_an_older_layout(tmp_path: Path) -> None:
    adapted(build(ENCODER, tmp_path / "base"), tmp_path / "adapter", target_modules=["query"])
    told = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat", "the"]
    (tmp_path / "adapter" / "vocab.txt").write_text("\n".join(told))
    assert load(tmp_path / "adapter").tokenizer.encode("The cat").ids == (2, 6, 5, 3)


@pytest.mark.parametrize(
    "settings",
    [
        {"target_modules": ["q_proj"], "modules_to_save": ["embed_tokens"]},
        {"target_modules": ["q_proj", "embed_tokens"]},
    ],
    ids=["whole", "low rank"],
)
@pytest.mark.parametrize("case", [TIED, TRANSPOSED], ids=lambda case: case.kind)
def test_an_embedding_is_changed_without_the_output_head_that_the_base_ties_to_it(
    case: Case, settings: dict[str, Any], tmp_path: Path
) -> None:
    """PEFT changes both only where it merges them, and warns of it."""
    names = {"embed_tokens": "wte", "q_proj": "c_attn"} if case is TRANSPOSED else {}
    renamed = {field: [names.get(name, name) for name in value] for field, value in settings.items()}
    base = deepcopy(model := build(case, tmp_path / "base"))
    adapted(model, tmp_path / "adapter", fan_in_fan_out=case is TRANSPOSED, **renamed)
    running = peft.PeftModel.from_pretrained(base, tmp_path / "adapter").eval()
    expected = outputs(running.base_model.model, case)["logits"]
    np.testing.assert_allclose(logits(tmp_path / "adapter"), expected, atol=1e-4)
    assert any("the adapter changes the embedding alone" in note for note in load(tmp_path / "adapter").notes)


def test_a_head_that_claims_labels_without_numbers_is_refused_by_a_sentence(tmp_path: Path) -> None:
    adapted(build(ENCODER, tmp_path / "base"), tmp_path / "adapter", target_modules=["query"])
    save_file({"base_model.model.classifier.weight": torch.zeros(10**9, 0)},
              tmp_path / "adapter" / "adapter_model.safetensors")  # fmt: skip
    with pytest.raises(CheckpointError, match=r"classifier\.weight has the shape \(1000000000, 0\); wanted a matrix"):
        load(tmp_path / "adapter")


def test_an_adapter_beside_a_copy_of_its_bases_config_opens(tmp_path: Path) -> None:
    changed = adapted(build(DECODER, tmp_path / "base"), tmp_path / "adapter", target_modules=["q_proj"])
    shutil.copy(tmp_path / "base" / "config.json", tmp_path / "adapter")
    np.testing.assert_allclose(logits(tmp_path / "adapter"), outputs(changed, DECODER)["logits"], atol=1e-4)


def test_an_adapter_beside_a_whole_model_is_applied_and_named(tmp_path: Path) -> None:
    changed = adapted(build(DECODER, tmp_path / "base"), tmp_path / "adapter", target_modules=["q_proj"])
    shutil.copytree(tmp_path / "base", tmp_path / "both")
    shutil.copytree(tmp_path / "adapter", tmp_path / "both", dirs_exist_ok=True)
    np.testing.assert_allclose(logits(tmp_path / "both"), outputs(changed, DECODER)["logits"], atol=1e-4)
    assert (
        "The folder holds a whole model and an adapter; the adapter was applied to it." in load(tmp_path / "both").notes
    )
    (tmp_path / "both" / "adapter_model.safetensors").unlink()
    assert not any("adapter" in note for note in load(tmp_path / "both").notes), "only its settings are left"


@pytest.mark.parametrize("settings", [{"target_modules": ["shared"]},
                                      {"target_modules": ["q"], "modules_to_save": ["shared"]}])  # fmt: skip
def test_a_change_of_an_embedding_that_two_stacks_share_is_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    case = next(case for case in CASES["t5"] if case.kind == "T5ForConditionalGeneration")
    adapted(build(case, tmp_path / "base"), tmp_path / "adapter", **settings)
    with pytest.raises(CheckpointError, match=r"changes shared\.weight, which encoder, decoder and output head share"):
        load(tmp_path / "adapter")


@pytest.mark.parametrize(
    ("case", "head"),
    [(TIED, "lm_head"), (WRITER, "output_projection"), (TRANSPOSED_WRITER, "lm_head"), (ENCODER, "decoder")],
)
@pytest.mark.parametrize("start", ["pissa", "olora"])
def test_a_start_that_changed_two_tied_weights_is_refused(start: str, case: Case, head: str, tmp_path: Path) -> None:
    settings = {"target_modules": [head], "init_lora_weights": start}
    adapted(build(case, tmp_path / "base"), tmp_path / "adapter", **settings)
    with pytest.raises(CheckpointError, match=f"'{start}', which changed the embedding together with the output head"):
        load(tmp_path / "adapter")


@pytest.mark.parametrize("wrapper", ["module.", "_orig_mod."])
def test_an_adapter_may_be_saved_inside_a_wrapper(wrapper: str, tmp_path: Path) -> None:
    changed = adapted(build(DECODER, tmp_path / "base"), tmp_path / "adapter", target_modules=["q_proj"])
    path = tmp_path / "adapter" / "adapter_model.safetensors"
    torch.save({wrapper + name: each for name, each in load_file(path).items()}, path.with_suffix(".bin"))
    path.unlink()
    np.testing.assert_allclose(logits(tmp_path / "adapter"), outputs(changed, DECODER)["logits"], atol=1e-4)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "random singular values": ({"init_lora_weights": "pissa_niter_4"}, "its init_lora_weights is 'pissa_niter_4'"),
    "a quantised start": ({"init_lora_weights": "loftq"}, "its init_lora_weights is 'loftq'"),
    "another method": ({"peft_type": "LOHA"}, 'its peft_type is "LOHA"'),
    "an expression that never ends": ({"alpha_pattern": {"(a+)+$": 3}}, "which cannot be matched"),
    "no expression": ({"alpha_pattern": {"(": 3}}, "which cannot be matched"),
    "some tokens": ({"trainable_token_indices": [1]}, "trainable_token_indices"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_peft_computes_otherwise_is_refused_by_a_sentence(name: str, tmp_path: Path) -> None:
    fields, sentence = REFUSED[name]
    adapted(build(DECODER, tmp_path / "base"), tmp_path / "adapter", target_modules=["q_proj"])
    change_settings(tmp_path / "adapter", **fields)
    with pytest.raises(CheckpointError) as refused:
        load(tmp_path / "adapter")
    assert sentence in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


def test_a_damaged_adapter_does_not_end_a_listing(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    (tmp_path / "adapter_model.safetensors.index.json").write_text("{")
    assert folders_read(tmp_path) == [tmp_path]
