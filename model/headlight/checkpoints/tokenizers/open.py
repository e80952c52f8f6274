"""The tokenizer of a checkpoint folder: its tokenizer.json, or built from older vocabulary files with a preset."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.file_rules import LLAMA2C_TOKENIZER, META_FILE
from headlight.checkpoints.source import display_name
from headlight.checkpoints.tokenizers.bpe_codes import CODES_FILE, BpeCodesTokenizer, bpe_codes_vocabulary
from headlight.checkpoints.tokenizers.byte_level import BYT5, byt5_tokenizer
from headlight.checkpoints.tokenizers.chat_template import read_chat_template
from headlight.checkpoints.tokenizers.nanogpt import character_backend
from headlight.checkpoints.tokenizers.sentencepiece import (
    SOURCE_MODEL,
    TARGET_MODEL,
    in_order,
    open_marian_tokenizer,
    read_llama2c_tokenizer,
    read_sentencepiece,
    renumbered,
    sentencepiece_backend,
)
from headlight.checkpoints.tokenizers.settings import add_tokens_beside, apply_settings
from headlight.checkpoints.tokenizers.special_tokens import (
    PAIRS,
    PRESETS,
    SpecialTokens,
    TokenizerPreset,
    add_special_tokens,
    class_name,
    gives_segments,
    preset_for,
    read_special_tokens,
    read_tokenizer_config,
)
from headlight.errors import CheckpointError, shortened, wrap_errors
from headlight.paths import MAX_JSON_BYTES, reject_pointer
from headlight.text.tokenizer import TOKENIZER_FILE, Tokenizer, read_tokenizer_json

VOCAB_JSON, MERGES_TXT, VOCAB_TXT = "vocab.json", "merges.txt", "vocab.txt"
WORD_DELIMITER = "|"  # between words of a transcript
SENTENCEPIECE_FILES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")


@dataclass(frozen=True)
class TokenizerFiles:
    """A folder of vocabulary files, with the settings for reading them."""

    folder: Path
    name: str
    config: ConfigReader
    preset: TokenizerPreset
    special_tokens: SpecialTokens


BackendReader = Callable[[TokenizerFiles], tokenizers.Tokenizer]


def open_tokenizer(folder: Path, model_type: str, name: str = "") -> Tokenizer:
    """The tokenizer of a folder of the family `model_type`. Raises CheckpointError with the folder's `name`."""
    name = name or display_name(folder)
    config = read_tokenizer_config(folder, name)
    named = config.string("tokenizer_class", "")
    if model_type == "trocr" and (folder / SENTENCEPIECE_FILES[2]).is_file():  # of its small models
        model_type = "xlm-roberta"
    if (folder / TOKENIZER_FILE).is_file():
        return _from_tokenizer_json(folder, config, model_type)
    if class_name(model_type, named) == BYT5:
        special_tokens = read_special_tokens(folder, config, PRESETS[BYT5].special_tokens)
        return _finished(byt5_tokenizer(config, special_tokens), folder, config, special_tokens)
    reader = _find_reader(folder, name, model_type)
    preset = preset_for(model_type, named)
    if preset is None:
        whose = repr(shortened(named)) if named else f"of {model_type}"
        raise CheckpointError(
            f"{name} has no {TOKENIZER_FILE}, and the tokenizer {whose} cannot be built without one. Save one with "
            "transformers: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)."
        )
    with wrap_errors(CheckpointError, f"{name}: its vocabulary cannot be read"):
        special_tokens = read_special_tokens(folder, config, preset.special_tokens)
        languages = (AddedToken(name, special=True, normalized=False) for name in preset.languages)
        special_tokens = replace(special_tokens, unnamed=(*special_tokens.unnamed, *languages))
        files = TokenizerFiles(folder, name, config, preset, special_tokens)
        if reader is None:
            return open_marian_tokenizer(folder, name, special_tokens)
        return _finished(_from_vocabulary(reader, files, model_type), folder, config, special_tokens)


def _from_tokenizer_json(folder: Path, config: ConfigReader, model_type: str) -> Tokenizer:
    """The tokenizer of a tokenizer.json and of the settings and tokens beside it."""
    name = config.name
    values = read_tokenizer_json(folder, name)
    with wrap_errors(CheckpointError, f"{name}: its {TOKENIZER_FILE} is not a tokenizer that can be read"):
        apply_settings(values, config, model_type)
    backend = Tokenizer.from_json(values, name).backend
    add_tokens_beside(backend, folder, config)
    preset = preset_for(model_type, config.string("tokenizer_class", ""))
    special_tokens = read_special_tokens(folder, config, preset.special_tokens if preset else {})
    tokenizer = Tokenizer(backend, gives_segments=gives_segments(model_type, config))
    return _finished(tokenizer, folder, config, special_tokens)


def _from_vocabulary(reader: BackendReader, files: TokenizerFiles, model_type: str) -> Tokenizer:
    """The tokenizer of older files, with its special tokens."""
    backend = reader(files)
    if reader is not _nanogpt_characters:  # which has characters alone
        add_special_tokens(backend, files.special_tokens)
    backend.post_processor = _post_processor(backend, files)
    if reader is _bpe_codes:
        return BpeCodesTokenizer(backend, files.folder, files.name, files.special_tokens)
    return Tokenizer(backend, gives_segments=gives_segments(model_type, files.config))


def _finished(tokenizer: Tokenizer, folder: Path, config: ConfigReader, special_tokens: SpecialTokens) -> Tokenizer:
    """The tokenizer, with the settings that files of vocabularies do not hold."""
    tokenizer.backend.encode_special_tokens = config.boolean("split_special_tokens", False)
    language = config.string("src_lang", "")
    named = (name for name in (language, f"__{language}__") if name in tokenizer.languages)
    tokenizer.source_language = next(named, "")
    tokenizer.chat_template = read_chat_template(folder, config, special_tokens)
    return tokenizer


def _find_reader(folder: Path, name: str, model_type: str = "") -> BackendReader | None:
    """The first row of READERS whose files are all present; the value is None for Marian's pair of models."""
    for files, reader in READERS.items():
        if all((folder / file).is_file() for file in files):
            for file in files:
                reject_pointer(folder / file)
                if (folder / file).stat().st_size > MAX_JSON_BYTES:
                    raise CheckpointError(f"{name}: its {file} is far larger than any vocabulary.")
            return reader
    raise CheckpointError(
        f"{name} holds no tokenizer: no {TOKENIZER_FILE}, no {VOCAB_JSON} with {MERGES_TXT}, no "
        f"{VOCAB_TXT}, no .model file.{_ADVICE.get(model_type, '')}"
    )


# What to do for a family whose own programs write no vocabulary beside a model.
_ADVICE = {
    "nanogpt": f" Put GPT-2's {VOCAB_JSON} and {MERGES_TXT} beside it, or for a model of characters the {META_FILE} of "
    "its data."
}


def _post_processor(backend: tokenizers.Tokenizer, files: TokenizerFiles) -> Any:
    """The post-processor that adds special tokens to a text."""
    preset, config = files.preset, files.config
    prefix_roles = [*preset.prefix_roles, *(["bos"] if _adds_token(config, "add_bos_token", preset.adds_bos) else [])]
    suffix_roles = [*preset.suffix_roles, *(["eos"] if _adds_token(config, "add_eos_token", preset.adds_eos) else [])]
    prefix, suffix = (
        [token for token in map(files.special_tokens.token, roles) if token] for roles in (prefix_roles, suffix_roles)
    )
    return template(backend, prefix, suffix, files.name, preset.pair)


def template(
    backend: tokenizers.Tokenizer, prefix: Sequence[str], suffix: Sequence[str], name: str, pair: str = "repeated"
) -> Any:
    """The post-processor that adds tokens around a text or a pair. Raises CheckpointError for unknown ones."""
    token_ids = {token: backend.token_to_id(token) for token in (*prefix, *suffix)}
    missing = sorted(token for token, number in token_ids.items() if number is None)
    if missing:
        raise CheckpointError(f"{name}: its vocabulary lacks {', '.join(missing)}, which it adds to every text.")
    around = processors.TemplateProcessing(
        single=[*prefix, "$A", *suffix],
        pair=[token for part in PAIRS[pair] for token in _pair_part(part, prefix, suffix)],
        special_tokens=list(token_ids.items()),
    )
    byte_level = isinstance(backend.decoder, decoders.ByteLevel)
    return processors.Sequence([*([processors.ByteLevel(trim_offsets=False)] if byte_level else []), around])


def _pair_part(part: str, prefix: Sequence[str], suffix: Sequence[str]) -> list[str]:
    """The tokens of a part of PAIRS, each with its segment."""
    name, _, segment = part.partition(":")
    return [f"{token}:{segment or 0}" for token in {"prefix": prefix, "suffix": suffix}.get(name, [f"${name}"])]


def _adds_token(fields: ConfigReader, name: str, default: bool | None) -> bool:
    return default is not None and fields.boolean(name, default)


def _byte_level_bpe(files: TokenizerFiles) -> tokenizers.Tokenizer:
    """GPT-2's vocab.json and merges.txt."""
    folder, preset = files.folder, files.preset
    model = models.BPE.from_file(str(folder / VOCAB_JSON), str(folder / MERGES_TXT))
    patterns = [preset.split_pattern] if preset.split_pattern else []
    return byte_level(model, patterns, nfc=preset.nfc, prefix=files.config.boolean("add_prefix_space", False))


def byte_level(model: models.BPE, patterns: Sequence[str], *, nfc: bool, prefix: bool = False) -> tokenizers.Tokenizer:
    """Byte-level BPE; texts are split by GPT-2's pattern if there are no others, `prefix` adds a space at the start."""
    backend = tokenizers.Tokenizer(model)
    if nfc:
        backend.normalizer = normalizers.NFC()
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=not patterns)
    split = [pre_tokenizers.Split(Regex(pattern), behavior="isolated") for pattern in patterns]
    backend.pre_tokenizer = pre_tokenizers.Sequence([*split, bytes_of])
    backend.decoder = decoders.ByteLevel()
    return backend


def _wordpiece(files: TokenizerFiles) -> tokenizers.Tokenizer:
    """BERT's vocab.txt; tokenizer_config.json says whether the tokenizer is cased."""
    if files.preset.whole_tokens:
        return _whole_tokens(files)
    fields, unknown = files.config, files.special_tokens.token("unk") or "[UNK]"
    vocabulary = models.WordPiece.read_file(str(files.folder / VOCAB_TXT))
    if unknown not in vocabulary:
        raise CheckpointError(f"{files.name}: its vocabulary lacks {unknown}, which stands for unknown words.")
    backend = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token=unknown))
    lower = fields.boolean("do_lower_case", True)
    backend.normalizer = normalizers.BertNormalizer(
        lowercase=lower,
        strip_accents=fields.boolean("strip_accents", lower),
        handle_chinese_chars=fields.boolean("tokenize_chinese_chars", True),
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return backend


def _whole_tokens(files: TokenizerFiles) -> tokenizers.Tokenizer:
    """ESM's vocab.txt: one token per line, recognized anywhere in a text; white space is dropped."""
    lines = (files.folder / VOCAB_TXT).read_text("utf-8").splitlines()
    vocabulary = {line.strip(): number for number, line in enumerate(lines)}
    unknown = files.special_tokens.token("unk") or ""
    if unknown not in vocabulary:
        raise CheckpointError(f"{files.name}: its vocabulary lacks {unknown}, which stands for unknown words.")
    backend = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    known = "|".join(re.escape(token) for token in sorted(filter(None, vocabulary), key=len, reverse=True))
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(known), behavior="isolated"), pre_tokenizers.WhitespaceSplit()]
    )
    return backend


def _sentencepiece(files: TokenizerFiles) -> tokenizers.Tokenizer:
    """A SentencePiece model; T5's sentinels follow the pieces."""
    path = next(files.folder / name for name in SENTENCEPIECE_FILES if (files.folder / name).is_file())
    backend = sentencepiece_backend(
        in_order(read_sentencepiece(path.read_bytes(), f"{files.name}: its {path.name}"), files.preset.piece_order),
        files.name,
        files.preset.sentencepiece_style,
        files.config,
    )
    sentinel_count = min(files.config.integer("extra_ids", 100 if files.preset.adds_sentinels else 0), 1000)
    backend.add_special_tokens([f"<extra_id_{number}>" for number in reversed(range(sentinel_count))])
    return backend


def _numbered_pieces(files: TokenizerFiles) -> tokenizers.Tokenizer:
    """M2M-100's SentencePiece model, with its pieces numbered by vocab.json; the languages follow."""
    numbers, path = read_json(files.folder / VOCAB_JSON, files.name), files.folder / SENTENCEPIECE_FILES[2]
    pieces = read_sentencepiece(path.read_bytes(), f"{files.name}: its {path.name}")
    by_number = {number: text for text, number in numbers.items() if type(number) is int}
    if len(by_number) != len(numbers) or any(number not in by_number for number in range(len(numbers))):
        raise CheckpointError(f"{files.name}: its {VOCAB_JSON} does not number its pieces from 0.")
    ordered = [*(by_number[number] for number in range(len(numbers))), *files.preset.languages]
    return sentencepiece_backend(renumbered(pieces, ordered), files.name)


def _characters(files: TokenizerFiles) -> tokenizers.Tokenizer:
    """wav2vec 2.0's vocab.json: a token for each character, and "|" for the space between words."""
    values, unknown = read_json(files.folder / VOCAB_JSON, files.name), files.special_tokens.token("unk") or ""
    # Multilingual models have a vocabulary for each language; the first one belongs to the weights in the file.
    vocabulary = next((each for each in values.values() if isinstance(each, dict)), values)
    if not all(type(number) is int for number in vocabulary.values()) or unknown not in vocabulary:
        raise CheckpointError(f"{files.name}: its {VOCAB_JSON} numbers no characters, or lacks {unknown}.")
    backend = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    backend.normalizer = normalizers.Replace(" ", WORD_DELIMITER)
    backend.pre_tokenizer = pre_tokenizers.Split(Regex("."), behavior="isolated")
    backend.decoder = decoders.Sequence([decoders.Fuse(), decoders.Replace(WORD_DELIMITER, " ")])
    return backend


def _llama2c(files: TokenizerFiles) -> tokenizers.Tokenizer:
    path = files.folder / LLAMA2C_TOKENIZER
    return sentencepiece_backend(
        read_llama2c_tokenizer(path.read_bytes(), f"{files.name}: its {path.name}"), files.name
    )


def _nanogpt_characters(files: TokenizerFiles) -> tokenizers.Tokenizer:
    return character_backend(files.folder / META_FILE, files.name)


def _bpe_codes(files: TokenizerFiles) -> tokenizers.Tokenizer:
    if files.config.boolean("normalization", False):
        raise CheckpointError(
            f"{files.name}: its tokenizer rewrites tweets (normalization is true), which is not supported. Set it to "
            "false in tokenizer_config.json, and give texts that are rewritten already."
        )
    return bpe_codes_vocabulary(files.folder, files.name)


READERS: dict[tuple[str, ...], BackendReader | None] = {
    (SOURCE_MODEL, TARGET_MODEL, VOCAB_JSON): None,
    (VOCAB_JSON, SENTENCEPIECE_FILES[2]): _numbered_pieces,
    **{(name,): _sentencepiece for name in SENTENCEPIECE_FILES},
    (LLAMA2C_TOKENIZER,): _llama2c,
    (VOCAB_JSON, MERGES_TXT): _byte_level_bpe,
    (VOCAB_TXT, CODES_FILE): _bpe_codes,
    (VOCAB_TXT,): _wordpiece,
    (VOCAB_JSON,): _characters,
    (META_FILE,): _nanogpt_characters,
}


def legacy_tokenizer_type(folder: Path) -> str:
    """The kind of vocabulary in a folder without tokenizer.json, in a word or two; empty if there is none."""
    known: dict[BackendReader | None, str] = {
        _byte_level_bpe: "byte pairs",
        _bpe_codes: "byte pairs",
        _wordpiece: "WordPiece",
    }
    try:
        return known.get(_find_reader(folder, display_name(folder)), "SentencePiece")
    except CheckpointError:
        return ""
