"""Transformer: stacks as encoder, decoder, or both; and variant(), the same weights wired another way."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model.array_types import Bool, Float, Int
from model.config import Config
from model.errors import ConfigError, EditError, PictureError, TextError
from model.nn.attention import Attention
from model.nn.hooks import Tap, under, untouched
from model.nn.kv_cache import Cache
from model.nn.masks import check, parse
from model.nn.output_heads import TOPS, LanguageHead, MaskedLanguageHead
from model.nn.patch_embedding import Patches
from model.nn.positional_encodings import Position
from model.nn.stack import Stack

DRAWS = ("normal_", "uniform_", "kaiming_uniform_")  # of torch.nn.init and of tensors


class Transformer(nn.Module):
    """A whole model: embedding, one or two stacks, and a top."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        for mask in (*config.masks, *(mask for masks in config.by_layer.masks for mask in parse(masks))):
            check(mask)
        self.config = config
        self.added: tuple[str, ...] = ()
        self.embedding = nn.Embedding(config.vocabulary, config.token_width)
        self.segment = nn.Embedding(config.embed.segments, config.token_width) if config.embed.segments else None
        self.patches = Patches(config) if config.picture.channels else None
        apart = config.embed.apart and config.has_cross
        self.source_embedding = nn.Embedding(config.vocabulary, config.token_width) if apart else None
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
        if self.device.type == "meta":
            return  # no memory lies behind the parameters, and drawing them all the same takes most of the time
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

    def embed(
        self,
        ids: Int[Tensor, "batch token_pos"],
        pixels: Float[Tensor, "batch colour pixel_row pixel_column"] | None = None,
        *,
        source: bool = False,
    ) -> Float[Tensor, "batch pos token_width"]:
        """A vector for each token (of the source, where that has a table of its own), and for each patch of a picture.

        The text is of the first segment where a model tells several apart.
        """
        table = self.source_embedding if source and self.source_embedding is not None else self.embedding
        embedded: Tensor = table(ids) * self.config.embed.scale
        if self.segment is not None:
            embedded = embedded + self.segment.weight[0]
        return embedded if self.patches is None else torch.cat((embedded, self.patches(pixels)), dim=1)

    def encode(
        self,
        source: Int[Tensor, "batch source"],
        real: Bool[Tensor, "batch source"] | None = None,
        tap: Tap = untouched,
    ) -> Float[Tensor, "batch source width"]:
        """What the encoder of an encoder-decoder makes of the source: the memory its decoder looks at."""
        tap = under(tap, "encoder")
        self._require_room("source", source.shape[1])
        memory: Tensor = self.stack("encoder")(self.embed(source, source=True), real, None, None, None, tap, None)
        return memory

    def hidden(
        self,
        ids: Int[Tensor, "batch token_pos"],
        *,
        pixels: Float[Tensor, "batch colour pixel_row pixel_column"] | None = None,
        source: Int[Tensor, "batch source"] | None = None,
        memory: Float[Tensor, "batch source width"] | None = None,
        real: Bool[Tensor, "batch key"] | None = None,
        source_real: Bool[Tensor, "batch source"] | None = None,
        mask: Bool[Tensor, "#batch #head pos key"] | None = None,
        tap: Tap = untouched,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch pos width"]:
        """The residual stream after the final norm; an encoder-decoder needs `source`, or its `memory`.

        `pixels` are the picture that a model may need, whose patches stand behind the tokens. `real` marks tokens that
        are no padding, `mask` allows fewer cells than the config does, `cache` holds the tokens before `ids`. Raises
        TextError where the text is longer than the context, PictureError where a picture lacks or is not asked for.
        """
        if (self.patches is None) != (pixels is None):
            raise PictureError("This model reads texts." if self.patches is None else "This model reads a picture.")
        if pixels is not None:
            pixels = tap("pixels", pixels)
        length = ids.shape[1] + (self.patches.count if self.patches else 0) + (cache.length if cache else 0)
        self._require_room("text", length)
        if self.config.has_cross and memory is None:
            if source is None:
                raise TextError("This model translates from a source; give it a source text.")
            memory = self.encode(source, source_real, tap)
        name = self.config.stacks[-1]
        final: Tensor = self.stack(name)(
            self.embed(ids, pixels), real, mask, memory, source_real, under(tap, name), cache
        )
        if cache:
            cache.length = length
        return final

    def counted(
        self, ids: Int[Tensor, "batch pos"], real: Bool[Tensor, "batch pos"] | None = None
    ) -> Bool[Tensor, "batch pos"] | None:
        """Which tokens the top may answer from: those that are real, without those that it passes over."""
        passed = self.config.answer.passed
        if passed is None:
            return real
        return ids != passed if real is None else real & (ids != passed)

    def _require_room(self, what: str, length: int) -> None:
        if length > self.config.context:
            raise TextError(
                f"The {what} has {length} tokens; this model reads at most {self.config.context}. Shorten it."
            )

    def forward(
        self,
        ids: Int[Tensor, "batch token_pos"],
        *,
        pixels: Float[Tensor, "batch colour pixel_row pixel_column"] | None = None,
        source: Int[Tensor, "batch source"] | None = None,
        real: Bool[Tensor, "batch key"] | None = None,
        source_real: Bool[Tensor, "batch source"] | None = None,
        mask: Bool[Tensor, "#batch #head pos key"] | None = None,
        tap: Tap = untouched,
        cache: Cache | None = None,
    ) -> Float[Tensor, "*shape token"] | None:
        """The top's logits; None without a top."""
        final = self.hidden(
            ids, pixels=pixels, source=source, real=real, source_real=source_real, mask=mask, tap=tap, cache=cache
        )
        logits = self.top(final, self.counted(ids, real))
        return logits if logits is None else tap("logits", logits)


class _Undrawn(TorchFunctionMode):
    """Leaves out what draws numbers: without memory there is nothing to draw into.

    Torch would load its compiler for it, a second and more in every process that opens a model.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        named = kwargs or {}
        if getattr(func, "__name__", "") in DRAWS:
            return args[0] if args else named["tensor"]
        return func(*args, **named)


def outline(config: Config) -> Transformer:
    """A model of a shape, without memory behind its parameters. Raises RuntimeError for sizes that nobody can count."""
    with torch.device("meta"), _Undrawn():
        return Transformer(config)


def require_top(model: Transformer, *tops: str) -> None:
    """Raise ConfigError unless the model has one of `tops`."""
    if model.config.top not in tops:
        raise ConfigError(f"This model's top is {model.config.top!r}; this needs {' or '.join(tops)}.")


def attention_at(model: Transformer, path: str) -> tuple[Attention, Position]:
    """The attention at a path such as `decoder.3.self`, and its position scheme. Raises EditError where none is."""
    name, layer, kind = path.split(".") if path.count(".") == 2 else ("", "", "")
    stack = model.stack(name) if name in model.config.stacks else None
    there = stack is not None and layer.isdecimal() and len(layer) < 6 and int(layer) < len(stack.blocks)
    part = getattr(stack.blocks[int(layer)], f"{kind}_attention", None) if stack is not None and there else None
    if stack is None or not isinstance(part, Attention):
        raise EditError(f"This model has no attention {path!r}; a path reads STACK.LAYER.KIND, as in decoder.0.self.")
    return part, stack.schemes[int(layer)] if kind == "self" else stack.unplaced
