"""One generation step: the recorded values, and the token sampled for one of the possible positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from headlight.array_types import Float
from headlight.config import Config
from headlight.errors import TextError
from headlight.nn.hooks import hook_point_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.interventions import Intervention, InterventionHook
from headlight.tracing.recording import RecordingHook
from headlight.tracing.trace import Trace


@dataclass(frozen=True, eq=False)
class Sample:
    """One sample: the probabilities, the tokens by falling probability, a uniform random number, and the chosen token.

    `chosen` is the token whose interval of the cumulative distribution, in `order`, contains `random_number`.
    """

    probabilities: Float[np.ndarray, " token"]
    order: np.ndarray
    random_number: float
    chosen: int


@dataclass(frozen=True)
class SamplingConfig:
    """How a token is sampled from logits; temperature 0 takes the most probable one (greedy decoding).

    `top_k` keeps the k most probable tokens; `top_p` keeps the fewest tokens whose probabilities at this temperature
    sum to at least `top_p` (nucleus sampling; Holtzman et al. 2020, section 3.1). The same seed gives the same random
    number at the same step. Raises TextError for values out of range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        small_k = self.top_k is not None and self.top_k < 1
        if not self.temperature >= 0 or small_k or (self.top_p is not None and not 0 < self.top_p <= 1):
            raise TextError("temperature must be 0 or more, top_k at least 1, and top_p above 0 and at most 1.")

    def sample(self, logits: Float[np.ndarray, " token"], step: int) -> Sample:
        """Sample the token of step `step`, counted from 0, from the logits of the vocabulary."""
        ranked, order = self._ranked_probabilities(logits.astype(np.float64))
        probabilities = np.zeros_like(ranked)
        probabilities[order] = ranked
        random_number = self.random_number(step)
        cumulative = ranked.cumsum()
        rank = min(
            int(np.searchsorted(cumulative, random_number * cumulative[-1], side="right")),
            int(np.count_nonzero(ranked)) - 1,
        )
        return Sample(probabilities, order, random_number, int(order[rank]))

    def random_number(self, step: int) -> float:
        """The uniform random number of a step, in [0, 1)."""
        bit_generator = np.random.PCG64(self.seed % 2**63)
        bit_generator.advance(step)
        return float(np.random.Generator(bit_generator).random())

    def _ranked_probabilities(self, logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The remaining probabilities, largest first, and the tokens in that order."""
        if self.temperature == 0:
            order = np.argsort(-logits, kind="stable")
            return np.eye(1, len(logits))[0], order
        # Relative to the largest logit, so that a tiny temperature overflows only to a probability of 0.
        with np.errstate(over="ignore"):
            exponentials = np.exp((logits - logits.max()) / self.temperature)
        order = np.argsort(-logits, kind="stable")  # at a huge temperature all exponentials are equal
        ranked = exponentials[order] / exponentials.sum()
        keep = np.ones(len(ranked), dtype=bool)
        if self.top_k is not None:
            keep[self.top_k :] = False
        if self.top_p is not None:
            keep &= ranked.cumsum() - ranked < self.top_p
        return ranked * keep / ranked[keep].sum(), order


@dataclass(frozen=True, eq=False)
class GenerationStep(Trace):
    """One generation step: the values of the tokens it read, from `start` on, and the sampled token.

    `position` is where the chosen token goes: the next position, or that of a mask.
    """

    start: int = 0
    position: int = 0
    chosen_token: int = 0


class StepRecorder(RecordingHook):
    """The hook of a step that reads the tokens from `start` on: edits values, and records those that match `keep`.

    With `rows`, it keeps only these positions of the values that have a query axis in the predicting stack.
    """

    def __init__(
        self,
        config: Config,
        edits: Sequence[Intervention],
        keep: Sequence[str] | None,
        rows: Sequence[int] | None,
        start: int = 0,
    ) -> None:
        self.edits = InterventionHook(edits, start)
        super().__init__(self.edits, keep)
        self.config, self.rows, self.start = config, rows, start

    def __call__(self, path: str, value: Tensor) -> Tensor:
        """Apply the edits to a value, and record it if `keep` matches."""
        value = super().__call__(path, value)
        if path in self.values and self._has_rows(path):
            self.values[path] = value[:, :, list(self.rows or ())]
        return value

    def sample(
        self,
        text: Encoded,
        source: Encoded | None,
        logits: Float[Tensor, "candidate token"],
        positions: Sequence[int],
        sampling: SamplingConfig,
        number: int,
        follow: Callable[[Float[np.ndarray, " token"], Sequence[int]], Float[np.ndarray, " token"]] | None = None,
    ) -> GenerationStep:
        """Step `number`: a token for the position whose most probable token has the highest probability.

        See Chang et al. 2022, section 3.2. `follow` changes the sampled logits by the checkpoint's rules, given the
        text's tokens. Of the recorded `rows`, one per position in `positions`, only the chosen one
        is kept.
        """
        candidates = logits.float().cpu()
        surest = int(candidates.softmax(-1).amax(-1).argmax())
        sampled = candidates[surest].numpy() if follow is None else follow(candidates[surest].numpy(), text.ids)
        return GenerationStep(
            self.config,
            text,
            source,
            {path: value[:, [surest]] if self._has_rows(path) else value for path, value in self.arrays().items()},
            tuple(map(str, self.edits.interventions)),
            start=self.start,
            position=positions[surest],
            chosen_token=sampling.sample(sampled, number).chosen,
        )

    def _has_rows(self, path: str) -> bool:
        """Whether only some positions of a value are recorded."""
        in_predicting_stack = path.startswith(f"{self.config.stacks[-1]}.")
        return self.rows is not None and in_predicting_stack and "query" in hook_point_of(path).axes
