"""What the numbers of a chart of a positional encoding show, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headlight.array_types import Float, Int
from headlight.views.words import three_digits

LEAST_POSITIONS = 3  # to compare near ones with far ones


def of_embeddings(similarity: Float[np.ndarray, "pos other"]) -> str:
    """Whether every position has a vector of its own."""
    count = len(similarity)
    if count < 2:
        return ""
    others = np.where(np.eye(count, dtype=bool), -np.inf, similarity)
    one, other = sorted(map(int, np.unravel_index(others.argmax(), others.shape)))
    return (
        f"The two most alike rows are those of positions {one} and {other}: cosine {three_digits(float(others.max()))}."
    )


def of_channels(lines: dict[str, np.ndarray]) -> str:
    """Which of the drawn channels changes direction most often and least often."""
    turns = {name: _crossings(line) for name, line in lines.items()}
    most, least = max(turns, key=lambda name: turns[name]), min(turns, key=lambda name: turns[name])
    if turns[most] == turns[least]:
        return f"Over these positions {most} crosses its mean {_times(turns[most])}."
    often, seldom = _times(turns[most]), _times(turns[least])
    return f"Over these positions {most} crosses its mean most often ({often}), {least} least often ({seldom})."


def _crossings(line: np.ndarray) -> int:
    """How often a line crosses its own mean."""
    signs = np.sign(line - line.mean())
    signs = signs[signs != 0]
    return int((signs[1:] != signs[:-1]).sum())


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def of_rotations(angles: Float[np.ndarray, "pos pair"]) -> str:
    """How many turns the fastest and the slowest pair have made at the last position."""
    turns = np.abs(angles[-1]) / (2 * math.pi)
    fast, slow = int(turns.argmax()), int(turns.argmin())
    made = [three_digits(float(turns[pair])) for pair in (fast, slow)]
    return f"At the last position pair {fast} has made {made[0]} turns, pair {slow} {made[1]}."


def of_bias(over: Float[np.ndarray, "head distance"], middle: int) -> str:
    """Which head prefers near keys most, and which least."""
    far = over[:, 0] - over[:, middle]  # of the farthest key before the query, beside the query's own
    most, least = int(far.argmin()), int(far.argmax())
    changes = [three_digits(float(far[head])) for head in (most, least)]
    between = "" if most == least else f", head {least} {changes[1]}"
    return f"To the farthest key before the query, head {most} adds {changes[0]} more than to the query{between}."


def of_slopes(slopes: Float[np.ndarray, " head"]) -> str:
    """How much more the steepest head loses with distance than the flattest."""
    steep, flat = int(slopes.argmax()), int(slopes.argmin())
    if not slopes[flat] or steep == flat:
        return ""
    ratio = three_digits(float(slopes[steep] / slopes[flat]))
    return f"With distance the score of head {steep} falls {ratio} times as fast as that of head {flat}."


def of_bias_map(bias: Float[np.ndarray, "query key"]) -> str:
    """The distances with the largest and the smallest bias."""
    places = [np.unravel_index(place, bias.shape) for place in (bias.argmax(), bias.argmin())]
    (high, low), (near, far) = [float(bias[place]) for place in places], [_distance(*place) for place in places]
    return f"It adds most at distance {near} ({three_digits(high)}), and least at {far} ({three_digits(low)})."


def _distance(query: np.intp, key: np.intp) -> str:
    return str(int(key) - int(query)).replace("-", "−")


def of_similarity(similarity: Float[np.ndarray, "pos other"], what: str = "positions") -> str:
    """How alike neighbours are, and places half of the length apart."""
    count = len(similarity)
    if count < LEAST_POSITIONS:
        return ""
    half = count // 2
    near, far = (three_digits(float(np.diagonal(similarity, apart).mean())) for apart in (1, half))
    return f"Neighbouring {what} have a cosine of {near} on average, {what} {half} apart of {far}."


def of_line(similarity: Float[np.ndarray, " other"], position: int) -> str:
    """The positions that are most and least like one."""
    others = np.delete(np.arange(len(similarity)), position)
    if not len(others):
        return ""
    most, least = (int(others[pick(similarity[others])]) for pick in (np.argmax, np.argmin))
    numbers = [three_digits(float(similarity[place])) for place in (most, least)]
    return f"Most like it is position {most} ({numbers[0]}), least like it {least} ({numbers[1]})."


def of_buckets(buckets: Int[np.ndarray, " distance"]) -> str:
    """How many distances share how few rows."""
    return f"These {len(buckets)} distances share {len(np.unique(buckets))} rows."


def of_losses(titles: Sequence[str], losses: Sequence[Sequence[float]], lengths: Sequence[int]) -> str:
    """Which encoding has the lowest loss at the trained length, and which at the longest."""
    best = []
    for length in (0, len(lengths) - 1):
        known = {title: line[length] for title, line in zip(titles, losses, strict=True) if math.isfinite(line[length])}
        name = min(known, key=lambda title: known[title])
        best.append(f"at {lengths[length]} tokens {name} has the lowest loss ({known[name]:.3f} bits)")
    sentence = ", and ".join(dict.fromkeys(best))
    return f"{sentence[:1].upper()}{sentence[1:]}."
