"""A small graph as it is typed, and where to draw its nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from headlight.array_types import Bool, Float
from headlight.errors import InputError, shortened

MOST_NODES, MOST_EDGES = 12, 24
LAYOUT_STEPS = 200
_NODE = re.compile(r"([A-Za-z]{1,2})\d{0,2}")


@dataclass(frozen=True)
class Graph:
    """Named nodes and undirected edges between them; the letters of a name are the node's kind."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]

    @property
    def node_kinds(self) -> tuple[str, ...]:
        """The kind of each node: C of C2."""
        return tuple(re.sub(r"\d", "", node) for node in self.nodes)

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds, in alphabetical order."""
        return tuple(sorted(set(self.node_kinds)))

    @cached_property
    def features(self) -> Float[Tensor, "node kind"]:
        """Each node as a one-hot vector of its kind."""
        return torch.tensor([[float(kind == each) for each in self.kinds] for kind in self.node_kinds])

    @cached_property
    def neighbours(self) -> Bool[Tensor, "node node"]:
        """Where a node may look: at itself and at the nodes that edges join it to."""
        allowed = torch.eye(len(self.nodes), dtype=torch.bool)
        for one, other in self.edges:
            allowed[one, other] = allowed[other, one] = True
        return allowed

    def permuted(self, order: Tensor) -> Graph:
        """The same graph with its nodes in another order."""
        place = {int(old): new for new, old in enumerate(order)}
        edges = tuple((place[one], place[other]) for one, other in self.edges)
        return Graph(tuple(self.nodes[int(old)] for old in order), edges)

    def find(self, node: str) -> int:
        """The number of a node. Raises InputError for one that there is not."""
        if node.strip() not in self.nodes:
            raise InputError(f"There is no node {shortened(node.strip(), 12)!r}. There are {', '.join(self.nodes)}.")
        return self.nodes.index(node.strip())


def parse_graph(text: str) -> Graph:
    """A graph from its edges, such as "C1-C2, C2-O1"; a name alone is a node without edges. Raises InputError."""
    nodes: dict[str, int] = {}
    edges: dict[tuple[int, int], None] = {}
    for part in filter(None, (part.strip() for part in re.split(r"[,;\n]", text))):
        names = [name.strip() for name in re.split(r"[-–—]", part)]
        if len(names) > 2 or not all(map(_NODE.fullmatch, names)):
            raise InputError(
                f"{shortened(part, 30)!r} is not an edge. Write two names with a hyphen between them, such as C1-O2: "
                "one or two letters, and a number if you like."
            )
        ends = [nodes.setdefault(name, len(nodes)) for name in names]
        if len(ends) == 2 and ends[0] != ends[1]:
            edges[min(ends), max(ends)] = None
    for what, count, most in (("nodes", len(nodes), MOST_NODES), ("edges", len(edges), MOST_EDGES)):
        if count > most:
            raise InputError(f"The graph has {count} {what}; at most {most} are possible.")
    if not nodes:
        raise InputError("The graph is empty. Write an edge, such as C1-O2.")
    return Graph(tuple(nodes), tuple(edges))


def lay_out(graph: Graph) -> Float[Tensor, "node 2"]:
    """Places as far apart as there are edges between them, nearly (stress majorization, Gansner et al. 2004)."""
    count = len(graph.nodes)
    turn = 2 * torch.pi * torch.arange(count) / count
    places = torch.stack((turn.cos(), turn.sin()), 1) * count / 4
    if count == 1:
        return places * 0
    hops = count_hops(graph)
    weights = torch.where(hops > 0, hops.clamp(min=1) ** -2, 0)
    inverse = torch.linalg.pinv(weights.sum(1).diag() - weights)
    for _ in range(LAYOUT_STEPS):
        apart = torch.cdist(places, places)
        ratios = weights * hops / apart.clamp(min=1e-6)
        places = inverse @ ((ratios.sum(1).diag() - ratios) @ places)
    return places


def count_hops(graph: Graph) -> Float[Tensor, "node node"]:
    """The fewest edges from node to node; where no way leads, one more than the longest way that there is."""
    reached = torch.eye(len(graph.nodes))
    hops = torch.full_like(reached, torch.inf).masked_fill(reached.bool(), 0)
    for step in range(1, len(graph.nodes)):
        reached = (reached @ graph.neighbours.float() > 0).float()
        hops = torch.where(reached.bool() & hops.isinf(), float(step), hops)
    return hops.masked_fill(hops.isinf(), float(hops[hops.isfinite()].max()) + 1)
