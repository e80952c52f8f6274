"""Download models of the Hugging Face Hub by id, with the optional package huggingface_hub."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

from headlight.checkpoints.files.file_rules import CONFIG, CONFIG_FILES, PICKLE_PATTERNS, SAFETENSORS_FILE
from headlight.errors import CheckpointError, reason

EXTRA = "attention-headlight[hub]"
# "model" or "owner/model", with the characters that the Hub allows.
_ID_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"
_ID_PATTERN = re.compile(f"{_ID_PART}(?:/{_ID_PART})?")
_SAFETENSORS_SHARDS = re.compile(r"model-\d+-of-\d+\.safetensors")
_PICKLE_SHARDS = re.compile(r"pytorch_model(?:-\d+-of-\d+)?\.bin")


def is_hub_id(name: str) -> bool:
    """Whether a name has the form of a model id."""
    return _ID_PATTERN.fullmatch(name) is not None and not {"--", ".."} & {name[i : i + 2] for i in range(len(name))}


def download_model(
    name: str, cache: Path, log: Callable[[str], None] = lambda told: print(told, file=sys.stderr)
) -> Path:
    """The folder of a model in the Hub's local cache, downloaded if it is missing; code is never downloaded.

    The library shows its progress; `log` gets a line about what is fetched. Raises CheckpointError if huggingface_hub
    is not installed, the Hub is unreachable, or the repository holds no supported checkpoint.
    """
    hub = _import_huggingface_hub()
    try:
        files = hub.HfApi().model_info(name, files_metadata=True).siblings or []
        sizes: dict[str, int] = {file.rfilename: file.size or 0 for file in files}
        files_to_fetch = needed_files(sizes)
        if CONFIG not in files_to_fetch or not any(file.endswith((".safetensors", ".bin")) for file in files_to_fetch):
            raise CheckpointError(f"{name} of the Hugging Face Hub is no checkpoint: {_why_unusable(sizes)}.")
        size = sum(sizes[file] for file in files_to_fetch)
        log(f"Fetching {name} from the Hugging Face Hub: {len(files_to_fetch)} files, {size / 1e6:,.1f} MB.")
        return Path(hub.snapshot_download(name, allow_patterns=files_to_fetch, cache_dir=cache))
    except CheckpointError:
        raise
    except Exception as error:  # the network's own, and those of whichever library carries it
        raise CheckpointError(_error_message(hub, name, error)) from error


def needed_files(names: Iterable[str]) -> list[str]:
    """The files of a repository that a checkpoint needs: safetensors, or else pickles; none in subfolders."""
    names = set(names)
    if SAFETENSORS_FILE in names:
        weights = {SAFETENSORS_FILE}
    else:
        weights = {name for name in names if _SAFETENSORS_SHARDS.fullmatch(name)} | (
            names & {f"{SAFETENSORS_FILE}.index.json"}
        )
    if not any(name.endswith(".safetensors") for name in weights):
        weights = {name for name in names if _PICKLE_SHARDS.fullmatch(name)} | (names & set(PICKLE_PATTERNS))
    return sorted(weights | (names & set(CONFIG_FILES)))


def _import_huggingface_hub() -> ModuleType:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # telemetry needs consent, which was not asked for
    try:
        import huggingface_hub
    except ImportError as error:
        raise CheckpointError(f'To fetch models from the Hugging Face Hub: pip install "{EXTRA}".') from error
    return huggingface_hub


def _why_unusable(names: Iterable[str]) -> str:
    if any(name.endswith(".gguf") for name in names):
        return "it holds GGUF files, which are quantised for other programs"
    return "it holds no config.json with weights beside it"


def _error_message(hub: ModuleType, name: str, error: Exception) -> str:
    errors = hub.errors
    if isinstance(error, errors.GatedRepoError):
        return f"{name} is a gated model: request access on its page, then log in with `hf auth login`."
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"The Hugging Face Hub has no public model named {name!r}."
    if isinstance(error, errors.OfflineModeIsEnabled):
        return "The Hugging Face Hub is switched off here (HF_HUB_OFFLINE)."
    if isinstance(error, OSError) and error.strerror and not isinstance(error, (ConnectionError, TimeoutError)):
        return f"{name} cannot be stored in the local cache{reason(error)}."
    return f"The Hugging Face Hub cannot be reached for {name!r}. Check the network, or name a folder."
