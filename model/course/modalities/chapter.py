"""The chapter beyond text: images, graphs, sounds, proteins."""

from __future__ import annotations

from model.course.modalities.graph_screens import GRAPH, PERMUTATION
from model.course.modalities.melody_screen import MELODY
from model.course.modalities.patches import PATCHES
from model.course.modalities.protein_screen import PROTEIN
from model.course.modalities.sequences import SEQUENCES
from model.course.modalities.sound_screen import SOUND
from model.course.modalities.vision_models import CAPTION, VISION_MODEL
from model.course.screen import Chapter
from model.registry import Registry

MODALITIES = Chapter(
    title="Beyond text",
    summary="Images, molecules, sounds and proteins are sequences of vectors, too.",
    screens=Registry(
        "screen",
        {
            "sequences": SEQUENCES,
            "patches": PATCHES,
            "vision-model": VISION_MODEL,
            "caption": CAPTION,
            "graph": GRAPH,
            "permutation": PERMUTATION,
            "sound": SOUND,
            "melody": MELODY,
            "protein": PROTEIN,
        },
    ),
)
