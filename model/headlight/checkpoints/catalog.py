"""The checkpoints that can be opened (shipped models, folders, the Hugging Face cache and its Hub), with metadata."""

from __future__ import annotations

import json
import os
import re
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from headlight.checkpoints.config_reader import ConfigReader
from headlight.checkpoints.convert import with_processor
from headlight.checkpoints.file_rules import (
    CONFIG,
    CONFIG_FILES,
    EXAMPLES,
    GGUF_PATTERNS,
    LENS_FILES,
    PARTS,
    PICKLE_PATTERNS,
    SAFETENSORS_FILE,
    SINGLE_FILES,
    may_be_weights,
)
from headlight.checkpoints.load import (
    FLOAT32_BYTES,
    MODEL_TYPE,
    meta_model_within,
    native_config,
    read_card,
    read_config,
)
from headlight.checkpoints.refusals import reject_unsupported
from headlight.checkpoints.source import (
    TOWERS,
    CheckpointSource,
    candidates_without_config,
    display_name,
    files_folder,
    folders_read,
    has_two_towers,
    hub_id,
    open_source,
)
from headlight.checkpoints.tensor_files import LazyTensors
from headlight.checkpoints.text_stacks import find_family
from headlight.checkpoints.tokenizers.gguf import gguf_tokenizer_type
from headlight.checkpoints.tokenizers.open import legacy_tokenizer_type
from headlight.checkpoints.weight_mapping import make_plan
from headlight.config import Config
from headlight.errors import CheckpointError, reason, shortened, suggestion, wrap_errors
from headlight.paths import MAX_JSON_BYTES, assets_dir, read_regular
from headlight.tasks import Example
from headlight.text.tokenizer import TOKENIZER_FILE
from headlight.validation import from_plain

EXTRA = "attention-headlight[hub]"
# "model" or "owner/model", with the characters allowed by the Hub.
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

    The library shows its progress; `log` gets a line about the download. Raises CheckpointError if huggingface_hub is
    not installed, the Hub is unreachable, or the repository holds no supported checkpoint.
    """
    hub = _import_huggingface_hub()
    try:
        files = hub.HfApi().model_info(name, files_metadata=True).siblings or []
        sizes: dict[str, int] = {file.rfilename: file.size or 0 for file in files}
        files_to_fetch = needed_files(sizes)
        if CONFIG not in files_to_fetch or not any(file.endswith((".safetensors", ".bin")) for file in files_to_fetch):
            raise CheckpointError(f"{name} on the Hugging Face Hub is not a checkpoint: {_why_unusable(sizes)}.")
        size = sum(sizes[file] for file in files_to_fetch)
        log(f"Fetching {name} from the Hugging Face Hub: {len(files_to_fetch)} files, {size / 1e6:,.1f} MB.")
        return Path(hub.snapshot_download(name, allow_patterns=files_to_fetch, cache_dir=cache))
    except CheckpointError:
        raise
    except Exception as error:  # network errors of any HTTP library
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
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # telemetry needs consent
    try:
        import huggingface_hub
    except ImportError as error:
        raise CheckpointError(f'To fetch models from the Hugging Face Hub: pip install "{EXTRA}".') from error
    return huggingface_hub


def _why_unusable(names: Iterable[str]) -> str:
    if any(name.endswith(".gguf") for name in names):
        return "it only holds GGUF files; download one of them and open it by its path"
    return "it holds no config.json with weights beside it"


def _error_message(hub: ModuleType, name: str, error: Exception) -> str:
    errors = hub.errors
    if isinstance(error, errors.GatedRepoError):
        return f"{name} is a gated model: request access on its page, then log in with `hf auth login`."
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"The Hugging Face Hub has no public model named {name!r}."
    if isinstance(error, errors.OfflineModeIsEnabled):
        return "The Hugging Face Hub is disabled here (HF_HUB_OFFLINE)."
    if isinstance(error, OSError) and error.strerror and not isinstance(error, (ConnectionError, TimeoutError)):
        return f"{name} cannot be stored in the local cache{reason(error)}."
    return f"The Hugging Face Hub cannot be reached for {name!r}. Check the network, or name a folder."


MODELS_VARIABLE = "HEADLIGHT_MODELS"
DEFAULT_MODEL = "stories-causal"  # opened first on the pages
WEIGHT_PATTERNS = ("*.safetensors", "pytorch_model*.bin", "*.ckpt", "*.pt", "*.pth")
MAX_SEARCH_DEPTH = 12  # levels of folders to search
MAX_FOLDERS = 50_000  # folders to search in one root, so that a search of "/" ends


@dataclass(frozen=True)
class CheckpointLocation:
    """A probable checkpoint, not read yet: a config with weights beside it, an adapter, or a single file."""

    name: str
    folder: Path
    shipped: bool


@dataclass(frozen=True)
class CatalogEntry:
    """A checkpoint that can be opened by name."""

    name: str
    folder: Path
    config: Config
    shipped: bool

    @property
    def size_bytes(self) -> int:
        """Size of its weights on disk."""
        return weight_bytes(self.folder)


def weight_bytes(location: Path) -> int:
    """Bytes of a checkpoint's weights on disk; links to missing files count 0."""
    location = files_folder(location)
    files = (
        {path for pattern in (*WEIGHT_PATTERNS, *SINGLE_FILES, *GGUF_PATTERNS) for path in location.glob(pattern)}
        if location.is_dir()
        else [location]
    )
    return sum(path.stat().st_size for path in files if path.is_file() and path.name not in LENS_FILES)


def checkpoint_locations(
    folders: Iterable[str | Path] = (), *, include_hub_cache: bool = True, within_root: bool = False
) -> tuple[CheckpointLocation, ...]:
    """Shipped models, those below `folders` and $HEADLIGHT_MODELS, then (`include_hub_cache`) the Hugging Face cache.

    DEFAULT_MODEL comes first, and the first checkpoint with a name wins. `within_root` skips folders whose links lead
    out of their root, which are always skipped in the cache.
    """
    roots = [*map(Path, folders), *map(Path, filter(None, os.environ.get(MODELS_VARIABLE, "").split(os.pathsep)))]
    shipped, hub = assets_dir() / "models", hub_cache_folder()
    locations: dict[str, CheckpointLocation] = {}
    for root in (shipped, *roots, *([hub] if include_hub_cache else [])):
        for folder in sorted(_search_root(root), key=lambda path: path != shipped / DEFAULT_MODEL):
            if (within_root or root == hub) and not _stays_within(folder, root):
                continue
            name = folder.resolve().name if folder == root else folder.relative_to(root).as_posix()
            name = _hub_name(folder, hub) if root == hub else name
            for behind in (f"/{tower}" for tower in TOWERS) if has_two_towers(folder) else ("",):
                place = CheckpointLocation(name + behind, Path(f"{folder}{behind}"), shipped=root == shipped)
                locations.setdefault(name + behind, place)
    return tuple(locations.values())


def catalog(folders: Iterable[str | Path] = ()) -> tuple[CatalogEntry, ...]:
    """Checkpoints whose config can be read; for others `load` reports the reason."""
    return tuple(entry for place in checkpoint_locations(folders) for entry in _readable_entries(place))


def find_checkpoint(
    name: str, folders: Iterable[str | Path] = (), *, allow_paths: bool = True, fetch: bool = False
) -> Path:
    """The folder of a name in the catalog, or (`allow_paths`) any path.

    With `fetch`, a model id of the Hugging Face Hub is downloaded into its cache, or completed there. Raises
    CheckpointError with a list of the known names.
    """
    location = next((place for place in checkpoint_locations(folders) if place.name == name), None)
    if location and any(True for _ in _readable_entries(location)):
        return location.folder
    if (
        allow_paths and name and os.path.exists(files_folder(Path(name)))
    ):  # Path.is_dir would raise for a name longer than file names may be
        return Path(name)
    reason = ""
    if fetch and is_hub_id(name):
        try:
            return download_model(name, hub_cache_folder())
        except CheckpointError as error:
            reason = f" {error}"
    if location:
        return location.folder  # `load` reports what is wrong with it
    names = [entry.name for entry in catalog(folders)]
    known, near = ", ".join(names) or "none", suggestion(name, names)
    path = ", or the path of a checkpoint folder" if allow_paths else ""
    raise CheckpointError(f"There is no model {shortened(name)!r}.{near} Known: {known}{path}.{reason}")


def _readable_entries(location: CheckpointLocation) -> Iterator[CatalogEntry]:
    try:
        yield CatalogEntry(location.name, location.folder, read_config(location.folder), location.shipped)
    except CheckpointError:
        return


def _search_root(root: Path) -> list[Path]:
    if not os.path.isdir(root):
        return [root] if os.path.isfile(root) else []
    found = []
    for number, (folder, below, files) in enumerate(os.walk(root)):
        if number >= MAX_FOLDERS:
            break
        path = Path(folder)
        if CONFIG in files and any(map(may_be_weights, files)):
            found.append(path)
        elif CONFIG not in files:
            found += candidates_without_config(path, files)
        at_max_depth = len(path.relative_to(root).parts) >= MAX_SEARCH_DEPTH
        below[:] = [] if at_max_depth else sorted(name for name in below if not name.startswith("."))
    return sorted(found, key=lambda path: (not _is_current_snapshot(path), path))


def _is_current_snapshot(snapshot: Path) -> bool:
    """Whether a snapshot in the Hub's cache is the latest, as named by `refs/main`."""
    try:
        return read_regular(snapshot.parent.parent / "refs" / "main", 1_000).decode().strip() == snapshot.name
    except (OSError, ValueError):
        return False


def _stays_within(location: Path, root: Path) -> bool:
    """Whether all files of a checkpoint lie within the root, with links followed."""
    try:
        resolved_root = root.resolve()
        paths = (path for folder in folders_read(location) for path in (folder, *folder.iterdir()))
        return all(path.resolve().is_relative_to(resolved_root) for path in paths)
    except (OSError, RuntimeError):  # removed meanwhile, or circular links
        return False


def hub_cache_folder() -> Path:
    """The cache folder of huggingface_hub; a snapshot's files in it are links to blobs."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = os.environ.get("HF_HOME") or Path(caches) / "huggingface"
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser().resolve()


def _hub_name(folder: Path, hub: Path) -> str:
    """`models--google--t5/snapshots/0123` gives google/t5."""
    parts = folder.relative_to(hub).parts
    if len(parts) == 3 and parts[0].startswith("models--") and parts[1] == "snapshots":
        return hub_id(parts[0])
    return folder.relative_to(hub).as_posix()


MAX_CARD_WORDS = 60  # characters per value in a card's front matter
MAX_TOUR = 400  # characters of the line that names heads; a longer one names none
NO_MEMORY_LIMIT = 1 << 62  # a model too large for this machine still has metadata
TOKENIZER_TYPES = {"BPE": "byte pairs", "WordPiece": "WordPiece", "Unigram": "Unigram", "WordLevel": "words"}
_TYPE_PATTERN = re.compile(rb'"model"\s*:\s*\{[^{}\[\]]*?"type"\s*:\s*"(\w{1,20})"')
_HEAD_PATTERN = re.compile(r"(\w{1,20}\.\d{1,9}\.\w{1,20})\[(\d{1,9})\]")
_LICENCE_LIST_PATTERN = re.compile(r"^licen[cs]e:[ \t]*\n((?:[ \t]*- .+\n)+)", re.MULTILINE)


@dataclass(frozen=True)
class CheckpointMetadata:
    """The metadata of a checkpoint before it is loaded; `memory_bytes` is for float32.

    `purpose` is a short phrase from the model's card (`purpose: Sorts numbers`); most cards have none. `series` is the
    card's name for a series of models that were trained alike and differ in one part only. If the checkpoint cannot be
    loaded, `error` is the reason, `config` is None, and unknown fields are empty or 0.
    """

    family: str
    config: Config | None
    parameter_count: int
    tokenizer: str
    licence: str
    error: str = ""
    purpose: str = ""
    series: str = ""

    @property
    def memory_bytes(self) -> int:
        """The memory of its parameters."""
        return FLOAT32_BYTES * self.parameter_count


def read_metadata(folder: Path, name: str = "") -> CheckpointMetadata:
    """The metadata of a folder; no weight is read. `error` describes a problem, with the checkpoint's `name`."""
    name = name or display_name(folder)
    licence = purpose = series = family = tokenizer = ""
    try:
        with wrap_errors(CheckpointError, f"{name} cannot be opened"):  # a damaged folder must not abort a listing
            card = read_card(folder)
            licence, purpose, series = card_licence(card), card_purpose(card), card_series(card)
            source = open_source(folder, name)
            family = shortened(str(source.config_json.get("model_type") or ""))
            tokenizer = gguf_tokenizer_type(source.gguf.fields) if source.gguf else tokenizer_type(source.folder)
            config = _config_from_tensor_names(source)
            model = meta_model_within(config, source.name, NO_MEMORY_LIMIT)
    except CheckpointError as error:
        return CheckpointMetadata(family, None, 0, tokenizer, licence, str(error), purpose, series)
    parameter_count = sum(parameter.numel() for parameter in model.parameters())
    return CheckpointMetadata(family, config, parameter_count, tokenizer, licence, purpose=purpose, series=series)


@dataclass(frozen=True)
class _ExamplesFile:
    examples: tuple[Example, ...]


def read_examples(folder: Path) -> tuple[Example, ...]:
    """The example texts in a checkpoint's `examples.json`; none if there is no such file.

    Raises CheckpointError for a file that cannot be read.
    """
    path = folder / EXAMPLES
    if not path.is_file():
        return ()
    with wrap_errors(CheckpointError, f"{display_name(folder)}: its {EXAMPLES} cannot be read"):
        values = {"examples": json.loads(read_regular(path, MAX_JSON_BYTES))}
        return from_plain(_ExamplesFile, values, "example", CheckpointError).examples


def _config_from_tensor_names(source: CheckpointSource) -> Config:
    """The Config from the tensor names only; `load` also compares two tensors that may be tied."""
    if source.config_json.get("model_type") == MODEL_TYPE:
        return native_config(source)
    fields = ConfigReader(source.config_json, source.name)
    reject_unsupported(fields)
    tensors = _tensor_names(source)
    family, fields, _ = find_family(fields, tensors)
    return with_processor(make_plan(family, fields, tensors).config, family, source)


def _tensor_names(source: CheckpointSource) -> LazyTensors:
    """The tensor names; none if they are only known after reading a whole pickle."""
    pickles = [path for path in source.folder.glob("pytorch_model*.bin") if path.is_file()]
    needs_full_read = not any(source.folder.glob("*.safetensors")) and not all(map(zipfile.is_zipfile, pickles))
    return LazyTensors({}) if needs_full_read and not source.gguf else source.open_tensors()


def tokenizer_type(folder: Path) -> str:
    """The kind of tokenizer in a folder (of two, the decoder's), in a word or two; empty if there is none."""
    folder = inner if (inner := folder / PARTS[1]).is_dir() else folder
    if (folder / TOKENIZER_FILE).is_file():
        kind = _TYPE_PATTERN.search(read_regular(folder / TOKENIZER_FILE, MAX_JSON_BYTES))
        return TOKENIZER_TYPES.get(kind[1].decode(), kind[1].decode()) if kind else TOKENIZER_FILE
    return legacy_tokenizer_type(folder)


def card_licence(text: str) -> str:
    """The licence in a model card's front matter; empty if it names none."""
    front_matter = _front_matter(text)
    listed = _LICENCE_LIST_PATTERN.search(front_matter + "\n")
    if listed:
        return ", ".join(line.strip(" \t-'\"") for line in listed[1].strip().splitlines())[:MAX_CARD_WORDS]
    return _first_value("licen[cs]e", front_matter)


def card_purpose(text: str) -> str:
    """The purpose of a model in its card's front matter; empty if it has none."""
    return _first_value("purpose", _front_matter(text))


def card_series(text: str) -> str:
    """The series of models trained alike except for one part, in a card's front matter."""
    return _first_value("series", _front_matter(text))


def card_tour(text: str) -> tuple[tuple[tuple[str, int], ...], int]:
    """The heads that change the answer to a model's first example, in its card's front matter.

    `tour: decoder.5.self[5] at 4` names a head by its attention and number, and the token with the answer; others may
    follow. The token is -1 if it is the one that the task predicts, and there are no heads without such a line.
    """
    named = _first_line("tour", _front_matter(text))
    if len(named) > MAX_TOUR:
        return (), -1
    heads = tuple(dict.fromkeys((path, int(head)) for path, head in _HEAD_PATTERN.findall(named)))
    place = re.search(r" at (\d{1,9})$", named)
    return heads, int(place[1]) if place else -1


def card_head(text: str) -> tuple[str, int] | None:
    """The head that pages show first, in a card's front matter: its attention and number; None without such a line.

    `head: encoder.1.self[7]` keeps addresses without a head as they were, whatever the first example is.
    """
    named = _HEAD_PATTERN.fullmatch(_first_line("head", _front_matter(text)))
    return (named[1], int(named[2])) if named else None


def _front_matter(text: str) -> str:
    """The lines between the first two `---` of a model card."""
    found = re.match(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", text, re.DOTALL)
    return found[1] if found else ""


def _first_value(field: str, front_matter: str) -> str:
    return _first_line(field, front_matter).strip("[]'\" \t")[:MAX_CARD_WORDS]


def _first_line(field: str, front_matter: str) -> str:
    found = re.search(rf"^{field}:[ \t]*(\S.*)$", front_matter, re.MULTILINE)
    return found[1].strip() if found else ""
