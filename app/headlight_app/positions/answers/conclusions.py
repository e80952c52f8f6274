"""What the numbers of a chart of a positional encoding show, in a sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from headlight.array_types import Bool, Float, Int
from headlight.views.words import digits, three_digits

LEAST_POSITIONS = 3  # to compare near ones with far ones
MOST_DIGITS = 6  # of a cosine; further ones are rounding
FEW = 3  # distances that are named one by one


def of_embeddings(similarity: Float[np.ndarray, "pos other"]) -> str:
    """The two positions whose vectors are most alike."""
    count = len(similarity)
    if count < 2:
        return ""
    others = np.where(np.eye(count, dtype=bool), -np.inf, similarity)
    one, other = sorted(map(int, np.unravel_index(others.argmax(), others.shape)))
    return f"No two rows are more alike than those of positions {one} and {other}: cosine {_cosine(others.max())}."


def _cosine(number: float) -> str:
    """A cosine in three digits, or in more if these would call it 1 or −1 though it is not."""
    written = (digits(float(number), count) for count in range(3, MOST_DIGITS + 1))
    return next((text for text in written if text not in ("1", "−1")), three_digits(float(number)))


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
    between = "" if fast == slow else f", pair {slow} {made[1]}"
    turned = f"{made[0]} turn{'' if made[0] == '1' else 's'}"
    return f"At the last position {_one_or_each('pair', fast, turns)} has made {turned}{between}."


def of_bias(over: Float[np.ndarray, "head distance"], middle: int) -> str:
    """Which head prefers near keys most, and which least."""
    far = over[:, 0] - over[:, middle]  # of the farthest key before the query, beside the query's own
    most, least = int(far.argmin()), int(far.argmax())
    between = "" if most == least else f", head {least} {_more(far[least])}"
    who = _one_or_each("head", most, far)
    return f"To the farthest key before the query, {who} adds {_more(far[most])} than to the query{between}."


def _one_or_each(unit: str, place: int, numbers: np.ndarray) -> str:
    """The one of a place, or each if all have the same number."""
    return f"each {unit}" if len(numbers) > 1 and numbers.min() == numbers.max() else f"{unit} {place}"


def _more(number: float) -> str:
    return f"{three_digits(abs(float(number)))} {'less' if number < 0 else 'more'}"


def of_slopes(slopes: Float[np.ndarray, " head"]) -> str:
    """How much more the steepest head loses with distance than the flattest."""
    steep, flat = int(slopes.argmax()), int(slopes.argmin())
    if not slopes[flat] or steep == flat:
        return ""
    ratio = three_digits(float(slopes[steep] / slopes[flat]))
    return f"With distance the score of head {steep} falls {ratio} times as fast as that of head {flat}."


def of_bias_map(bias: Float[np.ndarray, "query key"]) -> str:
    """At which distances the bias is largest, and at which smallest."""
    high, low = bias.max(), bias.min()
    if high == low:
        return f"It adds {three_digits(float(high))} at every distance."
    (most, at_most), (least, at_least) = [(three_digits(float(end)), _distances(bias == end)) for end in (high, low)]
    return f"It adds most ({most}) at {at_most}, and least ({least}) at {at_least}."


def _distances(cells: Bool[np.ndarray, "query key"]) -> str:
    """The distances of some cells: all of them by name if they are few or follow each other, or else their number."""
    queries, keys = np.nonzero(cells)
    found = np.unique(keys - queries)
    names = [str(distance).replace("-", "−") for distance in found]
    if len(found) == 1:
        return f"distance {names[0]}"
    if len(found) == found[-1] - found[0] + 1:
        return f"the distances from {names[0]} to {names[-1]}"
    return f"the distances {', '.join(names[:-1])} and {names[-1]}" if len(found) <= FEW else f"{len(found)} distances"


def of_similarity(similarity: Float[np.ndarray, "pos other"], what: str = "positions") -> str:
    """How alike neighbours are, and places half of the length apart."""
    count = len(similarity)
    if count < LEAST_POSITIONS:
        return ""
    half = count // 2
    near, far = (_cosine(np.diagonal(similarity, apart).mean()) for apart in (1, half))
    return f"Neighbouring {what} have a cosine of {near} on average, {what} {half} apart of {far}."


def of_line(similarity: Float[np.ndarray, " other"], position: int) -> str:
    """The positions that are most and least like one."""
    others = np.delete(np.arange(len(similarity)), position)
    if not len(others):
        return ""
    most, least = (int(others[pick(similarity[others])]) for pick in (np.argmax, np.argmin))
    numbers = [_cosine(similarity[place]) for place in (most, least)]
    return f"Most like it is position {most} ({numbers[0]}), least like it {least} ({numbers[1]})."


def of_buckets(buckets: Int[np.ndarray, " distance"]) -> str:
    """How many distances share how few rows."""
    return f"These {len(buckets)} distances share {len(np.unique(buckets))} rows."


def of_losses(titles: Sequence[str], losses: Sequence[Sequence[float]], lengths: Sequence[int]) -> str:
    """Which encoding has the lowest loss at the trained length, and which at the longest; "" if none has one."""
    best = []
    for length in (0, len(lengths) - 1):
        known = {title: line[length] for title, line in zip(titles, losses, strict=True) if math.isfinite(line[length])}
        if known:
            name = min(known, key=lambda title: known[title])
            best.append(f"at {lengths[length]} tokens {name} has the lowest loss ({known[name]:.3f} bits)")
    sentence = ", and ".join(dict.fromkeys(best))
    return f"{sentence[:1].upper()}{sentence[1:]}." if best else ""
