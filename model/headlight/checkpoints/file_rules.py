"""Which files belong to a checkpoint, which are programs, and which hold a model in a format that is not read."""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Any

from headlight.errors import CheckpointError
from headlight.paths import open_regular

CONFIG, GENERATION_CONFIG, ADAPTER_CONFIG, IMAGE_PROCESSOR, PROCESSOR, CARD, EXAMPLES = (
    "config.json",
    "generation_config.json",
    "adapter_config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "README.md",
    "examples.json",
)
SAFETENSORS_FILE, PICKLE_FILE = "model.safetensors", "pytorch_model.bin"
SINGLE_FILES, LLAMA2C_TOKENIZER = ("ckpt.pt", "model.bin"), "tokenizer.bin"  # nanoGPT's and llama2.c's
META_FILE = "meta.pkl"  # the characters of a model that nanoGPT trained
MODULES, POOLING_FOLDER = "modules.json", "1_Pooling"
TEMPLATE_FOLDER = "additional_chat_templates"  # of named chat templates
PARTS = ("encoder", "decoder")  # of two models in one: groups of its config, and folders with a tokenizer for each
_TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "spiece.model", "spm.model",
    "sentencepiece.bpe.model", "bpe.codes", "source.spm", "target.spm",
)  # fmt: skip
CONFIG_FILES = (
    CONFIG, GENERATION_CONFIG, ADAPTER_CONFIG, IMAGE_PROCESSOR, PROCESSOR, *_TOKENIZER_FILES,
    *(f"{part}/{file}" for part in PARTS for file in _TOKENIZER_FILES),
    "chat_template.jinja", "chat_template.json", CARD, EXAMPLES,
    MODULES, "sentence_bert_config.json", f"{POOLING_FOLDER}/config.json",  # of sentence-transformers
)  # fmt: skip
PICKLE_PATTERNS = ("pytorch_model*.bin", "pytorch_model.bin.index.json", "adapter_model.bin")
GGUF_PATTERNS = ("*.gguf", "sha256-*")  # Ollama names files by their SHA-256
LENS_FILES = ("tuned_lens.safetensors", "tuned_lens.json")  # beside a model, not part of its weights
CHECKPOINT_PATTERNS = (
    *CONFIG_FILES, "model.safetensors.index.json", "adapter_model.safetensors", *PICKLE_PATTERNS, *SINGLE_FILES,
    LLAMA2C_TOKENIZER, META_FILE, *GGUF_PATTERNS, *LENS_FILES, "*.jinja",
)  # fmt: skip
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".ckpt", ".pt", ".pth")
# Beginnings of the names of files that do not hold a model's weights, most of them written by trainers.
_OTHER_CONTENTS = (
    "training_args", "optimizer", "scheduler", "rng_state", "scaler", "adapter_", "tuned_lens", "tokenizer",
    "random_states", "openvino_",
)  # fmt: skip

# Programs for a processor, a shell or an interpreter, and pickles that are not weights.
PROGRAM_SUFFIXES = (
    ".py", ".pyc", ".pyo", ".pyd", ".pyw", ".pyx", ".ipynb", ".so", ".dll", ".dylib", ".exe", ".com", ".scr", ".msi",
    ".sh", ".bash", ".zsh", ".fish", ".csh", ".bat", ".cmd", ".ps1", ".vbs", ".js", ".mjs", ".cjs", ".ts", ".jar",
    ".class", ".rb", ".pl", ".php", ".lua", ".wasm", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".rs", ".go", ".java",
    ".desktop", ".lnk", ".pkl", ".pickle", ".joblib", ".dill",
)  # fmt: skip


def is_checkpoint_file(name: str) -> bool:
    """Whether a file of this name (without folders) belongs to a checkpoint."""
    return any(fnmatchcase(name, pattern) for pattern in CHECKPOINT_PATTERNS) or may_be_weights(name)


def may_be_weights(name: str) -> bool:
    """Whether a file of this name may be a model's weights."""
    return name.endswith(WEIGHT_SUFFIXES) and not name.startswith(_OTHER_CONTENTS)


def is_program(name: str) -> bool:
    """Whether a file of this name is code, also with a number (`lib.so.1`), dots or spaces after its extension.

    nanoGPT's META_FILE is a pickle too, but is read without running anything; an .h5 is HDF5, not a C header.
    """
    if name == META_FILE or name.lower().endswith(".h5"):
        return False
    stripped = re.sub(r"[.\s\d]+$", "", name).lower()
    return PurePath(stripped).suffix in PROGRAM_SUFFIXES or PurePath(name.lower()).suffix in PROGRAM_SUFFIXES


_HDF5 = b"\x89HDF\r\n\x1a\n"
_LLM_C = 20240326  # the first number in llm.c's files of models
_SAVE_AGAIN = "CLASS.from_pretrained(FOLDER, {argument}=True).save_pretrained(NEW), with the model's PyTorch class"


@dataclass(frozen=True)
class OtherFormat:
    """A format: patterns of its files' names, its name, and what to do instead of opening it."""

    patterns: tuple[str, ...]
    name: str
    advice: str


TENSORFLOW = OtherFormat(
    ("tf_model*.h5", "*.weights.h5", "model.h5", "*.keras", "saved_model.pb", "*.ckpt.index", "*.tflite"),
    "weights of TensorFlow",
    f"Save them for PyTorch with transformers 4: {_SAVE_AGAIN.format(argument='from_tf')}",
)
FLAX = OtherFormat(
    ("*.msgpack",),
    "weights of Flax",
    f"Save them for PyTorch with transformers 4: {_SAVE_AGAIN.format(argument='from_flax')}",
)
ONNX = OtherFormat(
    ("*.onnx", "*.onnx_data"),
    "a model exported to ONNX",
    "Open the checkpoint that it was exported from",
)
MLX = OtherFormat(
    ("weights.npz", "weights.*.npz"),
    "weights of MLX",
    "Open the checkpoint that they were converted from, or dequantise them with mlx_lm.convert --dequantize",
)
WHISPER = OtherFormat(
    (),
    "a model of OpenAI's Whisper in its own format",
    "Convert it with convert_openai_to_hf.py of transformers, or open the model of the same name from the Hub",
)
LLM_C = OtherFormat((), "a model of llm.c", "Write it as a folder with llm.c's dev/eval/export_hf.py")
SHARDED_STATES = OtherFormat(
    ("*.distcp", "*_model_states.pt", "*_optim_states.pt"),
    "a part of a distributed checkpoint",
    "Join the parts with the trainer's own program, such as DeepSpeed's zero_to_fp32.py",
)
RUST = OtherFormat(("*.ot",), "weights of rust-bert", "Open the checkpoint that they were converted from")
_CONVERTED = "Open the checkpoint that it was converted from"
CORE_ML = OtherFormat(("*.mlmodel", "*.mlpackage"), "a model of Core ML", _CONVERTED)
OPENVINO = OtherFormat(("openvino_*",), "a model of OpenVINO", _CONVERTED)
_BY_NAME = (TENSORFLOW, FLAX, ONNX, MLX, SHARDED_STATES, RUST, CORE_ML, OPENVINO)


def refusal_of(name: str, file: str, found: OtherFormat) -> str:
    """The sentence about a file of another format in the checkpoint `name`."""
    where = f"{name} holds" if name == file else f"{name} holds {file[:80]},"
    return f"{where} {found.name}, which cannot be opened. {found.advice}."


def reject_other_formats(name: str, files: Iterable[str]) -> None:
    """Raise CheckpointError if one of the files has a name of another format."""
    for file in sorted(files):
        for each in _BY_NAME:
            if any(fnmatchcase(PurePath(file).name, pattern) for pattern in each.patterns):
                raise CheckpointError(refusal_of(name, file, each))


def reject_formats_inside(folder: Path, name: str) -> None:
    """Raise CheckpointError if a folder, or one in it, holds a file with a name of another format."""
    for pattern in ("*", "*/*", "saved_model/*/*"):
        reject_other_formats(name, (path.relative_to(folder).as_posix() for path in folder.glob(pattern)))


def reject_other_content(path: Path, name: str) -> None:
    """Raise CheckpointError if a file begins like one of another format."""
    with open_regular(path) as file:
        begin = file.read(len(_HDF5))
    if begin == _HDF5:
        raise CheckpointError(refusal_of(name, path.name, TENSORFLOW))
    if len(begin) >= 4 and struct.unpack_from("<i", begin)[0] == _LLM_C:
        raise CheckpointError(refusal_of(name, path.name, LLM_C))


def reject_whisper(values: dict[str, Any], file: str, name: str) -> None:
    """Raise CheckpointError for the contents of a file that OpenAI's Whisper wrote."""
    if {"dims", "model_state_dict"} <= set(values):
        raise CheckpointError(refusal_of(name, file, WHISPER))


def reject_mlx(tensor_names: Collection[str], file: str, name: str) -> None:
    """Raise CheckpointError for weights that MLX quantised: each has scales and biases."""
    stems = (key.removesuffix(".scales") for key in tensor_names if key.endswith(".scales"))
    if any({f"{stem}.biases", f"{stem}.weight"} <= set(tensor_names) for stem in stems):
        raise CheckpointError(refusal_of(name, file, MLX))
