"""The chapter beyond text: images, graphs, sounds, proteins."""

from __future__ import annotations

from headlight.course.modalities.graph_screens import GRAPH
from headlight.course.modalities.melody_screen import MELODY
from headlight.course.modalities.patches import PATCHES
from headlight.course.modalities.protein_screen import PROTEIN
from headlight.course.modalities.sequences import SEQUENCES
from headlight.course.modalities.sound_screen import SOUND
from headlight.course.modalities.vision_models import CAPTION, VISION_MODEL
from headlight.course.screen import Chapter
from headlight.registry import Registry

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
            "sound": SOUND,
            "melody": MELODY,
            "protein": PROTEIN,
        },
    ),
)
