"""Amino acids as vectors, and handwritten heads that look for a charge, a letter, or a liking for water."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.course.attention import UNSCALED, HeadValues, attend
from headlight.course.controls import ChoiceControl, CountControl, TextControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows
from headlight.errors import InputError
from headlight.questions.asking import ask_largest
from headlight.registry import Registry
from headlight.views.forms import weights_map
from headlight.views.kinds import TableView, TokensView
from headlight.views.rows import row
from headlight.views.words import percent

MOST_RESIDUES = 100


@dataclass(frozen=True)
class AminoAcid:
    """One of the twenty amino acids.

    Its charge is at pH 7, in elementary charges; its hydropathy (Kyte & Doolittle 1982) goes from -4.5 (seeks water) to
    4.5 (avoids water).
    """

    name: str
    charge: int
    hydropathy: float


AMINO_ACIDS = {
    "A": AminoAcid("alanine", 0, 1.8),
    "R": AminoAcid("arginine", 1, -4.5),
    "N": AminoAcid("asparagine", 0, -3.5),
    "D": AminoAcid("aspartate", -1, -3.5),
    "C": AminoAcid("cysteine", 0, 2.5),
    "Q": AminoAcid("glutamine", 0, -3.5),
    "E": AminoAcid("glutamate", -1, -3.5),
    "G": AminoAcid("glycine", 0, -0.4),
    "H": AminoAcid("histidine", 0, -3.2),
    "I": AminoAcid("isoleucine", 0, 4.5),
    "L": AminoAcid("leucine", 0, 3.8),
    "K": AminoAcid("lysine", 1, -3.9),
    "M": AminoAcid("methionine", 0, 1.9),
    "F": AminoAcid("phenylalanine", 0, 2.8),
    "P": AminoAcid("proline", 0, -1.6),
    "S": AminoAcid("serine", 0, -0.8),
    "T": AminoAcid("threonine", 0, -0.7),
    "W": AminoAcid("tryptophan", 0, -0.9),
    "Y": AminoAcid("tyrosine", 0, -1.3),
    "V": AminoAcid("valine", 0, 4.2),
}
LETTERS = tuple(AMINO_ACIDS)
LARGEST_HYDROPATHY = 4.5
CHARGE, HYDROPATHY = len(LETTERS), len(LETTERS) + 1  # channels of a residue's vector, after those of its letter
CHANNELS = (*LETTERS, "charge", "hydropathy")


def parse_protein(text: str) -> str:
    """The letters of a chain, without spaces. Raises InputError for other letters, and for too many."""
    chain = "".join(text.upper().split())
    for place, letter in enumerate(chain, 1):
        if letter not in AMINO_ACIDS:
            raise InputError(
                f"{letter!r}, letter {place}, is not an amino acid. The twenty are {' '.join(sorted(LETTERS))}."
            )
    if not 2 <= len(chain) <= MOST_RESIDUES:
        raise InputError(f"The chain has {len(chain)} residues; 2 to {MOST_RESIDUES} are allowed.")
    return chain


def embed_protein(chain: str) -> Float[Tensor, "residue channel"]:
    """Each residue as a vector: one-hot by its letter, then its charge, and its hydropathy from -1 to 1."""
    return torch.tensor(
        [
            [*(float(letter == each) for each in LETTERS), acid.charge, acid.hydropathy / LARGEST_HYDROPATHY]
            for letter, acid in ((letter, AMINO_ACIDS[letter]) for letter in chain)
        ]
    )


CHARGES = {1: "positive ones", -1: "negative ones", 0: "uncharged ones"}
SIGNS = {1: "+", -1: "−", 0: ""}
STRENGTH = 3.0  # of a query: how sharply a head chooses
SHOWN_KEYS = 5


@dataclass(frozen=True)
class HandWrittenHead:
    """A head that reads some channels; with `sign` -1 it looks for opposite values."""

    title: str
    channels: tuple[int, ...]
    sign: int

    @property
    def read(self) -> str:
        """The names of the channels read."""
        return ", ".join(CHANNELS[channel] for channel in self.channels)

    def w_q(self) -> Float[Tensor, "channel head_dim"]:
        """The query's matrix: STRENGTH times the sign on the channels read."""
        return STRENGTH * self.sign * self.w_k()

    def w_k(self) -> Float[Tensor, "channel head_dim"]:
        """The key's matrix: 1 on the channels read."""
        return torch.eye(len(CHANNELS))[:, list(self.channels)]


HEADS: Registry[HandWrittenHead] = Registry(
    "head",
    {
        "opposite-charge": HandWrittenHead("the opposite charge", (CHARGE,), -1),
        "equal-charge": HandWrittenHead("the same charge", (CHARGE,), 1),
        "hydropathy": HandWrittenHead("the same liking for water", (HYDROPATHY,), 1),
        "letter": HandWrittenHead("the same amino acid", tuple(range(len(LETTERS))), 1),
    },
)


def attend_along(chain: str, head: HandWrittenHead, reach: int) -> HeadValues:
    """One head over the residues; each looks at most `reach` residues far along the chain."""
    x = embed_protein(chain)
    place = torch.arange(len(x))
    allowed = (place[:, None] - place).abs() <= reach
    return attend(x @ head.w_q(), x @ head.w_k(), x, allowed=allowed, scale=False)


def show_protein(chain: str, residue: int, looks_for: str, reach: int) -> ScreenRows:
    """The chain, coloured by the weights of one residue, and the weights of all."""
    letters, head = parse_protein(chain), HEADS[looks_for]
    require_index(residue, len(letters), "residue", "the chain", first=1)
    values = attend_along(letters, head, reach)
    weights = values.weights[residue - 1]
    names = tuple(f"{letter}{place}" for place, letter in enumerate(letters, 1))
    return (
        row(
            TokensView(
                f"Where {names[residue - 1]} looks, for {head.title}",
                tuple(letters),
                shades=weights / weights.max(),
                below=tuple(SIGNS[AMINO_ACIDS[letter].charge] or "·" for letter in letters),
                note="Below each residue is its charge. The largest weight has the full colour.",
            ),
            question=ask_largest(
                f"{names[residue - 1]} looks for {head.title}. Which residues within reach get most of its weight?",
                {
                    kind: float(weights[[AMINO_ACIDS[letter].charge == charge for letter in letters]].sum())
                    for charge, kind in CHARGES.items()
                },
            ),
        ),
        _show_largest(letters, names, residue - 1, weights),
        weights_map("Weights of all residues", values.weights, names, colours="sequential"),
        row(
            TableView(
                ("matrix", "channels read", "times"),
                (("W_Q", head.read, STRENGTH * head.sign), ("W_K", head.read, 1)),
                title="The weights of this head",
            ),
            text="Nothing is trained here: this head is written by hand; a model would have to learn it.",
        ),
        describe_look(names, residue - 1, values),
    )


def _show_largest(letters: str, names: tuple[str, ...], asked: int, weights: Float[Tensor, " residue"]) -> TableView:
    """The vectors of the query residue and of the residues that it looks at most."""
    best = weights.argsort(descending=True, stable=True)[:SHOWN_KEYS].tolist()
    rows = []
    for place, weight in ((asked, "asks"), *((place, percent(weights[place])) for place in best)):
        acid = AMINO_ACIDS[letters[place]]
        rows.append((names[place], acid.name, weight, acid.charge, acid.hydropathy))
    columns = ("residue", "amino acid", "weight", "charge", "hydropathy")
    return TableView(columns, tuple(rows), title="The query residue, and the residues with its largest weights")


def describe_look(names: tuple[str, ...], asked: int, values: HeadValues) -> str:
    """The weight of the fitting residues, compared with their share under even weights."""
    allowed = values.allowed[asked]
    fits = (values.scores[asked] > 0) & allowed
    if not bool(values.scores[asked].any()):
        return (
            f"{names[asked]} has none of the property that this head reads: its query is 0, and it looks evenly at all "
            "residues within reach."
        )
    return (
        f"{names[asked]} gives {percent(values.weights[asked][fits].sum(), 0)} of its weight to {int(fits.sum())} of "
        f"{int(allowed.sum())} residues, those that fit; even weights would give them "
        f"{percent(int(fits.sum()) / int(allowed.sum()), 0)}. Such a head knows nothing about the fold: protein models "
        "learn from millions of chains which residues are close together in space."
    )


PROTEIN = Screen(
    title="A protein is a sequence of amino acids",
    lesson="A protein is written with twenty letters, and each stands for a molecule with a charge and a liking for "
    "water. Here each residue is a vector of these properties, and a handwritten head looks for fitting residues. The "
    "chain is a leucine zipper (GCN4), a helix: residues of opposite charge, up to four apart, can hold it together.",
    controls={
        "chain": TextControl("Residues", "RMKQLEDKVEELLSKNYHLENEVARLKKLVGER", longest=140),
        "residue": CountControl("Query residue (1 is the first)", "15", 1, MOST_RESIDUES),
        "looks_for": ChoiceControl(
            "It looks for", "opposite-charge", {name: head.title for name, head in HEADS.items()}
        ),
        "reach": CountControl("How far it may look, in residues", "4", 1, MOST_RESIDUES),
    },
    compute=show_protein,
    formulas=(r"a_{ij} = \mathrm{softmax}_j(x_i W^Q \cdot x_j W^K)", UNSCALED),
    code=(attend_along, HandWrittenHead, embed_protein),
)
