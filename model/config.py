"""Config: the sizes of a model, and one name for each of its interchangeable parts."""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass, replace
from math import inf
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from model.config_groups import Answer, ByLayer, Distances, Embed, Picture, Rotation, Slopes
from model.errors import ConfigError

ARCHITECTURES = ("decoder", "encoder", "encoder-decoder")
POOLINGS = ("first", "mean", "max", "last")
BIASES = ("query", "key", "value", "output", "gate", "rise", "fall", "norm", "transform")
PROJECTED = ("none", "tokens", "all")
TRANSFORMS = ("none", "dense", "dense-norm")
# The largest of each size: no model comes near, and no hostile file makes a product overflow or a loop endless.
_SIZES = {
    "vocabulary": 2**31, "context": 2**31, "width": 2**20, "layers": 2**10, "encoder_layers": 2**10, "heads": 2**20,
    "encoder_heads": 2**20, "key_value_heads": 2**20, "head_width": 2**20, "value_width": 2**20, "inner": 2**20,
    "encoder_inner": 2**20,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Config:
    """What a Transformer is built from; every string is a key of a table elsewhere in `model`.

    Sizes are counts (of tokens, channels, layers, heads). A size of 0 is filled in from the others:
    `key_value_heads` = heads, `head_width` = width / heads, `value_width` = head_width, `inner` = 4 width,
    and the encoder's own = the decoder's. `embedding_norm` norms the embeddings before the first block, whose
    attention may need no norm of its own then (`first_norm` false; ModernBERT). Where there is a `picture`, its patches
    stand behind the tokens, which are the class token alone. `parallel` blocks read the stream once for both attention
    and feed-forward. `score_cap` keeps scores within it by a tanh (0: no cap). `bias` gives every linear map and norm
    a bias, `biases` only some (BIASES). `start_token` is what the decoder of an encoder-decoder reads first. Raises
    ConfigError where sizes do not go together.
    """

    architecture: str = "decoder"
    vocabulary: int
    context: int
    width: int
    layers: int
    encoder_layers: int = 0
    heads: int
    encoder_heads: int = 0
    key_value_heads: int = 0
    head_width: int = 0
    value_width: int = 0
    inner: int = 0
    encoder_inner: int = 0
    embed: Embed = Embed()
    picture: Picture = Picture()
    position: str = "rope"
    rotation: Rotation = Rotation()
    distances: Distances = Distances()
    slopes: Slopes = Slopes()
    kernel: str = "softmax"
    masks: tuple[str, ...] = ("causal",)
    scale: bool = True
    score_cap: float = 0.0
    query_norm: str = "none"
    by_layer: ByLayer = ByLayer()
    norm: str = "rmsnorm"
    norm_epsilon: float = 1e-5
    placement: str = "pre"
    parallel: bool = False
    embedding_norm: bool = False
    first_norm: bool = True
    final_norm: bool = True
    feedforward: str = "swiglu"
    bias: bool = False
    biases: tuple[str, ...] = ()
    top: str = "language"
    answer: Answer = Answer()
    tied: bool = True
    labels: tuple[str, ...] = ()
    start_token: int = 0
    pooling: str = "first"
    dropout: float = 0.0

    def __post_init__(self) -> None:
        self._fill_in()
        self._check()
        self._check_layers()
        if self.picture != Picture():
            self.picture.check()
            if self.has_cross:
                raise ConfigError("A picture is read by one stack; an encoder-decoder reads two texts.")

    def _fill_in(self) -> None:
        def fill(name: str, size: int) -> None:
            if getattr(self, name) == 0:
                object.__setattr__(self, name, size)

        for name in ("masks", "labels", "biases"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
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
        one_of("architecture", self.architecture, ARCHITECTURES)
        one_of("pooling", self.pooling, POOLINGS)
        one_of("embed.project", self.embed.project, PROJECTED)
        one_of("answer.transform", self.answer.transform or "none", TRANSFORMS)
        for place in self.biases:
            one_of("biases", place, BIASES)
        for name in _SIZES:
            if getattr(self, name) < 1 and name not in ("layers", "encoder_layers", "encoder_heads", "encoder_inner"):
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if self.heads % self.key_value_heads:
            raise ConfigError(
                f"{self.heads} heads cannot share {self.key_value_heads} key/value heads evenly; "
                "key_value_heads must divide heads."
            )
        turning = self.rotation.channels
        if turning + turning % 2 > self.head_width:
            raise ConfigError(f"{turning} channels are to turn in pairs, but a head has {self.head_width}.")
        if not 0.0 <= self.dropout < 1.0:
            raise ConfigError(f"dropout is {self.dropout}; it must be at least 0 and below 1.")
        if not 0.0 <= self.norm_epsilon < inf:
            raise ConfigError(f"norm_epsilon is {self.norm_epsilon}; it must be a number that is not negative.")
        if not 0.0 < self.rotation.base < inf:
            raise ConfigError(f"rotation.base is {self.rotation.base}; it must be a number above 0.")
        if not 0 <= self.start_token < self.vocabulary:
            raise ConfigError(f"start_token is {self.start_token}; it must be in the vocabulary of {self.vocabulary}.")

    def _check_layers(self) -> None:
        for field in fields(self.by_layer):
            entries = getattr(self.by_layer, field.name)
            if entries and len(entries) != self.layers:
                raise ConfigError(f"by_layer.{field.name} has {len(entries)} entries for {self.layers} layers.")

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks this architecture has, in the order they run."""
        return ("encoder", "decoder") if self.architecture == "encoder-decoder" else (self.architecture,)

    @property
    def has_cross(self) -> bool:
        """Whether the decoder looks at an encoder."""
        return self.architecture == "encoder-decoder"

    @property
    def token_width(self) -> int:
        """How many channels a row of the token table has."""
        return self.embed.width or self.width

    @property
    def summed_width(self) -> int:
        """How many channels tokens and positions have where they are added up."""
        return self.token_width if self.embed.project == "all" else self.width

    def has_bias(self, place: str) -> bool:
        """Whether a linear map or norm (one of BIASES) has a bias."""
        return self.bias or place in self.biases

    def of(self, stack: str) -> Config:
        """The config as one stack sees it: in an encoder-decoder the encoder may have sizes of its own, and no mask."""
        if not (self.has_cross and stack == "encoder"):
            return self
        other_heads: dict[str, int] = {}
        if self.encoder_heads not in (0, self.heads):
            other_heads = {"heads": self.encoder_heads, "key_value_heads": 0, "head_width": 0, "value_width": 0}
        inner = self.encoder_inner or self.inner
        return self.change(layers=self.encoder_layers, inner=inner, masks=(), by_layer=ByLayer(), **other_heads)

    def depth(self, stack: str) -> int:
        """How many layers `stack` has."""
        return self.encoder_layers if self.has_cross and stack == "encoder" else self.layers

    def change(self, **choices: Any) -> Config:
        """The same config with some fields replaced, checked again."""
        return replace(self, **choices)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values; `from_dict` brings it back."""
        plain: dict[str, Any] = _listed(asdict(self))
        return plain

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Config:
        """From plain JSON values. Raises ConfigError for unknown, missing or retyped fields."""
        values = dict(values)
        if "rope_base" in values:  # as version 0.1 wrote it
            values["rotation"] = {"base": values.pop("rope_base")}
        config: Config = _typed("config", cls, values)
        return config


def one_of(name: str, given: str, known: tuple[str, ...]) -> None:
    """Raise ConfigError unless `given` is one of `known`."""
    if given not in known:
        raise ConfigError(f"{name} is {given!r}; possible are {', '.join(known)}.")


def _listed(value: Any) -> Any:
    """Tuples as lists, however deep, as JSON has them."""
    if isinstance(value, dict):
        return {name: _listed(item) for name, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


def _typed(name: str, kind: Any, value: Any) -> Any:
    """The value as the field wants it, or a sentence that says what was wanted and what came."""
    if is_dataclass(kind) and isinstance(kind, type) and isinstance(value, dict):
        hints = get_type_hints(kind)
        unknown = sorted(set(value) - set(hints))
        if unknown:
            raise ConfigError(f"Unknown {name} fields: {', '.join(unknown)}. Known: {', '.join(sorted(hints))}.")
        missing = sorted(each.name for each in fields(kind) if each.default is MISSING and each.name not in value)
        if missing:
            raise ConfigError(f"The {name} misses {', '.join(missing)}.")
        return kind(**{field: _typed(field, hints[field], item) for field, item in value.items()})
    if get_origin(kind) is tuple and isinstance(value, (list, tuple)):
        return tuple(_typed(name, get_args(kind)[0], item) for item in value)
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300:
        return float(value)
    if isinstance(kind, type) and type(value) is kind:
        return value
    if NoneType in get_args(kind) and (value is None or isinstance(value, get_args(kind)[0])):
        return value
    wanted = (
        f"a list of {get_args(kind)[0].__name__}" if get_origin(kind) is tuple else getattr(kind, "__name__", str(kind))
    )
    raise ConfigError(f"{name} is {repr(value)[:60]}; wanted {wanted}.")
