"""The tensors of a checkpoint, from safetensors or PyTorch files, sharded or not; no code in them is run."""

from __future__ import annotations

import os
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from headlight.checkpoints.config_reader import MAX_LAYERS, read_json
from headlight.checkpoints.file_rules import (
    PICKLE_FILE,
    SAFETENSORS_FILE,
    WEIGHT_SUFFIXES,
    may_be_weights,
    reject_formats_inside,
    reject_mlx,
    reject_other_content,
    reject_whisper,
)
from headlight.checkpoints.upload_archive import BoundedZipReader
from headlight.errors import CheckpointError, reason
from headlight.paths import open_regular, reject_pointer

_OLD_NORM_NAMES = {"gamma": "weight", "beta": "bias"}
TensorReaders = dict[str, Callable[[], Tensor]]
PACKED_ENDINGS = ("_blocks", "_scales")  # name endings of a weight's two tensors in MXFP4
_FP4_NUMBERS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # by the lower three bits; the fourth is the sign
_SHARD = re.compile(r"-(?P<number>\d{3,6})-of-(?P<count>\d{3,6})\.")
# The keys under which trainers save a model's weights beside other states.
_WEIGHTS_KEYS = (
    "state_dict", "model_state_dict", "model_state", "model", "module", "net", "network", "weights", "params",
    "checkpoint",
)  # fmt: skip
_MAX_NESTING = 4
SUPPORTED_DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64)


class LazyTensors(Mapping[str, Tensor]):
    """Tensors by name, each read when it is accessed; `replaced` are those of a base model that an adapter changes."""

    def __init__(
        self, readers: Mapping[str, Callable[[], Tensor]], replaced: Mapping[str, Callable[[], Tensor]] | None = None
    ) -> None:
        self.readers, self.replaced = dict(readers), dict(replaced or {})

    def __getitem__(self, name: str) -> Tensor:
        return self.readers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self.readers)

    def __len__(self) -> int:
        return len(self.readers)

    def renamed(self, new_name: Callable[[str], str]) -> LazyTensors:
        """The same tensors by other names."""
        parts = (self.readers, self.replaced)
        return LazyTensors(*({new_name(name): read for name, read in part.items()} for part in parts))


def open_tensors(folder: Path, name: str) -> LazyTensors:
    """All tensors of the checkpoint `name`. Raises CheckpointError if there are none or they cannot be read."""
    return read_tensors(folder, name, SAFETENSORS_FILE, PICKLE_FILE)


def read_tensors(folder: Path, name: str, safetensors_file: str, pickle_file: str) -> LazyTensors:
    """The tensors of the safetensors file, or else of the pickle, with these names; either may be sharded."""
    for file_name, read in ((safetensors_file, _read_safetensors), (pickle_file, _read_pickle)):
        if (folder / file_name).is_file():
            return LazyTensors(_unpacked(_rename_old_norms(read(folder / file_name, name)), name))
        if (folder / f"{file_name}.index.json").is_file():
            readers = _read_shards(folder, name, f"{file_name}.index.json", read)
            return LazyTensors(_unpacked(_rename_old_norms(readers), name))
    if files := _files_of_other_names(folder, name, safetensors_file):
        found: TensorReaders = {}
        for path in files:
            found |= (_read_safetensors if path.suffix == ".safetensors" else _read_pickle)(path, name)
        return LazyTensors(_unpacked(_rename_old_norms(found), name))
    for file in (safetensors_file, f"{safetensors_file}.index.json", pickle_file, f"{pickle_file}.index.json"):
        if (folder / file).is_symlink():
            raise CheckpointError(f"{name}: its {file} is only a broken link; a download may be incomplete.")
    reject_formats_inside(folder, name)
    raise CheckpointError(f"{name} holds no {safetensors_file} and no {pickle_file}.")


def _files_of_other_names(folder: Path, name: str, safetensors_file: str) -> tuple[Path, ...]:
    """Weights without the usual name: shards without an index, or the only file of a kind, such as a Lightning .ckpt.

    Raises CheckpointError for shards of which some are missing, and for several files.
    """
    if safetensors_file != SAFETENSORS_FILE:
        return ()
    for suffix in WEIGHT_SUFFIXES:
        files = sorted(path for path in folder.glob(f"*{suffix}") if path.is_file() and may_be_weights(path.name))
        shards = [found for path in files if (found := _SHARD.search(path.name))]
        if shards:  # a file beside them has the same weights in another layout
            files = [path for path in files if _SHARD.search(path.name)]
            _require_all_shards(files, shards, name)
            return tuple(files)
        if len(files) > 1:
            listed = ", ".join(path.name[:60] for path in files[:5])
            raise CheckpointError(
                f"{name} holds {len(files)} files that may be its weights: {listed}. Keep one of them."
            )
        if files:
            return tuple(files)
    return ()


def _require_all_shards(files: Sequence[Path], shards: Sequence[re.Match[str]], name: str) -> None:
    counts = {int(shard["count"]) for shard in shards}
    missing = sorted(set(range(1, max(counts) + 1)) - {int(shard["number"]) for shard in shards})
    if len(counts) > 1 or missing:
        told = f"part {missing[0]} is missing" if missing else "their names disagree on the number of parts"
        raise CheckpointError(f"{name}: its weights, such as {files[0].name[:60]}, are not complete: {told}.")


def tensor_files(
    folder: Path, name: str, safetensors_file: str = SAFETENSORS_FILE, pickle_file: str = PICKLE_FILE
) -> tuple[Path, ...]:
    """The files that `read_tensors` reads, in the order of their names."""
    for file_name in (safetensors_file, pickle_file):
        if (folder / file_name).is_file():
            return (folder / file_name,)
        if (folder / f"{file_name}.index.json").is_file():
            return tuple(folder / shard for shard in _shards(folder, name, f"{file_name}.index.json")[0])
    return _files_of_other_names(folder, name, safetensors_file)


def _rename_old_norms(readers: TensorReaders) -> TensorReaders:
    """Renames the gamma and beta of norms in the oldest files to weight and bias."""

    def now(name: str) -> str:
        stem, _, leaf = name.rpartition(".")
        return f"{stem}.{_OLD_NORM_NAMES[leaf]}" if leaf in _OLD_NORM_NAMES else name

    return {now(name): read for name, read in readers.items()}


def _unpacked(readers: TensorReaders, name: str) -> TensorReaders:
    """Weights in MXFP4, whose blocks and scales are two tensors, under their own names."""
    blocks, scales = PACKED_ENDINGS
    packed = [key.removesuffix(blocks) for key in readers if key.endswith(blocks)]
    packed = [key for key in packed if key + scales in readers]
    rest = {key: read for key, read in readers.items() if not key.endswith(PACKED_ENDINGS)}
    parts = {key: (readers[key + blocks], readers[key + scales]) for key in packed}
    return rest | {key: partial(_unpack_mxfp4, *both, key, name) for key, both in parts.items()}


def _unpack_mxfp4(read_blocks: Callable[[], Tensor], read_scales: Callable[[], Tensor], key: str, name: str) -> Tensor:
    """[expert in out] from blocks [expert out block byte], two 4-bit numbers per byte, and their powers of two."""
    blocks, scales = read_blocks(), read_scales()
    if blocks.dim() != 4 or blocks.shape[:-1] != scales.shape or {blocks.dtype, scales.dtype} != {torch.uint8}:
        raise CheckpointError(f"{name}: the blocks and scales of {key} do not match.")
    numbers = torch.tensor((*_FP4_NUMBERS, *(-number for number in _FP4_NUMBERS)), dtype=torch.bfloat16)

    def unpacked(expert: Tensor, powers: Tensor) -> Tensor:
        pairs = torch.stack((expert & 0x0F, expert >> 4), dim=-1).flatten(-2)
        return torch.ldexp(numbers[pairs.int()], powers.int()[..., None] - 127).flatten(1).t()

    return torch.stack([unpacked(*one) for one in zip(blocks, scales, strict=True)])  # one by one, to save memory


def _shards(folder: Path, name: str, index: str) -> tuple[list[str], set[str]]:
    """The files that an index names, and the tensors that they should hold."""
    weight_map = read_json(folder / index, name).get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
        raise CheckpointError(f"{name}: its {index} has no weight_map.")
    files = sorted(set(weight_map.values()))
    for file in files:
        if Path(file).name != file or not os.path.isfile(folder / file):
            raise CheckpointError(f"{name}: its {index} names {file[:80]!r}, which is not a file beside it.")
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
        reject_pointer(path)
        file = safe_open(path, framework="pt", device="cpu")
        names: list[str] = list(file.keys())  # type: ignore[no-untyped-call]
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{name}: its {path.name} cannot be read{reason(error)}.") from error

    reject_mlx(names, path.name, name)

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
    """The tensors of a pickle, or those of the dictionary in it that a trainer saved the model's weights in."""
    values: dict[Any, Any] = load_pickle(path, name)
    reject_whisper(values, path.name, name)
    for _ in range(_MAX_NESTING):
        values = next((values[key] for key in _WEIGHTS_KEYS if isinstance(values.get(key), dict)), values)
    tensors = {key: value for key, value in values.items() if isinstance(key, str) and isinstance(value, Tensor)}
    return {key: partial(require_supported, value, key, name) for key, value in tensors.items()}


def load_pickle(path: Path, name: str) -> dict[str, Any]:
    """A dictionary written by torch.save, loaded with `weights_only`.

    Raises CheckpointError for any other file, and for one with compressed entries.
    """
    try:
        reject_pointer(path)
        reject_other_content(path, name)
        if is_zip := _is_zip(path):
            _reject_compression(path, name)
        with warnings.catch_warnings():  # torch warns about pickles of other programs
            warnings.simplefilter("ignore")
            values = torch.load(path, map_location="cpu", weights_only=True, mmap=is_zip)
    except CheckpointError:
        raise
    except Exception as error:  # torch raises any kind of error for a broken or hostile pickle
        forbidden = re.search(r"GLOBAL ([\w.]{1,80})", str(error))
        why = (
            f"it asks to run {forbidden[1]}; nothing in it was run"
            if forbidden
            else "it is damaged, or not a torch file"
        )
        raise CheckpointError(f"{name}: its {path.name} cannot be read safely: {why}.") from error
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise CheckpointError(f"{name}: its {path.name} holds no dictionary of tensors.")
    return values


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"PK"


def _reject_compression(path: Path, name: str) -> None:
    """Raise CheckpointError for compressed entries: torch.save never compresses, so they are a zip bomb."""
    with path.open("rb") as file, zipfile.ZipFile(BoundedZipReader(file)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > path.stat().st_size:
        raise CheckpointError(f"{name}: its {path.name} would grow to {size:,} bytes in memory, unlike any torch file.")


def require_supported(tensor: Tensor, key: str, name: str) -> Tensor:
    """The tensor, if it is of a supported dtype.

    Raises CheckpointError for quantised and sparse tensors, and for expanded (stride 0) ones, which may have any size.
    """
    if tensor.layout is not torch.strided or tensor.device.type != "cpu":
        raise CheckpointError(f"{name}: {key} is sparse or has no data; only dense tensors can be opened.")
    if tensor.dtype not in SUPPORTED_DTYPES and not (tensor.dtype is torch.uint8 and key.endswith(PACKED_ENDINGS)):
        kind = str(tensor.dtype).removeprefix("torch.")
        raise CheckpointError(f"{name}: {key} is {kind}: quantised weights cannot be opened; use the original ones.")
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise CheckpointError(f"{name}: {key} is {tuple(tensor.shape)}, more numbers than its file holds.")
    return tensor


MAGIC = 0x616B3432  # "ak42", the first bytes of llama2.c's later formats
_HEADER_BYTES = 256


def read_nanogpt(path: Path, name: str) -> tuple[dict[str, Any], LazyTensors]:
    """The config and tensors of a file saved by nanoGPT's train.py."""
    checkpoint = load_pickle(path, name)
    reject_whisper(checkpoint, path.name, name)
    model_args, tensors = checkpoint.get("model_args"), checkpoint.get("model")
    if not isinstance(model_args, dict) or not isinstance(tensors, dict):
        raise CheckpointError(f"{name} is not a nanoGPT checkpoint: it lacks model_args or model.")
    readers: TensorReaders = {
        str(key).removeprefix("_orig_mod."): partial(require_supported, tensor, str(key), name)
        for key, tensor in tensors.items()
        if isinstance(tensor, Tensor)
    }
    return {**model_args, "model_type": "nanogpt", "architectures": ["GPTForCausalLM"]}, LazyTensors(readers)


def is_llama2c(path: Path) -> bool:
    """Whether a file of any name is a llama2.c model, by its header and its length."""
    try:
        return bool(read_llama2c(path, path.name))
    except (CheckpointError, OSError):
        return False


def read_llama2c(path: Path, name: str) -> tuple[dict[str, Any], LazyTensors]:
    """The config and tensors of a float32 file written by llama2.c's export.py."""
    reject_other_content(path, name)
    with open_regular(path) as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < 36:
        raise CheckpointError(f"{name} is too short for a llama2.c model.")
    has_magic = struct.unpack_from("<I", header)[0] == MAGIC
    version = struct.unpack_from("<i", header, 4)[0] if has_magic else 0
    if version > 1:
        raise CheckpointError(
            f"{name} is version {version} of llama2.c's format, which is quantised; export version 1."
        )
    sizes = struct.unpack_from("<7i", header, 8 if has_magic else 0)
    hidden_size, intermediate_size, layers, heads, key_value_heads, vocabulary, context = sizes
    if (
        min(hidden_size, intermediate_size, layers, heads, key_value_heads, abs(vocabulary), context) < 1
        or hidden_size % heads
        or max(map(abs, sizes)) > 2**24
        or layers > MAX_LAYERS
    ):
        raise CheckpointError(f"{name} has sizes that are not possible: {', '.join(map(str, sizes))}.")
    tied = bool(header[36]) if has_magic else vocabulary > 0
    values = {
        "model_type": "llama2.c",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": hidden_size,
        "intermediate_size": intermediate_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": key_value_heads,
        "vocab_size": abs(vocabulary),
        "max_position_embeddings": context,
        "tie_word_embeddings": tied,
        "rms_norm_eps": 1e-5,
    }
    return values, LazyTensors(_tensor_readers(path, name, values, has_magic))


def _layout(values: dict[str, Any], has_magic: bool) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes in the order of the file; names that begin with `layers` hold all layers."""
    hidden_size, intermediate_size, vocabulary = (
        values["hidden_size"],
        values["intermediate_size"],
        values["vocab_size"],
    )
    head_dim = hidden_size // values["num_attention_heads"]
    key_value_size = values["num_key_value_heads"] * head_dim
    embedding = ("tok_embeddings", (vocabulary, hidden_size))
    norms = [("layers.attention_norm", (hidden_size,)), ("layers.ffn_norm", (hidden_size,)), ("norm", (hidden_size,))]
    attention = [
        ("layers.wq", (hidden_size, hidden_size)),
        ("layers.wk", (key_value_size, hidden_size)),
        ("layers.wv", (key_value_size, hidden_size)),
        ("layers.wo", (hidden_size, hidden_size)),
    ]
    feedforward = [
        ("layers.w1", (intermediate_size, hidden_size)),
        ("layers.w2", (hidden_size, intermediate_size)),
        ("layers.w3", (intermediate_size, hidden_size)),
    ]
    output = [] if values["tie_word_embeddings"] else [("output", (vocabulary, hidden_size))]
    if has_magic:
        return [*norms, embedding, *attention, *feedforward, *output]
    rope_tables = [
        (name, (values["max_position_embeddings"], head_dim // 2)) for name in ("freq_cis_real", "freq_cis_imag")
    ]
    return [embedding, norms[0], *attention, norms[1], *feedforward, norms[2], *rope_tables, *output]


def _tensor_readers(path: Path, name: str, values: dict[str, Any], has_magic: bool) -> TensorReaders:
    layout, layers, start = _layout(values, has_magic), values["num_hidden_layers"], _HEADER_BYTES if has_magic else 28
    needed = start + 4 * sum(prod(shape) * (layers if key.startswith("layers.") else 1) for key, shape in layout)
    if path.stat().st_size < needed:
        raise CheckpointError(f"{name} is cut off: its sizes need {needed:,} bytes, it has {path.stat().st_size:,}.")
    numbers = torch.from_numpy(np.memmap(path, np.float32, mode="c", offset=start, shape=((needed - start) // 4,)))
    readers: TensorReaders = {}
    offset = 0
    for key, shape in layout:
        for layer in range(layers) if key.startswith("layers.") else (None,):
            full = key if layer is None else key.replace("layers.", f"layers.{layer}.")
            tensor = numbers[offset : offset + prod(shape)].view(shape)
            readers[f"{full}.weight"] = partial(require_supported, tensor, full, name)
            offset += prod(shape)
    return readers
