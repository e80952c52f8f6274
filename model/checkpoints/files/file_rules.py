"""Which files make a checkpoint, and which are programs: for uploads, downloads, and what a folder holds besides."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePath

SETTINGS = (
    "config.json", "generation_config.json", "adapter_config.json", "preprocessor_config.json",
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "spiece.model", "spm.model",
    "sentencepiece.bpe.model", "source.spm", "target.spm", "README.md",
)  # fmt: skip
SAFE = ("model*.safetensors", "model.safetensors.index.json", "adapter_model.safetensors")
PICKLED = ("pytorch_model*.bin", "pytorch_model.bin.index.json", "adapter_model.bin")
SINGLE = ("ckpt.pt", "model.bin", "tokenizer.bin")  # nanoGPT's and llama2.c's
PATTERNS = (*SETTINGS, *SAFE, *PICKLED, *SINGLE)

# Programs for a processor, a shell or an interpreter, and the pickles that no reader of ours opens.
PROGRAMS = (
    ".py", ".pyc", ".pyo", ".pyd", ".pyw", ".pyx", ".ipynb", ".so", ".dll", ".dylib", ".exe", ".com", ".scr", ".msi",
    ".sh", ".bash", ".zsh", ".fish", ".csh", ".bat", ".cmd", ".ps1", ".vbs", ".js", ".mjs", ".cjs", ".ts", ".jar",
    ".class", ".rb", ".pl", ".php", ".lua", ".wasm", ".c", ".cc", ".cpp", ".cu", ".h", ".hpp", ".rs", ".go", ".java",
    ".desktop", ".lnk", ".pkl", ".pickle", ".joblib", ".dill",
)  # fmt: skip


def is_needed(name: str) -> bool:
    """Whether a file of this name (without folders) belongs to a checkpoint."""
    return any(fnmatchcase(name, pattern) for pattern in PATTERNS)


def is_program(name: str) -> bool:
    """Whether a file of this name is code; a number (`lib.so.1`), dots or spaces after its ending hide nothing."""
    plain = re.sub(r"[.\s\d]+$", "", name).lower()
    return PurePath(plain).suffix in PROGRAMS or PurePath(name.lower()).suffix in PROGRAMS
