"""Uploads: the checkpoint inside is found, and malicious ones are refused before anything is written."""

import io
import random
import shutil
import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import CheckpointError, load, save
from headlight.checkpoints.upload_archive import UploadLimits, extract_zip, write_files
from tests.model import toys
from tests.sampling import examples
from tests.zips import zipped

GOOD = {"config.json": b"{}", "model.safetensors": b"0123456789", "tokenizer.json": b"{}"}
TINY = UploadLimits(max_bytes=10_000_000, max_files=50, max_compression_ratio=100)


def with_entry(name: str, content: bytes = b"x", mode: int = 0, **fields: int) -> bytes:
    """A valid checkpoint with an additional entry that has forged metadata."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for known, inside in GOOD.items():
            archive.writestr(f"toy/{known}", inside)
        entry = zipfile.ZipInfo("placeholder")
        entry.filename = entry.orig_filename = name
        entry.external_attr = mode << 16
        for field, value in fields.items():
            setattr(entry, field, value)
        archive.writestr(entry, content)
    return raw.getvalue()


def patched(raw: bytes, at: int, value: int, which: int = -1) -> bytes:
    """The archive with two bytes of a central directory entry changed."""
    places = [place for place in range(len(raw)) if raw[place : place + 4] == b"PK\x01\x02"]
    broken = bytearray(raw)
    struct.pack_into("<H", broken, places[which] + at, value)
    return bytes(broken)


def many() -> bytes:
    return zipped(GOOD | {f"{number}.txt": b"" for number in range(60)})


def renamed(raw: bytes, old: bytes, new: bytes) -> bytes:
    assert len(old) == len(new) and old in raw
    return raw.replace(old, new)


def grown() -> bytes:
    """A large entry that claims to be small."""
    raw = bytearray(zipped(GOOD | {"vocab.txt": b"\0" * 5_000_000}))
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = bytes(raw).rfind(mark)
        struct.pack_into("<I", raw, place + at, 100)
    return bytes(raw)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "a program": (lambda: with_entry("toy/modeling.py"), "a program"),
    "a program in a corner": (lambda: with_entry("toy/a/b/.hidden/run.SH"), "a program"),
    "a library": (lambda: with_entry("toy/lib.so.1"), "a program"),
    "a program with dots behind it": (lambda: with_entry("toy/run.exe. ."), "a program"),
    "a link": (lambda: with_entry("toy/vocab.txt", b"/etc/passwd", stat.S_IFLNK | 0o777), "a link"),
    "a device": (lambda: with_entry("toy/vocab.txt", b"", stat.S_IFCHR | 0o666), "a link"),
    "an absolute path": (lambda: with_entry("/etc/cron.d/vocab.txt"), "leads out"),
    "a path upwards": (lambda: with_entry("toy/../../vocab.txt"), "leads out"),
    "a path upwards as Windows writes it": (lambda: with_entry("toy\\..\\..\\vocab.txt"), "leads out"),
    "a folder upwards": (lambda: with_entry("../"), "leads out"),
    "a drive": (lambda: with_entry("C:\\vocab.txt"), "leads out"),
    "a share": (lambda: with_entry("\\\\server\\vocab.txt"), "leads out"),
    "a stream": (lambda: with_entry("toy/config.json:vocab.txt"), "leads out"),
    "a device of Windows": (lambda: with_entry("toy/NUL.txt"), "leads out"),
    "no name": (lambda: with_entry("./"), "leads out"),
    "a NUL": (
        lambda: renamed(with_entry("toy/vocab.txt#.py"), b"vocab.txt#.py", b"vocab.txt\0.py"),
        "control characters",
    ),
    "a new line": (lambda: with_entry("toy/a\nb.txt"), "control characters"),
    "deep": (lambda: with_entry("a/" * 40 + "vocab.txt"), "too deep"),
    "long": (lambda: with_entry("é" * 150 + "vocab.txt"), "too long"),
    "twice": (lambda: with_entry("toy/Config.JSON"), "twice"),
    "twice, written otherwise": (lambda: with_entry("toy//./config.json"), "twice"),
    "a bomb": (lambda: zipped(GOOD | {"vocab.txt": b"\0" * 5_000_000}), "would grow"),
    "a bomb of many": (lambda: zipped({f"{n}.txt": random.Random(n).randbytes(900_000) for n in range(12)}), "GB are"),
    "a bomb that lies": (grown, "cut off|not a readable .zip"),
    "many files": (many, "63 files; 50 are allowed"),
    "encrypted": (lambda: patched(zipped(GOOD), 8, 1), "encrypted"),
    "an unusual method": (lambda: patched(zipped(GOOD), 10, 14), "unusual"),
    "no method": (lambda: patched(zipped(GOOD), 10, 999), "unusual"),
    "no checkpoint": (lambda: zipped({"notes.txt": b"hello"}), "no checkpoint"),
    "an archive in an archive": (lambda: zipped({"inner.zip": zipped(GOOD)}), "no checkpoint"),
    "no weights": (lambda: zipped({"config.json": b"{}"}), "no checkpoint"),
    "two checkpoints": (lambda: zipped({f"{name}/{file}": b"" for name in "ab" for file in GOOD}), "2 checkpoints"),
    "no archive": (lambda: b"hello", "not a readable .zip"),
    "nothing": (lambda: b"", "not a readable .zip"),
    "cut off": (lambda: zipped(GOOD)[:-30], "not a readable .zip"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused_and_leave_nothing(name: str, tmp_path: Path) -> None:
    make, sentence = HOSTILE[name]
    with pytest.raises(CheckpointError, match=sentence) as refused:
        extract_zip(make(), tmp_path / "inside" / "here", TINY)
    assert str(tmp_path) not in str(refused.value)
    assert str(refused.value).endswith(".") and "\n" not in str(refused.value)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


def test_a_list_of_files_longer_than_memory_is_not_read(tmp_path: Path) -> None:
    entry = b"PK\x01\x02" + bytes(42)
    listed = entry * 200_000
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(listed), 0, 0)
    with pytest.raises(CheckpointError, match="list of files"):
        extract_zip(listed + end, tmp_path)


def test_a_checkpoint_comes_out_as_it_went_in(tmp_path: Path) -> None:
    save(tmp_path / "toy", toys.decoder(), toys.causal(), card="# A toy")
    files = {path.name: path.read_bytes() for path in (tmp_path / "toy").iterdir()}
    besides = {"__MACOSX/toy/._config.json": b"?", "toy/.gitattributes": b"", "toy/onnx/model.onnx": b"?"}
    archive = zipped({f"toy/{name}": content for name, content in files.items()} | besides, top="")
    found = extract_zip(archive, tmp_path / "out")
    assert found == tmp_path / "out" / "toy"
    assert {path.name: path.read_bytes() for path in found.iterdir()} == files
    assert {path for path in (tmp_path / "out").rglob("*") if path.is_file()} == set(found.iterdir())
    assert load(found).card == "# A toy"
    again = write_files({f"toy/{name}": content for name, content in files.items()}, tmp_path / "again")
    assert {path.name: path.read_bytes() for path in again.iterdir()} == files


def test_files_may_lie_at_the_top_and_come_as_open_files(tmp_path: Path) -> None:
    raw = io.BytesIO(zipped(GOOD, top=""))
    assert extract_zip(raw, tmp_path / "a") == tmp_path / "a" / "upload"
    sent = {name: io.BytesIO(content) for name, content in GOOD.items()}
    assert write_files(sent, tmp_path / "b") == tmp_path / "b" / "upload"
    assert {path.name: path.read_bytes() for path in (tmp_path / "b" / "upload").iterdir()} == GOOD
    assert not any(content.closed for content in (raw, *sent.values())), "closing them is up to the caller"


def test_the_highest_checkpoint_is_meant_and_nothing_below_it_is_taken(tmp_path: Path) -> None:
    deeper = {f"checkpoint-500/{name}": content for name, content in GOOD.items()}
    found = extract_zip(zipped(GOOD | deeper), tmp_path)
    assert sorted(path.name for path in found.iterdir()) == sorted(GOOD)


def test_an_adapter_comes_with_the_model_it_stands_on(tmp_path: Path) -> None:
    adapter = {"lora/adapter_config.json": b"{}", "lora/adapter_model.safetensors": b""}
    found = extract_zip(zipped(adapter | {f"base/{name}": content for name, content in GOOD.items()}, top=""), tmp_path)
    assert found.name == "lora" and (tmp_path / "base" / "config.json").is_file()


def test_files_already_there_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("mine")
    with pytest.raises(CheckpointError, match="cannot be stored"):
        extract_zip(zipped(GOOD, top=""), tmp_path)
    assert (tmp_path / "config.json").read_text() == "mine"


NAMES = st.one_of(
    st.sampled_from([*GOOD, "toy/config.json", "../config.json", "/config.json", "a/b.py", "C:x", "a\\..\\b", "", "."]),
    st.text(alphabet="ab./\\:\0\n\u202e😀cC", max_size=12),
)


@examples(150)
@given(st.dictionaries(NAMES, st.binary(max_size=20), max_size=5))
def test_whatever_the_names_nothing_is_written_outside(tmp_path: Path, files: dict[str, bytes]) -> None:
    folder = tmp_path / "inside"
    try:
        found = write_files(files, folder, TINY)
        assert found.is_relative_to(folder)
    except CheckpointError as error:
        assert str(error).endswith(".") and str(tmp_path) not in str(error)
        assert not folder.exists() or not any(folder.iterdir())
    assert set(tmp_path.iterdir()) <= {folder}
    shutil.rmtree(folder, ignore_errors=True)


WHOLE = zipped(GOOD | {"vocab.txt": b"word\n" * 50})


@examples(300)
@given(
    st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=6),
    st.integers(0, len(WHOLE)) | st.none(),
)
def test_whatever_the_bytes_there_is_a_folder_or_a_sentence(
    tmp_path: Path, flips: list[tuple[int, int]], length: int | None
) -> None:
    broken = bytearray(WHOLE)
    for at, byte in flips:
        broken[at] = byte
    folder = tmp_path / "inside"
    try:
        found = extract_zip(bytes(broken[:length]), folder, TINY)
        assert all(len(path.read_bytes()) <= TINY.max_bytes for path in found.iterdir() if path.is_file())
    except CheckpointError as error:
        assert str(error).endswith(".") and str(tmp_path) not in str(error)
    assert set(tmp_path.iterdir()) <= {folder}
    shutil.rmtree(folder, ignore_errors=True)


UPLOADS: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {  # files, the folder to open, files left out
    "nanoGPT": (("run/ckpt.pt", "run/meta.pkl"), "run", ()),
    "Lightning": (("m/config.json", "m/epoch=1.ckpt", "m/hparams.yaml"), "m", ("m/hparams.yaml",)),
    "torch.save": (("m/config.json", "m/weights.pth", "m/optimizer.pt", "m/rng_state.pth"), "m", ("m/optimizer.pt",)),
    "another name": (("m/config.json", "m/diffusion.safetensors"), "m", ()),
    "Ollama": (("blobs/sha256-0f3e",), "blobs", ()),
    "a sentence encoder": (
        ("m/modules.json", "m/config.json", "m/model.safetensors", "m/1_Pooling/config.json"), "m", (),
    ),
    "two models in one": (
        ("m/config.json", "m/model.safetensors", "m/encoder/vocab.txt", "m/decoder/vocab.json", "m/decoder/merges.txt",
         "m/other/vocab.txt"), "m", ("m/other/vocab.txt",),
    ),
    "an old sentence encoder": (
        ("m/modules.json", "m/config.json", "m/0_Transformer/config.json", "m/0_Transformer/pytorch_model.bin",
         "m/1_Pooling/config.json"), "m", (),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UPLOADS)
def test_layouts_of_other_programs_are_uploaded_whole(name: str, tmp_path: Path) -> None:
    files, root, left_out = UPLOADS[name]
    folder = extract_zip(zipped(dict.fromkeys(files, b"{}"), top=""), tmp_path / "in")
    assert folder == tmp_path / "in" / root
    found = {path.relative_to(tmp_path / "in").as_posix() for path in (tmp_path / "in").rglob("*") if path.is_file()}
    assert found == set(files) - set(left_out) - {"m/rng_state.pth"}


@pytest.mark.parametrize("name", ["other.pkl", "meta.pickle", "meta.pkl.py"])
def test_pickles_of_another_name_are_programs(name: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="a program"):
        write_files({**GOOD, name: b""}, tmp_path / "in")


def test_an_upload_in_another_format_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"The upload holds tf_model\.h5, weights of TensorFlow"):
        write_files({"config.json": b"{}", "tf_model.h5": b""}, tmp_path / "in")


def test_named_chat_templates_are_taken(tmp_path: Path) -> None:
    file = "additional_chat_templates/default.jinja"
    place = write_files({**GOOD, file: b"{{ messages }}"}, tmp_path / "in")
    assert (place / file).read_bytes() == b"{{ messages }}"
