"""The same weights in every file format; folders that are not checkpoints are refused with a message."""

import json
import re
import shutil
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tokenizers
import torch
from safetensors.torch import load_file, save_file

from headlight.checkpoints import find_nonfinite, load
from headlight.checkpoints.catalog import read_metadata
from headlight.cli.main import main
from headlight.config import Config
from headlight.errors import CheckpointError
from headlight.tracing.run import run
from tests.families.cases import CASES
from tests.families.decoders import LONGER, NEOX, rope
from tests.families.reference import (
    NANOGPT,
    TEXT,
    VOCABULARY,
    Case,
    build,
    build_nanogpt,
    build_pickle,
    change_config,
    outputs,
    tokenizer,
)

Tensors = dict[str, torch.Tensor]
GPT2 = CASES["gpt2"][0]
LLAMA = Case("LlamaForCausalLM", CASES["llama"][0].config | {"head_dim": None, "rms_norm_eps": 1e-5})


def traced(path: Path, out: Path) -> dict[str, np.ndarray]:
    assert main(["trace", TEXT, "--model", str(path), "--out", str(out / "trace.npz")]) == 0
    with np.load(out / "trace.npz") as found:
        return {name: found[name] for name in found.files}


def agree(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, atol=1e-4, rtol=0, err_msg=name)


def into_shards(folder: Path, weights: dict[str, torch.Tensor], shards: int) -> None:
    """Replace the pickle by several shards."""
    (folder / "pytorch_model.bin").unlink()
    where = {name: f"pytorch_model-{number % shards}.bin" for number, name in enumerate(weights)}
    for file in set(where.values()):
        torch.save({name: tensor for name, tensor in weights.items() if where[name] == file}, folder / file)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": where}))


@pytest.mark.parametrize("shards", [1, 3])
def test_pickled_weights_are_read_without_running_them(shards: int, tmp_path: Path) -> None:
    model = build_pickle(GPT2, tmp_path / "model")
    if shards > 1:
        into_shards(tmp_path / "model", model.state_dict(), shards)
    agree(traced(tmp_path / "model", tmp_path), outputs(model, GPT2))


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()

    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"transformer.wte.weight": Hostile()}, tmp_path / "model" / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match="cannot be read safely"):
        load(tmp_path / "model")
    assert not (tmp_path / "ran").exists()


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 440449768\n".format("0" * 64)
SAYS = r"is a Git LFS pointer in place of the file, and 440\.4 MB of it were not downloaded\. Run `git lfs pull`"


@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin", "config.json", "tokenizer.json"])
def test_a_git_lfs_pointer_is_named(name: str, tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    if name == "pytorch_model.bin":
        (tmp_path / "model" / "model.safetensors").unlink()
    (tmp_path / "model" / name).write_text(POINTER)
    with pytest.raises(CheckpointError, match=f"{name} {SAYS}"):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", ["vocab.json", "tokenizer.model", "vocab.txt"])
def test_a_pointer_in_place_of_a_vocabulary_is_named(name: str, tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").unlink()
    for file in (name, "merges.txt"):
        (tmp_path / "model" / file).write_text(POINTER)
    with pytest.raises(CheckpointError, match=f"{name} {SAYS}"):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", ["model.gguf", "ckpt.pt", "model.bin"])
def test_a_pointer_in_place_of_a_single_file_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(POINTER)
    with pytest.raises(CheckpointError, match=f"{name} {SAYS}"):
        load(tmp_path / name)


def test_the_size_of_a_small_file_is_told_in_bytes(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    (tmp_path / "model" / "config.json").write_text(POINTER.replace("440449768", "1665"))
    with pytest.raises(CheckpointError, match=r"config\.json .*, and 1,665 bytes of it were not downloaded\. Run"):
        load(tmp_path / "model")


CLASSIFIER = Case("BertForSequenceClassification", NEOX, special=True)
WRAPPERS: dict[str, tuple[str, Callable[[Tensors], dict[str, Any]]]] = {
    "compiled": ("pytorch_model.bin", lambda state: {f"_orig_mod.{name}": tensor for name, tensor in state.items()}),
    "parallel": ("pytorch_model.bin", lambda state: {f"module.{name}": tensor for name, tensor in state.items()}),
    "both": ("pytorch_model.bin", lambda state: {f"module._orig_mod.{name}": each for name, each in state.items()}),
    "inside a module": ("pytorch_model.bin", lambda state: {f"model.{name}": tensor for name, tensor in state.items()}),
    "beside a loss": ("pytorch_model.bin", lambda state: {
        **{f"model.{name}": tensor for name, tensor in state.items()}, "loss_fct.weight": torch.ones(2),
    }),
    "beside other states": ("pytorch_model.bin", lambda state: {"state_dict": state, "epoch": 3}),
    "of a trainer": ("pytorch_model.bin", lambda state: {"model": state, "optimizer": {"lr": 0.1}}),
    "of Lightning": ("epoch=1-step=9.ckpt", lambda state: {
        "state_dict": {f"model.{name}": tensor for name, tensor in state.items()}, "global_step": 9,
        "pytorch-lightning_version": "2.4.0",
    }),
    "of torch.save": ("weights.pt", lambda state: dict(state)),
    "of a loop": ("last.pt", lambda state: {"checkpoint": {"model_state": state}, "epoch": 3}),
    "in five modules": ("pytorch_model.bin", lambda state: {
        f"model.module._orig_mod.base_model.model.{name}": tensor for name, tensor in state.items()
    }),
    "around layers": ("pytorch_model.bin", lambda state: {
        re.sub(r"\b(layers?|h)\.(\d+)\.", r"\1.\2._orig_mod._fsdp_wrapped_module.", name): tensor
        for name, tensor in state.items()
    }),
}  # fmt: skip


@pytest.mark.parametrize("case", [CLASSIFIER, LLAMA, GPT2], ids=lambda case: case.kind)
@pytest.mark.parametrize("name", WRAPPERS)
def test_names_inside_a_wrapper_are_found(name: str, case: Case, tmp_path: Path) -> None:
    file, wrapped = WRAPPERS[name]
    model = build(case, tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    torch.save(wrapped(dict(model.state_dict())), tmp_path / "model" / file)
    agree(traced(tmp_path / "model", tmp_path), outputs(model, case))
    notes = " ".join(load(tmp_path / "model").notes)
    named = re.search(r"The prefix '([\w.]+)' was taken off the names of its tensors", notes)
    assert (named[1] if named else "") == {
        "compiled": "_orig_mod.", "parallel": "module.", "both": "module._orig_mod.", "inside a module": "model.",
        "beside a loss": "model.", "of Lightning": "model.",
        "in five modules": "model.module._orig_mod.base_model.model.",
    }.get(name, "")  # fmt: skip
    assert ("loss_fct.weight" in notes) == (name == "beside a loss")
    assert ("_fsdp_wrapped_module., _orig_mod. was taken off inside the names" in notes) == (name == "around layers")


def test_the_first_of_several_models_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    model = build(CLASSIFIER, tmp_path / "model")
    (tmp_path / "model" / "model.safetensors").unlink()
    state = model.state_dict()
    copies = {f"{name}.{key}": tensor + (name != "model") for name in ("model", "ema") for key, tensor in state.items()}
    torch.save(copies, tmp_path / "model" / "last.ckpt")
    agree(traced(tmp_path / "model", tmp_path), outputs(model, CLASSIFIER))
    assert (
        "It holds further models of the same kind, which are left out, under 'ema.'." in load(tmp_path / "model").notes
    )


def test_a_double_heads_model_continues_texts(tmp_path: Path) -> None:
    model = build(Case("GPT2DoubleHeadsModel", GPT2.config | {"num_labels": 1}), tmp_path)
    ids = torch.tensor([tokenizer(False).encode(TEXT).ids])
    opened = load(tmp_path)
    expected = model(input_ids=ids, mc_token_ids=torch.tensor([3])).logits[0].detach().numpy()
    np.testing.assert_allclose(np.asarray(run(opened.model, opened.tokenizer, TEXT).logits), expected, atol=1e-4)


def test_heads_that_the_model_lacks_are_listed(tmp_path: Path) -> None:
    """A value head of reinforcement learning, and a second head, change nothing before the output."""
    model = build_pickle(GPT2, tmp_path / "model", **{
        "v_head.summary.weight": torch.ones(1, 24), "multiple_choice_head.summary.weight": torch.ones(1, 24),
    })  # fmt: skip
    agree(traced(tmp_path / "model", tmp_path), outputs(model, GPT2))
    notes = " ".join(load(tmp_path / "model").notes)
    told = "3 tensors are not needed for the forward pass and were not loaded: "
    assert f"{told}lm_head.weight, multiple_choice_head.summary.weight, v_head.summary.weight." in notes


def test_one_tensor_that_is_not_needed_is_told_in_the_singular(tmp_path: Path) -> None:
    build_pickle(GPT2, tmp_path / "model")
    told = "1 tensor is not needed for the forward pass and was not loaded: lm_head.weight."
    assert told in load(tmp_path / "model").notes


@pytest.mark.parametrize("family", ["bart", "mbart", "t5"])
def test_labels_of_an_end_token_that_does_not_end_texts_are_refused(family: str, tmp_path: Path) -> None:
    case = next(case for case in CASES[family] if case.kind.endswith("ForSequenceClassification"))
    build(replace(case, special=False), tmp_path / "model")
    with pytest.raises(CheckpointError, match="its tokenizer ends texts with no token of its own"):
        load(tmp_path / "model")


def test_layers_for_later_tokens_are_listed(tmp_path: Path) -> None:
    """DeepSeek-V3's module for multi-token prediction follows its last layer."""
    case, path = CASES["deepseek_v3"][0], tmp_path / "model" / "model.safetensors"
    expected, layers = outputs(build(case, tmp_path / "model"), case), case.config["num_hidden_layers"]
    tensors = load_file(path)
    last = {name.replace(f".{layers - 1}.", f".{layers}."): each for name, each in tensors.items()}
    save_file(tensors | {name: each.clone() for name, each in last.items()}, path, metadata={"format": "pt"})
    change_config(tmp_path / "model", num_nextn_predict_layers=0)
    with pytest.raises(CheckpointError, match=f"no parameter of the model uses model.layers.{layers}"):
        load(tmp_path / "model")
    change_config(tmp_path / "model", num_nextn_predict_layers=1)
    agree(traced(tmp_path / "model", tmp_path), expected)
    assert any(f"model.layers.{layers}.input_layernorm" in note for note in load(tmp_path / "model").notes)


def test_a_model_with_two_heads_predicts_by_its_language_head(tmp_path: Path) -> None:
    case = replace(GPT2, kind="GPT2DoubleHeadsModel", config=GPT2.config | {"num_labels": 1})
    model = build(case, tmp_path / "model")
    ids = load(tmp_path / "model").tokenizer.encode(TEXT).ids
    expected = model(torch.tensor([ids])).logits[0].detach().numpy()
    np.testing.assert_allclose(traced(tmp_path / "model", tmp_path)["logits"], expected, atol=1e-4)


@pytest.mark.parametrize(
    "case", [CLASSIFIER, LLAMA, GPT2, CASES["gemma3_text"][0], CASES["t5"][0]], ids=lambda c: c.kind
)
def test_a_config_without_a_model_type_is_of_its_class(case: Case, tmp_path: Path) -> None:
    model = build(case, tmp_path / "model")
    change_config(tmp_path / "model", model_type=None)
    assert any(f"its class {case.kind} belongs to " in note for note in load(tmp_path / "model").notes)
    if not model.config.is_encoder_decoder:
        agree(traced(tmp_path / "model", tmp_path), outputs(model, case))


@pytest.mark.parametrize("library", ["TF", "Flax"])
def test_a_class_of_another_library_is_of_the_same_family(library: str, tmp_path: Path) -> None:
    model = build(GPT2, tmp_path / "model")
    change_config(tmp_path / "model", model_type=None, architectures=[f"{library}GPT2LMHeadModel"])
    agree(traced(tmp_path / "model", tmp_path), outputs(model, GPT2))
    (tmp_path / "model" / "model.safetensors").rename(tmp_path / "model" / "tf_model.h5")
    with pytest.raises(CheckpointError, match=r"tf_model\.h5, weights of TensorFlow, .*transformers 4: CLASS\.from"):
        load(tmp_path / "model")


@pytest.mark.parametrize("root_config", [False, True])
def test_the_newest_checkpoint_of_a_run_is_opened(root_config: bool, tmp_path: Path) -> None:
    for step, case in ((9, CLASSIFIER), (800, LLAMA), (1000, GPT2)):
        model = build(case, tmp_path / "run" / f"checkpoint-{step}")
    (tmp_path / "run" / "checkpoint-2000").mkdir()
    if root_config:
        shutil.copy(tmp_path / "run" / "checkpoint-9" / "config.json", tmp_path / "run")
    agree(traced(tmp_path / "run", tmp_path), outputs(model, GPT2))
    told = "The folder is of a training run; checkpoint-1000, the newest of its 3 checkpoints, was opened."
    assert told in load(tmp_path / "run").notes
    assert read_metadata(tmp_path / "run").family == "gpt2"


def test_a_checkpoint_of_a_run_without_weights_is_passed_over(tmp_path: Path) -> None:
    for step, case in ((90, LLAMA), (100, GPT2)):
        model = build(case, tmp_path / "run" / f"checkpoint-{step}")
    (tmp_path / "run" / "checkpoint-1000").mkdir()
    shutil.copy(tmp_path / "run" / "checkpoint-90" / "config.json", tmp_path / "run" / "checkpoint-1000")
    agree(traced(tmp_path / "run", tmp_path), outputs(model, GPT2))
    shutil.copytree(tmp_path / "run" / "checkpoint-100", tmp_path / "short" / "checkpoint-100")
    assert any("checkpoint-100, its only checkpoint, was opened." in note for note in load(tmp_path / "short").notes)
    told = "checkpoint-100, the newest of its checkpoints with weights (checkpoint-1000 has none), was opened."
    assert f"The folder is of a training run; {told}" in load(tmp_path / "run").notes


@pytest.mark.parametrize("tensor", ["transformer.h.0.attn.c_attn.gate", "transformer.h.2.ln_1.weight", "lm_head.bias"])
def test_a_tensor_inside_the_model_that_it_has_no_parameter_for_is_refused(tensor: str, tmp_path: Path) -> None:
    build_pickle(GPT2, tmp_path / "model", **{tensor: torch.ones(24)})
    with pytest.raises(CheckpointError, match=f"no parameter of the model uses {tensor}"):
        load(tmp_path / "model")


@pytest.mark.parametrize("case", [CLASSIFIER, LLAMA, GPT2], ids=lambda case: case.kind)
def test_a_tokenizer_with_tokens_added_last_opens(case: Case, tmp_path: Path) -> None:
    model = build(case, tmp_path / "model")
    made = tokenizers.Tokenizer.from_file(str(tmp_path / "model" / "tokenizer.json"))
    made.add_tokens([f"<word {number}>" for number in range(VOCABULARY + 2 - made.get_vocab_size())])
    made.save(str(tmp_path / "model" / "tokenizer.json"))
    agree(traced(tmp_path / "model", tmp_path), outputs(model, case))
    assert any("no embedding for 2 tokens of its tokenizer" in note for note in load(tmp_path / "model").notes)


def test_shards_without_an_index_are_joined(tmp_path: Path) -> None:
    model = build(GPT2, tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    tensors = load_file(path)
    path.unlink()
    for number in (1, 2, 3):
        part = {name: tensor for place, (name, tensor) in enumerate(tensors.items()) if place % 3 == number - 1}
        save_file(part, path.with_name(f"model-0000{number}-of-00003.safetensors"))
    agree(traced(tmp_path / "model", tmp_path), outputs(model, GPT2))
    save_file({"tok_embeddings.weight": torch.ones(2, 3)}, path.with_name("consolidated.safetensors"))
    agree(traced(tmp_path / "model", tmp_path), outputs(model, GPT2))
    path.with_name("model-00002-of-00003.safetensors").unlink()
    with pytest.raises(CheckpointError, match="are not complete: part 2 is missing"):
        load(tmp_path / "model")


def test_a_single_shard_without_an_index_opens(tmp_path: Path) -> None:
    model = build(GPT2, tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    path.rename(path.with_name("model-00001-of-00001.safetensors"))
    agree(traced(tmp_path / "model", tmp_path), outputs(model, GPT2))


def test_several_files_that_may_be_weights_are_named(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    shutil.copy(path, path.with_name("first.safetensors"))
    path.rename(path.with_name("second.safetensors"))
    with pytest.raises(CheckpointError, match=r"2 files that may be its weights: first\.safetensors, second"):
        load(tmp_path / "model")


def test_norms_with_gamma_and_beta_as_the_oldest_files_have_them(tmp_path: Path) -> None:
    case = CASES["bert"][0]
    model = build_pickle(case, tmp_path / "model")
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in model.state_dict().items()
    }
    torch.save(old, tmp_path / "model" / "pytorch_model.bin")
    agree(traced(tmp_path / "model", tmp_path), outputs(model, case))


@pytest.mark.parametrize("rslora", [False, True])
def test_an_adapter_on_its_base(tmp_path: Path, rslora: bool) -> None:
    model = build(GPT2, tmp_path / "base")
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    parts: dict[str, torch.Tensor] = {}
    rank = {"c_proj": 3}
    with torch.no_grad():
        for layer, block in enumerate(model.transformer.h):
            for name, module in (("attn.c_attn", block.attn.c_attn), ("mlp.c_proj", block.mlp.c_proj)):
                rows, columns = module.weight.shape
                r = rank.get(name.split(".")[1], 2)
                down, up = 0.3 * torch.randn(r, rows), 0.3 * torch.randn(columns, r)
                path = f"base_model.model.transformer.h.{layer}.{name}"
                parts |= {f"{path}.lora_A.weight": down, f"{path}.lora_B.weight": up}
                module.weight += (up @ down).t() * (4 / (r**0.5 if rslora else r))
    torch.save(parts, adapter / "adapter_model.bin")
    settings = {
        "peft_type": "LORA", "r": 2, "lora_alpha": 4, "base_model_name_or_path": "somebody/base", "bias": "none",
        "fan_in_fan_out": True, "use_rslora": rslora, "rank_pattern": rank, "target_modules": ["c_attn", "c_proj"],
    }  # fmt: skip
    (adapter / "adapter_config.json").write_text(json.dumps(settings))
    agree(traced(adapter, tmp_path), outputs(model, GPT2))
    shutil.rmtree(tmp_path / "base")
    with pytest.raises(CheckpointError, match="put that model's folder beside it"):
        load(adapter)


@pytest.mark.parametrize("compiled", ["", "_orig_mod."])
def test_nanogpts_own_file(tmp_path: Path, compiled: str) -> None:
    folder = tmp_path / "nano"
    model = build_nanogpt(folder, compiled)
    for path in (folder, folder / "ckpt.pt"):
        agree(traced(path, tmp_path), outputs(model, NANOGPT))


def interleaved(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Rows of each head in interleaved rotary order."""
    return weight.view(heads, 2, -1, weight.shape[1]).transpose(1, 2).reshape(weight.shape)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_llama2cs_file(tmp_path: Path, later: bool, tied: bool) -> None:
    case = Case(LLAMA.kind, LLAMA.config | {"tie_word_embeddings": tied})
    model = build(case, tmp_path / "model")
    layers, config = model.model.layers, model.config
    embedding, final = [model.model.embed_tokens.weight], [model.model.norm.weight]
    norms = [
        [layer.input_layernorm.weight for layer in layers],
        [layer.post_attention_layernorm.weight for layer in layers],
    ]
    attention = [
        *(interleaved(layer.self_attn.q_proj.weight, 3) for layer in layers),
        *(interleaved(layer.self_attn.k_proj.weight, 1) for layer in layers),
        *(layer.self_attn.v_proj.weight for layer in layers),
        *(layer.self_attn.o_proj.weight for layer in layers),
    ]
    feed = [getattr(layer.mlp, name).weight for name in ("gate_proj", "down_proj", "up_proj") for layer in layers]
    output = [] if tied else [model.lm_head.weight]
    waves = [torch.zeros(config.max_position_embeddings, 4)] * 2
    vocabulary = config.vocab_size if tied or later else -config.vocab_size
    sizes = struct.pack("<7i", 24, config.intermediate_size, 2, 3, 1, vocabulary, config.max_position_embeddings)
    if later:
        head = (struct.pack("<Ii", 0x616B3432, 1) + sizes + bytes([tied])).ljust(256, b"\0")
        order = [*norms[0], *norms[1], *final, *embedding, *attention, *feed, *output]
    else:
        head = sizes
        order = [*embedding, *norms[0], *attention, *norms[1], *feed, *final, *waves, *output]
    raw = b"".join(tensor.detach().contiguous().numpy().tobytes() for tensor in order)
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "model.bin").write_bytes(head + raw)
    tokenizer(False).save(str(folder / "tokenizer.json"))
    agree(traced(folder / "model.bin", tmp_path), outputs(model, case))
    (folder / "model.bin").rename(folder / "stories.bin")
    (folder / "tokenizer.bin").write_bytes(b"")
    agree(traced(folder, tmp_path), outputs(model, case))
    (folder / "model.bin").write_bytes((head + raw)[:-8])
    with pytest.raises(CheckpointError, match="cut off"):
        load(folder)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "quantised": ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, r"quantised \(gptq\)"),
    "fp8": ({"quantization_config": {"quant_method": "fp8"}}, r"quantised \(fp8\)"),
    "another kind": ({"model_type": "mamba"}, "has no attention"),
    "a text stack of another kind": ({"model_type": "llava", "text_config": {"model_type": "mamba"}}, "text stack"),
    "unknown": ({"model_type": "frobnicator"}, "frobnicator"),
    "negative": ({"n_embd": -24}, "n_embd or hidden_size"),
    "huge": ({"vocab_size": 2**30, "n_embd": 3 * 2**18}, "of memory"),
    "beyond counting": ({"vocab_size": 2**31 - 1, "n_embd": 2**20, "n_inner": 2**20, "n_head": 1}, "memory"),
    "deep": ({"n_layer": 2_000_000_000}, "at most 1,000 layers"),
    "word": ({"n_head": "three"}, "n_head"),
    "narrow": ({"n_inner": 30}, "the config wants"),
    "activation": ({"activation_function": "mish"}, "mish"),
    "crossed": ({"add_cross_attention": True}, "add_cross_attention"),
    "shallow": ({"n_layer": 1}, "no parameter of the model uses"),
}


@pytest.mark.parametrize(
    ("kind", "share", "sentence"),
    [("default", 1.0, "rope.rotary_dim is 11, but a head has only 11 channels"), ("yarn", 0.3, "3 are rotated")],
)
def test_an_odd_number_of_rotated_channels_is_refused(kind: str, share: float, sentence: str, tmp_path: Path) -> None:
    odd = CASES["gpt_neox"][0].config | {"hidden_size": 33, "rotary_pct": 0.5}
    build(Case("GPTNeoXForCausalLM", odd), tmp_path / "model")
    rope = {"rope_type": kind, "rope_theta": 30.0, "partial_rotary_factor": share, "factor": 4.0}
    change_config(tmp_path / "model", rope_parameters=rope)
    with pytest.raises(CheckpointError, match=sentence):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", ["beta_fast", "beta_slow"])
def test_a_negative_number_of_turns_is_refused(name: str, tmp_path: Path) -> None:
    build(CASES["gpt_oss"][0], tmp_path / "model")
    scaling = json.loads((tmp_path / "model" / "config.json").read_text())["rope_parameters"]
    change_config(tmp_path / "model", rope_parameters=scaling | {name: -1})
    with pytest.raises(CheckpointError, match=f"{name} (is )?-1.0.*both must be above 0"):
        load(tmp_path / "model")


def test_missing_and_unexpected_weights_are_listed(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    path = tmp_path / "model" / "model.safetensors"
    tensors = load_file(path)
    for name in ("transformer.h.0.ln_1.bias", "transformer.wpe.weight"):
        tensors[f"other.{name}"] = tensors.pop(name)
    save_file(tensors, path, metadata={"format": "pt"})
    with pytest.raises(CheckpointError) as refused:
        load(tmp_path / "model")
    assert str(refused.value) == (
        "model: missing tensors: transformer.wpe.weight, transformer.h.0.ln_1.bias; no parameter of the model uses "
        "other.transformer.h.0.ln_1.bias, other.transformer.wpe.weight."
    )


def test_an_output_head_without_weights_is_named(tmp_path: Path) -> None:
    build(Case("BertForMaskedLM", NEOX, special=True), tmp_path / "model")
    change_config(tmp_path / "model", architectures=["BertForSequenceClassification"])
    with pytest.raises(CheckpointError) as refused:
        load(tmp_path / "model")
    assert str(refused.value) == (
        "model: its output head was not trained, or is in another file: missing tensors: pooler.dense.weight, "
        "pooler.dense.bias, classifier.weight, classifier.bias. They would have to be random numbers; give the model "
        "that the head is part of."
    )


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_opened_is_refused_by_a_sentence(name: str, tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    changes, sentence = REFUSED[name]
    change_config(tmp_path / "model", **changes)
    with pytest.raises(CheckpointError, match=sentence) as refused:
        load(tmp_path / "model")
    assert str(tmp_path) not in str(refused.value), "no local path"


GEMMA4_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "experts without a number": ({"enable_moe_block": True}, "its config has no num_experts"),
    "both ways": ({"use_bidirectional_attention": "all"}, 'use_bidirectional_attention is "all", which changes'),
    "no layer that gives": ({"num_kv_shared_layers": 5}, "num_kv_shared_layers is 5 of 6 layers, which leaves no"),
    "more than all": ({"num_kv_shared_layers": 9}, "num_kv_shared_layers is 9 of 6 layers"),
    "another size": ({"per_layer_config": {"1": {"hidden_size": 12}}}, "per_layer_config, 1: its hidden_size differs"),
    "a wrong entry": ({"per_layer_config": {"1": {"head_dim": "wide"}}}, "head_dim is 'wide'; wanted a whole number"),
}


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("activation_sparsity_pattern", [0.5] * 3, "activation_sparsities has 3 entries for 6 layers"),
        ("activation_sparsity_pattern", [1.0] * 6, "activation_sparsity is 1.0; it is from 0 to below 1"),
        ("intermediate_size", [38] * 5, "intermediate_size is .*; wanted a whole number from 0 to 2.31, or 6 of them"),
        ("altup_active_idx", 3, "alternating_updates.active is 3; there are 3 streams"),
        ("altup_num_inputs", 1, "no parameter of the model uses .*altup"),
        ("layer_types", ["chunked_attention"] * 6, "layer_types names 'chunked_attention'"),
    ],
)
def test_a_gemma3n_that_does_not_open_is_told_the_field(field: str, value: Any, sentence: str, tmp_path: Path) -> None:
    build(CASES["gemma3n_text"][0], tmp_path / "model")
    change_config(tmp_path / "model", **{field: value})
    with pytest.raises(CheckpointError, match=sentence):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"floor_scale": 0}, "floor_scale is 0; it is at least one token"),
        ({"no_rope_layers": [1, 0]}, "no_rope_layers has 2 entries for 3 layers"),
        ({"layer_types": ["sliding_attention"] * 3}, "names 'sliding_attention'; known are full_attention, chunked"),
        (rope("yarn", factor=4.0, **LONGER), "rope scaling has an attention factor, unsupported with use_qk_norm"),
    ],
)
def test_a_llama4_that_does_not_open_is_told_the_field(changes: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    build(CASES["llama4_text"][0], tmp_path / "model")
    change_config(tmp_path / "model", attn_temperature_tuning=4)  # a number, as in the first files
    load(tmp_path / "model")
    change_config(tmp_path / "model", **changes)
    with pytest.raises(CheckpointError, match=sentence):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"layer_types": ["linear_attention"] * 4}, "all its layers have linear attention, so there are no weights"),
        ({"layer_types": ["sliding_attention"] * 4}, "names 'sliding_attention'; known are full_attention, linear_att"),
        ({"decoder_sparse_step": 2}, "decoder_sparse_step is 2, which changes the computation"),
        ({"mlp_only_layers": [1]}, r"mlp_only_layers is \[1\], which changes the computation"),
    ],
)
def test_a_qwen3_next_that_does_not_open_is_told_the_field(
    changes: dict[str, Any], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(CASES["qwen3_next"][0], tmp_path / "model")
    note = "2 of the checkpoint's 4 layers have linear attention, a state instead of attention weights; the others,"
    assert any(note in told for told in load(tmp_path / "model").notes)
    assert main(["predict", "the cat", "--model", str(tmp_path / "model")]) == 0
    assert note in capsys.readouterr().err
    change_config(tmp_path / "model", **changes)
    with pytest.raises(CheckpointError, match=sentence):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", GEMMA4_REFUSED)
def test_a_gemma4_that_does_not_open_is_told_the_field(name: str, tmp_path: Path) -> None:
    changes, sentence = GEMMA4_REFUSED[name]
    build(CASES["gemma4_text"][0], tmp_path / "model")
    change_config(tmp_path / "model", **changes)
    with pytest.raises(CheckpointError, match=sentence):
        load(tmp_path / "model")


def test_weights_for_keys_that_another_layer_gives_are_not_loaded(tmp_path: Path) -> None:
    case, path = CASES["gemma4_text"][0], tmp_path / "model" / "model.safetensors"
    expected = outputs(build(case, tmp_path / "model"), case)
    unused = {f"model.layers.4.self_attn.{name}.weight": torch.ones(6, 24) for name in ("k_proj", "v_proj", "k_norm")}
    save_file(load_file(path) | unused, path, metadata={"format": "pt"})
    agree(traced(tmp_path / "model", tmp_path), expected)
    assert any("self_attn.k_proj" in note and "not loaded" in note for note in load(tmp_path / "model").notes)


def test_a_limit_is_kept_before_anything_is_allocated(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    with pytest.raises(CheckpointError, match="GB are allowed"):
        load(tmp_path / "model", memory_limit=1000)


def test_special_tokens_beyond_the_vocabulary_are_told(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    assert any("eos_token_id is 50256" in note for note in load(tmp_path / "model").notes)


def test_fields_that_no_family_knows_are_told_as_ignored(tmp_path: Path) -> None:
    build(GPT2, tmp_path / "model")
    assert not any("ignored" in note for note in load(tmp_path / "model").notes)
    change_config(tmp_path / "model", attention_sinks=4, rotary_twist=True, _name_or_path="somewhere")
    told = "2 fields of its config are unknown in its family and ignored: attention_sinks, rotary_twist."
    assert told in load(tmp_path / "model").notes
    change_config(tmp_path / "model", **dict.fromkeys(("x" * 5_000, "\ud800"), 1))
    assert all(len(note) < 300 and note.encode() for note in load(tmp_path / "model").notes)


def test_weights_that_are_no_numbers_are_named_as_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    build(GPT2, tmp_path)
    tensors = load_file(file)
    names = ("transformer.h.1.attn.c_attn.weight", "transformer.ln_f.weight")
    for name in names:
        tensors[name].flatten()[:] = float("nan")
    save_file(tensors, file)
    assert find_nonfinite(load(tmp_path)) == names


def test_what_a_config_does_not_say_is_the_default() -> None:
    short = {
        "vocabulary_size": 8,
        "context_length": 4,
        "d_model": 8,
        "layers": 1,
        "heads": 2,
        "rope": {"theta": 500.0},
        "bias": True,
    }
    config = Config.from_dict(short)
    assert config.rope.theta == 500.0 and config.has_bias("query")
    assert Config.from_dict(config.to_dict()) == config


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs Linux's /proc/self/maps")
@pytest.mark.parametrize("family", ["gpt2", "llama", "bert", "t5"])
def test_weights_stay_in_their_file_until_they_are_read(family: str, tmp_path: Path) -> None:
    build(replace(CASES[family][0], dtype="float32"), tmp_path / "model")
    loaded = load(tmp_path / "model", device="cpu")
    mapped = [
        [int(end, 16) for end in line.split()[0].split("-")]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if str(tmp_path) in line
    ]
    for name, parameter in loaded.model.named_parameters():
        assert any(start <= parameter.data_ptr() < end for start, end in mapped), f"{name} is a copy"
