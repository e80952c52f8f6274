"""Checkpoint folders: saved models load unchanged, and each fault is refused with a message."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from headlight import POSITIONAL_ENCODINGS, Checkpoint, CheckpointError, HeadlightError, Transformer, load, run, save
from headlight.checkpoints.load import DTYPES
from headlight.config import EmbeddingConfig
from headlight.errors import TextError
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.predictions import candidates
from tests.model import toys
from tests.sampling import each_once, examples

TEXT = "the cat sat"
WEIGHTS = "model.safetensors"


def saved(folder: Path, dtype: str = "float32", **choices: Any) -> Path:
    """A small decoder on disk."""
    save(folder, toys.decoder(**choices), toys.causal(), dtype=dtype, card="# A toy")
    return folder


def logits(loaded: Checkpoint) -> np.ndarray:
    """The logits of a loaded checkpoint for a text."""
    return run(loaded.model, loaded.tokenizer, TEXT)["logits"]


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_what_is_saved_comes_back(tmp_path: Path, dtype: str, tied: bool) -> None:
    model = toys.decoder(
        embedding=EmbeddingConfig(tied=tied), positional_encoding="relative", bias=True, norm="layernorm"
    )
    save(tmp_path / "toy", model, toys.causal(), dtype=dtype, card="# A toy")
    loaded = load(tmp_path / "toy", device="cpu")
    assert loaded.card == "# A toy"
    assert loaded.model.config == model.config
    assert not loaded.model.training
    on_disk = load_file(tmp_path / "toy" / WEIGHTS)
    assert {weight.dtype for weight in on_disk.values()} == {DTYPES[dtype]}
    assert ("output_head.projection.weight" in on_disk) != tied
    for name, parameter in loaded.model.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, model.get_parameter(name).to(DTYPES[dtype]).float())
    wanted = run(model, toys.causal(), TEXT)["logits"]
    np.testing.assert_allclose(logits(loaded), wanted, atol={"float32": 0, "float16": 0.1}.get(dtype, 1.0), rtol=0.05)


@pytest.mark.parametrize("make", [toys.encoder, toys.both, toys.captioner, toys.listener, toys.reader, toys.summarizer])
def test_so_do_encoders_and_encoder_decoders(tmp_path: Path, make: Callable[[], Transformer]) -> None:
    model = make()
    save(tmp_path, model, toys.masked(), dtype="float32")
    loaded = load(tmp_path).model
    assert loaded.config == model.config
    assert all(torch.equal(weight, model.state_dict()[name]) for name, weight in loaded.state_dict().items())


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_an_opened_model_is_tied_and_can_be_saved_again(tmp_path: Path, dtype: str) -> None:
    first = load(saved(tmp_path / "first"))
    assert first.model.output_head.projection.weight is first.model.embedding.weight  # type: ignore[union-attr]
    save(tmp_path / "second", first.model, first.tokenizer, dtype=dtype)
    second = load(tmp_path / "second")
    assert first.model.state_dict().keys() == second.model.state_dict().keys()


@pytest.mark.parametrize(("position", "dtype"), each_once(sorted(POSITIONAL_ENCODINGS), ["bfloat16", "float16"]))
def test_a_model_computes_in_half_precision_when_asked(tmp_path: Path, dtype: str, position: str) -> None:
    folder = saved(tmp_path, positional_encoding=position)
    loaded = load(folder, dtype=dtype)
    assert loaded.model.embedding.weight.dtype == DTYPES[dtype]
    half = run(loaded.model, loaded.tokenizer, TEXT)
    assert half["logits"].dtype == np.float32, "NumPy has no bfloat16"
    np.testing.assert_allclose(half.attention().sum(-1), 1, atol=0.02)
    np.testing.assert_allclose(half.attention(), run(load(folder).model, loaded.tokenizer, TEXT).attention(), atol=0.15)


def edited(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change the weights on disk."""
    tensors = load_file(folder / WEIGHTS)
    change(tensors)
    save_file(tensors, folder / WEIGHTS)


class Runs:
    """An object whose unpickling creates a folder."""

    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return os.mkdir, ("ran",)


def replaced(path: Path) -> Path:
    """Remove a file; returns its path."""
    path.unlink()
    return path


def pickled(folder: Path, content: object, without: int = 0) -> Path:
    """Replace the weights by a pickle, with `without` bytes cut off its end."""
    path = replaced(folder / WEIGHTS).with_name("pytorch_model.bin")
    torch.save({"decoder.final_norm.weight": content}, path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size - without])
    return path


def shards(folder: Path, file: str) -> None:
    replaced(folder / WEIGHTS).with_name(f"{WEIGHTS}.index.json").write_text(
        json.dumps({"weight_map": {"decoder.final_norm.weight": file}})
    )


def adapter(folder: Path, base: str) -> None:
    replaced(folder / "config.json").with_name("adapter_config.json").write_text(
        json.dumps({"base_model_name_or_path": base})
    )


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda f: (f / "config.json").unlink(), r"has no readable config\.json"),
    "no weights": (lambda f: (f / WEIGHTS).unlink(), r"holds no model\.safetensors"),
    "no tokenizer": (lambda f: (f / "tokenizer.json").unlink(), r"holds no tokenizer: no tokenizer\.json"),
    "config no JSON": (lambda f: (f / "config.json").write_text("{"), "is not JSON"),
    "config no text": (lambda f: (f / "config.json").write_bytes(b"\xff\xfe\x00"), "is not JSON"),
    "config a list": (lambda f: (f / "config.json").write_text("[1]"), "not a JSON object"),
    "config very deep": (lambda f: (f / "config.json").write_text("[" * 100_000), "is not JSON"),
    "another family": (lambda f: (f / "config.json").write_text('{"model_type": "gtp2"}'), "model_type 'gtp2'"),
    "tokenizer no JSON": (lambda f: (f / "tokenizer.json").write_text("{"), "tokenizer"),
    "weights cut off": (lambda f: (f / WEIGHTS).write_bytes((f / WEIGHTS).read_bytes()[:-100]), "cannot be read"),
    "weights empty": (lambda f: (f / WEIGHTS).write_bytes(b""), "cannot be read"),
    "weights no tensors": (lambda f: (f / WEIGHTS).write_bytes(b"hello world, this is text"), "cannot be read"),
    "config a folder": (lambda f: replaced(f / "config.json").mkdir(), "no readable config"),
    "weights a folder": (lambda f: replaced(f / WEIGHTS).mkdir(), "holds no model"),
    "a link to nothing": (lambda f: replaced(f / WEIGHTS).symlink_to("gone"), "only a broken link"),
    "a pickle that runs": (lambda f: pickled(f, Runs()), r"asks to run posix\.mkdir"),
    "a pickle cut off": (lambda f: pickled(f, torch.ones(9), 40), "damaged"),
    "a pickle of another": (lambda f: pickled(f, 0).write_bytes(b"PK"), "damaged"),
    "an empty pickle": (lambda f: pickled(f, 0).write_bytes(b""), "damaged"),
    "shards elsewhere": (lambda f: shards(f, "/etc/passwd"), "not a file beside it"),
    "shards above": (lambda f: shards(f, "../toy/model.safetensors"), "not a file beside it"),
    "an adapter of nothing": (lambda f: adapter(f, "gone"), "is an adapter of 'gone'"),
    "an adapter of what is above": (lambda f: adapter(f, "/srv/.."), r"is an adapter of '\.\.'"),
    "a weight missing": (
        lambda f: edited(f, lambda t: t.pop("decoder.final_norm.weight")),
        r"missing decoder\.final_norm\.weight",
    ),
    "a weight too many": (
        lambda f: edited(f, lambda t: t.update(extra=torch.ones(2))),
        "unexpected extra",
    ),
    "a weight misshaped": (
        lambda f: edited(f, lambda t: t.update({"decoder.final_norm.weight": torch.ones(3)})),
        r"decoder\.final_norm\.weight is \(3,\); the config wants \(16,\)",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_folder_gets_a_sentence_that_names_it(tmp_path: Path, fault: str) -> None:
    folder = saved(tmp_path / "toy")
    damage, told = BROKEN[fault]
    damage(folder)
    with pytest.raises(CheckpointError, match=told) as caught:
        load(folder)
    assert "toy" in str(caught.value)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value), "no local path"
    with pytest.raises(CheckpointError) as caught:
        load(folder, name="my own")
    assert str(caught.value).startswith("my own") and "toy" not in str(caught.value).replace("../toy/", "")


def test_tokens_beyond_the_models_vocabulary_are_named_and_refused_in_texts(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_json(json.loads(toys.causal().to_bytes()), "toy")
    size = tokenizer.vocabulary_size
    tokenizer.backend.add_special_tokens(["[PAD]", "[MASK]"])
    save(tmp_path, toys.decoder(vocabulary_size=size), tokenizer)
    loaded = load(tmp_path)
    told = "The model has no embedding for 2 tokens of its tokenizer; texts may not have them: [PAD], [MASK]."
    assert told in loaded.notes
    assert logits(loaded).shape[-1] == size == loaded.tokenizer.vocabulary_size
    assert loaded.tokenizer.mask_id is loaded.tokenizer.pad_id is None
    sentence = rf"the token '\[PAD\]', whose id is {size}; the model's embedding ends at {size - 1}\. Leave it out"
    with pytest.raises(TextError, match=sentence):
        run(loaded.model, loaded.tokenizer, "the [PAD] cat")
    with pytest.raises(TextError, match=sentence):
        loaded.tokenizer.encode_batch(["the", "[PAD]"])
    with pytest.raises(TextError, match="0 to"):
        loaded.tokenizer.decode([size])


def test_rows_without_a_token_are_numbered_and_have_no_text(tmp_path: Path) -> None:
    size = toys.causal().vocabulary_size
    save(tmp_path, toys.decoder(vocabulary_size=size + 2), toys.causal())
    loaded = load(tmp_path)
    texts = [
        each.token for each in candidates(run(loaded.model, loaded.tokenizer, TEXT), loaded.tokenizer, -1, size + 2)
    ]
    assert {f"[{size}]", f"[{size + 1}]"} <= set(texts)
    assert loaded.tokenizer.decode([*loaded.tokenizer.encode("the").ids, size + 1]) == "the"
    with pytest.raises(TextError, match="0 to"):
        loaded.tokenizer.decode([size + 2])


VALUES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 40),
    st.sampled_from([2**31 - 1, 2**20, 10**400, 10**6]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["decoder", "encoder", "hardmax", "linear", "learned", "post", "none", "window:3", "headlight"]),
    st.lists(st.text(max_size=5) | st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A valid checkpoint, to be damaged repeatedly."""
    return saved(tmp_path_factory.mktemp("spoilt"))


@examples(300)
@given(st.data())
def test_whatever_config_json_says_is_a_model_or_a_sentence(folder: Path, data: st.DataObject) -> None:
    good = toys.decoder().config.to_dict() | {"model_type": "headlight"}
    names = st.sampled_from([*good, "colour"])
    changes = data.draw(st.dictionaries(names, VALUES, min_size=1, max_size=3))
    dropped = data.draw(st.sets(names, max_size=1))
    spoilt = {name: value for name, value in {**good, **changes}.items() if name not in dropped}
    (folder / "config.json").write_text(json.dumps(spoilt))
    try:
        logits(load(folder))
    except HeadlightError as error:
        assert str(error).endswith(".")


@pytest.mark.parametrize("device", ["tpu", "cuda:99", "cpu:x", "cpu:", "", "CPU", "meta", "mps:1:2"])
def test_a_device_that_is_not_there_lists_those_that_are(tmp_path: Path, device: str) -> None:
    with pytest.raises(CheckpointError, match=r"available are auto, cpu"):
        load(saved(tmp_path), device=device)


def test_auto_is_a_device_of_this_machine(tmp_path: Path) -> None:
    assert load(saved(tmp_path)).model.device.type in ("cpu", "cuda", "mps")


def test_an_unknown_dtype_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(HeadlightError, match="float32, bfloat16, float16"):
        load(saved(tmp_path), dtype="int8")


def test_programs_beside_a_checkpoint_are_named_and_never_run(tmp_path: Path) -> None:
    folder = saved(tmp_path / "toy")
    (folder / "modeling_toy.py").write_text("raise SystemExit")
    assert load(folder).notes == ("1 file is a program and is ignored: modeling_toy.py.",)
    (folder / "libtoy.so.1").write_bytes(b"\x7fELF")
    assert load(folder).notes == ("2 files are programs and are ignored: libtoy.so.1, modeling_toy.py.",)
