"""What the Generate page says besides its question: how to draw, and the steps taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from model.generation.sampling import SamplingConfig

Step = Annotated[tuple[int, int], Meta(description="a pair of a position and a token's number")]


@dataclass(frozen=True)
class SamplingSettings:
    """How to draw, as the controls of the page say it: a `top_k` of 0 and a `top_p` of 1 keep all tokens."""

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    @property
    def config(self) -> SamplingConfig:
        """The same as a SamplingConfig. Raises TextError for a number out of range."""
        return SamplingConfig(self.temperature, self.top_k or None, self.top_p, self.seed)


@dataclass(frozen=True)
class GenerationRequest:
    """What a request for a step says besides its question; `generated` are the steps taken, in their order."""

    sampling: SamplingSettings = SamplingSettings()
    generated: Annotated[tuple[Step, ...], Meta(description="pairs of a position and a token's number")] = ()
    use_cache: bool = True
    with_tokens: bool = False
