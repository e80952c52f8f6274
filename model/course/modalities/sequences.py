"""Words, patches, atoms, frames and residues, all through the same attention."""

from __future__ import annotations

import torch
from torch import Tensor

from model.array_types import Bool, Float
from model.checkpoints.load import Checkpoint
from model.course.attention import attend
from model.course.controls import ModelControl, TextControl
from model.course.modalities.graph import parse_graph
from model.course.modalities.graph_screens import GRAPH
from model.course.modalities.patches import IMAGE_SIDE, PATCHES, cut_into_patches, read_pixels
from model.course.modalities.protein import embed_protein, parse_protein
from model.course.modalities.protein_screen import PROTEIN
from model.course.modalities.similarity import NO_WEIGHTS, SHARPNESS, attend_by_similarity
from model.course.modalities.sound import parse_sounds, spectrogram, synthesize
from model.course.modalities.sound_screen import SOUND
from model.course.pictures import HeatMapPicture, TablePicture, Verdict, row
from model.course.screen import Answer, Screen
from model.nn.attention import Attention
from model.tracing.run import run

Sequence = tuple[Float[Tensor, "pos channel"], Bool[Tensor, "pos pos"] | None]


def sequence_of_words(model: Checkpoint, text: str) -> Sequence:
    """The token embeddings of a model."""
    path = f"{model.model.config.stacks[-1]}.embedding"
    return torch.tensor(run(model.model, model.tokenizer, text, keep=(path,))[path], dtype=torch.float32), None


def sequences(model: Checkpoint, text: str, sharpness: float) -> Answer:
    """One head on five kinds of things: the words that were typed, and what the other screens begin with."""
    begin = {name: screen.parse({}) for name, screen in _SCREENS.items()}
    grid, picture = int(begin["patches"]["grid"]), begin["patches"]["picture"]
    side = IMAGE_SIDE // grid
    graph = parse_graph(begin["graph"]["edges"])
    found: dict[str, tuple[str, str, Sequence]] = {
        "text": ("a token's embedding", "in a line", sequence_of_words(model, text)),
        "image": (
            "the pixels of a patch",
            "rows and columns",
            (cut_into_patches(read_pixels(picture), (side, side)), None),
        ),
        "molecule": ("an atom's element, one-hot", "none; edges are the mask", (graph.features, graph.neighbours)),
        "sound": (
            "the spectrum of a frame",
            "in time",
            (spectrogram(synthesize(parse_sounds(begin["sound"]["sounds"]))), None),
        ),
        "protein": (
            "letter, charge and hydropathy",
            "along the chain",
            (embed_protein(parse_protein(begin["protein"]["chain"])), None),
        ),
    }
    heads = {
        name: attend_by_similarity(vectors, sharpness, allowed) for name, (_, _, (vectors, allowed)) in found.items()
    }
    rows = tuple(
        (name, vector, place, " × ".join(map(str, vectors.shape)), " × ".join(map(str, heads[name].weights.shape)))
        for name, (vector, place, (vectors, _)) in found.items()
    )
    error = max(float((head.weights.sum(-1) - 1).abs().max()) for head in heads.values())
    return (
        row(TablePicture(columns=("sequence", "one vector is", "order", "tokens × channels", "weights"), rows=rows)),
        row(
            *(
                HeatMapPicture(
                    title=f"{name.capitalize()}: {len(head.weights)} tokens",
                    values=head.weights,
                    row_axis="query",
                    column_axis="key",
                    colours="positive",
                )
                for name, head in heads.items()
            ),
            title="Their weights",
            text=NO_WEIGHTS,
        ),
        row(
            Verdict(
                text=f"The same lines of code computed all five, and every row adds up to 1 (up to {error:.1g}). What "
                "differs comes before: how a thing is cut into tokens, which vector stands for a token, and what tells "
                "their order.",
                good=error < 1e-4,
            )
        ),
    )


_SCREENS = {"patches": PATCHES, "graph": GRAPH, "sound": SOUND, "protein": PROTEIN}
SEQUENCES = Screen(
    title="One attention for many kinds of things",
    lesson="Attention was made for words, and nothing in it knows a word. Whatever is a sequence of vectors, or only a "
    "set of them, goes through the same code. Here are five, and the screens below take the last four apart.",
    controls={
        "model": ModelControl(default="stories-causal"),
        "text": TextControl(title="Text", default="The cat sat on the mat, and the dog sat on the cat."),
        "sharpness": SHARPNESS,
    },
    compute=sequences,
    formulas=(r"\mathrm{Attention}(X) = \mathrm{softmax}(X W^Q (X W^K)^T)\, X W^V",),
    code=(attend_by_similarity, attend, Attention.weighted_sum),
    explore=lambda model, text, sharpness: {"model": model, "text": text},
)
