"""The tensors of a checkpoint, from safetensors or PyTorch files, sharded or not; no code in them is run."""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from headlight.checkpoints.config_reader import read_json
from headlight.checkpoints.files.file_rules import PICKLE_FILE, SAFETENSORS_FILE
from headlight.checkpoints.files.upload_archive import BoundedZipReader
from headlight.errors import CheckpointError, reason

_OLD_NORM_NAMES = {"gamma": "weight", "beta": "bias"}
TensorReaders = dict[str, Callable[[], Tensor]]
SUPPORTED_DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


class LazyTensors(Mapping[str, Tensor]):
    """Tensors by name, each read when it is asked for."""

    def __init__(self, readers: Mapping[str, Callable[[], Tensor]]) -> None:
        self.readers = dict(readers)

    def __getitem__(self, name: str) -> Tensor:
        return self.readers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self.readers)

    def __len__(self) -> int:
        return len(self.readers)


def open_tensors(folder: Path, name: str) -> LazyTensors:
    """All tensors of the checkpoint `name`. Raises CheckpointError where there are none or they cannot be read."""
    return read_tensors(folder, name, SAFETENSORS_FILE, PICKLE_FILE)


def read_tensors(folder: Path, name: str, safetensors_file: str, pickle_file: str) -> LazyTensors:
    """The tensors of a safetensors file, or else of a pickle, of these names; either may be sharded."""
    for file_name, read in ((safetensors_file, _read_safetensors), (pickle_file, _read_pickle)):
        if (folder / file_name).is_file():
            return LazyTensors(_rename_old_norms(read(folder / file_name, name)))
        if (folder / f"{file_name}.index.json").is_file():
            return LazyTensors(_rename_old_norms(_read_shards(folder, name, f"{file_name}.index.json", read)))
    for file in (safetensors_file, f"{safetensors_file}.index.json", pickle_file, f"{pickle_file}.index.json"):
        if (folder / file).is_symlink():
            raise CheckpointError(f"{name}: its {file} is not there, only a link to it; a download may not have ended.")
    others = sorted(path.name for path in folder.glob("*.gguf"))
    if others:
        raise CheckpointError(
            f"{name} holds {others[0]}: GGUF files are quantised for other programs; use the original weights."
        )
    raise CheckpointError(f"{name} holds no {safetensors_file} and no {pickle_file}.")


def tensor_files(
    folder: Path, name: str, safetensors_file: str = SAFETENSORS_FILE, pickle_file: str = PICKLE_FILE
) -> tuple[Path, ...]:
    """The files that `read_tensors` reads, in the order of their names."""
    for file_name in (safetensors_file, pickle_file):
        if (folder / file_name).is_file():
            return (folder / file_name,)
        if (folder / f"{file_name}.index.json").is_file():
            return tuple(folder / shard for shard in _shards(folder, name, f"{file_name}.index.json")[0])
    return ()


def _rename_old_norms(readers: TensorReaders) -> TensorReaders:
    """The oldest files call the weight and bias of a norm gamma and beta."""

    def now(name: str) -> str:
        stem, _, leaf = name.rpartition(".")
        return f"{stem}.{_OLD_NORM_NAMES[leaf]}" if leaf in _OLD_NORM_NAMES else name

    return {now(name): read for name, read in readers.items()}


def _shards(folder: Path, name: str, index: str) -> tuple[list[str], set[str]]:
    """The files that an index names, and the tensors that they should hold."""
    weight_map = read_json(folder / index, name).get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
        raise CheckpointError(f"{name}: its {index} has no weight_map.")
    files = sorted(set(weight_map.values()))
    for file in files:
        if Path(file).name != file or not os.path.isfile(folder / file):
            raise CheckpointError(f"{name}: its {index} names {file[:80]!r}, which is no file beside it.")
    return files, set(weight_map)


def _read_shards(folder: Path, name: str, index: str, read: Callable[[Path, str], TensorReaders]) -> TensorReaders:
    files, named = _shards(folder, name, index)
    readers: TensorReaders = {}
    for file in files:
        readers |= read(folder / file, name)
    missing = sorted(named - set(readers))
    if missing:
        raise CheckpointError(f"{name}: its {index} names tensors that no file holds: {', '.join(missing[:5])}.")
    return readers


def _read_safetensors(path: Path, name: str) -> TensorReaders:
    try:
        file = safe_open(path, framework="pt", device="cpu")
        names: list[str] = list(file.keys())  # type: ignore[no-untyped-call]
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{name}: its {path.name} cannot be read{reason(error)}.") from error

    def reader(key: str) -> Callable[[], Tensor]:
        def read() -> Tensor:
            try:
                tensor: Tensor = file.get_tensor(key)  # type: ignore[no-untyped-call]
            except (SafetensorError, RuntimeError, OSError, ValueError, AttributeError) as error:
                raise CheckpointError(f"{name}: {key} in {path.name} cannot be read{reason(error)}.") from error
            return require_supported(tensor, key, name)

        return read

    return {key: reader(key) for key in names}


def _read_pickle(path: Path, name: str) -> TensorReaders:
    values = load_pickle(path, name)
    tensors = {key: value for key, value in values.items() if isinstance(value, Tensor)}
    return {key: partial(require_supported, value, key, name) for key, value in tensors.items()}


def load_pickle(path: Path, name: str) -> dict[str, Any]:
    """A dictionary that torch.save wrote, loaded with `weights_only`.

    Raises CheckpointError for any other file, and for one with compressed entries.
    """
    try:
        if is_zip := _is_zip(path):
            _reject_compression(path, name)
        with warnings.catch_warnings():  # torch warns of pickles by other programs
            warnings.simplefilter("ignore")
            values = torch.load(path, map_location="cpu", weights_only=True, mmap=is_zip)
    except CheckpointError:
        raise
    except Exception as error:  # whatever a broken or hostile pickle makes torch raise
        forbidden = re.search(r"GLOBAL ([\w.]{1,80})", str(error))
        why = (
            f"it asks to run {forbidden[1]}, and nothing in it was run"
            if forbidden
            else "it is damaged, or no file of torch"
        )
        raise CheckpointError(f"{name}: its {path.name} cannot be read safely: {why}.") from error
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise CheckpointError(f"{name}: its {path.name} holds no table of tensors.")
    return values


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _reject_compression(path: Path, name: str) -> None:
    """Raise CheckpointError for compressed entries: torch.save does not compress, so they are a zip bomb."""
    with path.open("rb") as file, zipfile.ZipFile(BoundedZipReader(file)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > path.stat().st_size:
        raise CheckpointError(
            f"{name}: its {path.name} would grow to {size:,} bytes in memory, as no file of torch does."
        )


def require_supported(tensor: Tensor, key: str, name: str) -> Tensor:
    """The tensor, if it is of a supported dtype.

    Raises CheckpointError for quantised and sparse tensors, and for expanded (stride 0) ones, which may have any size.
    """
    if tensor.layout is not torch.strided or tensor.device.type != "cpu":
        raise CheckpointError(f"{name}: {key} is sparse, or has no numbers; only dense tensors can be opened.")
    if tensor.dtype not in SUPPORTED_DTYPES:
        kind = str(tensor.dtype).removeprefix("torch.")
        raise CheckpointError(f"{name}: {key} is {kind}: quantised weights cannot be opened; use the original ones.")
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise CheckpointError(f"{name}: {key} is {tuple(tensor.shape)}, more numbers than its file holds.")
    return tensor
