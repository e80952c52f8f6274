"""Transformer: blocks in stacks, as encoder, decoder, or both; and variant(), the same weights wired another way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from model.attention import Attention, Look, Remember, nothing_before
from model.config import Config
from model.errors import ConfigError, TextError
from model.layers import FEEDFORWARDS, NORMS, PLACEMENTS, Residual
from model.masks import Pair, check, combine, parse
from model.positions import POSITIONS, Position
from model.shapes import Bool, Float, Int
from model.tasks import TOPS, LanguageHead, MaskedLanguageHead
from model.trace import Tap, under, untouched


@dataclass
class Cache:
    """Keys and values of the tokens already read, by the path of their attention."""

    length: int = 0
    pairs: dict[str, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def at(self, path: str) -> Remember:
        """The memory of one attention: gives back everything so far, the new ones last."""

        def remember(k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
            if path in self.pairs:
                k, v = (torch.cat(both, dim=2) for both in zip(self.pairs[path], (k, v), strict=True))
            self.pairs[path] = (k, v)
            return k, v

        return remember


class Block(nn.Module):
    """Self-attention, cross-attention where there is a source, feed-forward; each writes to the residual stream."""

    def __init__(self, config: Config, cross: bool, first: bool) -> None:
        super().__init__()
        self.self_residual = Residual(config, normed=config.first_norm or not first)
        self.self_attention = Attention(config)
        self.cross_residual = Residual(config) if cross else None
        self.cross_attention = Attention(config) if cross else None
        self.feedforward_residual = Residual(config)
        self.feedforward = FEEDFORWARDS[config.feedforward](config)

    def forward(
        self,
        x: Float[Tensor, "batch pos width"],
        look: Look,
        memory: Float[Tensor, "batch source width"] | None,
        across: Look | None,
        tap: Tap,
        remember: Remember = nothing_before,
    ) -> Float[Tensor, "batch pos width"]:
        """The residual stream after this block."""
        x = tap("residual", x)
        x = self.self_residual(x, lambda h: self.self_attention(h, None, look, under(tap, "self"), remember))
        x = tap("after_self", x)
        if self.cross_residual is not None and self.cross_attention is not None and across is not None:
            attend = self.cross_attention
            x = self.cross_residual(x, lambda h: attend(h, memory, across, under(tap, "cross")))
            x = tap("after_cross", x)
        x = self.feedforward_residual(x, lambda h: self.feedforward(h, under(tap, "feedforward")))
        return x


class Stack(nn.Module):
    """Blocks one after the other over one sequence, under one position scheme and one set of masks."""

    def __init__(self, config: Config, name: str) -> None:
        super().__init__()
        self.name = name
        guided = config.has_cross and name == "decoder"
        # In an encoder-decoder the masks of the config are the decoder's; its encoder always sees the whole source.
        self.masks = () if config.has_cross and name == "encoder" else config.masks
        self.position = POSITIONS[config.position](config, both_ways=name == "encoder")
        self.unplaced = Position(config)
        self.embedding_norm = _norm(config) if config.embedding_norm else nn.Identity()
        self.blocks = nn.ModuleList(Block(config, guided, first=layer == 0) for layer in range(config.depth(name)))
        self.norm = nn.Identity() if PLACEMENTS[config.placement].ends_normed else _norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def look(self, pair: Pair, extra: Tensor | None) -> Look:
        """Self-attention's view: this stack's masks, padding, and whatever else forbids."""
        allowed = combine((*self.masks, "padding"), pair)
        return Look(self.position, pair, allowed if extra is None else allowed & extra)

    def forward(
        self,
        embedded: Float[Tensor, "batch pos width"],
        real: Bool[Tensor, "batch key"] | None,
        mask: Bool[Tensor, "#batch #head pos key"] | None,
        memory: Float[Tensor, "batch source width"] | None,
        memory_real: Bool[Tensor, "batch source"] | None,
        tap: Tap,
        cache: Cache | None,
    ) -> Float[Tensor, "batch pos width"]:
        """The residual stream after the last block and its norm."""
        start, device = (cache.length if cache else 0), embedded.device
        queries = torch.arange(start, start + embedded.shape[1], device=device)
        look = self.look(Pair(queries, torch.arange(start + embedded.shape[1], device=device), real), mask)
        across = None
        if memory is not None:
            pair = Pair(queries, torch.arange(memory.shape[1], device=device), memory_real)
            across = Look(self.unplaced, pair, combine(("padding",), pair))
        added = tap("positions", self.position.embed(queries)[None].to(embedded.dtype))
        x = self.dropout(self.embedding_norm(tap("embedding", embedded) + added))
        for layer, block in enumerate(self.blocks):
            remember = cache.at(f"{self.name}.{layer}") if cache else nothing_before
            x = block(x, look, memory, across, under(tap, str(layer)), remember)
        x = self.norm(tap("residual", x))
        return tap("final", x)


class Transformer(nn.Module):
    """A whole model: embedding, one or two stacks, and a top."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        for mask in config.masks:
            check(mask)
        self.config = config
        self.added: tuple[str, ...] = ()
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        for name in config.stacks:
            self.add_module(name, Stack(config, name))
        self.top = TOPS[config.top](config)
        self.tie()
        self._initialise()

    def tie(self) -> None:
        """Make a tied head and the embedding one parameter: anew after load_state_dict(assign=True) parted them."""
        if self.config.tied and isinstance(self.top, (LanguageHead, MaskedLanguageHead)):
            self.top.project.weight = self.embedding.weight

    def _initialise(self) -> None:
        """Normal with 0.02; what writes to the stream is smaller the more layers write (Radford et al. 2019, 2.3)."""
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                writes = name.endswith(("attention.output.weight", "fall.weight"))
                layers = max(1, self.config.layers)
                nn.init.normal_(parameter, std=0.02 / (2 * layers) ** 0.5 if writes else 0.02)
            elif name.endswith(".bias"):
                nn.init.zeros_(parameter)

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self.embedding.weight.device

    def stack(self, name: str) -> Stack:
        """One of the stacks of `config.stacks`."""
        found = self.get_submodule(name)
        assert isinstance(found, Stack)
        return found

    def encode(
        self,
        source: Int[Tensor, "batch source"],
        real: Bool[Tensor, "batch source"] | None = None,
        tap: Tap = untouched,
    ) -> Float[Tensor, "batch source width"]:
        """What the encoder of an encoder-decoder makes of the source: the memory its decoder looks at."""
        tap = under(tap, "encoder")
        self._require_room("source", source.shape[1])
        memory: Tensor = self.stack("encoder")(self.embedding(source), real, None, None, None, tap, None)
        return memory

    def hidden(
        self,
        ids: Int[Tensor, "batch pos"],
        *,
        source: Int[Tensor, "batch source"] | None = None,
        memory: Float[Tensor, "batch source width"] | None = None,
        real: Bool[Tensor, "batch key"] | None = None,
        source_real: Bool[Tensor, "batch source"] | None = None,
        mask: Bool[Tensor, "#batch #head pos key"] | None = None,
        tap: Tap = untouched,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch pos width"]:
        """The residual stream after the final norm; an encoder-decoder needs `source`, or its `memory`.

        `real` marks tokens that are no padding, `mask` allows fewer cells than the config does, `cache` holds
        the tokens before `ids`. Raises TextError where the text is longer than the context.
        """
        length = ids.shape[1] + (cache.length if cache else 0)
        self._require_room("text", length)
        if self.config.has_cross and memory is None:
            if source is None:
                raise TextError("This model translates from a source; give it a source text.")
            memory = self.encode(source, source_real, tap)
        name = self.config.stacks[-1]
        final: Tensor = self.stack(name)(self.embedding(ids), real, mask, memory, source_real, under(tap, name), cache)
        if cache:
            cache.length = length
        return final

    def _require_room(self, what: str, length: int) -> None:
        if length > self.config.context:
            raise TextError(
                f"The {what} has {length} tokens; this model reads at most {self.config.context}. Shorten it."
            )

    def forward(
        self,
        ids: Int[Tensor, "batch pos"],
        *,
        source: Int[Tensor, "batch source"] | None = None,
        real: Bool[Tensor, "batch key"] | None = None,
        source_real: Bool[Tensor, "batch source"] | None = None,
        mask: Bool[Tensor, "#batch #head pos key"] | None = None,
        tap: Tap = untouched,
        cache: Cache | None = None,
    ) -> Float[Tensor, "*shape token"] | None:
        """The top's logits; None without a top."""
        final = self.hidden(ids, source=source, real=real, source_real=source_real, mask=mask, tap=tap, cache=cache)
        logits = self.top(final, real)
        return logits if logits is None else tap("logits", logits)


def variant(
    model: Transformer,
    *,
    position: str | None = None,
    kernel: str | None = None,
    masks: str | Sequence[str] | None = None,
    scale: bool | None = None,
) -> Transformer:
    """The same weights, shared and not copied, under another position scheme, kernel, masks or scale.

    `masks` may be their text form, `causal+window:8`. What the new wiring needs and the model lacks (a learned table,
    a T5 bias) is zero; `added` names it.
    """
    if masks is not None:
        masks = parse(masks) if isinstance(masks, str) else tuple(masks)
    asked = {"position": position, "kernel": kernel, "masks": masks, "scale": scale}
    config = model.config.change(**{name: choice for name, choice in asked.items() if choice is not None})
    if config == model.config:
        return model
    with torch.device("meta"):
        rewired = Transformer(config)
    theirs, shapes = model.state_dict(), {name: weight.shape for name, weight in rewired.state_dict().items()}
    # Two schemes may call different tables alike: only one of the same shape is the same.
    weights = {name: theirs[name] for name, shape in shapes.items() if name in theirs and theirs[name].shape == shape}
    missing = tuple(name for name in shapes if name not in weights)
    zeros = {
        name: torch.zeros(shapes[name], dtype=model.embedding.weight.dtype, device=model.device) for name in missing
    }
    rewired.load_state_dict({**weights, **zeros}, assign=True)
    rewired.tie()
    rewired.added = missing + tuple(name for name in model.added if name in weights)
    return rewired.requires_grad_(False).train(model.training)


def _norm(config: Config) -> nn.Module:
    return NORMS[config.norm](config.width, config.norm_epsilon, config.bias)


def require_top(model: Transformer, *tops: str) -> None:
    """Raise ConfigError unless the model has one of `tops`."""
    if model.config.top not in tops:
        raise ConfigError(f"This model's top is {model.config.top!r}; this needs {' or '.join(tops)}.")
