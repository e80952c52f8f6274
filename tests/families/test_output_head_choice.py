"""The output head is found if the config names no class, or if tensors have module names."""

from pathlib import Path

import pytest
import torch

from headlight.checkpoints import load
from tests.families.cases import CASES
from tests.families.reference import Case, build, build_pickle, change_config

# The ending of a class name, and its output head.
TOPS = {
    "ForMaskedLM": "masked-language-model", "LMHeadModel": "language-model", "ForCausalLM": "language-model",
    "ForSequenceClassification": "sequence-classifier", "Model": "none",
}  # fmt: skip
FOUND = ("gpt2", "gemma", "bert", "distilbert", "modernbert", "eurobert", "bloom", "t5")
# Indistinguishable from a model with a tied head, or from one that also has a decoder.
ALIKE = ("GPT2Model", "GemmaModel", "BloomModel", "T5Model", "T5EncoderModel")


def _cases() -> list[Case]:
    first = {case.kind: case for family in FOUND for case in CASES[family]}
    return [case for kind, case in first.items() if kind.endswith(tuple(TOPS)) and not kind.startswith(ALIKE)]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.kind)
def test_without_a_class_the_head_is_found_by_its_weights(case: Case, tmp_path: Path) -> None:
    build(case, tmp_path)
    change_config(tmp_path, architectures=None)
    ending = next(ending for ending in TOPS if case.kind.endswith(ending))
    assert load(tmp_path).model.config.output_head == TOPS[ending]


@pytest.mark.parametrize("family", ["gpt_neox", "vit"])
def test_weights_may_be_called_as_running_programs_call_them(family: str, tmp_path: Path) -> None:
    build(CASES[family][0], tmp_path / "saved")
    build_pickle(CASES[family][0], tmp_path / "running")
    expected = dict(load(tmp_path / "saved").model.named_parameters())
    for name, parameter in load(tmp_path / "running").model.named_parameters():
        assert torch.equal(parameter, expected[name]), name
