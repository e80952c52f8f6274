"""The rules for generation beside a checkpoint's config: generation_config.json, or in old files config.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.families.two_models import require_first_token
from headlight.checkpoints.file_rules import GENERATION_CONFIG
from headlight.checkpoints.source import CheckpointSource
from headlight.checkpoints.tokenizers.special_tokens import read_tokenizer_config
from headlight.config import Config, GenerationConfig
from headlight.errors import CheckpointError, ConfigError
from headlight.text.tokenizer import Tokenizer

# Settings that change what `generate` of transformers writes, with the value that changes nothing.
_NOT_FOLLOWED: dict[str, Any] = {
    "num_beams": 1, "do_sample": False, "length_penalty": 1.0, "min_length": 0, "min_new_tokens": 0,
    "encoder_no_repeat_ngram_size": 0, "encoder_repetition_penalty": 1.0, "diversity_penalty": 0.0,
    "num_beam_groups": 1, "typical_p": 1.0, "min_p": 0.0, "penalty_alpha": 0.0, "bad_words_ids": [],
    "sequence_bias": {}, "forced_eos_token_id": (), "exponential_decay_length_penalty": [], "guidance_scale": 1.0,
    "renormalize_logits": False, "temperature": 1.0, "top_k": 50, "top_p": 1.0, "epsilon_cutoff": 0.0,
    "eta_cutoff": 0.0, "stop_strings": [], "force_words_ids": [], "constraints": [], "watermarking_config": {},
    "forced_decoder_ids": [],
}  # fmt: skip


def with_generation(config: Config, source: CheckpointSource, tokenizer: Tokenizer) -> tuple[Config, tuple[str, ...]]:
    """The config with the checkpoint's rules for generation and first token, and notes on rules not followed.

    Raises CheckpointError for fields of a wrong type, and for numbers out of range.
    """
    path, values, name = source.settings_folder / GENERATION_CONFIG, source.config_json, source.name
    given = read_json(path, name) if path.is_file() else {}
    if config.own_encoder is not None:
        config = config.replace(**{"decoder.start_token_id": require_first_token(values, given, name)})
        values = {**values["decoder"], **{field: value for field, value in values.items() if value is not None}}
    fields = ConfigReader(given or values, f"{name}, {GENERATION_CONFIG if given else 'config.json'}")
    size = config.vocabulary_size
    ends = _ids(fields, "eos_token_id", size) or _ids(ConfigReader(values, name), "eos_token_id", size)
    ends = ends or _named_end(source.folder, tokenizer, name, size)
    forced, start = (fields.values.get(field) for field in ("forced_bos_token_id", "decoder_start_token_id"))
    rules = GenerationConfig(
        end_token_ids=ends,
        repetition_penalty=fields.number("repetition_penalty", 1.0) or 1.0,
        no_repeat_ngram_size=fields.integer("no_repeat_ngram_size", 0),
        suppressed_token_ids=_ids(fields, "suppress_tokens", size),
        first_suppressed_token_ids=_ids(fields, "begin_suppress_tokens", size),
        forced_first_token_id=forced if type(forced) is int and 0 <= forced < size else None,
    )
    try:
        rules.check(size)
    except ConfigError as error:
        raise CheckpointError(f"{fields.name}: {error}") from error
    if config.has_cross_attention and type(start) is int and 0 <= start < size:
        config = config.replace(**{"decoder.start_token_id": start})
    others = [field for field, usual in _NOT_FOLLOWED.items() if fields.has(field) and fields.values[field] != usual]
    note = f"Generation does not follow these settings of the checkpoint: {', '.join(others)}."
    return config.replace(generation=rules), (note,) if others else ()


def generation_fields(rules: GenerationConfig, tokenizer: Tokenizer) -> dict[str, Any]:
    """The fields of a generation_config.json with these rules, without those that change nothing."""
    ids = {"bos_token_id": tokenizer.start_id, "pad_token_id": tokenizer.pad_id, "eos_token_id": tokenizer.end_id}
    fields: dict[str, Any] = {field: number for field, number in ids.items() if number is not None}
    if rules.end_token_ids:
        fields["eos_token_id"] = list(rules.end_token_ids)
    if rules.repetition_penalty != 1.0:
        fields["repetition_penalty"] = rules.repetition_penalty
    if rules.no_repeat_ngram_size:
        fields["no_repeat_ngram_size"] = rules.no_repeat_ngram_size
    if rules.suppressed_token_ids:
        fields["suppress_tokens"] = list(rules.suppressed_token_ids)
    if rules.first_suppressed_token_ids:
        fields["begin_suppress_tokens"] = list(rules.first_suppressed_token_ids)
    return fields


def _ids(fields: ConfigReader, field: str, vocabulary_size: int) -> tuple[int, ...]:
    """The token ids of a field, one or several, without those outside the vocabulary."""
    value = fields.values.get(field)
    numbers = value if isinstance(value, list) else [] if value is None else [value]
    if not all(type(number) is int for number in numbers):
        raise CheckpointError(
            f"{fields.name}: its {field} is {str(value)[:60]!r}; wanted a token id, or a list of them."
        )
    return tuple(number for number in numbers if 0 <= number < vocabulary_size)


def _named_end(folder: Path, tokenizer: Tokenizer, name: str, vocabulary_size: int) -> tuple[int, ...]:
    """The end token that tokenizer_config.json names."""
    value = read_tokenizer_config(folder, name).values.get("eos_token")
    content = value.get("content") if isinstance(value, dict) else value
    number = tokenizer.backend.token_to_id(content) if isinstance(content, str) else None
    return () if number is None or number >= vocabulary_size else (number,)
