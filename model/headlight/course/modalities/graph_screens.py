"""Attention on a typed graph: the edges are the mask, and the order of the nodes does not matter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from headlight.array_types import Bool, Float
from headlight.course.attention import UNSCALED, attend
from headlight.course.controls import CountControl, SeedControl, TextControl
from headlight.course.screen import Screen, ScreenRows
from headlight.errors import InputError, counted, shortened
from headlight.nn.attention import Attention
from headlight.questions.asking import ask_mask
from headlight.questions.kinds import Question
from headlight.views.forms import agreement, weights_matrix
from headlight.views.kinds import GraphView, MatrixView, TableView
from headlight.views.rows import fold, row

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
        """The nodes each node may look at: itself and its neighbours."""
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
        """The index of a node. Raises InputError if it does not exist."""
        if node.strip() not in self.nodes:
            raise InputError(
                f"There is no node {shortened(node.strip(), 12)!r}. The nodes are {', '.join(self.nodes)}."
            )
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
            raise InputError(f"The graph has {count} {what}; at most {most} are allowed.")
    if not nodes:
        raise InputError("The graph is empty. Write an edge, such as C1-O2.")
    return Graph(tuple(nodes), tuple(edges))


def lay_out(graph: Graph) -> Float[Tensor, "node 2"]:
    """Coordinates whose distances approximate path lengths (stress majorization, Gansner et al. 2004)."""
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
    """The length of the shortest path between nodes; if there is none, one more than the longest of them."""
    reached = torch.eye(len(graph.nodes))
    hops = torch.full_like(reached, torch.inf).masked_fill(reached.bool(), 0)
    for step in range(1, len(graph.nodes)):
        reached = (reached @ graph.neighbours.float() > 0).float()
        hops = torch.where(reached.bool() & hops.isinf(), float(step), hops)
    return hops.masked_fill(hops.isinf(), float(hops[hops.isfinite()].max()) + 1)


ACETIC_ACID = "C1-C2, C1-H1, C1-H2, C1-H3, C2-O1, C2-O2, O2-H4"
TOLERANCE = 1e-5  # largest difference of vectors that count as equal


def attend_in_layers(
    features: Float[Tensor, "node channel"], layers: int, allowed: Bool[Tensor, "node node"] | None = None
) -> tuple[Float[Tensor, "node channel"], Float[Tensor, "node node"]]:
    """The nodes after some layers of attention, and the share of each original node in each of them.

    Queries, keys and values are the nodes themselves, so the shares are the product of the layers' weights.
    """
    shares = torch.eye(len(features))
    for _ in range(layers):
        head = attend(features, features, features, allowed=allowed, scale=False)
        features, shares = head.output, head.weights @ shares
    return features, shares


def count_different(vectors: Float[Tensor, "node channel"]) -> int:
    """The number of different vectors."""
    different: list[Tensor] = []
    for vector in vectors:
        if all(float((vector - other).abs().max()) > TOLERANCE for other in different):
            different.append(vector)
    return len(different)


def show_graph(edges: str, node: str, layers: int, seed: int) -> ScreenRows:
    """Attention of a node along the edges and to all nodes, the resulting vectors, and the same in another order."""
    graph = parse_graph(edges)
    asked, places = graph.find(node), lay_out(graph)
    first = attend(graph.features, graph.features, graph.features, allowed=graph.neighbours, scale=False)
    along, along_shares = attend_in_layers(graph.features, layers, graph.neighbours)
    full, full_shares = attend_in_layers(graph.features, layers)
    return (
        row(
            *(
                GraphView(
                    title=title,
                    nodes=graph.nodes,
                    places=places,
                    edges=graph.edges,
                    shades=shares[asked],
                    marked=asked,
                )
                for title, shares in (("Along the edges", along_shares), ("Without a mask", full_shares))
            ),
            title=f"How much of {graph.nodes[asked]} comes from each node after {counted(layers, 'layer')}",
            question=_ask_of_neighbours(graph, asked),
        ),
        row(
            MatrixView(
                "The mask: 1 for edges and on the diagonal",
                graph.neighbours.float(),
                rows=graph.nodes,
                columns=graph.nodes,
                colours="weights",
            ),
            weights_matrix(
                "Weights of the first layer",
                first.weights,
                graph.nodes,
                before="→",
                crossed=~graph.neighbours,
                row_axis="query",
                column_axis="key",
            ),
        ),
        *fold(
            row(
                *(
                    MatrixView(title, values, rows=graph.nodes, columns=graph.kinds, before=before)
                    for title, values, before in (
                        ("At first", graph.features, ""),
                        ("Along the edges", along, "→"),
                        ("Without a mask", full, ""),
                    )
                ),
                title=f"What each node knows: its vector before and after {counted(layers, 'layer')}",
                text="At first a node knows only its kind. No weights are trained: queries, keys and values are the "
                "vectors themselves, and a score is 1 for two nodes of the same kind.",
            ),
            _compare(graph, along, full, layers),
            *_permuted(graph, seed, layers),
        ),
    )


def _ask_of_neighbours(graph: Graph, asked: int) -> Question:
    name, seen = graph.nodes[asked], graph.neighbours[asked : asked + 1]
    alike = torch.tensor([[kind == graph.node_kinds[asked] for kind in graph.node_kinds]])
    itself = torch.arange(len(graph.nodes)) == asked
    return ask_mask(
        f"The edges become the mask. Tick the nodes that {name} may look at in one layer.",
        (name,),
        graph.nodes,
        seen,
        (seen & ~itself, "A node also looks at itself: the diagonal is always allowed."),
        (alike, "Those nodes are of the same kind; but only bonds count."),
        (torch.ones_like(seen), "It would look at all of them without a mask."),
        hints=(f"Find {name} among the edges.",),
    )


def _compare(graph: Graph, along: Tensor, full: Tensor, layers: int) -> str:
    one, other = count_different(full), count_different(along)
    sentence = (
        f"For {len(graph.nodes)} nodes, attention without a mask leaves {one} different vectors, attention along the "
        f"edges {other}. "
    )
    if other > one:
        return sentence + (
            "If all nodes look at all others, nodes of one kind stay alike; along the edges a node learns about its "
            f"surroundings, one edge farther in every layer: up to {counted(layers, 'edge')} away. Graph attention "
            "networks do this (Veličković et al. 2018)."
        )
    return sentence + "In this graph the neighbours distinguish no more nodes than the kinds do."


def _permuted(graph: Graph, seed: int, layers: int) -> ScreenRows:
    """The same graph with its nodes in another order: the vectors move with their nodes."""
    order = torch.randperm(len(graph.nodes), generator=torch.Generator().manual_seed(seed))
    other = graph.permuted(order)
    before, _ = attend_in_layers(graph.features, layers, graph.neighbours)
    after, _ = attend_in_layers(other.features, layers, other.neighbours)
    forgotten, _ = attend_in_layers(other.features, layers, graph.neighbours)
    distances = {
        "nodes and mask in the new order": after,
        "nodes in the new order, mask in the old order": forgotten,
    }
    error = _distance(after, before[order])
    return (
        row(
            *(
                MatrixView(
                    title, each.neighbours.float(), rows=each.nodes, columns=each.nodes, colours="weights", before=sign
                )
                for title, each, sign in (("Mask", graph, ""), ("Mask in the new order", other, "→"))
            ),
            title="The order of the nodes does not matter",
            text="The typed edges list the atoms in some order, but the molecule has no order. Draw another one: each "
            "vector moves with its atom.",
        ),
        row(
            *(
                MatrixView(title, values, rows=each.nodes, columns=graph.kinds, before=sign)
                for title, values, each, sign in (
                    ("Vectors", before, graph, ""),
                    ("Vectors in the new order", after, other, "→"),
                )
            ),
            title=f"After {counted(layers, 'layer')} along the edges",
        ),
        TableView(
            ("attention of", "row by row", "each node with itself", "mean of all nodes"),
            tuple(
                (
                    name,
                    _distance(values, before),
                    _distance(values, before[order]),
                    _distance(values.mean(0), before.mean(0)),
                )
                for name, values in distances.items()
            ),
            title="Largest difference to the vectors of the first order",
            digits=6,
        ),
        agreement(
            "Each node has the same vector in either order, up to rounding: attention is equivariant. A graph has "
            "no first node, so no positions are added here; only their vectors and the mask distinguish nodes, and the "
            "mask must be reordered, too.",
            error,
            bound=TOLERANCE,
        ),
    )


def _distance(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max())


GRAPH = Screen(
    title="A graph: the edges are the mask",
    lesson="A molecule has no left and right, but it has bonds. Take its atoms as tokens and let each look only along "
    "its bonds: the edges become the mask. This is acetic acid; one of its hydrogens, H4, is the acidic one, and only "
    "its neighbours can tell which.",
    controls={
        "edges": TextControl("Edges", ACETIC_ACID, longest=300),
        "node": TextControl("Query node", "H4", longest=8),
        "layers": CountControl("Layers", "1", 1, 6),
        "seed": SeedControl(),
    },
    compute=show_graph,
    formulas=(
        r"M_{ij} = 0\ \text{for an edge},\quad -\infty\ \text{otherwise}",
        r"\mathrm{Attention}(P X, P M P^\top) = P\, \mathrm{Attention}(X, M)",
        UNSCALED,
    ),
    code=(attend_in_layers, parse_graph, Attention.weighted_sum),
)
