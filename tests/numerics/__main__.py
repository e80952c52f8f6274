"""`python -m tests.numerics [MODEL ...]`: each quantity of each model recomputed, as a Markdown table."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from PIL import Image

from headlight.paths import assets_dir
from tests.numerics import foreign
from tests.numerics.network import shipped
from tests.numerics.quantities import FOREIGN_TEXT, QUANTITIES, TEXT, TEXTS, Subject, difference

SIDE = 48
PICTURE = "pictures/drawings/purple-cross-below-blue-star.png"


def subjects(names: Iterable[str], workplace: Path) -> Iterator[Subject]:
    """The models with these names, shipped or foreign."""
    for name in names:
        if name in foreign.CONFIGS:
            network = foreign.build(name, workplace / name)
            yield Subject(name, workplace / name, network, workplace, text=FOREIGN_TEXT)
        else:
            folder = assets_dir() / "models" / name
            text = next((text for known, text in TEXTS.items() if name.startswith(known)), TEXT)
            picture = _small_picture(workplace) if name == "caption" else None
            yield Subject(name, folder, shipped(folder), workplace, picture, text)


def _small_picture(workplace: Path) -> Path:
    """A drawing at the model's input size, so that nothing is resized."""
    with Image.open(assets_dir() / PICTURE) as image:
        image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.NEAREST).save(workplace / "drawing.png")
    return workplace / "drawing.png"


def main(names: list[str]) -> None:
    """Print the table."""
    everything = sorted(path.name for path in (assets_dir() / "models").iterdir() if path.is_dir())
    found: dict[str, dict[str, float]] = {name: {} for name in QUANTITIES}
    with tempfile.TemporaryDirectory() as folder:
        for one in subjects(names or [*everything, *foreign.CONFIGS], Path(folder)):
            print(f"{one.name} ...", file=sys.stderr, flush=True)
            for name in QUANTITIES:
                worst = difference(one, name)
                if worst is not None:
                    found[name][one.name] = worst
    print("| quantity | models | largest difference | in |\n|---|---:|---:|---|")
    for name, by_model in found.items():
        if by_model:
            model, worst = max(by_model.items(), key=lambda item: item[1])
            print(f"| {name} | {len(by_model)} | {worst:.1e} | {model} |")


if __name__ == "__main__":
    main(sys.argv[1:])
