"""The settings of images and sounds in files beside the config, and of a sound model's first decoder tokens."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.file_rules import GENERATION_CONFIG, IMAGE_PROCESSOR, PROCESSOR
from headlight.config import Config, SoundConfig
from headlight.errors import CheckpointError

LANGUAGE, TASK = "<|en|>", "transcribe"  # if the file does not set them


def with_sound_files(config: Config, folder: Path, name: str) -> Config:
    """The config with the settings of preprocessor and generation config. Raises CheckpointError and ConfigError."""
    sound = _with_processor(config.sound, read_processor(folder, name, "feature_extractor"))
    path = folder / GENERATION_CONFIG
    generation = ConfigReader(read_json(path, name) if path.is_file() else {}, f"{name}, {GENERATION_CONFIG}")
    if not config.has_cross_attention:
        return config.replace(sound=sound)
    heads = generation.list_of("alignment_heads", list)
    if not all(len(pair) == 2 and all(type(number) is int for number in pair) for pair in heads):
        raise CheckpointError(f"{generation.name}: its alignment_heads are not pairs of a layer and a head.")
    prompt = tuple(token for token in _prompt(generation) if token < config.vocabulary_size)
    return config.replace(
        sound=sound,
        **{"decoder.prompt_token_ids": prompt, "decoder.alignment_heads": tuple(map(tuple, heads))},
    )


def read_processor(folder: Path, name: str, part: str) -> ConfigReader:
    """The settings of images or sounds: a part of processor_config.json, or else all of preprocessor_config.json."""
    whole, alone = (read_json(path, name) if (path := folder / file).is_file() else {} for file in _PROCESSORS)
    return ConfigReader(whole, name).nested(part) or ConfigReader(alone, name)


_PROCESSORS = (PROCESSOR, IMAGE_PROCESSOR)


def _with_processor(sound: SoundConfig, fields: ConfigReader) -> SoundConfig:
    """The sound settings of the preprocessor. Raises CheckpointError for unsupported ones."""
    rate = fields.integer("sampling_rate", sound.rate)
    if not sound.mel_bins:
        fields.require_values({"feature_size": 1})
        return replace(sound, rate=rate, normalized=fields.boolean("do_normalize", sound.normalized))
    fields.require_values({"feature_size": sound.mel_bins, "do_normalize": False, "padding_value": 0.0})
    return replace(
        sound, rate=rate, window=fields.integer("n_fft", sound.window), hop=fields.integer("hop_length", sound.hop)
    )


def _prompt(fields: ConfigReader) -> tuple[int, ...]:
    """The tokens after the start token: forced ones in old files, else a language, a task, and no timestamps."""
    forced = [pair for pair in fields.list_of("forced_decoder_ids", list) if len(pair) == 2]
    ids = [token for _, token in sorted(forced, key=str)]
    if not forced or not all(type(token) is int for token in ids):
        ids = [_number_of(fields, "lang_to_id", LANGUAGE), _number_of(fields, "task_to_id", TASK)]
        ids.append(fields.values.get("no_timestamps_token_id"))
    return tuple(token for token in ids if type(token) is int and token >= 0)


def _number_of(fields: ConfigReader, group: str, name: str) -> Any:
    """The number of a name in a group of fields, or the first number there; None if there is none."""
    numbers = (fields.nested(group) or ConfigReader({}, "")).values
    return numbers.get(name, next(iter(numbers.values()), None))
