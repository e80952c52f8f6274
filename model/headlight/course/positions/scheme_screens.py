"""The other positional encodings: a learned table, rotations, a bias by distance, and buckets of distances."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from headlight.analysis.position_profile import position_profile
from headlight.array_types import Float, Int
from headlight.checkpoints import Checkpoint
from headlight.config import Config, RelativePositionConfig, RopeConfig
from headlight.course.controls import ChoiceControl, CountControl, ModelControl, NumberControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows, StateFields, link
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS, Alibi, LearnedPositions, RelativeBias, Rope
from headlight.questions.asking import ask_direction, ask_number, ask_whether
from headlight.views.forms import agreement, bars
from headlight.views.kinds import Arrow, ArrowsView, HeatMapView, LinesView, TableView, View
from headlight.views.rows import row
from headlight.views.words import digits

SAME = 1e-6  # largest difference of 64-bit products that count as equal


def turn(
    vectors: Float[Tensor, "arrow 2"], positions: Int[Tensor, " arrow"], pair: int, dim: int, theta: float
) -> Float[Tensor, "arrow 2"]:
    """Each vector as one pair of channels of a head of width `dim`, turned by `Rope` at its position (in 64 bits)."""
    rope = Rope(encoding_config(heads=1, d_model=dim, rope=RopeConfig(theta=theta, interleaved=True)))
    channels = slice(2 * pair, 2 * pair + 2)
    whole = torch.zeros(len(vectors), dim, dtype=torch.float64)
    whole[:, channels] = vectors.double()
    return rope.rotate(whole[None, None], positions.double())[0, 0, :, channels]


def encoding_config(heads: int, **choices: Any) -> Config:
    """The config of a single positional encoding."""
    sizes: dict[str, Any] = {"vocabulary_size": 1, "context_length": 1, "layers": 1, "d_model": 2 * heads}
    return Config(heads=heads, **(sizes | choices))


SHOWN_POSITIONS, SHOWN_CHANNELS, ARROWS = 48, 48, 8


def show_table(model: Checkpoint) -> ScreenRows:
    """A model's position vectors, and the cosine of each pair of them."""
    config = model.model.config
    encoding = POSITIONAL_ENCODINGS[config.positional_encoding]
    profile = position_profile(model.model, min(SHOWN_POSITIONS, config.context_length))
    if profile.embeddings is None:
        return (
            f"This model adds no vectors to its tokens. Positional encoding: {encoding.title}. "
            f"{encoding.description} Choose a model with a learned or a sinusoidal table; any GPT-2 or BERT that "
            "you open on the page Models has a learned one.",
        )
    values = torch.tensor(profile.embeddings)
    rows, width = config.context_length, values.shape[1]
    learned = bool(encoding.learned_weights)
    return (
        row(
            HeatMapView(
                "Position vectors: a row for each position",
                values[:, :SHOWN_CHANNELS],
                row_axis="position",
                column_axis="channel",
                note=f"The first {SHOWN_CHANNELS} of {values.shape[1]} channels."
                if values.shape[1] > SHOWN_CHANNELS
                else "",
            ),
            *(
                (
                    HeatMapView(
                        "Cosine of each pair",
                        torch.tensor(profile.similarity),
                        row_axis="position",
                        column_axis="position",
                    ),
                )
                if profile.similarity is not None
                else ()
            ),
            question=ask_number(
                f"A context of {rows:,} tokens, {width} channels: how many numbers are learned for positions?",
                rows * width if learned else 0,
                (rows, "That is the number of rows; each has a number for every channel."),
                (rows * rows, "There is no vector for each pair of positions, only one for each position."),
                hints=("Are these vectors learned, or computed by a formula?", "A table has rows times channels."),
            ),
        ),
        f"Positional encoding: {encoding.title}. "
        + (
            f"The table has {config.context_length:,} rows, each learned in training; later positions have no row."
            if learned
            else "These vectors are computed, not learned, so there is one for every position."
        ),
    )


def show_rope(query_position: int, key_position: int, shift: int, pair: int, dim: int, theta: float) -> ScreenRows:
    """One pair of channels of a query and a key, turned by their positions, before and after both move."""
    require_index(pair, dim // 2, "pair", "the head")
    query, key = torch.tensor([1.0, 0.0]), torch.tensor([0.8, 0.6])
    places = torch.tensor([query_position, key_position, query_position + shift, key_position + shift])
    turned = turn(torch.stack((query, key, query, key)), places, pair, dim, theta)
    here, there = turned[:2], turned[2:]
    product, moved = float(here[0] @ here[1]), float(there[0] @ there[1])
    return (
        row(
            _query_and_key("Query and key at their positions", here, query_position, key_position),
            _query_and_key(f"Both moved by {shift}", there, query_position + shift, key_position + shift),
            question=ask_direction(
                f"Query and key both move on by {shift}. How does their dot product change?", moved - product, SAME
            ),
        ),
        row(
            _walk(query, query_position, pair, dim, theta),
            TableView(
                ("positions", "distance", "q · k"),
                (
                    (f"{query_position} and {key_position}", query_position - key_position, product),
                    (f"{query_position + shift} and {key_position + shift}", query_position - key_position, moved),
                ),
                title="Dot product of query and key",
                digits=8,
            ),
        ),
        agreement(
            "The two products are equal, up to rounding: only the distance counts.", abs(product - moved), bound=SAME
        ),
    )


def _walk(query: Tensor, start: int, pair: int, dim: int, theta: float) -> View:
    """The same query at successive positions."""
    positions = torch.arange(start, start + ARROWS)
    turned = turn(query.expand(ARROWS, 2), positions, pair, dim, theta).tolist()
    return ArrowsView(
        title=f"A query at positions {start} to {start + ARROWS - 1}",
        arrows=tuple(Arrow(str(start + step), x, y, shade=(step + 1) / ARROWS) for step, (x, y) in enumerate(turned)),
    )


def _query_and_key(title: str, turned: Tensor, query_position: int, key_position: int) -> View:
    (query_x, query_y), (key_x, key_y) = turned.tolist()
    return ArrowsView(
        title=title,
        arrows=(
            Arrow(f"query at {query_position}", query_x, query_y),
            Arrow(f"key at {key_position}", key_x, key_y, group=1),
        ),
        groups=("query", "key"),
    )


def show_alibi(heads: int, head: int, length: int) -> ScreenRows:
    """The bias of one head as a matrix, and that of all heads by distance."""
    require_index(head, heads, "head", "the attention")
    alibi = Alibi(encoding_config(heads))
    positions, slopes = torch.arange(length), alibi.slopes()
    bias = alibi.bias(positions, positions)
    names = tuple(map(str, range(length)))
    return (
        row(
            HeatMapView(
                f"What head {head} adds to the scores",
                bias[head],
                rows=names,
                columns=names,
                row_axis="query",
                column_axis="key",
            ),
            LinesView(
                "Bias over distance",
                range(length),
                {f"head {number}": bias[number, :, 0] for number in range(min(heads, 8))},
                "distance of query and key in tokens",
                "bias",
            ),
            question=ask_number(
                f"What does head {head} add to the score of the first token, {length - 1} tokens back?",
                float(bias[head, -1, 0]),
                (-float(bias[head, -1, 0]), "It is a penalty: the number is negative."),
                (-float(slopes[head]), "That is the bias for one token of distance; multiply it by the distance."),
                hints=("It is minus the slope times the distance.", f"The slope is {digits(float(slopes[head]), 4)}."),
            ),
        ),
        bars("Slope of each head", tuple(map(str, range(heads))), slopes, name="slope", digits=4),
        *_said_of_slopes(heads),
    )


def _said_of_slopes(heads: int) -> ScreenRows:
    """Why the slopes of some heads lie between others; empty for a power of two."""
    power = 2 ** (heads.bit_length() - 1)
    if power == heads:
        return ()
    return (
        f"{heads} is not a power of two, so the first {power} heads have the slopes of {power} heads, and the other "
        f"{heads - power} every second slope of {2 * power} heads, beginning with the first (code of Press et al. "
        "2022).",
    )


def show_buckets(buckets: int, max_distance: int, direction: str, longest: int) -> ScreenRows:
    """The bucket of each distance, and which distances share one."""
    relative = RelativeBias(
        encoding_config(1, relative_position=RelativePositionConfig(buckets=buckets, max_distance=max_distance)),
        bidirectional=direction == "both",
    )
    distances = torch.arange(-longest, longest + 1 if direction == "both" else 1)
    numbers = relative.bucket(distances)
    return (
        row(
            LinesView(
                "Bucket of each distance", distances, {"bucket": numbers}, "key position − query position", "bucket"
            ),
            question=ask_whether(
                f"Do keys {longest} and {longest - 1} tokens back share a bucket?",
                bool(numbers[0] == numbers[1]),
                "Each short distance has its own bucket; long ones share buckets.",
            ),
        ),
        HeatMapView(
            f"A ruler of distances: {len(torch.unique(numbers))} buckets, with one learned number for each head and "
            "bucket",
            numbers[None],
            rows=("bucket",),
            columns=tuple(str(distance).replace("-", "−") for distance in distances.tolist()),
            column_axis="key position − query position",
            colours="sequential",
        ),
    )


def _trained_with_buckets(buckets: int, max_distance: int, direction: str, longest: int) -> StateFields:
    """The shipped model with buckets in the same direction."""
    return {"model": "positions-encoder-relative" if direction == "both" else "positions-decoder-relative"}


ROPE_MODEL, ALIBI_MODEL = (link(fixed={"model": f"positions-decoder-{name}"}) for name in ("rope", "alibi"))
LEARNED = Screen(
    title="A table of positions",
    lesson="Instead of being computed, a position's vector can be a row of a table that is learned like any other "
    "weight, as in BERT and GPT-2. The table then ends at the longest training text. Choose a model and see its "
    "position vectors, and which of them are alike.",
    controls={"model": ModelControl(default="positions-encoder-learned", needs="text")},
    compute=show_table,
    formulas=(LearnedPositions.formula,),
    code=(LearnedPositions, position_profile),
    explore=link("model"),
    elsewhere={"positions": link("model")},
)
ROPE = Screen(
    title="RoPE: turning arrows",
    lesson="Rotary positions add no vectors: each pair of channels of a query or key is an arrow, turned by an angle "
    "that grows with its position. Move both tokens by the same number of positions, and both arrows turn by the same "
    "angle. Their dot product stays the same, so only the distance counts.",
    controls={
        "query_position": CountControl("Position of the query", "5", 0.0, 200.0),
        "key_position": CountControl("Position of the key", "2", 0.0, 200.0),
        "shift": CountControl("Move both by", "10", 0.0, 200.0),
        "pair": CountControl("Pair of channels", "1", 0.0, 31.0),
        "dim": CountControl("Channels of a head", "8", 2.0, 64.0, step=2.0, even=True),
        "theta": NumberControl("Base θ", "10000", 2.0, 1_000_000.0),
    },
    compute=show_rope,
    formulas=(Rope.formula,),
    code=(Rope, turn),
    explore=ROPE_MODEL,
    elsewhere={"positions": ROPE_MODEL},
)
ALIBI = Screen(
    title="ALiBi: a penalty for distance",
    lesson="Each score is reduced a little for every token of distance, and nothing is learned for this. Heads differ "
    "in their slope: steep ones see only near tokens, flat ones the whole text. No position is ever out of range, so "
    "the model can read texts longer than those of training.",
    controls={
        "heads": CountControl("Heads", "8", 1.0, 32.0),
        "head": CountControl("Head shown (0 is the first)", "2", 0.0, 31.0),
        "length": CountControl("Tokens", "12", 2.0, 48.0),
    },
    compute=show_alibi,
    formulas=(Alibi.formula,),
    code=(Alibi,),
    explore=ALIBI_MODEL,
    elsewhere={"positions": ALIBI_MODEL},
)
BUCKETS = Screen(
    title="T5: distances in buckets",
    lesson="T5 learns one number for each head and bucket of distances and adds it to the scores. Each small distance "
    "has its own bucket; larger ones share buckets that grow with the distance, and the last contains all that are "
    "farther. A decoder only looks back, so all its buckets are for one direction.",
    controls={
        "buckets": CountControl("Buckets", "32", 4.0, 128.0, step=4.0),
        "max_distance": CountControl("Largest distance distinguished", "128", 2.0, 1_000.0),
        "direction": ChoiceControl(
            "Looks", "both", {"both": "In both directions (encoder)", "back": "Back only (decoder)"}
        ),
        "longest": CountControl("Distances shown, up to", "160", 8.0, 500.0),
    },
    compute=show_buckets,
    formulas=(RelativeBias.formula,),
    code=(RelativeBias,),
    explore=_trained_with_buckets,
    elsewhere={"positions": _trained_with_buckets},
)
