"""The text stack inside a model that reads images is listed and opened, and the rest is named as not read."""

from pathlib import Path

from headlight import catalog
from headlight.checkpoints import load
from tests.families.cases import CASES
from tests.families.reference import build


def test_the_vision_part_is_named_as_not_read(tmp_path: Path) -> None:
    build(CASES["llava"][0], tmp_path / "seer")
    entry = next(entry for entry in catalog([tmp_path]) if entry.name == "seer")
    opened = load(tmp_path / "seer")
    assert entry.config == opened.model.config
    assert opened.notes[0] == "Only the text stack of this llava is opened; images are not read."
    assert any("vision_tower" in note and "not loaded" in note for note in opened.notes)


def test_a_prompts_own_mask_is_told(tmp_path: Path) -> None:
    build(CASES["paligemma"][0], tmp_path / "seer")
    assert any("see each other both ways" in note for note in load(tmp_path / "seer").notes)
