"""The parts of a model that write to the residual stream: their titles, and the choices that open them."""

from __future__ import annotations

import re

from headlight.analysis.residual_stream import Component
from headlight.views.kinds import Pick

_PATH = re.compile(r"(?:\w+\.)?(?:(\d+)\.)?(\w+)(?:\[(\d+)\])?")  # as in decoder.1.self[3]
_OUTSIDE = {
    "embedding": "Token embedding",
    "positions": "Added positions",
    "bias": "Biases of embedding and answer",
    "edit": "Edits of the stream",
    "relative_position": "Relative position",
}
_SUBLAYERS = {"feed_forward": "feed-forward", "layer_embedding": "layer embedding", "bias": "biases"}


def part_of(path: str) -> Component:
    """The part of a path such as `decoder.1.self[3]`, the inverse of `Component.path`."""
    parsed = _PATH.fullmatch(path)
    assert parsed, path
    layer, kind, head = parsed.groups(default="-1")
    return Component("positions" if kind == "position_embedding" else kind, int(layer), int(head))


def part_title(part: Component) -> str:
    """The title of a part, such as "Layer 1, head 3"."""
    if part.layer < 0:
        return _OUTSIDE[part.kind]
    if part.head >= 0:
        return f"Layer {part.layer}, {'cross ' if part.kind == 'cross' else ''}head {part.head}"
    return f"Layer {part.layer}, {_SUBLAYERS[part.kind]}"


def part_name(part: Component) -> str:
    """The same within a sentence: "layer 1, head 3", "the feed-forward of layer 1"."""
    if part.kind == "feed_forward":
        return f"the feed-forward of layer {part.layer}"
    title = part_title(part)
    return f"{title[0].lower()}{title[1:]}"


def part_pick(part: Component, stack: str) -> Pick:
    """The choice that selects a head, or opens the neurons of a feed-forward; empty for other parts."""
    if part.kind == "feed_forward":
        return {"neuron": str(part.layer)}
    if part.head < 0:
        return {}
    return {"attention": f"{stack}.{part.kind}", "layer": part.layer, "head": part.head}


def opening_pick(part: Component, stack: str) -> Pick:
    """The same from another panel: the choice also opens the panel of the part."""
    pick = part_pick(part, stack)
    if part.head >= 0:
        return {"tab": "heads", **pick, "heads": ()}
    return {"tab": "layers", "analysis": "logit_attribution", **pick, "layer": part.layer} if pick else {}
