"""Config: the sizes of a model, and one name for each of its interchangeable parts."""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields, replace
from math import inf
from typing import Any

from model.errors import ConfigError

ARCHITECTURES = ("decoder", "encoder", "encoder-decoder")
POOLINGS = ("first", "mean", "max")
# The largest of each size: no model comes near, and no hostile file makes a product overflow or a loop endless.
_SIZES = {
    "vocabulary": 2**31, "context": 2**31, "width": 2**20, "layers": 2**10, "encoder_layers": 2**10, "heads": 2**20,
    "key_value_heads": 2**20, "head_width": 2**20, "value_width": 2**20, "inner": 2**20,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Config:
    """What a Transformer is built from; every string is a key of a table elsewhere in `model`.

    Sizes are counts (of tokens, channels, layers, heads). A size of 0 is filled in from the others:
    `key_value_heads` = heads, `head_width` = width / heads, `value_width` = head_width, `inner` = 4 width,
    `encoder_layers` = layers. `embedding_norm` norms the embeddings before the first block, whose attention needs no
    norm of its own then (`first_norm` false; ModernBERT). `start_token` is what the decoder of an encoder-decoder
    reads first. Raises ConfigError where sizes do not go together.
    """

    architecture: str = "decoder"
    vocabulary: int
    context: int
    width: int
    layers: int
    encoder_layers: int = 0
    heads: int
    key_value_heads: int = 0
    head_width: int = 0
    value_width: int = 0
    inner: int = 0
    position: str = "rope"
    kernel: str = "softmax"
    masks: tuple[str, ...] = ("causal",)
    scale: bool = True
    norm: str = "rmsnorm"
    norm_epsilon: float = 1e-5
    placement: str = "pre"
    embedding_norm: bool = False
    first_norm: bool = True
    feedforward: str = "swiglu"
    bias: bool = False
    rope_base: float = 10_000.0
    top: str = "language"
    tied: bool = True
    labels: tuple[str, ...] = ()
    start_token: int = 0
    pooling: str = "first"
    dropout: float = 0.0

    def __post_init__(self) -> None:
        self._fill_in()
        self._check()

    def _fill_in(self) -> None:
        def fill(name: str, size: int) -> None:
            if getattr(self, name) == 0:
                object.__setattr__(self, name, size)

        object.__setattr__(self, "masks", tuple(self.masks))
        object.__setattr__(self, "labels", tuple(self.labels))
        for name, largest in _SIZES.items():
            size = getattr(self, name)
            if type(size) is not int or not 0 <= size <= largest:
                raise ConfigError(f"{name} is {size!r}; it must be a whole number, at most {largest:,}.")
        if self.heads < 1:
            raise ConfigError(f"heads is {self.heads}; a model needs at least one.")
        if self.head_width == 0 and self.width % self.heads:
            raise ConfigError(
                f"width {self.width} does not divide into {self.heads} heads; "
                "give head_width, or a width that is a multiple of heads."
            )
        fill("key_value_heads", self.heads)
        fill("head_width", self.width // self.heads)
        fill("value_width", self.head_width)
        fill("inner", 4 * self.width)
        if self.architecture == "encoder-decoder":
            fill("encoder_layers", self.layers)

    def _check(self) -> None:
        if self.architecture not in ARCHITECTURES:
            raise ConfigError(f"architecture is {self.architecture!r}; possible are {', '.join(ARCHITECTURES)}.")
        if self.pooling not in POOLINGS:
            raise ConfigError(f"pooling is {self.pooling!r}; possible are {', '.join(POOLINGS)}.")
        for name in _SIZES:
            if getattr(self, name) < 1 and name not in ("layers", "encoder_layers"):
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if self.heads % self.key_value_heads:
            raise ConfigError(
                f"{self.heads} heads cannot share {self.key_value_heads} key/value heads evenly; "
                "key_value_heads must divide heads."
            )
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"dropout is {self.dropout}; it must be at least 0 and below 1.")
        if not 0.0 <= self.norm_epsilon < inf:
            raise ConfigError(f"norm_epsilon is {self.norm_epsilon}; it must be a number that is not negative.")
        if not 0.0 < self.rope_base < inf:
            raise ConfigError(f"rope_base is {self.rope_base}; it must be a number above 0.")
        if not 0 <= self.start_token < self.vocabulary:
            raise ConfigError(f"start_token is {self.start_token}; it must be in the vocabulary of {self.vocabulary}.")

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks this architecture has, in the order they run."""
        return ("encoder", "decoder") if self.architecture == "encoder-decoder" else (self.architecture,)

    @property
    def has_cross(self) -> bool:
        """Whether the decoder looks at an encoder."""
        return self.architecture == "encoder-decoder"

    def depth(self, stack: str) -> int:
        """How many layers `stack` has."""
        return self.encoder_layers if self.has_cross and stack == "encoder" else self.layers

    def change(self, **choices: Any) -> Config:
        """The same config with some fields replaced, checked again."""
        return replace(self, **choices)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; `from_dict` brings it back."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Config:
        """From plain JSON values. Raises ConfigError for unknown, missing or retyped fields."""
        known = {field.name: field for field in fields(cls)}
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ConfigError(f"Unknown config fields: {', '.join(unknown)}. Known: {', '.join(sorted(known))}.")
        missing = sorted(name for name, field in known.items() if field.default is MISSING and name not in values)
        if missing:
            raise ConfigError(f"The config misses {', '.join(missing)}.")
        return cls(**{name: _typed(name, str(known[name].type), value) for name, value in values.items()})


def _typed(name: str, kind: str, value: Any) -> Any:
    """The value as the field wants it, or a sentence that says what was wanted and what came."""
    if kind.startswith("tuple"):
        if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
            return tuple(value)
    elif kind == "float":
        if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
            return float(value)
    elif type(value).__name__ == kind:
        return value
    wanted = "a list of strings" if kind.startswith("tuple") else kind
    raise ConfigError(f"{name} is {value!r}; wanted {wanted}.")
