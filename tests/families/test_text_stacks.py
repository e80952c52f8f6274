"""The text part of a multimodal model is listed and opened; the rest is reported as not read."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from headlight import catalog, run
from headlight.checkpoints import load
from headlight.errors import CheckpointError
from tests.families.cases import CASES
from tests.families.reference import build, outputs


def test_the_vision_part_is_named_as_not_read(tmp_path: Path) -> None:
    build(CASES["llava"][0], tmp_path / "seer")
    entry = next(entry for entry in catalog([tmp_path]) if entry.name == "seer")
    opened = load(tmp_path / "seer")
    assert entry.config is not None
    assert entry.config == opened.model.config.replace(generation=entry.config.generation)  # read with the tokenizer
    assert opened.notes[0] == "Only the text stack of this llava is opened; images are not read."
    assert any("vision_tower" in note and "not loaded" in note for note in opened.notes)


def test_a_prompts_own_mask_is_told(tmp_path: Path) -> None:
    build(CASES["paligemma"][0], tmp_path / "seer")
    assert any("see each other in both directions" in note for note in load(tmp_path / "seer").notes)


@pytest.mark.parametrize(
    ("kind", "prefixes", "others", "note"),
    [
        (
            "gemma3n",
            {"model.": "model.language_model."},
            ("model.vision_tower.a", "model.embed_vision.b", "model.audio_tower.c"),
            "Only the text stack of this gemma3n is opened; images and sounds are not read.",
        ),
        (
            "llama4",
            {"model.": "language_model.model.", "lm_head.": "language_model.lm_head."},
            ("vision_model.a", "multi_modal_projector.linear_1"),
            "Only the text stack of this llama4 is opened; images are not read.",
        ),
    ],
)
def test_a_text_stack_stands_beside_what_sees_and_hears(
    kind: str, prefixes: dict[str, str], others: tuple[str, ...], note: str, tmp_path: Path
) -> None:
    """The reference's whole model needs another package, or fails; so the text stack is nested by hand."""
    case, folder = CASES[f"{kind}_text"][0], tmp_path / "seer"
    expected = outputs(build(case, folder), case)
    weights, config = load_file(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    inside = {}
    for name, tensor in weights.items():
        first = name.partition(".")[0] + "."
        inside[prefixes.get(first, first) + name.removeprefix(first)] = tensor
    inside |= {f"{name}.weight": torch.ones(2) for name in others}
    save_file(inside, folder / "model.safetensors", metadata={"format": "pt"})
    whole = {"model_type": kind, "architectures": [case.kind.replace("ForCausalLM", "ForConditionalGeneration")]}
    parts = {"text_config": config, "vision_config": {}, "audio_config": {}}
    (folder / "config.json").write_text(json.dumps(whole | parts))
    opened = load(folder)
    assert opened.notes[0] == note
    trace = run(opened.model.float(), opened.tokenizer, case.text)
    np.testing.assert_allclose(trace["logits"], expected["logits"], atol=1e-4)


def test_each_tower_is_listed_and_opened_by_a_path_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "both"
    build(CASES["clip"][0], folder)
    (folder / "README.md").write_text("A card.")
    entries = {entry.name: entry for entry in catalog([tmp_path]) if entry.name.startswith("both")}
    assert list(entries) == ["both/text", "both/vision"]
    for name, entry in entries.items():
        opened = load(entry.folder)
        assert opened.model.config == entry.config and opened.card == "A card."
        assert entry.size_bytes == (folder / "model.safetensors").stat().st_size
        assert opened.model.origin is not None and opened.model.origin.name == name
    assert entries["both/text"].config.modalities == ("text",)
    assert entries["both/vision"].config.modalities == ("image",)


def test_without_a_tower_the_one_that_reads_texts_is_opened(tmp_path: Path) -> None:
    build(CASES["siglip"][0], tmp_path / "both")
    opened = load(tmp_path / "both")
    assert opened.model.config.modalities == ("text",)
    assert opened.notes[0].startswith("Only the tower that reads texts is opened; add /vision to the folder's path")
    with pytest.raises(CheckpointError, match="other"):
        load(tmp_path / "both" / "other")
