"""A text and an image, compared by the towers of CLIP and Chinese-CLIP: vectors and score equal the reference's."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from headlight.analysis.sentences.image_text import (
    ImageTextSimilarity,
    Towers,
    image_text_similarity,
    image_text_without_heads,
    load_towers,
)
from headlight.errors import CheckpointError, TextError
from headlight.tracing.run import run
from headlight.vision.image import process_image
from tests.families.cases import CASES
from tests.families.image_models import BOTH
from tests.families.reference import PHOTO, Case, build, inputs, photo, processor, tokenizer
from tests.shell import Shell

TEXT = "two dogs run far away"
PAIR = Case("CLIPModel", BOTH | {"projection_dim": 10}, tower="vision", image=(40, 31), special=True)


def pair(end_token: int) -> Case:
    """PAIR with an end token: 2 means the largest id of a text, 13 is a word of TEXT, 24 does not occur in it."""
    return replace(PAIR, config=PAIR.config | {"text_config": BOTH["text_config"] | {"eos_token_id": end_token}})


def opened(case: Case, folder: Path) -> tuple[Towers, torch.nn.Module]:
    model = build(case, folder)
    tokenizer(case.special).save(str(folder / "tokenizer.json"))
    return load_towers(folder, "both", "cpu"), model


def compare(towers: Towers, case: Case) -> ImageTextSimilarity:
    return image_text_similarity(towers, TEXT, process_image(np.asarray(photo(case)), towers.image.model.config.image))


@pytest.mark.parametrize("case", [pair(2), pair(13), replace(PAIR, kind="ChineseCLIPModel")])
def test_vectors_and_score_are_those_of_the_reference(case: Case, tmp_path: Path) -> None:
    towers, model = opened(case, tmp_path)
    found = compare(towers, case)
    ids = torch.tensor([tokenizer(case.special).encode(TEXT).ids])
    with torch.no_grad():
        theirs = model(input_ids=ids, **processor(case)(photo(case), return_tensors="pt"))
    np.testing.assert_allclose(found.vectors[0], theirs.text_embeds[0], atol=1e-5)
    np.testing.assert_allclose(found.vectors[1], theirs.image_embeds[0], atol=1e-5)
    assert found.score == pytest.approx(float(theirs.logits_per_image), abs=1e-4)
    assert found.cosine == pytest.approx(float(found.vectors[0] @ found.vectors[1]), abs=1e-12)


def test_a_head_of_either_tower_is_off(tmp_path: Path) -> None:
    case = pair(2)
    towers, _ = opened(case, tmp_path)
    found = compare(towers, case)
    effects = image_text_without_heads(towers, found)
    assert len(effects) == 3 + 2 * 2, "one layer of three heads, two layers of two"
    changes = [abs(effect.cosine - found.cosine) for effect in effects]
    assert changes == sorted(changes, reverse=True) and changes[0] > 1e-3
    for side, tower, read in (
        (0, towers.text, TEXT),
        (1, towers.image, inputs(case, towers.image.model.config)["text"]),
    ):
        effect = next(each for each in effects if each.path.startswith(("text", "vision")[side]))
        edit = f"{effect.path.partition(': ')[2]}.weights[{effect.head}]=set:0"
        trace = run(tower.model, tower.tokenizer, read, [edit])
        state = trace[f"{trace.config.stacks[-1]}.final_residual"][found.places[side]]
        vector = towers.projections[side].numpy() @ state
        expected = vector / np.linalg.norm(vector) @ found.vectors[1 - side]
        assert effect.cosine == pytest.approx(float(expected), abs=1e-5)


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    towers, _ = opened(pair(24), tmp_path / "both")
    with pytest.raises(TextError, match=r"no end token \(24\)"):
        compare(towers, pair(24))
    build(CASES["siglip"][0], tmp_path / "other")
    with pytest.raises(CheckpointError, match="other is a siglip; a text and an image"):
        load_towers(tmp_path / "other", "other")


def test_the_command_compares_a_sentence_with_an_image(shell: Shell, tmp_path: Path) -> None:
    case = pair(2)
    towers, _ = opened(case, tmp_path)
    named = ["similarity", TEXT, "--image", str(tmp_path / PHOTO), "--model", str(tmp_path)]
    told = json.loads(shell([*named, "--json"]))
    found = compare(towers, case)
    assert told["cosine"] == pytest.approx(found.cosine, abs=1e-6) and len(told["without_heads"]) == 7
    lines = shell([*named, "--top", "2"]).splitlines()
    assert lines[0] == f"cosine {found.cosine:.4f}, score {found.score:.4f}" and len(lines) == 4
    assert "one of the two" in shell.refused(["similarity", TEXT, "--model", str(tmp_path)])
