"""Several texts of different lengths in one forward pass: their new tokens are rows, one text after the other.

Modules that treat each token separately (projections, norms, feed-forward) read all rows at once; only attention sorts
them by text, padded to the longest. No sum mixes numbers of two texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from headlight.array_types import Bool, Float, Int
from headlight.nn.attention import AttentionContext, KeysAndValues, KeyValues, KVCache
from headlight.nn.masks import QueryKeyPositions, combine_masks, parse_masks
from headlight.nn.stack import Stack


@dataclass(frozen=True)
class RaggedRows:
    """The rows of several texts: for each text, the position of its first row and its total number of tokens."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    device: torch.device

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The number of rows of each text."""
        return tuple(length - start for start, length in zip(self.starts, self.lengths, strict=True))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """The number of each text's first row."""
        return tuple(sum(self.counts[:text]) for text in range(len(self.counts)))

    @cached_property
    def text(self) -> Int[Tensor, " row"]:
        """The text of each row."""
        return self._per_row(range(len(self.counts)))

    @cached_property
    def query(self) -> Int[Tensor, " row"]:
        """The index of each row among the rows of its text."""
        return torch.arange(len(self.text), device=self.device) - self._per_row(self.offsets)

    @cached_property
    def position(self) -> Int[Tensor, " row"]:
        """The position of each row in its text."""
        return self.query + self._per_row(self.starts)

    @cached_property
    def row(self) -> Int[Tensor, "text query"]:
        """The row of each query; a text with fewer queries than others repeats its last one."""
        places = torch.arange(max(self.counts), device=self.device)
        offsets, counts = (torch.tensor(each, device=self.device)[:, None] for each in (self.offsets, self.counts))
        return offsets + torch.minimum(places, counts - 1)

    @cached_property
    def is_token(self) -> Bool[Tensor, "text 1 1 key"]:
        """Which keys of each text are tokens."""
        lengths = torch.tensor(self.lengths, device=self.device)
        return (torch.arange(max(self.lengths), device=self.device) < lengths[:, None])[:, None, None]

    def _per_row(self, of_text: Sequence[int]) -> Int[Tensor, " row"]:
        counts = torch.tensor(self.counts, device=self.device)
        return torch.tensor(of_text, device=self.device).repeat_interleave(counts)


@dataclass(frozen=True)
class RaggedContext(AttentionContext):
    """The context of attention within each of several texts; `positions` are the positions of the rows."""

    rows: RaggedRows = field(kw_only=True)
    biases: Float[Tensor, "text head query key"] = field(kw_only=True)

    @cached_property
    def bias(self) -> Float[Tensor, "text head query key"]:
        """The position bias added to the scores."""
        return self.biases

    def spread(self, q: Float[Tensor, "1 head row head_dim"]) -> Float[Tensor, "text head query head_dim"]:
        """The queries of each text, padded to the largest number of queries."""
        return q[0][:, self.rows.row].transpose(0, 1)

    def collect(self, values: Float[Tensor, "text head query head_dim"]) -> Float[Tensor, "1 head row head_dim"]:
        """The values as rows, without the padding."""
        return values[self.rows.text, :, self.rows.query].transpose(0, 1)[None]


def ragged_contexts(stack: Stack, rows: RaggedRows) -> list[RaggedContext]:
    """The attention context of each layer; a text has the masks and the positions that it has alone."""
    everywhere = torch.arange(max(rows.lengths), device=rows.device)
    square, own = QueryKeyPositions(everywhere, everywhere), QueryKeyPositions(rows.position, rows.position)
    queries = rows.position[rows.row]
    layer_masks = stack.config.per_layer.masks or ("none",) * len(stack.blocks)
    allowed = {
        mask: combine_masks((*stack.config.masks, *parse_masks(mask)), square)[0, 0][queries][:, None] & rows.is_token
        for mask in set(layer_masks)
    }
    layers = list(zip(stack.layer_positional_encodings, layer_masks, strict=True))
    encodings = dict.fromkeys(stack.layer_positional_encodings)
    biases = {each: each.bias(everywhere, everywhere)[:, queries].transpose(0, 1) for each in encodings}
    rotations = {each: each.rotation(rows.position) for each in encodings}
    contexts = {
        (each, mask): RaggedContext(each, own, allowed[mask], rotation=rotations[each], rows=rows, biases=biases[each])
        for each, mask in dict.fromkeys(layers)
    }
    return [contexts[layer] for layer in layers]


class RaggedCache(KVCache):
    """Keys and values of several texts, padded: first of earlier tokens, then of the new rows."""

    def __init__(self, rows: RaggedRows, earlier: Sequence[KeyValues]) -> None:
        super().__init__()
        self.rows, self.earlier = rows, earlier
        # For attentions whose shared keys or values an edit changed, the path of the attention that computed them.
        self.key_value_paths: dict[str, str] = {}

    def new_rows(self, values: Float[Tensor, "text head key dim"], count: int) -> Float[Tensor, "1 head row dim"]:
        """The values of the new tokens, as rows."""
        return values[self.rows.text, :, self.rows.position].transpose(0, 1)[None]

    def append(self, path: str, new: KeysAndValues, shared: KeysAndValues | None = None) -> tuple[Tensor, Tensor]:
        """Takes the new keys and values of the attention at `path`; returns all of each text."""
        shared_path = path if shared is None else shared.path
        if shared is not None:
            if not new.is_edited(shared) and not any(path in each for each in self.earlier):
                return self.key_values[shared_path]
            self.key_value_paths[path] = shared_path
        k, v = (self._padded(path, shared_path, which, each) for which, each in enumerate((new.rotated_k, new.v)))
        self.key_values[path] = k, v
        return k, v

    def _padded(
        self, path: str, shared_path: str, which: int, new: Float[Tensor, "1 head row dim"]
    ) -> Float[Tensor, "text head key dim"]:
        whole = new.new_zeros(len(self.earlier), new.shape[1], max(self.rows.lengths), new.shape[3])
        for text, (start, key_values) in enumerate(zip(self.rows.starts, self.earlier, strict=True)):
            if start:
                own = path if path in key_values else shared_path
                whole[text, :, :start] = key_values[own][which][0, :, :start]
        whole[self.rows.text, :, self.rows.position] = new[0].transpose(0, 1)
        return whole

    def of_text(self, text: int) -> Mapping[str, tuple[Tensor, Tensor]]:
        """A copy of one text's keys and values, without data of the other texts."""
        one, length = slice(text, text + 1), self.rows.lengths[text]
        own = {
            path: (k[one, :, :length].clone(), v[one, :, :length].clone()) for path, (k, v) in self.key_values.items()
        }
        for path, shared_path in self.key_value_paths.items():  # an edit of another text may have made the entry
            if path not in self.earlier[text] and all(map(torch.equal, own[path], own[shared_path])):
                del own[path]
        return own
