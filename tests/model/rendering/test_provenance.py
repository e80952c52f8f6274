"""The provenance of the numbers in a file."""

import hashlib
import io
import os
from pathlib import Path

import numpy as np
import pytest

from headlight import Transformer, load, run, save, variant
from headlight.rendering.provenance import describe_provenance, provenance, provenance_arrays, provenance_lines
from tests.model import toys

TEXT = "the cat sat\non the mat"
EDIT = "decoder.1.self.weights[3]=set:0"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(tmp_path / "toy", toys.decoder(), toys.causal())
    return tmp_path / "toy"


def test_the_model_is_named_with_the_hash_of_its_file(folder: Path) -> None:
    loaded, digest = load(folder), hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    for model in (loaded.model, variant(loaded.model, positional_encoding="alibi")):
        fields = provenance(run(model, loaded.tokenizer, TEXT))
        assert (fields["model"], fields["model_sha256"]) == ("toy", digest)
    assert provenance(run(load(folder, name=str(folder)).model, loaded.tokenizer, TEXT))["model"] == "toy", "no path"


def test_files_that_are_others_now_have_no_hash(folder: Path) -> None:
    loaded = load(folder)
    os.utime(folder / "model.safetensors", (1, 1))
    assert provenance(run(loaded.model, loaded.tokenizer, TEXT))["model_sha256"] == ""
    (folder / "model.safetensors").unlink()
    assert provenance(run(loaded.model, loaded.tokenizer, TEXT))["model_sha256"] == ""


def test_wiring_and_edits_are_those_of_the_run() -> None:
    model = variant(toys.decoder(), masks=("window:3",), attention_function="hardmax", scale=False)
    fields = provenance(run(model, toys.causal(), TEXT, [EDIT]), heads=[(1, 2)], shown="attention weight")
    assert (fields["model"], fields["model_sha256"], fields["text"]) == ("", "", TEXT)
    assert (fields["mask"], fields["attention_function"], fields["scale"]) == ("window:3", "hardmax", "off")
    assert fields["edits"] == [EDIT]
    words = describe_provenance(fields)
    assert "“the cat sat on the mat”" in words and "mask: Sliding window 3" in words
    assert "Hard (argmax), not divided by √d" in words and words[-1].startswith("Headlight")


def test_tokens_that_were_masked_are_known_to_their_trace() -> None:
    trace = run(toys.encoder(), toys.masked(), "the [MASK] 🐈 sat on the mat", masked_positions=(4, 7))
    fields = provenance(trace)
    assert fields["masked_positions"] == [4, 7]  # not the typed [MASK] or the unknown token
    assert "masked: token 4, 7" in describe_provenance(fields)
    assert provenance(run(toys.decoder(), toys.causal(), TEXT))["masked_positions"] == []


def _fields(model: Transformer) -> dict[str, object]:
    return dict(provenance(run(model, toys.causal(), TEXT, [EDIT]), heads=[(1, 2)]))


def test_arrays_are_plain_and_keep_their_kinds_where_they_are_empty() -> None:
    out = io.BytesIO()
    full, bare = provenance_arrays(_fields(toys.decoder())), provenance_arrays(_fields(toys.decoder()) | {"heads": []})
    np.savez(out, allow_pickle=False, **full)
    with np.load(io.BytesIO(out.getvalue()), allow_pickle=False) as file:
        assert str(file["text"]) == TEXT and file["edits"].tolist() == [EDIT] and file["heads"].tolist() == [[1, 2]]
    assert bare["heads"].shape == (0, 2) and bare["masked_positions"].dtype.kind == "i"


def test_every_field_is_one_line_that_is_no_formula() -> None:
    fields = _fields(toys.decoder()) | {"text": "=1+1\n@x", "model": "=cmd"}
    lines = provenance_lines(fields)
    assert len(lines) == len(fields) and all(line.startswith("# ") and "\n" not in line for line in lines)
    assert "# text: =1+1 @x" in lines
