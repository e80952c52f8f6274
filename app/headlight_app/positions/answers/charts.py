"""The charts of a positional encoding as views."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from headlight.analysis.position_profile import PositionProfile
from headlight.array_types import Float, Int
from headlight.views.kinds import BarsView, ChoiceView, HeatMapView, LinesView, NumberTable
from headlight.views.rows import Row
from headlight.views.words import three_digits
from headlight_app.contract.state import State
from headlight_app.positions.answers import conclusions

SAMPLED_CHANNELS = 12  # to choose from
MOST_ADDED = 12  # further ones that an address names
DRAWN_CHANNELS = 4  # until some are chosen
MOST_COLUMNS = 1_024  # of a map; a screen does not have enough pixels for more
DISTANCE = "distance (key minus query)"


def chart_rows(profile: PositionProfile, state: State, *, only_layout: bool) -> Iterator[Row]:
    """A row for each chart; of a table that was never trained, `only_layout`: which distances share its rows."""
    if profile.embeddings is not None and not only_layout:
        told = "" if profile.similarity is None else conclusions.of_embeddings(profile.similarity)
        embeddings = replace(EMBEDDINGS, conclusion=told)
        yield from _channel_rows(embeddings, profile.embeddings, profile.embeddings, state.channels)
    if profile.angles is not None and profile.angles.size and not only_layout:
        rotations = replace(ROTATIONS, note=_speeds(profile.angles) if profile.encoding == "rope" else "")
        rotations = replace(rotations, conclusion=conclusions.of_rotations(profile.angles))
        yield from _channel_rows(rotations, profile.angles, np.cos(profile.angles), state.channels)
    if profile.bias is not None and not only_layout:
        yield from _bias_rows(profile.bias, profile.slopes, state.bias_head)
    if profile.similarity is not None and not only_layout:
        yield from _similarity_rows(profile.similarity, state.position, is_rotated=profile.angles is not None)
    if profile.buckets is not None:
        yield from _bucket_rows(profile.buckets, profile.bucket_similarity)


def sampled_channels(count: int) -> tuple[int, ...]:
    """About a dozen of `count` channels, denser at the front, where the frequencies are highest."""
    places = ((count - 1) * (step / (SAMPLED_CHANNELS - 1)) ** 2 for step in range(SAMPLED_CHANNELS))
    return tuple(dict.fromkeys(int(place + 0.5) for place in places)) if count else ()


@dataclass(frozen=True)
class _Channels:
    """The words of two charts of channels: a map and lines, with the choice of these, from the place `first` on.

    `saved` names the numbers that are saved, and `unit` is the name of a channel in them.
    """

    title: str
    lines_title: str
    choice: str
    saved: str
    unit: str
    axis: str
    value: str
    first: int
    note: str = ""
    conclusion: str = ""  # of the map


EMBEDDINGS = _Channels(
    "What is added to each token", "Channels over positions", "Channels", "Embeddings", "channel", "channel", "value", 2
)
ROTATIONS = _Channels(
    "Cosine of each rotation", "Rotation angles of channel pairs", "Pairs", "Rotation angles", "pair",
    "pair of channels", "cosine of the angle", 1,
)  # fmt: skip


def _channel_rows(
    words: _Channels, saved: Float[np.ndarray, "pos channel"], drawn: np.ndarray, chosen: Sequence[int]
) -> Iterator[Row]:
    """A map of all channels, of which the numbers are `saved`, and lines of those that are chosen."""
    positions, channels = drawn.shape
    table = NumberTable({"position": _counted(positions), words.unit: _counted(channels)}, saved)
    yield Row((_channel_map(words, drawn, table),))
    added = [channel for channel in chosen if channel < channels][:MOST_ADDED]
    options = tuple(sorted({*sampled_channels(channels), *added}))
    shown = [channel for channel in options if channel in chosen]
    shown = shown or list(options[words.first :: 2][:DRAWN_CHANNELS]) or list(options[:1])
    lines = {f"{words.unit} {channel}": drawn[:, channel] for channel in shown}
    view = _lines(
        words.lines_title,
        range(positions),
        lines,
        "position",
        words.value,
        note=_sentences(words.note, conclusions.of_channels(lines)),
    )
    picks = tuple({"channels": (option,)} for option in options)
    places = tuple(map(options.index, shown))
    yield Row((view, ChoiceView(words.choice, tuple(map(str, options)), picks, form="toggles", chosen=places)))


def _channel_map(words: _Channels, drawn: np.ndarray, table: NumberTable) -> HeatMapView:
    """The map of all channels, or of one in every few if they are very many."""
    channels = drawn.shape[1]
    step = math.ceil(channels / MOST_COLUMNS)
    names = tuple(map(str, range(0, channels, step))) if step > 1 else ()
    note = f"The map shows one {words.unit} in {step}; the saved numbers have all." if step > 1 else ""
    tables, note = {words.saved: table}, _sentences(words.conclusion, note)
    return _map(words.title, drawn[:, ::step], "position", words.axis, tables=tables, columns=names, note=note)


def _speeds(angles: Float[np.ndarray, "pos pair"]) -> str:
    """How fast the pairs rotate."""
    if len(angles) < 2:
        return ""
    first, last = three_digits(float(angles[1, 0])), three_digits(float(angles[1, -1]))
    return f"Pair 0 rotates by {first} rad per token, the last pair by {last}."


def _bias_rows(
    bias: Float[np.ndarray, "head query key"], slopes: Float[np.ndarray, " head"] | None, chosen: int
) -> Iterator[Row]:
    heads, _, keys = bias.shape
    middle = keys // 2  # the middle query, which sees all distances
    over = bias[:, middle]
    axes = {"head": _counted(heads), "distance": _counted(keys, -middle)}
    yield Row(
        (
            _lines(
                "Bias over distance",
                range(-middle, keys - middle),
                {f"head {head}": line for head, line in enumerate(over)},
                DISTANCE,
                "added to the score",
                tables={"Bias over distance": NumberTable(axes, over)},
                note=conclusions.of_bias(over, middle),
            ),
        )
    )
    if slopes is not None:
        yield Row((_slopes(slopes),))
        return
    head = min(max(chosen, 0), heads - 1)
    view = _map(f"Bias of head {head}", bias[head], "query", "key", tables={}, note=conclusions.of_bias_map(bias[head]))
    picks = tuple({"bias_head": head} for head in range(heads))
    yield Row((view, ChoiceView("Head", _counted(heads), picks, chosen=head)))


def _slopes(slopes: Float[np.ndarray, " head"]) -> BarsView:
    return BarsView(
        title="Slope of each head: decrease per token",
        labels=tuple(f"head {head}" for head in range(len(slopes))),
        series={"": slopes},
        high=float(slopes.max()),
        digits=None,
        tables={"Slopes": NumberTable({"head": _counted(len(slopes))}, slopes)},
        note=conclusions.of_slopes(slopes),
    )


def _similarity_rows(similarity: Float[np.ndarray, "pos other"], chosen: int, *, is_rotated: bool) -> Iterator[Row]:
    count = len(similarity)
    middle = count // 2
    position = middle if chosen < 0 else min(chosen, count - 1)
    note = (
        "Mean cosine of the differences of all angles: the factor by which the rotations scale the product of two "
        "equal vectors."
        if is_rotated
        else "Cosine of the two position embeddings."
    )
    note = _sentences(conclusions.of_similarity(similarity), note)
    table = NumberTable({"position": _counted(count), "other_position": _counted(count)}, similarity)
    title = "Similarity of positions"
    yield Row((_map(title, similarity, "position", "position", signed=False, tables={title: table}, note=note),))
    line = {f"position {position}": similarity[position]}
    view = _lines(
        f"Similarity to position {position}",
        range(count),
        line,
        "position",
        "similarity",
        note=conclusions.of_line(similarity[position], position),
    )
    picks = tuple({"position": -1 if place == middle else place} for place in range(count))
    yield Row((view, ChoiceView("Position", _counted(count), picks, form="slider", chosen=position)))


def _bucket_rows(
    buckets: Int[np.ndarray, " distance"], similarity: Float[np.ndarray, "distance other"] | None
) -> Iterator[Row]:
    """The distances that share a learned value, and the similarity of the learned vectors of two distances."""
    count = len(buckets)
    first = -(count // 2)
    names = _counted(count, first)
    yield Row(
        (
            _lines(
                "Distances that share a learned row",
                range(first, first + count),
                {"row": buckets},
                DISTANCE,
                "row of the table",
                tables={"Rows that distances share": NumberTable({"distance": names}, buckets)},
                note=_sentences(
                    conclusions.of_buckets(buckets),
                    "Where the line is level, all these distances share one row of the learned table.",
                ),
            ),
        )
    )
    if similarity is None:
        return
    note = (
        "Cosine of the learned vectors of two distances. What they add to a score depends on the query and the key: on "
        "Explore, Step by step shows it for the tokens of a text."
    )
    note = _sentences(conclusions.of_similarity(similarity, "distances"), note)
    table = NumberTable({"distance": names, "other_distance": names}, similarity)
    title = "Similarity of distances"
    view = _map(
        title, similarity, "distance", "distance", signed=False, tables={title: table}, rows=names, columns=names,
        note=note,
    )  # fmt: skip
    yield Row((view,))


def _map(
    title: str,
    values: np.ndarray,
    down: str,
    across: str,
    *,
    tables: dict[str, NumberTable],
    signed: bool = True,
    rows: tuple[str, ...] = (),
    columns: tuple[str, ...] = (),
    note: str = "",
) -> HeatMapView:
    return HeatMapView(
        title,
        values,
        rows=rows,
        columns=columns,
        row_axis=down,
        column_axis=across,
        colours="signed" if signed else "sequential",
        low=0.0 if signed else float(values.min()),
        tables=tables,
        note=note,
    )


def _lines(
    title: str,
    x: Sequence[int],
    series: dict[str, np.ndarray],
    across: str,
    up: str,
    *,
    tables: dict[str, NumberTable] | None = None,
    note: str = "",
) -> LinesView:
    """Lines; without tables of their own they are a part of those of another chart."""
    return LinesView(title, x, series, across, up, from_zero=False, tables=tables or {}, note=note)


def _counted(size: int, first: int = 0) -> tuple[str, ...]:
    return tuple(str(first + place).replace("-", "−") for place in range(size))


def _sentences(*parts: str) -> str:
    return " ".join(filter(None, parts))
