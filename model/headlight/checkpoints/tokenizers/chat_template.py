"""A checkpoint's chat template: in a file of its own, in tokenizer_config.json, or in a GGUF file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.file_rules import TEMPLATE_FOLDER
from headlight.checkpoints.tokenizers.special_tokens import ROLES, SpecialTokens
from headlight.errors import CheckpointError, wrap_errors
from headlight.paths import read_regular
from headlight.text.chat import ChatTemplate

TEMPLATE_FILE, PROCESSOR_TEMPLATE_FILE = "chat_template.jinja", "chat_template.json"
MAX_TEMPLATE_BYTES = 1_000_000


def read_chat_template(folder: Path, config: ConfigReader, special_tokens: SpecialTokens) -> ChatTemplate | None:
    """The template of a folder with this tokenizer_config.json; None if it has none.

    Of several named ones it is the one called "default"; those in files replace those in the config. Raises
    CheckpointError for a template that is no text.
    """
    name, files = config.name, {path.stem: path for path in (folder / TEMPLATE_FOLDER).glob("*.jinja")}
    if (path := files.get("default", folder / TEMPLATE_FILE)).is_file():
        with wrap_errors(CheckpointError, f"{name}: its {TEMPLATE_FILE} cannot be read"):
            source = read_regular(path, MAX_TEMPLATE_BYTES).decode("utf-8")
    elif files:
        source = ""
    else:
        given = config.values.get("chat_template")
        if given is None and (folder / PROCESSOR_TEMPLATE_FILE).is_file():
            given = read_json(folder / PROCESSOR_TEMPLATE_FILE, name).get("chat_template")
        source = default_template(given, name)
    names = {**special_tokens.others, **{f"{role}_token": special_tokens.token(role) for role in ROLES}}
    return ChatTemplate(source, {role: token for role, token in names.items() if token}) if source else None


def default_template(given: Any, name: str) -> str:
    """The template itself, or of named ones the one called "default"; empty if there is none.

    Raises CheckpointError for a template that is no text, or is too long.
    """
    if isinstance(given, list):
        given = {str(each.get("name")): each.get("template") for each in given if isinstance(each, dict)}
    if isinstance(given, dict):
        given = given.get("default")
    if given is not None and not isinstance(given, str):
        raise CheckpointError(f"{name}: its chat_template is {str(given)[:60]!r}; wanted a text, or a list of them.")
    if given and len(given) > MAX_TEMPLATE_BYTES:
        raise CheckpointError(f"{name}: its chat_template has {len(given):,} characters, more than a template has.")
    return given or ""
