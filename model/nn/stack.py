"""Stacks: blocks of attention and feed-forward over one sequence, and the memory of what they have read."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from model.array_types import Bool, Float, Int, Shaped
from model.config import Config
from model.errors import ConfigError, EditError
from model.nn.attention import Look, nothing_before
from model.nn.block import PLACEMENTS, Block
from model.nn.hooks import Interest, Tap, interest, under
from model.nn.kv_cache import Cache
from model.nn.masks import Pair, combine, parse
from model.nn.norms import make_norm
from model.nn.positional_encodings import POSITIONS, Position


class Stack(nn.Module):
    """Blocks one after the other over one sequence, each under its position scheme and its masks."""

    def __init__(self, config: Config, name: str) -> None:
        super().__init__()
        self.name = name
        guided = config.has_cross and name == "decoder"
        self.config = config = config.of(name)
        self.position = POSITIONS[config.position](config, both_ways=name == "encoder")
        self.schemes = self._schemes(config)
        self.unplaced = Position(config)
        tokens, everything = (config.embed.project == kind for kind in ("tokens", "all"))
        narrow, width = config.token_width, config.width
        self.widen_tokens = nn.Linear(narrow, width, bias=False) if tokens else nn.Identity()
        self.embedding_norm = make_norm(config, config.summed_width) if config.embedding_norm else nn.Identity()
        self.widen = nn.Linear(narrow, width) if everything else nn.Identity()
        self.blocks = nn.ModuleList(Block(config, guided, layer) for layer in range(config.layers))
        ends = config.final_norm and not PLACEMENTS[config.placement].ends_normed
        self.norm = make_norm(config, width) if ends else nn.Identity()
        self.narrow = nn.Linear(width, narrow, bias=False) if tokens else nn.Identity()
        self.dropout = nn.Dropout(config.dropout)

    def _schemes(self, config: Config) -> tuple[Position, ...]:
        """The position scheme of each layer: the stack's own, except where layers differ."""
        layers, by_layer = range(config.layers), config.by_layer
        own = (config.position, config.rotation)
        choices = [
            (
                by_layer.positions[i] if by_layer.positions else own[0],
                by_layer.rotations[i] if by_layer.rotations else own[1],
            )
            for i in layers
        ]
        schemes = {own: self.position}
        for position, rotation in dict.fromkeys(choices):
            if (position, rotation) not in schemes:
                scheme = POSITIONS[position](config.change(position=position, rotation=rotation))
                if any(True for _ in scheme.parameters()):
                    raise ConfigError(f"The position scheme {position!r} is trained; it cannot differ between layers.")
                schemes[position, rotation] = scheme
        return tuple(schemes[choice] for choice in choices)

    def stands(self, tokens: Int[Tensor, " pos"], tap: Tap) -> Shaped[Tensor, " pos"]:
        """Where the tokens stand for the position schemes, in whole numbers if all are; masks go on counting them.

        Raises EditError where an edit puts a token where it cannot stand.
        """
        if interest(tap, "at") is Interest.NONE:
            return tokens
        at = tap("at", tokens[None].float())[0]
        halves = at != at.round()
        for scheme in dict.fromkeys((self.position, *self.schemes)):
            first, last = scheme.room
            wrong = (at < first) | (at > last) | (halves & scheme.whole)
            if bool(wrong.any()):
                token, kind = int(wrong.nonzero()[0]), "whole positions" if scheme.whole else "positions"
                raise EditError(
                    f"Token {token} cannot stand at position {float(at[token]):g}: "
                    f"with positions {self.config.position!r} there are {kind} from {first:,} to {last:,}."
                )
        return at if bool(halves.any()) else at.long()

    def looks(self, pair: Pair, extra: Tensor | None, stand: Pair | None = None) -> list[Look]:
        """Self-attention's view in each layer: its masks, padding, and whatever else forbids.

        `stand` says where tokens stand for the position schemes, if elsewhere than where masks count them.
        """
        extras = self.config.by_layer.masks or ("none",) * len(self.blocks)
        allowed = {mask: combine((*self.config.masks, *parse(mask), "padding"), pair) for mask in set(extras)}
        whole = extra is None and pair.real is None and len(pair.queries) == len(pair.keys)
        return [
            Look(
                scheme,
                stand or pair,
                allowed[mask] if extra is None else allowed[mask] & extra,
                causal=whole and (*self.config.masks, *parse(mask)) == ("causal",),
            )
            for scheme, mask in zip(self.schemes, extras, strict=True)
        ]

    def across(self, pair: Pair) -> Look:
        """Cross-attention's view: every real token of the source, which has no distance to the text."""
        return Look(self.unplaced, pair, combine(("padding",), pair))

    def forward(
        self,
        embedded: Float[Tensor, "batch pos token_width"],
        real: Bool[Tensor, "batch key"] | None,
        mask: Bool[Tensor, "#batch #head pos key"] | None,
        memory: Float[Tensor, "batch source width"] | None,
        memory_real: Bool[Tensor, "batch source"] | None,
        tap: Tap,
        cache: Cache | None,
    ) -> Float[Tensor, "batch pos answer_width"]:
        """The residual stream after the last block and its norm."""
        start, device = (cache.length if cache else 0), embedded.device
        keys = torch.arange(start + embedded.shape[1], device=device)
        queries, at = keys[start:], self.stands(keys[start:], tap)
        looks = self.looks(Pair(queries, keys, real), mask, Pair(at, torch.cat((keys[:start], at))))
        across = None
        if memory is not None:
            across = self.across(Pair(queries, torch.arange(memory.shape[1], device=device), memory_real))
        x = tap("embedding", self.widen_tokens(embedded))
        x = x + tap("positions", self.position.embed(at)[None].to(embedded.dtype))
        return self.onward(self.dropout(self.widen(self.embedding_norm(x))), 0, looks, memory, across, tap, cache)

    def onward(
        self,
        x: Float[Tensor, "batch pos width"],
        first: int,
        looks: Sequence[Look],
        memory: Float[Tensor, "batch source width"] | None,
        across: Look | None,
        tap: Tap,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch pos answer_width"]:
        """The same from the stream that enters the block `first`; `looks` and `across` are those of all blocks."""
        for layer in range(first, len(self.blocks)):
            remember = cache.at(f"{self.name}.{layer}") if cache else nothing_before
            x = self.blocks[layer](x, looks[layer], memory, across, under(tap, str(layer)), remember)
        return tap("final", self.narrow(self.norm(tap("residual", x))))
