"""`headlight trace`: the names, shapes and types that other programs rely on."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from headlight import run, variant
from headlight.cli.main import main
from headlight.rendering.provenance import provenance
from tests.model import toys
from tests.model.cli.conftest import MODELS
from tests.shell import Shell

TEXT, TARGET = "the cat sat on the mat", "a small bird"
PROVENANCE = tuple(provenance(run(toys.decoder(), toys.causal(), TEXT)))
Traced = Callable[..., dict[str, np.ndarray]]


@pytest.fixture
def traced(models: Path, tmp_path: Path, shell: Shell) -> Traced:
    """Runs `headlight trace` and reads its numbers without pickles."""

    def trace(model: str, *arguments: str) -> dict[str, np.ndarray]:
        out = tmp_path / "out.npz"
        assert shell(["trace", "--model", str(models / model), "--out", str(out), *arguments]) == ""
        with np.load(out, allow_pickle=False) as file:
            return {name: file[name] for name in file if name not in PROVENANCE}

    return trace


def test_the_file_says_what_made_it(models: Path, tmp_path: Path) -> None:
    edit, out = "decoder.1.self.weights[3]=set:0", tmp_path / "out.npz"
    choices = ["--mask", "window:2", "--positional-encoding", "alibi", "--edit", edit]
    assert main(["trace", TEXT, "--model", str(models / "decoder"), *choices, "--out", str(out)]) == 0
    with np.load(out, allow_pickle=False) as file:
        assert str(file["model"]) == "decoder" and str(file["text"]) == TEXT
        weights = (models / "decoder" / "model.safetensors").read_bytes()
        assert str(file["model_sha256"]) == hashlib.sha256(weights).hexdigest()
        assert (str(file["mask"]), str(file["positional_encoding"])) == ("window:2", "alibi")
        assert file["edits"].tolist() == [edit]
        assert set(file) >= set(PROVENANCE)


def test_the_arrays_of_a_decoder(traced: Traced) -> None:
    file = traced("decoder", TEXT)
    ids = toys.causal().encode(TEXT).ids
    length = len(ids)
    shapes: dict[str, tuple[int, ...]] = {"input_ids": (length,), "tokens": (length,)}
    shapes |= {"attention": (2, 4, length, length), "logits": (length, 300), "last_hidden": (length, 16)}
    assert {name: value.shape for name, value in file.items()} == shapes
    assert all(file[name].dtype == np.float32 for name in ("attention", "logits", "last_hidden"))
    assert file["input_ids"].tolist() == list(ids)
    assert file["tokens"].dtype.kind == "U"
    assert file["tokens"].tolist() == list(toys.causal().encode(TEXT).tokens)
    np.testing.assert_allclose(file["attention"].sum(-1), 1, rtol=1e-5)
    assert (file["attention"][:, :, *np.triu_indices(length, 1)] == 0).all()


def test_the_arrays_equal_those_of_run(traced: Traced) -> None:
    file, trace = traced("decoder", TEXT), run(MODELS["decoder"](), toys.causal(), TEXT)
    np.testing.assert_array_equal(file["logits"], trace["logits"])
    np.testing.assert_array_equal(file["attention"], trace.attention())
    np.testing.assert_array_equal(file["last_hidden"], trace["decoder.final_residual"])


def test_the_arrays_of_an_encoder(traced: Traced) -> None:
    file = traced("encoder", TEXT)
    length = len(toys.masked().encode(TEXT).ids)
    assert set(file) == {"input_ids", "tokens", "attention", "logits", "last_hidden"}
    assert file["attention"].shape == (2, 4, length, length)
    assert file["logits"].shape == (length, toys.masked().vocabulary_size)
    assert file["tokens"][0] == "[CLS]"


@pytest.mark.parametrize("target", [TARGET, ""])
def test_the_arrays_of_an_encoder_decoder(traced: Traced, target: str) -> None:
    file = traced("both", TEXT, *(("--target", target) if target else ()))
    source, read = toys.masked().encode(TEXT).ids, toys.masked().encode(target, add_special_tokens=False).ids
    length, past = len(read) + 1, len(source)
    assert file["input_ids"].tolist() == list(source)
    assert len(file["tokens"]) == past
    assert file["target_ids"].tolist() == [toys.masked().start_id, *read]
    shapes: dict[str, tuple[int, ...]] = {"encoder_attention": (3, 4, past, past)}
    shapes |= {"decoder_attention": (2, 4, length, length)}
    shapes |= {"cross_attention": (2, 4, length, past), "logits": (length, toys.masked().vocabulary_size)}
    assert set(file) == {"input_ids", "tokens", "target_ids", "target_tokens", *shapes}
    for name, shape in shapes.items():
        assert file[name].shape == shape
        assert file[name].dtype == np.float32


@pytest.mark.parametrize(("name", "logits"), [("bare", set()), ("judge", {"logits"}), ("tagger", {"logits"})])
def test_logits_need_an_output_head(traced: Traced, name: str, logits: set[str]) -> None:
    assert set(traced(name, TEXT)) == {"input_ids", "tokens", "attention", "last_hidden"} | logits


def test_the_arrays_of_an_image(traced: Traced, models: Path) -> None:
    file = traced("seer", "--image", str(models / "photo.png"), "--edit", "encoder.1.self.weights[3]=set:0")
    shapes: dict[str, tuple[int, ...]] = {"tokens": (7,), "pixel_values": (3, 12, 18), "attention": (2, 4, 7, 7)}
    shapes |= {"logits": (2,), "last_hidden": (7, 16)}
    assert {name: value.shape for name, value in file.items()} == shapes
    assert file["tokens"].tolist() == ["[CLS]", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]
    assert file["attention"][1, :3].any()
    assert not file["attention"][1, 3].any()


def test_the_arrays_of_an_image_and_its_caption(traced: Traced, models: Path) -> None:
    file = traced("captioner", "--image", str(models / "photo.png"), "--target", "the cat")
    length = len(file["target_ids"])
    shapes: dict[str, tuple[int, ...]] = {"tokens": (6,), "pixel_values": (3, 12, 18), "target_ids": (length,)}
    shapes |= {"encoder_attention": (3, 4, 6, 6), "cross_attention": (2, 4, length, 6)}
    shapes |= {"decoder_attention": (2, 4, length, length), "logits": (length, toys.masked().vocabulary_size)}
    shapes["target_tokens"] = (length,)
    assert {name: value.shape for name, value in file.items()} == shapes
    assert file["tokens"].tolist() == ["0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]


def test_the_arrays_of_a_recording_and_what_is_written_about_it(traced: Traced, models: Path) -> None:
    file = traced("listener", "--audio", str(models / "noise.wav"), "--target", "the cat")
    length = len(file["target_ids"])
    shapes: dict[str, tuple[int, ...]] = {"tokens": (9,), "input_features": (20, 18), "target_ids": (length,)}
    shapes |= {"encoder_attention": (3, 4, 9, 9), "cross_attention": (2, 4, length, 9)}
    shapes |= {"decoder_attention": (2, 4, length, length), "logits": (length, toys.masked().vocabulary_size)}
    shapes["target_tokens"] = (length,)
    assert {name: value.shape for name, value in file.items()} == shapes
    assert file["tokens"].tolist() == [
        "0.00 s",
        "0.02 s",
        "0.04 s",
        "0.06 s",
        "0.08 s",
        "0.10 s",
        "0.12 s",
        "0.14 s",
        "0.16 s",
    ]


def test_options_choose_a_variant(traced: Traced) -> None:
    file = traced(
        "decoder",
        "--mask",
        "causal",
        "--mask=window:2",
        TEXT,
        "--positional-encoding",
        "alibi",
        "--attention-function",
        "linear",
    )
    model = variant(
        MODELS["decoder"](), masks=("causal", "window:2"), positional_encoding="alibi", attention_function="linear"
    )
    np.testing.assert_array_equal(file["attention"], run(model, toys.causal(), TEXT).attention())
    assert traced("decoder", TEXT, "--mask", "none")["attention"][:, :, 0, 1:].any()


def test_edits_are_applied(traced: Traced) -> None:
    file = traced(
        "decoder", TEXT, "--edit", "decoder.1.self.weights[3]=set:0", "--edit=decoder.0.self.mask[:,5,2]=set:0"
    )
    assert not file["attention"][1, 3].any()
    assert not file["attention"][0, :, 5, 2].any()


def test_options_stand_on_either_side_and_a_double_dash_ends_them(models: Path, tmp_path: Path) -> None:
    model = ["--model", str(models / "decoder")]
    orders = [
        [TEXT, *model, "--out"],
        [*model, TEXT, "--out"],
        [*model, "--out", "{}", TEXT],
        [*model, "--out", "{}", "--", TEXT],
        [*model, "--out", "{}", "--", "--model"],
        [*model, "--out", "{}", "--", "-5 degrees"],
        [*model, "--out", "{}", "--", "--"],
    ]
    for number, order in enumerate(orders):
        out = str(tmp_path / f"{number}.npz")
        filled = [out if part == "{}" else part for part in order]
        assert main(["trace", *filled, *([out] if filled[-1] == "--out" else [])]) == 0, order
        assert Path(out).is_file()


def test_any_path_opens_and_any_file_name_is_written(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(models)
    for model in ("decoder", "./decoder", "decoder/", f"../{models.name}/decoder", str(models / "decoder")):
        assert main(["trace", TEXT, "--model", model, "--out", str(tmp_path / "file without ending 😀")]) == 0
    assert main(["trace", TEXT, "--models", str(models), "--model", "decoder", "--out", str(tmp_path / "x")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file without ending 😀", "x"]


@pytest.mark.parametrize("text", ["😀👩‍👧", "שלום עולם", "\x00\x07\x1b[31m", "</script>$x$**", "é" * 20, "[MASK]"])
@pytest.mark.parametrize("model", ["decoder", "encoder"])
def test_unusual_texts_are_traced(traced: Traced, model: str, text: str) -> None:
    text = text[:5]  # bytes count as tokens here
    file = traced(model, "--", text)
    assert len(file["tokens"]) == len(file["input_ids"]) == file["attention"].shape[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["", "--model", "decoder"], "The text is empty"),
        (["the cat " * 50, "--model", "decoder"], "reads at most 24"),
        (["cat", "--model", "nothing"], "There is no model 'nothing'"),
        (["cat", "--model", "x" * 5_000], "There is no model"),
        (["cat"], "--model"),
        (["cat", "dog", "--model", "decoder"], "dog"),
        (["cat", "--model", "decoder", "--speed", "3"], "--speed"),
        (["cat", "--model", "decoder", "--mod", "3"], "--mod"),
        (["cat", "--model", "decoder", "--positional-encoding", "spiral"], "spiral"),
        (["cat", "--model", "decoder", "--mask", "sideways"], "no mask 'sideways'"),
        (["cat dog", "--model", "decoder", "--mask", "custom:10/11"], "the text has"),
        (["cat", "--model", "decoder", "--edit", "weights"], "An edit has the form"),
        (["cat", "--model", "decoder", "--edit", "decoder.7.self.weights=set:0"], "changes nothing"),
        (["cat", "--model", "decoder", "--device", "tpu"], "no device 'tpu'"),
        (["cat", "--model", "decoder", "--target", "dog"], "--target is for encoder-decoder"),
        (["--model", "decoder"], "Give a TEXT, an image with --image FILE"),
        (["cat", "--model", "seer", "--image", "photo.png"], "one of the three"),
        (["cat", "--model", "seer"], "This model reads images, not texts"),
        (["--model", "decoder", "--image", "photo.png"], "This model reads texts"),
        (["--model", "seer", "--image", "none.png"], "none.png cannot be read"),
        (["--model", "seer", "--image", "seer/config.json"], "config.json is not a PNG, JPEG or WebP picture"),
        (["--model", "seer", "--image", "photo.png", "--target", "dog"], "--target is for encoder-decoder"),
    ],
)
def test_an_error_is_one_sentence_on_standard_error(
    models: Path, tmp_path: Path, shell: Shell, arguments: list[str], sentence: str
) -> None:
    out = tmp_path / "never.npz"
    arguments = [str(models / word) if word.endswith((".png", ".json")) else word for word in arguments]
    assert sentence in shell.refused(["trace", "--models", str(models), "--out", str(out), *arguments])
    assert not out.exists()


@pytest.mark.parametrize("out", ["missing/folder/out.npz", ".", "decoder/config.json/out.npz"])
def test_a_file_that_cannot_be_written_is_an_error(
    models: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.chdir(models)
    assert "cannot be written" in shell.refused(["trace", TEXT, "--model", "decoder", "--out", out])


def test_mask_tokens_and_scale_reach_the_model(traced: Traced) -> None:
    file = traced("encoder", TEXT, "--mask-token", "2", "--mask-token", "4", "--scale=off")
    trace = run(variant(toys.encoder(), scale=False), toys.masked(), TEXT, masked_positions=(2, 4))
    np.testing.assert_array_equal(file["attention"], trace.attention())
    assert [place for place, token in enumerate(file["tokens"]) if token == "[MASK]"] == [2, 4]
