"""Load and save checkpoint folders: `config.json`, `model.safetensors`, `tokenizer.json`, `README.md` as model card.

A training run may keep the weights of some steps in the same folder: `steps/00400.safetensors` holds the weights after
400 steps.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path

import psutil
import torch
from safetensors.torch import load_file
from safetensors.torch import save as serialized
from torch import Tensor

from headlight.checkpoints.convert import LoadReport, inspect_foreign, load_weights
from headlight.checkpoints.file_rules import CARD, CONFIG, PARTS, SAFETENSORS_FILE, is_program
from headlight.checkpoints.generation_file import with_generation
from headlight.checkpoints.source import CheckpointSource, display_name, files_folder, open_source
from headlight.checkpoints.tokenizers.gguf import gguf_tokenizer
from headlight.checkpoints.tokenizers.open import open_tokenizer
from headlight.checkpoints.weight_mapping import ConversionPlan, join_names
from headlight.config import Config
from headlight.errors import CheckpointError, ConfigError, HeadlightError, shortened, wrap_errors
from headlight.file_writing import json_bytes, write_files
from headlight.nn.transformer import Transformer, meta_model
from headlight.origin import Origin
from headlight.paths import open_regular
from headlight.tasks import task_of
from headlight.text.tokenizer import TOKENIZER_FILE, Tokenizer
from headlight.vision.patches import class_token_tokenizer

FLOAT32_BYTES = 4
MAX_FREE_FRACTION = 0.9  # share of the free memory for weights


def meta_model_within(
    config: Config, name: str, limit: int | None = None, bytes_each: int = FLOAT32_BYTES
) -> Transformer:
    """The model on the meta device, whose parameters have shapes but no memory.

    Raises CheckpointError if they would take more than `limit` bytes (None: 90 % of the free memory) at `bytes_each`
    for each number.
    """
    allowed = free_memory() * MAX_FREE_FRACTION if limit is None else limit
    try:
        model = meta_model(config)
    except HeadlightError as error:
        raise CheckpointError(f"{name}: {error}") from error
    except (RuntimeError, OverflowError) as error:  # sizes whose product overflows
        raise CheckpointError(f"{name}: the sizes in its config exceed any memory.") from error
    needed = sum(parameter.numel() for parameter in model.parameters()) * bytes_each
    if needed > allowed:
        raise CheckpointError(
            f"{name}: its config needs {needed / 1e9:,.1f} GB of memory; {allowed / 1e9:,.1f} GB are allowed."
        )
    return model


def free_memory() -> int:
    """Bytes of memory available to this process: within its limit, and without swapping out other processes."""
    available = int(psutil.virtual_memory().available)
    if not sys.platform.startswith("linux"):
        return available
    limit, process = psutil.Process().rlimit(psutil.RLIMIT_DATA)[0], psutil.Process().memory_info()
    return available if limit == psutil.RLIM_INFINITY else max(0, min(available, limit - process.data))


MODEL_TYPE = "headlight"
MAX_CARD_CHARACTERS = 200_000  # to read of a card
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint: model, tokenizer, text of the model card (may be empty), and notes on how it was loaded.

    `tensor_names` are the file's names of parameters with a different name there.
    """

    model: Transformer
    tokenizer: Tokenizer
    card: str
    notes: tuple[str, ...] = ()
    tensor_names: Mapping[str, str] = field(default_factory=dict)


def load(
    folder: str | Path, *, name: str = "", device: str = "auto", dtype: str = "float32", memory_limit: int | None = None
) -> Checkpoint:
    """Load a checkpoint folder, Headlight's own or of any family in FAMILIES; no code in it is run.

    Weights are converted to `dtype`; `memory_limit` is the most bytes they may take (None: 90 % of the free memory).
    Raises CheckpointError for every problem, in one sentence with the checkpoint's `name` (default: the folder's name)
    and without its path.
    """
    torch_device, torch_dtype = choose_device(device), _parse_dtype(dtype)
    name = name or display_name(Path(folder))
    with wrap_errors(CheckpointError, f"{name} cannot be opened"):
        return _load_source(open_source(Path(folder), name), torch_device, torch_dtype, memory_limit)


def _load_source(
    source: CheckpointSource, device: torch.device, dtype: torch.dtype, memory_limit: int | None
) -> Checkpoint:
    foreign = None if source.config_json.get("model_type") == MODEL_TYPE else inspect_foreign(source)
    config = native_config(source) if foreign is None else foreign.plan.config
    has_words = config.reads_text or task_of(config).predicts_tokens
    tokenizer = _open_tokenizer(source, config) if has_words else class_token_tokenizer(config.image.extra_tokens)
    if foreign is not None:
        _require_end_token(config, source, tokenizer)
        _leave_padding_out(foreign.plan, tokenizer)
    generation_notes: tuple[str, ...] = ()
    if foreign is not None and task_of(config).continues_text:
        config, generation_notes = with_generation(config, source, tokenizer)
    model = meta_model_within(config, source.name, memory_limit, dtype.itemsize)
    if foreign is None:
        _load_native_weights(source, model, device, dtype)
    report = LoadReport() if foreign is None else load_weights(foreign, model, device, dtype)
    model.origin = Origin.of_files(_bare_name(source.name), source.weight_files())
    model.requires_grad_(False).eval().pack_weights()
    notes = (
        *source.notes, *report.notes, *_gguf_notes(source, model), *_fitted_notes(config, tokenizer, source.name),
        *_transcript_notes(config, tokenizer), *generation_notes, *_program_notes(source),
    )  # fmt: skip
    return Checkpoint(model, tokenizer, read_card(source.folder), notes, report.tensor_names)


def _leave_padding_out(plan: ConversionPlan, tokenizer: Tokenizer) -> None:
    """Make a tokenizer refuse the padding token where the positions of a text are counted without it."""
    own, of_source = plan.family.uncounted_id(plan.fields), plan.family.source_uncounted_id(plan.fields)
    for reader, number in ((tokenizer, own), (tokenizer.source_tokenizer, of_source)):
        if number is not None:
            reader.uncounted_ids |= {number}


def _require_end_token(config: Config, source: CheckpointSource, tokenizer: Tokenizer) -> None:
    """Raise CheckpointError for an encoder-decoder that labels texts by an end token that is not their last one."""
    if not (config.has_cross_attention and task_of(config).whole_text and config.pooling == "last"):
        return
    last, end = tokenizer.encode("").ids[-1:], source.config_json.get("eos_token_id")
    if last != (end,):
        told = ", ".join(tokenizer.from_ids(last, "").tokens) or "no token of its own"
        raise CheckpointError(
            f"{source.name}: it labels a text by the last token whose id is {end} (eos_token_id), but its tokenizer "
            f"ends texts with {told}, which is not supported. Use a tokenizer that ends texts with that token."
        )


def _open_tokenizer(source: CheckpointSource, config: Config) -> Tokenizer:
    if source.gguf:
        return gguf_tokenizer(source.gguf.fields, source.name)
    if config.own_encoder is not None:
        return _tokenizers_of_two(source, config, config.own_encoder)
    return open_tokenizer(source.folder, str(source.config_json.get("model_type")), source.name)


def _tokenizers_of_two(source: CheckpointSource, config: Config, encoder: Config) -> Tokenizer:
    """The decoder's tokenizer, with that of an encoder that reads another vocabulary.

    Each may be in a folder inside, named encoder or decoder. Raises CheckpointError if one is missing.
    """
    values = source.config_json
    kinds = [str(values[part].get("model_type", values["model_type"])) for part in PARTS]
    folders = [source.folder / part if (source.folder / part).is_dir() else source.folder for part in PARTS]
    are_alike = kinds[0] == kinds[1] and encoder.vocabulary_size == config.vocabulary_size
    if config.reads_source_text and folders[0] == folders[1] and not are_alike:
        raise CheckpointError(
            f"{source.name}: its encoder and its decoder read different vocabularies; put the tokenizer of each into "
            "a folder inside it, named encoder and decoder."
        )
    tokenizer = open_tokenizer(folders[1], kinds[1], source.name)
    if config.reads_source_text and folders[0] != folders[1]:
        tokenizer.source_tokenizer = open_tokenizer(folders[0], kinds[0], source.name)
    return tokenizer


def _gguf_notes(source: CheckpointSource, model: Transformer) -> tuple[str, ...]:
    """The contents of a GGUF file, and the memory of its weights after dequantisation."""
    if source.gguf is None:
        return ()
    parameters = list(model.parameters())
    megabytes = sum(parameter.numel() * parameter.element_size() for parameter in parameters) / 1e6
    kind = str(parameters[0].dtype).removeprefix("torch.")
    return (f"{source.gguf.describe()}, and {megabytes:,.1f} MB in memory as {kind}.",)


def _fitted_notes(config: Config, tokenizer: Tokenizer, name: str) -> tuple[str, ...]:
    """Fit a tokenizer to the model's vocabulary, with a note on its tokens that the model has no embedding for.

    Raises CheckpointError if it adds such a token to every text.
    """
    beyond = _fit(tokenizer, config.vocabulary_size, name)
    if tokenizer.target_tokenizer is not tokenizer:
        tokenizer.target_tokenizer.fit_to(config.vocabulary_size)
    if tokenizer.source_tokenizer is not tokenizer and config.own_encoder:
        beyond += _fit(tokenizer.source_tokenizer, config.own_encoder.vocabulary_size, name)
    if not beyond:
        return ()
    count = "1 token" if len(beyond) == 1 else f"{len(beyond)} tokens"
    return (f"The model has no embedding for {count} of its tokenizer; texts may not have them: {join_names(beyond)}.",)


def _fit(tokenizer: Tokenizer, size: int, name: str) -> tuple[str, ...]:
    """The tokens that have no row in an embedding. Raises CheckpointError if one of them is added to every text."""
    around = tokenizer.backend.encode("").ids
    if around and max(around) >= size:
        token = shortened(str(tokenizer.backend.id_to_token(max(around))))
        raise CheckpointError(
            f"{name}: its tokenizer adds {token!r} to every text, but the model has no embedding for it."
        )
    return tokenizer.fit_to(size)


def _transcript_notes(config: Config, tokenizer: Tokenizer) -> tuple[str, ...]:
    """Notes on the tokens that begin the decoder, its heads that follow the sound, and the choice of a language."""
    notes = []
    if tokenizer.languages:
        names = join_names(tuple(tokenizer.languages), 4)
        notes.append(f"A text is in the language of the token that it begins with: {names}.")
    if config.decoder.prompt_token_ids:
        tokens = " ".join(
            tokenizer.from_ids((config.decoder.start_token_id, *config.decoder.prompt_token_ids), "").tokens
        )
        notes.append(f"Its decoder begins with {tokens}; a text that begins with special tokens replaces them.")
    if config.decoder.alignment_heads:
        heads = ", ".join(f"layer {layer} head {head}" for layer, head in config.decoder.alignment_heads)
        notes.append(f"Its cross-attention heads that follow the sound (alignment heads): {heads}.")
    return tuple(notes)


def _bare_name(name: str) -> str:
    """The name of a model outside this machine: for a path, its last part."""
    return display_name(Path(name)) if Path(name).exists() else name


def read_card(folder: Path) -> str:
    """The text of a folder's model card, empty if there is none."""
    try:
        with TextIOWrapper(open_regular(files_folder(folder) / CARD), encoding="utf-8", errors="replace") as file:
            return file.read(MAX_CARD_CHARACTERS)
    except OSError:
        return ""


def require_new_folder(folder: Path, force: bool = False) -> None:
    """Raise CheckpointError if writing a checkpoint there would replace other files."""
    if folder.exists() and not folder.is_dir():
        raise CheckpointError(f"{folder} is a file; give a folder, new or existing.")
    found = sorted(path.name for path in folder.iterdir()) if folder.exists() and not force else []
    if found:
        listed = ", ".join(found[:3]) + (" ..." if len(found) > 3 else "")
        raise CheckpointError(f"{folder} is not empty ({listed}). Give a new folder, or --force to write into it.")


def save(
    folder: str | Path, model: Transformer, tokenizer: Tokenizer, *, dtype: str = "bfloat16", card: str = ""
) -> None:
    """Write a folder that `load` opens; weights are rounded to `dtype`, and a tied weight is written once."""
    folder = Path(folder)
    config = {"model_type": MODEL_TYPE, "dtype": dtype, **model.config.to_dict()}
    files = {
        SAFETENSORS_FILE: serialized_weights(model, dtype),  # save_file would restrict the file to its owner
        CONFIG: json_bytes(config),
        TOKENIZER_FILE: tokenizer.to_bytes(),
    }
    write_files(folder, files | ({CARD: card.encode("utf-8")} if card else {}))
    if tokenizer.source_tokenizer is not tokenizer:
        tokenizer.source_tokenizer.save(folder / PARTS[0])


def serialized_weights(model: Transformer, dtype: str = "bfloat16") -> bytes:
    """The parameters as the contents of a safetensors file."""
    tensors = {
        name: parameter.detach().to("cpu", _parse_dtype(dtype)).contiguous()
        for name, parameter in model.named_parameters()  # yields a shared parameter once
    }
    return serialized(tensors, metadata={"format": "pt"})


def read_config(folder: Path, name: str = "") -> Config:
    """The Config of a checkpoint, from its config.json and tensor names. Raises CheckpointError."""
    name = name or display_name(folder)
    with wrap_errors(CheckpointError, f"{name} cannot be opened"):
        source = open_source(folder, name)
        is_native = source.config_json.get("model_type") == MODEL_TYPE
        return native_config(source) if is_native else inspect_foreign(source).plan.config


def native_config(source: CheckpointSource) -> Config:
    """The Config of a folder that `save` wrote. Raises CheckpointError."""
    fields = {name: value for name, value in source.config_json.items() if name not in ("model_type", "dtype")}
    try:
        return Config.from_dict(fields)
    except ConfigError as error:
        raise CheckpointError(f"{source.name}: {error}") from error


# The number of available devices of each kind.
DEVICE_COUNTS: Mapping[str, Callable[[], int]] = {
    "cpu": lambda: 1,
    "cuda": torch.cuda.device_count,
    "mps": lambda: int(torch.backends.mps.is_available()),
}


def choose_device(device: str = "auto") -> torch.device:
    """`auto` is CUDA if available, else Apple's MPS, else the CPU. Raises CheckpointError for a missing device."""
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    device_counts = {name: count() for name, count in DEVICE_COUNTS.items()}
    match = re.fullmatch(r"(\w+)(?::(0|[1-9]\d{0,8}))?", device, re.ASCII)
    if not match or int(match[2] or 0) >= device_counts.get(match[1], 0):
        available = ", ".join(["auto", *(name for name, count in device_counts.items() if count)])
        raise CheckpointError(f"There is no device {shortened(device)!r} here; available are {available}.")
    return torch.device(device)


def _load_native_weights(
    source: CheckpointSource, model: Transformer, device: torch.device, dtype: torch.dtype
) -> None:
    """Give a model the tensors of a folder that `save` wrote, with names and shapes checked."""
    parameters, stored = dict(model.named_parameters()), source.open_tensors()
    _check_tensor_names(source.name, set(parameters), set(stored))
    tensors = {}
    for name, parameter in parameters.items():
        tensor = stored[name]
        if tensor.shape != parameter.shape:
            raise CheckpointError(
                f"{source.name}: {name} is {tuple(tensor.shape)}; the config wants {tuple(parameter.shape)}."
            )
        tensors[name] = tensor.to(device, dtype)
    shared = {name: tensors["embedding.weight"] for name in model.state_dict() if name not in parameters}
    model.load_state_dict(tensors | shared, assign=True)
    model.tie_embeddings()


def _program_notes(source: CheckpointSource) -> tuple[str, ...]:
    """Notes on programs in a checkpoint, which are not run."""
    notes = []
    if source.config_json.get("auto_map"):
        notes.append(
            "Its config names its own program (auto_map), which is not run; Headlight's own implementation of the "
            "family is used."
        )
    names = sorted(path.name for path in source.folder.iterdir() if is_program(path.name))
    if names:
        count = "1 file is a program and is" if len(names) == 1 else f"{len(names)} files are programs and are"
        notes.append(f"{count} ignored: {join_names(names)}.")
    return tuple(notes)


def _check_tensor_names(name: str, wanted: set[str], found: set[str]) -> None:
    missing, unexpected = sorted(wanted - found), sorted(found - wanted)
    if missing or unexpected:
        problems = [f"missing {join_names(missing)}"] if missing else []
        problems += [f"unexpected {join_names(unexpected)}"] if unexpected else []
        raise CheckpointError(f"{name}: its weights do not fit its config: {'; '.join(problems)}.")


def _parse_dtype(name: str) -> torch.dtype:
    if name not in DTYPES:
        raise HeadlightError(f"There is no dtype {shortened(name)!r}. Known: {', '.join(DTYPES)}.")
    return DTYPES[name]


STEPS_FOLDER = "steps"


def kept_steps(folder: Path) -> tuple[int, ...]:
    """The steps whose weights are kept in a checkpoint's folder, in order."""
    files = (folder / STEPS_FOLDER).glob("*.safetensors")
    return tuple(sorted(int(path.stem) for path in files if path.stem.isdecimal()))


def save_step(folder: Path, model: Transformer, step: int) -> None:
    """Write the weights of a step."""
    path = _path(folder, step)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(serialized_weights(model))


def load_step(folder: Path, step: int) -> Checkpoint:
    """The checkpoint after a step. Raises CheckpointError for a step that was not kept."""
    checkpoint, path = load(folder), _path(folder, step)
    if not path.is_file():
        known = ", ".join(map(str, kept_steps(folder))) or "none"
        raise CheckpointError(f"{folder.name} has no weights of step {step}. Kept steps: {known}.")
    with wrap_errors(CheckpointError, f"{folder.name}: its weights of step {step} cannot be read"):
        tensors = load_file(path)
        for name, parameter in checkpoint.model.named_parameters():
            parameter.copy_(tensors[name])
    return checkpoint


def _path(folder: Path, step: int) -> Path:
    return folder / STEPS_FOLDER / f"{step:05}.safetensors"


MAX_NAMES = 1_000


@torch.no_grad()
def find_nonfinite(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Names of the file's tensors that hold a NaN or an infinity, at most MAX_NAMES; one pass over the weights."""
    names = [name for name, tensor in checkpoint.model.named_parameters() if not _is_finite(tensor)]
    # A file may hold several parameters in one tensor.
    return tuple(dict.fromkeys(checkpoint.tensor_names.get(name, name) for name in names))[:MAX_NAMES]


def describe_nonfinite(names: tuple[str, ...]) -> str:
    """A sentence about the names from `find_nonfinite`; empty if there are none."""
    if not names:
        return ""
    count = "1 tensor holds" if len(names) == 1 else f"{len(names)} tensors hold"
    return f"{count} NaN or infinite weights, so results will be meaningless: {join_names(names)}."


def _is_finite(tensor: Tensor) -> bool:
    # A sum needs no memory and is finite for all good weights; only if it is not, each number is checked.
    return bool(tensor.sum(dtype=torch.float32).isfinite()) or bool(tensor.isfinite().all())
