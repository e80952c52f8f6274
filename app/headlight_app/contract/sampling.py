"""How a token is drawn, and the tokens that were generated so far."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from headlight_app.contract.question import MAX_POSITION

MAX_SEED = 2**53 - 1  # the largest whole number that a browser counts to
Number = Annotated[int, Meta(ge=0, le=MAX_POSITION, description="a whole number from 0")]
Step = Annotated[tuple[Number, Number], Meta(description="a pair of a position and a token's number")]
GeneratedTokens = Annotated[  # of each step, in the order they were taken
    tuple[Step, ...], Meta(max_length=100_000, description="pairs of a position and a token's number")
]


class Sampling(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to draw: temperature 0 takes the likeliest token; a `top_k` of 0 and a `top_p` of 1 keep all tokens."""

    temperature: Annotated[float, Meta(ge=0, le=1_000, description="a number from 0 to 1000")] = 0.8
    top_k: Number = 0
    top_p: Annotated[float, Meta(gt=0, le=1, description="a number above 0 and at most 1")] = 1.0
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED, description="a whole number from 0")] = 0
