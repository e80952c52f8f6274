"""A classifier shows what its own pipeline shows: probabilities of one of several labels, of each label, or scores."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import ImageClassificationPipeline, TextClassificationPipeline

from headlight.checkpoints import load
from headlight.cli.main import main
from headlight.config import Config
from headlight.errors import CheckpointError
from headlight.rendering.predictions import predictions_json
from headlight.tracing.predictions import candidates
from headlight.tracing.run import run
from tests.families.cases import CASES
from tests.families.decoders import LLAMA, NEOX
from tests.families.image_models import VIT
from tests.families.reference import TEXT, Case, build, change_config, inputs, outputs

CLASSIFIERS = {
    "bert": Case("BertForSequenceClassification", NEOX, special=True),
    "llama": Case("LlamaForSequenceClassification", LLAMA | {"pad_token_id": 0}),
    "electra": Case("ElectraForSequenceClassification", NEOX | {"embedding_size": 13}, special=True),
    "vit": Case("ViTForImageClassification", VIT, image=(40, 31)),
}
KINDS: dict[str, dict[str, Any]] = {
    "one logit": {"num_labels": 1},
    "one score": {"num_labels": 1, "problem_type": "regression"},
    "several labels": {"num_labels": 3, "problem_type": "multi_label_classification"},
    "several scores": {"num_labels": 4, "problem_type": "regression"},
    "one of several": {"num_labels": 3, "problem_type": "single_label_classification"},
}


def shown_by_pipeline(model: Any, case: Case) -> list[dict[str, Any]]:
    """The labels and numbers that the model's own pipeline shows, best first."""
    pipeline: Any = ImageClassificationPipeline if case.image else TextClassificationPipeline
    logits = torch.from_numpy(outputs(model, case)["logits"])[None]
    options = {"top_k": 9} if case.image else {"top_k": None, "_legacy": False}
    shown: list[dict[str, Any]] = pipeline.postprocess(SimpleNamespace(model=model), {"logits": logits}, **options)
    return shown


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", CLASSIFIERS)
def test_an_answer_shows_what_the_pipeline_shows(family: str, kind: str, tmp_path: Path) -> None:
    first = CLASSIFIERS[family]
    case = Case(first.kind, first.config | KINDS[kind], special=first.special, image=first.image)
    reference = build(case, tmp_path)
    opened = load(tmp_path)
    traced = run(opened.model, opened.tokenizer, **inputs(case, opened.model.config))
    found = candidates(traced, opened.tokenizer, count=9)
    expected = shown_by_pipeline(reference, case)
    are_scores = "score" in kind
    shown = [(each.token, each.score if are_scores else each.probability) for each in found]
    assert [label for label, _ in shown] == [each["label"] for each in expected]
    assert [number for _, number in shown] == pytest.approx([each["score"] for each in expected], abs=1e-4)
    assert all((each.score is None) == (kind == "one of several") for each in found)
    (drawn,) = predictions_json(traced, opened.tokenizer, -1, traced.logits_at)
    shown = [(each["text"], each["after"]) for each in drawn["candidates"]]
    assert [label for label, _ in shown] == [each["label"] for each in expected]
    assert [number for _, number in shown] == pytest.approx([each["score"] for each in expected], abs=1e-4)
    assert (drawn["problem_type"] == "regression") == are_scores


def test_a_replaced_token_has_the_sigmoid_of_its_logit(tmp_path: Path) -> None:
    case = next(case for case in CASES["electra"] if case.kind == "ElectraForPreTraining")
    logits = outputs(build(case, tmp_path), case)["logits"][:, 0]
    opened = load(tmp_path)
    traced = run(opened.model, opened.tokenizer, case.text)
    found = [candidates(traced, opened.tokenizer, position)[0].probability for position in range(len(logits))]
    assert found == pytest.approx(torch.from_numpy(logits).sigmoid().tolist(), abs=1e-5)
    assert min(found) < 0.5 < max(found), "some tokens are original, some replaced"
    drawn = [predictions_json(traced, opened.tokenizer, place, traced.logits_at)[0] for place in range(len(logits))]
    assert [each["candidates"][0]["after"] for each in drawn] == pytest.approx(found, abs=1e-6)
    assert {each["problem_type"] for each in drawn} == {"multi-label"}


def test_the_command_prints_a_score_and_its_sigmoid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case("BertForSequenceClassification", NEOX | {"num_labels": 1}, special=True)
    logit = float(outputs(build(case, tmp_path), case)["logits"][0])
    assert main(["predict", TEXT, "--model", str(tmp_path)]) == 0
    probability = torch.tensor(logit).sigmoid().item()
    assert f"{100 * probability:.1f} %  score {logit:7.3f}  LABEL_0" in capsys.readouterr().out
    assert main(["predict", TEXT, "--model", str(tmp_path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)[0]["candidates"]
    assert (row["score"], row["probability"]) == pytest.approx((logit, probability), abs=1e-4)
    change_config(tmp_path, problem_type="regression")
    assert main(["predict", TEXT, "--model", str(tmp_path)]) == 0
    assert f"  score {logit:7.3f}  LABEL_0" in (shown := capsys.readouterr().out) and "%" not in shown


def test_rankings_of_one_logit_have_something_to_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(Case("BertForSequenceClassification", NEOX | {"num_labels": 1}, special=True), tmp_path)
    assert main(["rankings", TEXT, "--model", str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len({number for ranking in found["rankings"].values() for number in ranking["deletion"]}) > 3


def test_labels_may_be_numbers(tmp_path: Path) -> None:
    build(CLASSIFIERS["bert"], tmp_path)
    change_config(tmp_path, id2label={"0": -1, "1": 0.5})
    assert load(tmp_path).model.config.labels == ("-1", "0.5")


def test_an_unknown_problem_type_is_refused(tmp_path: Path) -> None:
    build(CLASSIFIERS["bert"], tmp_path)
    change_config(tmp_path, problem_type="ranking")
    with pytest.raises(CheckpointError, match="its problem_type is 'ranking', which is not supported"):
        load(tmp_path)


def test_what_labels_mean_survives_saving() -> None:
    config = Config.from_dict({"vocabulary_size": 9, "context_length": 4, "d_model": 4, "layers": 1, "heads": 1,
                               "output_head": "sequence-classifier", "labels": ["a", "b"],
                               "output_head_config": {"problem_type": "multi-label"}})  # fmt: skip
    assert Config.from_dict(config.to_dict()).output_head_config.problem_type == "multi-label"


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_the_command_prints_the_labels_of_an_encoder_decoder(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = next(case for case in CASES[family] if case.kind.endswith("ForSequenceClassification"))
    probabilities = torch.from_numpy(outputs(build(case, tmp_path), case)["logits"]).softmax(-1)
    assert main(["predict", case.text, "--model", str(tmp_path), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    shown = {row["id"]: row["probability"] for row in found["candidates"]}
    assert [shown[label] for label in range(len(probabilities))] == pytest.approx(probabilities.tolist(), abs=1e-4)
