"""LoRA adapters (Hu et al. 2021) as PEFT saves them, merged into their base model's weights.

An adapter's file has low-rank changes of some modules, and whole tensors that replace the base's: a classifier head, or
embeddings with more rows. What PEFT would compute otherwise is refused in a sentence.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.families import FAMILIES
from headlight.checkpoints.families.two_models import ENCODERS, two_models
from headlight.checkpoints.file_rules import ADAPTER_CONFIG, CONFIG, PARTS
from headlight.checkpoints.tensor_files import LazyTensors, read_tensors, tensor_files
from headlight.checkpoints.weight_mapping import WeightRules
from headlight.errors import CheckpointError, shortened
from headlight.text.pattern_cost import PatternError, pattern_cost

ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
MAX_PATH_LENGTH = 500  # of a module's path, which patterns are matched against
_PREFIX = "base_model.model."
# Parts of a name that PEFT adds while it runs.
_WRAPPERS = re.compile(r"\.(?:modules_to_save|default|base_layer)(?=\.|$)")
_CHANGES = ("lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B", "lora_magnitude_vector")
_CHANGE = re.compile(rf"(?P<module>.+)\.(?P<part>{'|'.join(_CHANGES)})(?:\.weight)?$")
_REQUIRED_VALUES = {
    "peft_type": "LORA", "use_qalora": False, "lora_bias": False,
    **dict.fromkeys(
        ("alora_invocation_tokens", "layer_replication", "trainable_token_indices", "target_parameters"), ([], {})
    ),
}  # fmt: skip
# Ways to begin training: those that leave the base's weights as they are, and those that subtract the first change.
_PLAIN_STARTS = (True, False, "gaussian", "eva", "orthogonal", "mica")
_SUBTRACTED_STARTS = ("pissa", "olora")
_CLASS_OF_TASK = {
    "SEQ_CLS": "ForSequenceClassification",
    "TOKEN_CLS": "ForTokenClassification",
    "QUESTION_ANS": "ForQuestionAnswering",
}
_HEADS = re.compile(r"(?:For[A-Z]\w*|LMHeadModel|Model)$")
_OUTPUT_HEADS = ("lm_head.weight", "output_projection.weight", "predictions.decoder.weight", "lm_head.decoder.weight")
_LABELS = re.compile(r"(?:.*\.)?(?:classifier|score|classifier\.out_proj|classification_head\.out_proj)\.weight")
_EMBEDDING = re.compile(r"(?:.*\.)?(?:embed_tokens|word_embeddings|wte|shared)\.weight")


def find_base_model(folder: Path, name: str) -> Path:
    """The folder of the adapter's base model: beside the adapter or inside its folder."""
    fields = ConfigReader(read_json(folder / ADAPTER_CONFIG, name), name)
    base = Path(fields.string("base_model_name_or_path")).name
    for candidate in (folder.parent / base, folder / base, folder / "base"):
        if base not in ("", "..") and os.path.isfile(candidate / CONFIG) and candidate.resolve() != folder.resolve():
            return candidate
    raise CheckpointError(f"{name} is an adapter of {base[:80]!r}; put that model's folder beside it.")


def adapter_files(folder: Path, name: str) -> tuple[Path, ...]:
    """The weight files of an adapter; empty if the folder has none."""
    return tensor_files(folder, name, *ADAPTER_WEIGHTS)


@dataclass(frozen=True)
class LowRankChange:
    """The tensors of one module's change: A and B, and with DoRA a magnitude, by the part of the name that says so."""

    module: str
    readers: Mapping[str, Callable[[], Tensor]]


class Adapter:
    """An adapter's settings and weights, with names as in its base model, whose config.json is `base_config`.

    Raises CheckpointError for settings that change the computation in a way that is not supported.
    """

    def __init__(self, folder: Path, name: str, base_config: Mapping[str, Any]) -> None:
        self.base_config = base_config
        self.name, self.fields = name, ConfigReader(read_json(folder / ADAPTER_CONFIG, name), name)
        self.fields.require_values(_REQUIRED_VALUES)
        self.start = self._start()
        self.tensors = read_tensors(folder, name, *ADAPTER_WEIGHTS)

    def _start(self) -> str:
        """The way in which training began, if it subtracted something from the base's weights; else ""."""
        start = self.fields.values.get("init_lora_weights", True)
        if start in _PLAIN_STARTS:
            return ""
        if start in _SUBTRACTED_STARTS:
            return str(start)
        raise CheckpointError(
            f"{self.name}: its init_lora_weights is {shortened(str(start))!r}, which changed the base model's weights "
            "in a way that cannot be computed again. Merge it with PEFT's merge_and_unload, and open the merged model."
        )

    @cached_property
    def changes(self) -> tuple[LowRankChange, ...]:
        """The low-rank changes, by module."""
        readers: dict[str, dict[str, Callable[[], Tensor]]] = {}
        for key, reader in self.tensors.readers.items():
            if found := _CHANGE.match(_base_name(key)):
                readers.setdefault(found["module"], {})[found["part"]] = reader
        return tuple(LowRankChange(module, parts) for module, parts in sorted(readers.items()))

    @cached_property
    def replacements(self) -> dict[str, Callable[[], Tensor]]:
        """The tensors that replace those of the base model, by name."""
        names = {key: _base_name(key) for key in self.tensors.readers}
        unknown = sorted(name for name in names.values() if "lora_" in name and not _CHANGE.match(name))
        if unknown:
            raise CheckpointError(f"{self.name}: unsupported adapter weights: {', '.join(unknown[:5])}.")
        return {name: self.tensors.readers[key] for key, name in names.items() if not _CHANGE.match(name)}

    def merged(self, base: LazyTensors) -> LazyTensors:
        """The base model's tensors with the adapter's changes and replacements. Raises CheckpointError."""
        self._reject_shared_weights(base)
        readers = dict(base.readers)
        by_inner_name = {name.partition(".")[2]: name for name in readers}
        embedding = next(filter(_EMBEDDING.fullmatch, base), "")
        for name, reader in self.replacements.items():
            readers[_find(name, readers, by_inner_name) or name] = reader
        for change in self.changes:
            found = (_find(f"{name}.weight", readers, by_inner_name) for name in self._names(change.module))
            target = next(filter(None, found), None)
            if target is None and embedding and change.module.endswith("lm_head"):
                target = f"{change.module}.weight"  # of a base that ties it to its embedding
                readers[target] = base.readers[embedding]
            if target is None:
                raise CheckpointError(
                    f"{self.name}: the adapter changes {change.module}.weight, which its base does not have."
                )
            readers[target] = partial(self._changed_weight, change, readers[target])
        if self.fields.boolean("ensure_weight_tying", False):
            return LazyTensors(readers)
        replaced = {name: reader for name, reader in base.readers.items() if readers[name] is not reader}
        return LazyTensors(readers, replaced)

    @cached_property
    def _base_rules(self) -> WeightRules:
        """The rules of the base model's family."""
        model_type = str(self.base_config.get("model_type"))
        if model_type in ENCODERS:
            return two_models(ConfigReader(self.base_config, self.name))[0].weights
        return FAMILIES[model_type].weights if model_type in FAMILIES else {}

    def _config_of(self, name: str) -> tuple[str, Mapping[str, Any]]:
        """The part of the base model that has a module or tensor, "" for a model of one part, and its config."""
        part = name.partition(".")[0]
        inner = self.base_config.get(part) if part in PARTS else None
        return (part, inner) if isinstance(inner, Mapping) else ("", self.base_config)

    def _names(self, module: str) -> Iterator[str]:
        """The names of a module: the adapter's own, and those that its family has in files of other versions."""
        yield module
        for row in self._base_rules.values():
            options = (row if isinstance(row, str) else row.source).split("|")
            for option in options if len(options) > 1 else ():
                pattern = re.escape(option).replace(re.escape("{i}"), r"(?P<i>\d+)")
                if found := re.fullmatch(rf"(?P<before>(?:.*\.)?){pattern}", module):
                    yield from (
                        found["before"] + name.replace("{i}", found.groupdict().get("i", "")) for name in options
                    )

    def _reject_shared_weights(self, base: LazyTensors) -> None:
        """Raise CheckpointError for changes that reach less far, or further, than their names say.

        PEFT changes an embedding of encoder, decoder and output head in one of them only. PiSSA and OLoRA subtract from
        a tied output head, and thereby from the embedding.
        """
        names = {f"{change.module}.weight" for change in self.changes} | set(self.replacements)
        kept_tied = self.fields.boolean("ensure_weight_tying", False)
        saved = self.fields.list_of("modules_to_save", str) if self.fields.has("modules_to_save") else []
        changed = sorted(
            name for name in names
            if _EMBEDDING.fullmatch(name) and not kept_tied
            and (name not in self.replacements or name.removesuffix(".weight").endswith(tuple(saved)))
        )  # fmt: skip
        heads = [self._config_of(name)[1] for name in names if name.endswith(_OUTPUT_HEADS)]
        if self.start and any(config.get("tie_word_embeddings") is not False for config in heads):
            raise CheckpointError(
                f"{self.name}: its init_lora_weights is {self.start!r}, which changed the embedding together with the "
                "output head that is tied to it. Merge it with PEFT's merge_and_unload, and open the merged model."
            )
        if changed and any(name.endswith(("shared.weight", "encoder.embed_tokens.weight")) for name in base):
            raise CheckpointError(
                f"{self.name}: the adapter changes {changed[0]}, which encoder, decoder and output head share; PEFT "
                "changes it in one of them only. Merge it with PEFT's merge_and_unload, and open the merged model."
            )

    @property
    def changed_config(self) -> dict[str, Any]:
        """The base model's config with the adapter's head and vocabulary."""
        values = self.base_config
        changed = dict(values)
        ending = _CLASS_OF_TASK.get(self.fields.string("task_type", ""))
        classes = [name for name in values.get("architectures") or () if isinstance(name, str)]
        mapping = self.fields.nested("auto_mapping")
        if ending and classes:
            changed["architectures"] = [_HEADS.sub("", classes[0]) + ending]
        elif mapping and mapping.has("base_model_class"):  # of an adapter without a task
            changed["architectures"] = [mapping.string("base_model_class")]
        for name, reader in self.replacements.items():
            if _LABELS.fullmatch(name):
                changed |= _labels(values, _row_count(reader(), self.name, name))
            elif _EMBEDDING.fullmatch(name):
                part, config = self._config_of(name)
                rows = {"vocab_size": _row_count(reader(), self.name, name)}
                changed |= {part: {**config, **rows}} if part else rows
        return changed

    def _changed_weight(self, change: LowRankChange, weight: Callable[[], Tensor]) -> Tensor:
        is_embedding = "lora_embedding_A" in change.readers
        # Only GPT-2's layers are stored as [in out]. fan_in_fan_out does not say so: PEFT writes the value of the last
        # module that it changed.
        in_layer = "h" in change.module.split(".")
        transposed = is_embedding or (self._config_of(change.module)[1].get("model_type") == "gpt2" and in_layer)
        sides = ("lora_embedding_A", "lora_embedding_B") if is_embedding else ("lora_A", "lora_B")
        if not all(side in change.readers for side in sides):
            raise CheckpointError(f"{self.name}: the adapter lacks half of its change of {change.module}.")
        down, up = (change.readers[side]() for side in sides)
        base = weight().float()
        base = base.t() if transposed and base.dim() == 2 else base
        if not _shapes_fit(down, up, base):
            given = " and ".join(str(tuple(part.shape)) for part in (down, up))
            raise CheckpointError(
                f"{self.name}: the adapter gives {change.module} as {given}, which does not fit the base weight of "
                f"shape {tuple(weight().shape)}."
            )
        scale = self._scale(change.module, len(down))
        start = "" if is_embedding else self.start  # PEFT begins with zeros for embeddings
        changed = _without_start(base, start, len(down), scale) + (up.float() @ down.float()) * scale
        if "lora_magnitude_vector" in change.readers:
            changed = self._with_magnitude(changed, change)
        return changed.t() if transposed else changed

    def _scale(self, module: str, rank: int) -> float:
        """The factor on B A: alpha / rank, or alpha / sqrt(rank) (Kalajdzievski 2023, rank-stabilized LoRA)."""
        alpha = self._module_value("alpha_pattern", module, self.fields.number("lora_alpha", 8))
        return alpha / math.pow(max(rank, 1), 0.5 if self.fields.boolean("use_rslora", False) else 1.0)

    def _with_magnitude(self, changed: Tensor, change: LowRankChange) -> Tensor:
        """The changed weight with a learned norm of each row (Liu et al. 2024, DoRA)."""
        magnitude = change.readers["lora_magnitude_vector"]().float().flatten()
        if len(magnitude) != len(changed):
            raise CheckpointError(f"{self.name}: the magnitudes of {change.module} (DoRA) do not fit its weight.")
        return changed.mul((magnitude / torch.linalg.vector_norm(changed, dim=1))[:, None])

    def _module_value(self, name: str, module: str, default: float) -> float:
        """A number that may differ by module: of the first pattern that matches the end of its path, as in PEFT."""
        group = self.fields.nested(name)
        for pattern in group.values if group else ():
            if group and self._matches(pattern, module):
                return group.number(pattern)
        return default

    def _matches(self, pattern: str, module: str) -> bool:
        try:
            if pattern_cost(pattern).longest_text < MAX_PATH_LENGTH:
                raise PatternError("it may take far too long")
            return re.match(rf"(.*\.)?({pattern})$", module[:MAX_PATH_LENGTH]) is not None
        except (PatternError, re.error) as error:
            raise CheckpointError(
                f"{self.name}: its adapter_config.json has the pattern {shortened(pattern)!r}, which cannot be "
                f"matched: {error}."
            ) from error


def _base_name(key: str) -> str:
    """The name in the base model of a tensor in an adapter's file."""
    return _WRAPPERS.sub("", key.partition(_PREFIX)[2] or key)


def _find(name: str, known: Mapping[str, object], by_inner_name: Mapping[str, str]) -> str | None:
    """A base model's tensor: by its name, or by its name without or with one more module around it."""
    return next((key for key in (name, name.partition(".")[2], by_inner_name.get(name)) if key in known), None)


def _row_count(weight: Tensor, adapter: str, name: str) -> int:
    """The rows of a matrix. Raises CheckpointError for another shape, and for a matrix without numbers."""
    if weight.dim() != 2 or not weight.numel():
        raise CheckpointError(f"{adapter}: its {name} has the shape {tuple(weight.shape)}; wanted a matrix.")
    return len(weight)


def _without_start(base: Tensor, start: str, rank: int, scale: float) -> Tensor:
    """The base weight without the change that training began with.

    PiSSA begins with the largest `rank` singular values (Meng et al. 2024), OLoRA with the first `rank` columns of
    a QR decomposition (Büyükakyüz 2024).
    """
    if start == "pissa":
        u, s, vh = torch.linalg.svd(base, full_matrices=False)
        return base.sub((u[:, :rank] * s[:rank]) @ vh[:rank])
    if start == "olora":
        q, r = torch.linalg.qr(base)
        return base.sub(q[:, :rank] @ r[:rank], alpha=scale)
    return base


def _labels(values: Mapping[str, Any], count: int) -> dict[str, Any]:
    """The labels of a head with `count` outputs: the config's if there are as many, else LABEL_0 and so on."""
    given = values.get("id2label")
    if isinstance(given, dict) and len(given) == count:
        return {}
    return {"id2label": {str(number): f"LABEL_{number}" for number in range(count)}}


def _shapes_fit(down: Tensor, up: Tensor, base: Tensor) -> bool:
    """Whether B A has the shape of the base weight; checked before it is computed."""
    flat = down.dim() == up.dim() == base.dim() == 2
    return flat and up.shape[1] == down.shape[0] and (up.shape[0], down.shape[1]) == tuple(base.shape)
