"""The logit lens of classifiers equals transformers' head applied to its hidden state at every layer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headlight import run
from headlight.analysis.lenses.logit_lens import logit_lens
from headlight.checkpoints import load
from headlight.vision.image import ProcessedImage
from tests.families.cases import CASES
from tests.families.reference import Case, build, inputs, tokenizer

# The output of each transformers class for a hidden state after the final norm.
HEADS: dict[str, Callable[[Any, torch.Tensor], torch.Tensor]] = {
    "BertForSequenceClassification": lambda model, hidden: model.classifier(model.bert.pooler(hidden)),
    "BertForTokenClassification": lambda model, hidden: model.classifier(hidden)[:, -1],
    "DistilBertForSequenceClassification": lambda model, hidden: model.classifier(
        model.pre_classifier(hidden[:, 0]).relu()
    ),
    "RobertaForSequenceClassification": lambda model, hidden: model.classifier(hidden),
    "ViTForImageClassification": lambda model, hidden: model.classifier(hidden[:, 0]),
    "DeiTForImageClassificationWithTeacher": lambda model, hidden: (
        (model.cls_classifier(hidden[:, 0]) + model.distillation_classifier(hidden[:, 1])) / 2
    ),
    "Dinov2WithRegistersForImageClassification": lambda model, hidden: model.classifier(
        torch.cat((hidden[:, 0], hidden[:, 1 + model.config.num_register_tokens :].mean(1)), dim=1)
    ),
    "GPT2ForSequenceClassification": lambda model, hidden: model.score(hidden[:, -1]),
    "LlamaForSequenceClassification": lambda model, hidden: model.score(hidden[:, -1]),
}
FINAL_NORMS: dict[str, Callable[[Any], torch.nn.Module]] = {
    "ViTForImageClassification": lambda model: model.vit.layernorm,
    "DeiTForImageClassificationWithTeacher": lambda model: model.deit.layernorm,
    "Dinov2WithRegistersForImageClassification": lambda model: model.dinov2_with_registers.layernorm,
    "GPT2ForSequenceClassification": lambda model: model.transformer.ln_f,
    "LlamaForSequenceClassification": lambda model: model.model.norm,
}
ALL = [pytest.param(case, id=str(case)) for cases in CASES.values() for case in cases if case.kind in HEADS]


def tensors(case: Case, text: str | ProcessedImage) -> dict[str, torch.Tensor]:
    if isinstance(text, ProcessedImage):
        return {"pixel_values": torch.tensor(text.pixel_values)[None]}
    return {"input_ids": torch.tensor([tokenizer(case.special).encode(text).ids])}


@pytest.mark.parametrize("case", ALL)
def test_every_layer_is_read_as_transformers_reads_the_last(case: Case, tmp_path: Path) -> None:
    reference, checkpoint = build(case, tmp_path), load(tmp_path)
    read = inputs(case, checkpoint.model.config)
    trace = run(checkpoint.model, checkpoint.tokenizer, **read)
    found = logit_lens(checkpoint.model, trace)
    with torch.no_grad():
        outputs = reference(**tensors(case, **read), output_hidden_states=True)
        norm = FINAL_NORMS.get(case.kind, lambda model: torch.nn.Identity())(reference)
        layers = [HEADS[case.kind](reference, norm(hidden)) for hidden in outputs.hidden_states[:-1]]
    answer = outputs.logits[:, -1] if outputs.logits.dim() == 3 else outputs.logits
    wanted = torch.cat((*layers, answer)).softmax(-1).numpy()
    np.testing.assert_allclose(found, wanted, atol=1e-4, rtol=0)
