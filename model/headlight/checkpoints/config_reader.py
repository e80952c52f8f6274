"""Read the fields of a config.json one by one, each with its type checked."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from headlight.errors import CheckpointError, reason, shortened
from headlight.paths import MAX_JSON_BYTES, read_regular

MAX_LAYERS = 1_000  # the deepest transformer published has 1,000 layers
MAX_INTEGER = 2**31
FieldNames = str | tuple[str, ...]


class ConfigReader:
    """The fields of a config.json; each method takes a field's name (or its names in old and new files) and a default.

    A null counts as absent. `fields_read` collects the requested names. Methods raise CheckpointError for a value of
    the wrong type.
    """

    def __init__(self, values: Mapping[str, Any], name: str) -> None:
        self.values, self.name = values, name
        self.fields_read: set[str] = set()
        self.tensor_names: frozenset[str] = frozenset()  # the names of the tensors beside the config

    def with_defaults(self, **defaults: Any) -> ConfigReader:
        """The same fields, with a family's defaults for those that are absent or null."""
        missing = {name: default for name, default in defaults.items() if not self.has(name)}
        return self._replace_values({**self.values, **missing}) if missing else self

    def with_aliases(self, names: Mapping[str, str]) -> ConfigReader:
        """The same fields, with aliases under their usual names; the usual name wins if both are present."""
        aliased = {usual: self.values[name] for name, usual in names.items() if self.has(name) and not self.has(usual)}
        return self._replace_values({**self.values, **aliased}) if aliased else self

    def without(self, *names: str) -> ConfigReader:
        """The same fields without some of them."""
        return self._replace_values({name: value for name, value in self.values.items() if name not in names})

    def _replace_values(self, values: Mapping[str, Any]) -> ConfigReader:
        other = ConfigReader(values, self.name)
        other.fields_read, other.tensor_names = self.fields_read, self.tensor_names
        return other

    def integer(self, names: FieldNames, default: int | None = None) -> int:
        """A whole number of at least 0."""
        value = self._get(names, default)
        if type(value) is not int or not 0 <= value < MAX_INTEGER:
            raise self._type_error(names, value, "a whole number from 0 to 2^31")
        return value

    def integers(self, names: FieldNames, count: int, default: int) -> list[int]:
        """Several whole numbers, or one number for all."""
        value = self._get(names, default)
        numbers = value if isinstance(value, list) else [value] * count
        if len(numbers) != count or not all(type(item) is int and 0 <= item < MAX_INTEGER for item in numbers):
            raise self._type_error(names, value, f"a whole number from 0 to 2^31, or {count} of them")
        return numbers

    def layer_count(self, names: FieldNames, default: int | None = None) -> int:
        """Number of layers, at most MAX_LAYERS."""
        layers = self.integer(names, default)
        if layers > MAX_LAYERS:
            raise self._type_error(names, layers, f"at most {MAX_LAYERS:,} layers")
        return layers

    def number(self, names: FieldNames, default: float | int | None = None) -> float:
        """A finite number."""
        value = self._get(names, default)
        # A whole number beyond any float does not count as finite either.
        if type(value) not in (int, float) or not abs(value) <= sys.float_info.max:
            raise self._type_error(names, value, "a finite number")
        return float(value)

    def boolean(self, names: FieldNames, default: bool | None = None) -> bool:
        """True or false."""
        value = self._get(names, default)
        if not isinstance(value, bool):
            raise self._type_error(names, value, "true or false")
        return value

    def string(self, names: FieldNames, default: str | None = None) -> str:
        """A text."""
        value = self._get(names, default)
        if not isinstance(value, str):
            raise self._type_error(names, value, "a word")
        return value

    def choice(self, names: FieldNames, default: str, known: Mapping[str, str]) -> str:
        """The value that `known` has for the field's word, which must be one of its keys."""
        value = self.string(names, default)
        if value not in known:
            told = f"its {_joined(names)} is {shortened(value)!r}, which is not supported"
            raise CheckpointError(f"{self.name}: {told}; known are {', '.join(known)}.")
        return known[value]

    def list_of(self, names: FieldNames, kind: type | tuple[type, ...], default: Sequence[Any] = ()) -> list[Any]:
        """A list whose items have one type."""
        value = self._get(names, list(default))
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise self._type_error(names, value, "a list")
        return value

    def nested(self, names: FieldNames) -> ConfigReader | None:
        """The fields of a nested object; None if it is absent."""
        value = self._get(names, None, required=False)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._type_error(names, value, "a group of fields")
        return ConfigReader(value, f"{self.name}, {_joined(names)}")

    def has(self, name: str) -> bool:
        """Whether a field is present and not null."""
        return self.values.get(name) is not None

    def require_values(self, required: Mapping[str, Any]) -> None:
        """Raise CheckpointError for a field whose value is not the supported one; an absent field is accepted."""
        for name, supported in required.items():
            value = self.values.get(name)
            options = supported if isinstance(supported, tuple) else (supported,)
            if value is not None and value not in options:
                raise CheckpointError(
                    f"{self.name}: its {name} is {json.dumps(value)[:60]}, which changes the computation and is not "
                    "supported."
                )
            self.fields_read.add(name)

    def _get(self, names: FieldNames, default: Any, required: bool = True) -> Any:
        options = (names,) if isinstance(names, str) else names
        self.fields_read.update(options)
        found = next((self.values[name] for name in options if self.values.get(name) is not None), default)
        if found is None and required:
            raise CheckpointError(f"{self.name}: its config has no {_joined(names)}.")
        return found

    def _type_error(self, names: FieldNames, value: Any, wanted: str) -> CheckpointError:
        return CheckpointError(f"{self.name}: its {_joined(names)} is {str(value)[:60]!r}; wanted {wanted}.")


def _joined(names: FieldNames) -> str:
    return names if isinstance(names, str) else " or ".join(names)


def read_json(path: Path, name: str) -> dict[str, Any]:
    """A JSON object from a file. Raises CheckpointError with the checkpoint's `name`."""
    try:
        values: Any = json.loads(read_regular(path, MAX_JSON_BYTES).decode("utf-8"))
    except OSError as error:
        raise CheckpointError(f"{name} is not a checkpoint: it has no readable {path.name}{reason(error)}.") from error
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{name}: its {path.name} is not JSON{reason(error)}.") from error
    if not isinstance(values, dict):
        raise CheckpointError(f"{name}: its {path.name} is not a JSON object.")
    return values
