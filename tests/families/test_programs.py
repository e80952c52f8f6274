"""A model of each family as an exported program: the same weights and logits as `run`, for inputs of any length."""

from pathlib import Path
from typing import Any

import pytest

from headlight import load
from headlight.config import Config
from headlight.sound.frames import ProcessedSound, process_sound
from headlight.sound.recording import Recording
from tests.families.cases import CASES
from tests.families.reference import TARGET, Case, build, inputs, opened_path, samples
from tests.model.tracing.programs import assert_program_agrees

FIRST = [pytest.param(cases[0], id=family) for family, cases in CASES.items()]


def shorter(case: Case, config: Config) -> dict[str, Any]:
    """The arguments of `run` for another input: fewer words, less of a sound, or the same picture."""
    if case.image:
        return inputs(case, config)
    given = sound(case, config, 2 / 3) if case.audio else " ".join(case.text.split()[:3])
    target = " ".join(TARGET.split()[:2])
    return {"text": target, "source": given} if config.has_cross_attention else {"text": given}


def sound(case: Case, config: Config, share: float = 1) -> ProcessedSound:
    """A part of the case's sound, without the samples after its last whole frame."""
    assert case.audio
    read, heard = config.sound, samples(case) / 2**15
    count = int(share * len(heard))
    if not read.frames:
        count = read.step_count(read.frame_count(count))
    return process_sound(Recording(heard[:count], case.audio[1]), read)


@pytest.mark.full
@pytest.mark.parametrize("case", FIRST)
def test_a_model_of_each_family_is_one_program_for_every_length(case: Case, tmp_path: Path) -> None:
    build(case, tmp_path)
    checkpoint = load(opened_path(case, tmp_path))
    config = checkpoint.model.config
    whole = inputs(case, config)
    if case.audio and not config.has_cross_attention:
        whole = {"text": sound(case, config)}
    assert_program_agrees(checkpoint.model, checkpoint.tokenizer, [whole, shorter(case, config)])
