"""Words, patches, atoms, frames and residues, all through the same attention."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.array_types import Bool, Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.attention import NO_WEIGHTS, SHARPNESS, attend, attend_by_similarity
from headlight.course.controls import ModelControl, TextControl
from headlight.course.modalities.graph_screens import GRAPH, parse_graph
from headlight.course.modalities.patches import IMAGE_SIDE, PATCHES, cut_into_patches, read_pixels
from headlight.course.modalities.protein_screen import PROTEIN, embed_protein, parse_protein
from headlight.course.modalities.sound_screen import SOUND, parse_sounds, spectrogram, synthesize
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import token_labels
from headlight.errors import counted
from headlight.nn.attention import Attention
from headlight.questions.asking import ask_number
from headlight.tracing.run import run
from headlight.views.forms import agreement, shape_text, weights_map
from headlight.views.kinds import TableView
from headlight.views.rows import row


@dataclass(frozen=True)
class Sequence:
    """Vectors, the meaning of one, the source of their order, their labels if they have any, and the mask."""

    vector: str
    order: str
    vectors: Float[Tensor, "pos channel"]
    labels: tuple[str, ...] = ()
    allowed: Bool[Tensor, "pos pos"] | None = None


def words(model: Checkpoint, text: str) -> Sequence:
    """The token embeddings of a model. Raises TextError."""
    path = f"{model.model.config.stacks[-1]}.embedding"
    trace = run(model.model, model.tokenizer, text, keep=(path,))
    vectors = torch.tensor(trace[path], dtype=torch.float32)
    return Sequence("a token's embedding", "in a line", vectors, token_labels(trace.text))


def other_sequences() -> dict[str, Sequence]:
    """The default sequences of the screens on images, graphs, sounds and proteins."""
    patches, graph, sound, protein = (screen.parse({}) for screen in (PATCHES, GRAPH, SOUND, PROTEIN))
    side = IMAGE_SIDE // int(patches["grid"])
    pixels = cut_into_patches(read_pixels(patches["picture"]), (side, side))
    atoms, chain = parse_graph(graph["edges"]), parse_protein(protein["chain"])
    frames = spectrogram(synthesize(parse_sounds(sound["sounds"])))
    return {
        "image": Sequence("the pixels of a patch", "in rows and columns", pixels),
        "molecule": Sequence(
            "an atom's element, one-hot", "none: edges are the mask", atoms.features, atoms.nodes, atoms.neighbours
        ),
        "sound": Sequence("the spectrum of a frame", "in time", frames),
        "protein": Sequence("letter, charge and hydropathy", "along the chain", embed_protein(chain), tuple(chain)),
    }


def show_sequences(model: Checkpoint, text: str, sharpness: float) -> ScreenRows:
    """One head on five kinds of sequences: the typed words, and the defaults of the other screens."""
    found = {"text": words(model, text), **other_sequences()}
    heads = {name: attend_by_similarity(each.vectors, sharpness, each.allowed) for name, each in found.items()}
    rows = tuple((name, each.vector, each.order, shape_text(each.vectors.shape)) for name, each in found.items())
    error = max(float((head.weights.sum(-1) - 1).abs().max()) for head in heads.values())
    tokens, channels = found["text"].vectors.shape
    return (
        TableView(("sequence", "one vector is", "order", "tokens × channels"), rows),
        row(
            *(
                weights_map(
                    f"{name.capitalize()}: {counted(len(heads[name].weights), 'token')}",
                    heads[name].weights,
                    each.labels,
                    (),
                    colours="sequential",
                    is_small=True,
                )
                for name, each in found.items()
            ),
            title="Their weights",
            text=NO_WEIGHTS,
            question=ask_number(
                f"Your text has {counted(tokens, 'token')}. How many weights does the head have for it?",
                tokens * tokens,
                (tokens, "That is one row: each token has a weight for every token."),
                (tokens * channels, "That is the size of the vectors. Weights have no channels."),
                hints=("Every token looks at every token.",),
            ),
        ),
        agreement(
            "The same lines of code computed all five, and every row adds up to 1 (up to rounding). The differences "
            "come before: how an input is cut into tokens, which vector represents a token, and what encodes their "
            "order.",
            error,
        ),
    )


SEQUENCES = Screen(
    title="One attention for many kinds of things",
    lesson="Attention was made for words, but nothing in it depends on words. The same code processes every sequence "
    "and every set of vectors. Here are five; the screens below treat the last four in detail.",
    controls={
        "model": ModelControl(default="stories-causal"),
        "text": TextControl("Text", "The cat sat on the mat, and the dog sat on the cat."),
        "sharpness": SHARPNESS,
    },
    compute=show_sequences,
    formulas=(r"\mathrm{softmax}(c\, X' X'^\top)\, X,\quad c \text{ in place of } 1 / \sqrt{d_k}",),
    code=(attend_by_similarity, attend, Attention.weighted_sum),
    explore=link("model", "text"),
)
