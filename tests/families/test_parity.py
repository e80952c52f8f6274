"""Every family agrees with transformers, through `headlight trace`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from headlight.checkpoints import load
from headlight.errors import TextError
from headlight.tracing.run import run
from tests.families.cases import CASES, EACH_CASE
from tests.families.comparison import compared, compared_in, difference
from tests.families.reference import WORDS, Case, build
from tests.sampling import parameter_set

TOLERANCE = 1e-4
READS_TEXTS = [  # the first model of each family that reads nothing but texts
    parameter_set(family, cases[0], full=family not in {"bert", "roberta", "m2m_100", "gpt2"}, id=family)
    for family, cases in CASES.items()
    if not (cases[0].image or cases[0].audio or cases[0].tower or {"text_config", "encoder"} & {*cases[0].config})
]


@pytest.mark.parametrize(("family", "case"), EACH_CASE)
def test_a_family_agrees_with_its_reference(family: str, case: Case, tmp_path: Path) -> None:
    for name, (found, expected) in compared(case, tmp_path).items():
        assert found.shape == expected.shape, f"{family}: {name}"
        assert difference(found, expected) < TOLERANCE, f"{family}: {name} differs by {difference(found, expected)}"


@pytest.mark.parametrize(("family", "case"), READS_TEXTS)
def test_a_padding_token_in_a_text_is_read_as_the_reference_reads_it_or_refused(
    family: str, case: Case, tmp_path: Path
) -> None:
    case = replace(
        case, config=case.config | {"pad_token_id": 1}, text=f"the cat sat on {WORDS[1]} mat by {WORDS[1]} sea"
    )
    model = build(case, tmp_path / "checkpoint")
    opened = load(tmp_path / "checkpoint")
    if not opened.tokenizer.uncounted_ids:
        for name, (found, expected) in compared_in(case, tmp_path, model).items():
            assert difference(found, expected) < TOLERANCE, f"{name} differs by {difference(found, expected)}"
    else:
        with pytest.raises(TextError, match="padding token"):
            run(opened.model, opened.tokenizer, case.text)


@pytest.mark.parametrize("family", ["vit", "vision-encoder-decoder", "whisper"])
def test_a_processors_settings_may_be_a_part_of_its_file(family: str, tmp_path: Path) -> None:
    """As transformers 5 saves a processor of several parts; preprocessor_config.json is then of no use."""
    case = next(case for case in CASES[family] if case.prepare)
    model = build(case, folder := tmp_path / "checkpoint")
    part = "feature_extractor" if case.audio else "image_processor"
    (folder / "processor_config.json").write_text(json.dumps({part: case.prepare, "processor_class": "Any"}))
    (folder / "preprocessor_config.json").write_text(json.dumps({"size": 10, "sampling_rate": 9_000}))
    for name, (found, expected) in compared_in(case, tmp_path, model).items():
        assert difference(found, expected) < TOLERANCE, name


@pytest.mark.parametrize("family", ["qwen3_5_text", "qwen3_5_moe_text", "qwen3_next"])
def test_a_token_that_is_taken_out_is_not_taken_up_by_a_state(family: str, tmp_path: Path) -> None:
    """Rankings of tokens are tested in this way."""
    reference, ids = build(CASES[family][0], tmp_path), torch.arange(12)[None]
    kept = torch.ones(1, 12, dtype=torch.bool)
    kept[0, [0, 4, 5]] = False
    model = load(tmp_path).model.float()
    with torch.inference_mode():
        expected = reference(ids, attention_mask=kept.long()).logits[kept]
        torch.testing.assert_close(model(ids, padding_mask=kept)[kept], expected, atol=TOLERANCE, rtol=0)
