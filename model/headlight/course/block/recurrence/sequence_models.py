"""Three encoder-decoders that rewrite a row of letters: attention alone, recurrence alone, and recurrence with both."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from headlight.array_types import Float, Int
from headlight.config import Config
from headlight.nn.hooks import no_hook
from headlight.nn.transformer import Transformer
from headlight.tracing.run import RecordingHook

LETTERS = "abcdefghij"
START = len(LETTERS)  # the token with which an answer begins
MOST_LENGTH = 24
D_MODEL, HEADS = 40, 2  # of attention alone
EMBEDDING, HIDDEN = 32, 60  # of the recurrent networks, which are then about as large

Letters = Int[Tensor, "row source"]
Written = Int[Tensor, "row pos"]


class SequenceNetwork(nn.Module, ABC):
    """Reads letters, and gives logits of the next letter after each that is written."""

    @abstractmethod
    def forward(self, source: Letters, written: Written) -> Float[Tensor, "row pos letter"]:
        """The logits."""

    @abstractmethod
    def look(self, source: Letters, written: Written) -> Float[Tensor, "row pos source"] | None:
        """How much each written letter looks at each that was read; None without attention."""


class AttentionAlone(SequenceNetwork):
    """The project's Transformer: one layer reads, one writes."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Transformer(
            Config(
                architecture="encoder-decoder", vocabulary_size=len(LETTERS) + 1, context_length=MOST_LENGTH,
                d_model=D_MODEL, layers=1, heads=HEADS, d_ff=2 * D_MODEL, positional_encoding="learned",
                norm="layernorm", feed_forward="relu", tied_embeddings=False, start_token_id=START,
            )
        )  # fmt: skip
        for module in self.model.modules():  # begins as the others do, with torch's own random weights
            if isinstance(module, nn.Linear | nn.Embedding):
                module.reset_parameters()

    def forward(self, source: Letters, written: Written) -> Float[Tensor, "row pos letter"]:
        """The logits."""
        logits: Tensor = self.model(written, source=source)
        return logits[..., : len(LETTERS)]

    def look(self, source: Letters, written: Written) -> Float[Tensor, "row pos source"]:
        """The mean of the heads of cross-attention."""
        recorder = RecordingHook(no_hook, ("decoder.0.cross.weights",))
        self.model(written, source=source, hook=recorder)
        weights: Tensor = recorder.values["decoder.0.cross.weights"].mean(1)
        return weights


class Recurrent(SequenceNetwork):
    """A GRU reads, and its last state is all that another one begins with (Cho et al. 2014)."""

    def __init__(self, states: int = 1) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(LETTERS) + 1, EMBEDDING)
        self.encoder = nn.GRU(EMBEDDING, HIDDEN, batch_first=True)
        self.decoder = nn.GRU(EMBEDDING, HIDDEN, batch_first=True)
        self.output = nn.Linear(states * HIDDEN, len(LETTERS))

    def states(self, source: Letters, written: Written) -> tuple[Tensor, Tensor]:
        """The states of the encoder and of the decoder, one for each letter."""
        read, last = self.encoder(self.embed(source))
        return read, self.decoder(self.embed(written), last)[0]

    def forward(self, source: Letters, written: Written) -> Float[Tensor, "row pos letter"]:
        """The logits."""
        logits: Tensor = self.output(self.states(source, written)[1])
        return logits

    def look(self, source: Letters, written: Written) -> None:
        """Nothing: it has no attention."""


class RecurrentWithAttention(Recurrent):
    """The same, and each state of the decoder looks at all of the encoder (Bahdanau et al. 2015, Luong et al. 2015)."""

    def __init__(self) -> None:
        super().__init__(states=2)

    def forward(self, source: Letters, written: Written) -> Float[Tensor, "row pos letter"]:
        """The logits."""
        read, state = self.states(source, written)
        logits: Tensor = self.output(torch.cat([state, _weights(state, read) @ read], -1))
        return logits

    def look(self, source: Letters, written: Written) -> Float[Tensor, "row pos source"]:  # type: ignore[override]
        """The softmax of the dot products of the states."""
        read, state = self.states(source, written)
        return _weights(state, read)


def _weights(state: Float[Tensor, "row pos hidden"], read: Float[Tensor, "row source hidden"]) -> Tensor:
    return (state @ read.transpose(1, 2)).softmax(-1)
