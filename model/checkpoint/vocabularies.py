"""The tokenizer of a checkpoint folder: its tokenizer.json as it stands, or what older files make of one.

Only without a tokenizer.json do rules of the family apply: which special tokens stand around a text (AROUND).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors

from model.checkpoint.fields import Fields, read_json
from model.checkpoint.pieces import read_c_pieces, read_pieces, to_backend
from model.errors import CheckpointError
from model.tokenizer import FILE, Tokenizer

# What each family puts before and after a text, as the template of a post-processor.
AROUND: dict[str, str] = {
    "nanogpt": "$A", "llama2.c": "<s> $A", "gpt2": "$A",
    "gpt_neo": "$A", "gptj": "$A", "gpt_neox": "$A", "phi": "$A", "falcon": "$A", "bloom": "$A",
    "opt": "</s> $A", "roberta": "<s> $A </s>", "bart": "<s> $A </s>", "qwen2": "$A", "qwen3": "$A",
    "bert": "[CLS] $A [SEP]", "distilbert": "[CLS] $A [SEP]", "electra": "[CLS] $A [SEP]",
    "t5": "$A </s>", "llama": "<s> $A", "mistral": "<s> $A", "phi3": "<s> $A",
    "gemma": "<bos> $A", "gemma2": "<bos> $A", "gemma3_text": "<bos> $A",
}  # fmt: skip
PIECES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")
C_PIECES = "tokenizer.bin"  # what llama2.c makes of a tokenizer.model
Reader = Callable[[Path, Fields], tokenizers.Tokenizer]


def open_tokenizer(folder: Path, kind: str) -> Tokenizer:
    """The tokenizer of a folder whose family is `kind`. Raises CheckpointError where there is none that can be read."""
    if (folder / FILE).is_file():
        return Tokenizer.load(folder)
    options = folder / "tokenizer_config.json"
    fields = Fields(read_json(options, folder.name) if options.is_file() else {}, folder.name)
    for reader in (_pieces, _byte_pairs, _word_pieces):
        try:
            backend = reader(folder, fields)
            if backend is not None:
                backend.post_processor = _around(backend, kind, folder.name)
                return Tokenizer(backend)
        except CheckpointError:
            raise
        except BaseException as error:  # the library raises bare Exception, and panics as none
            if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
                raise
            raise CheckpointError(f"{folder.name}: its vocabulary cannot be read: {error}.") from error
    raise CheckpointError(
        f"{folder.name} holds no tokenizer: no {FILE}, no vocab.json with merges.txt, no vocab.txt, no .model file."
    )


def _around(backend: tokenizers.Tokenizer, kind: str, name: str) -> Any:
    if kind not in AROUND:
        raise CheckpointError(f"{name} has no {FILE}, and the special tokens of {kind} are not known without one.")
    marks = [word for word in AROUND[kind].split() if word != "$A"]
    numbers = [(mark, backend.token_to_id(mark)) for mark in marks]
    if any(number is None for _, number in numbers):
        raise CheckpointError(f"{name}: its vocabulary lacks {', '.join(marks)}, which stand around every text.")
    byte_level = isinstance(backend.pre_tokenizer, pre_tokenizers.ByteLevel)
    trim = [processors.ByteLevel(trim_offsets=False)] if byte_level else []
    template = processors.TemplateProcessing(single=AROUND[kind], special_tokens=numbers)
    return processors.Sequence([*trim, template])


def _byte_pairs(folder: Path, fields: Fields) -> tokenizers.Tokenizer | None:
    """GPT-2's and RoBERTa's vocab.json and merges.txt."""
    vocabulary, merges = folder / "vocab.json", folder / "merges.txt"
    if not (vocabulary.is_file() and merges.is_file()):
        return None
    backend = tokenizers.Tokenizer(models.BPE.from_file(str(vocabulary), str(merges)))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=fields.flag("add_prefix_space", False))
    backend.decoder = decoders.ByteLevel()
    known = [
        name for name in ("<|endoftext|>", "<s>", "</s>", "<unk>", "<pad>") if backend.token_to_id(name) is not None
    ]
    special = [AddedToken(name, special=True, normalized=False) for name in known]
    if backend.token_to_id("<mask>") is not None:
        special.append(AddedToken("<mask>", special=True, normalized=False, lstrip=True))
    backend.add_special_tokens(special)
    return backend


def _word_pieces(folder: Path, fields: Fields) -> tokenizers.Tokenizer | None:
    """BERT's vocab.txt; tokenizer_config.json says whether case counts."""
    path = folder / "vocab.txt"
    if not path.is_file():
        return None
    words = path.read_text(encoding="utf-8").split("\n")
    numbers = {word.rstrip("\r"): number for number, word in enumerate(words) if word or number < len(words) - 1}
    backend = tokenizers.Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    lower = fields.flag("do_lower_case", True)
    accents = fields.flag("strip_accents", lower)
    chinese = fields.flag("tokenize_chinese_chars", True)
    backend.normalizer = normalizers.BertNormalizer(
        lowercase=lower, strip_accents=accents, handle_chinese_chars=chinese
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    names = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    backend.add_special_tokens([name for name in names if name in numbers])
    return backend


def _pieces(folder: Path, fields: Fields) -> tokenizers.Tokenizer | None:
    """A SentencePiece model; T5's has its extra ids after the pieces."""
    path = next((folder / name for name in (*PIECES, C_PIECES) if (folder / name).is_file()), None)
    if path is None:
        return None
    if path.name == C_PIECES:
        return to_backend(read_c_pieces(path.read_bytes(), f"{folder.name}: its {path.name}"), folder.name)
    backend = to_backend(read_pieces(path.read_bytes(), f"{folder.name}: its {path.name}"), folder.name)
    extra = min(fields.size("extra_ids", 100 if path.name == "spiece.model" else 0), 1000)
    backend.add_special_tokens([f"<extra_id_{number}>" for number in reversed(range(extra))])
    return backend
