"""How tokens are sampled, and the tokens generated so far."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from headlight_app.contract.question import MAX_POSITION

MAX_SEED = 2**53 - 1  # the largest integer that is exact in JavaScript
Number = Annotated[int, Meta(ge=0, le=MAX_POSITION, description="a whole number from 0")]
Step = Annotated[tuple[Number, Number], Meta(description="a pair of a position and a token's number")]
GeneratedTokens = Annotated[  # of each step, in order
    tuple[Step, ...], Meta(max_length=100_000, description="pairs of a position and a token's number")
]


class Sampling(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to sample: temperature 0 takes the likeliest token; `top_k` 0 and `top_p` 1 keep all tokens."""

    temperature: Annotated[float, Meta(ge=0, le=1_000, description="a number from 0 to 1000")] = 0.8
    top_k: Number = 0
    top_p: Annotated[float, Meta(gt=0, le=1, description="a number above 0 and at most 1")] = 1.0
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED, description="a whole number from 0")] = 0
