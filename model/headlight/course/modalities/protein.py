"""Amino acids as vectors: their letter, charge and hydropathy."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.errors import InputError

MOST_RESIDUES = 100


@dataclass(frozen=True)
class AminoAcid:
    """One of the twenty: its charge at pH 7 in elementary charges, and hydropathy (Kyte & Doolittle 1982): from -4.5,
    which seeks water, to 4.5, which avoids it.
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
CHARGE, HYDROPATHY = len(LETTERS), len(LETTERS) + 1  # channels of a residue's vector, behind those of its letter
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
        raise InputError(f"The chain has {len(chain)} residues; from 2 to {MOST_RESIDUES} are possible.")
    return chain


def embed_protein(chain: str) -> Float[Tensor, "residue channel"]:
    """Each residue as a vector: one-hot by its letter, then its charge, and its hydropathy from -1 to 1."""
    return torch.tensor(
        [
            [*(float(letter == each) for each in LETTERS), acid.charge, acid.hydropathy / LARGEST_HYDROPATHY]
            for letter, acid in ((letter, AMINO_ACIDS[letter]) for letter in chain)
        ]
    )
