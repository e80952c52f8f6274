"""Which files belong to a checkpoint, and which are programs."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePath

CONFIG, GENERATION_CONFIG, ADAPTER_CONFIG, IMAGE_PROCESSOR, CARD, EXAMPLES = (
    "config.json",
    "generation_config.json",
    "adapter_config.json",
    "preprocessor_config.json",
    "README.md",
    "examples.json",
)
SAFETENSORS_FILE, PICKLE_FILE = "model.safetensors", "pytorch_model.bin"
SINGLE_FILES, LLAMA2C_TOKENIZER = ("ckpt.pt", "model.bin"), "tokenizer.bin"  # nanoGPT's and llama2.c's
CONFIG_FILES = (
    CONFIG, GENERATION_CONFIG, ADAPTER_CONFIG, IMAGE_PROCESSOR,
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "spiece.model", "spm.model",
    "sentencepiece.bpe.model", "source.spm", "target.spm", CARD, EXAMPLES,
    "modules.json", "sentence_bert_config.json", "1_Pooling/config.json",  # of sentence-transformers
)  # fmt: skip
SAFETENSORS_PATTERNS = ("model*.safetensors", "model.safetensors.index.json", "adapter_model.safetensors")
PICKLE_PATTERNS = ("pytorch_model*.bin", "pytorch_model.bin.index.json", "adapter_model.bin")
GGUF_PATTERN = "*.gguf"
LENS_FILES = ("tuned_lens.safetensors", "tuned_lens.json")  # beside a model, not part of its weights
CHECKPOINT_PATTERNS = (
    *CONFIG_FILES, *SAFETENSORS_PATTERNS, *PICKLE_PATTERNS, *SINGLE_FILES, LLAMA2C_TOKENIZER, GGUF_PATTERN,
    *LENS_FILES,
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
    return any(fnmatchcase(name, pattern) for pattern in CHECKPOINT_PATTERNS)


def is_program(name: str) -> bool:
    """Whether a file of this name is code, also with a number (`lib.so.1`), dots or spaces after its extension."""
    stripped = re.sub(r"[.\s\d]+$", "", name).lower()
    return PurePath(stripped).suffix in PROGRAM_SUFFIXES or PurePath(name.lower()).suffix in PROGRAM_SUFFIXES
