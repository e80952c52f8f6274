"""The output head is found if the config names no class, or if tensors have module names."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from headlight.checkpoints import load
from headlight.cli.main import main
from headlight.errors import CheckpointError
from tests.families.cases import CASES
from tests.families.decoders import NEOX
from tests.families.reference import TEXT, Case, build, build_pickle, change_config, outputs

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


@pytest.mark.parametrize("family", ["bert", "llama"])
def test_question_answering_gives_two_scores_of_each_token(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = next(case for case in CASES[family] if case.kind.endswith("QuestionAnswering"))
    logits = outputs(build(case, tmp_path), case)["logits"]
    checkpoint = load(tmp_path)
    assert any("a softmax over the tokens makes probabilities" in note for note in checkpoint.notes)
    assert main(["predict", TEXT, "--model", str(tmp_path), "--json"]) == 0
    for shown in json.loads(capsys.readouterr().out):
        found = {each["token"]: each["score"] for each in shown["candidates"]}
        expected = dict(zip(("answer begins", "answer ends"), logits[shown["position"]].tolist(), strict=True))
        assert found == pytest.approx(expected, abs=1e-4), "scores, no probabilities over the two"


@pytest.mark.parametrize("name", ["LlamaForRewardModel", "LlamaWithValueHeadModel"])
def test_a_class_with_a_head_of_its_own_is_named_whatever_its_name_ends_with(name: str, tmp_path: Path) -> None:
    build(CASES["llama"][0], tmp_path)
    change_config(tmp_path, architectures=[name])
    assert f"The output head of {name} is not supported; the model is loaded without one." in load(tmp_path).notes


@pytest.mark.parametrize(
    ("kind", "family"), [("BertForMultipleChoice", "bert"), ("RobertaForMultipleChoice", "roberta")]
)
def test_a_head_that_chooses_among_texts_is_left_out_in_a_sentence(kind: str, family: str, tmp_path: Path) -> None:
    build(replace(CASES[family][0], kind=kind, config=NEOX), tmp_path)
    checkpoint = load(tmp_path)
    assert checkpoint.model.config.output_head == "none"
    assert f"The output head of {kind} is not supported; the model is loaded without one." in checkpoint.notes


@pytest.mark.parametrize("family", ["clip", "siglip"])
def test_the_classifier_of_a_tower_for_images_is_left_out_in_a_sentence(family: str, tmp_path: Path) -> None:
    build(CASES[family][1], tmp_path)
    kind = {"clip": "CLIPForImageClassification", "siglip": "SiglipForImageClassification"}[family]
    change_config(tmp_path, architectures=[kind])
    notes = load(tmp_path / "vision").notes
    assert f"The output head of {kind} is not supported; the model is loaded without one." in notes


@pytest.mark.parametrize("family", ["wav2vec2", "hubert", "whisper"])
def test_a_classifier_of_all_layers_is_refused_in_a_sentence(family: str, tmp_path: Path) -> None:
    endings = ("SequenceClassification", "AudioClassification")
    case = next(case for case in CASES[family] if case.kind.endswith(endings))
    build(replace(case, config=case.config | {"use_weighted_layer_sum": True}), tmp_path)
    with pytest.raises(CheckpointError, match="weighted sum of all layers"):
        load(tmp_path)
