"""Exported models open in transformers with the same outputs."""

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from headlight.checkpoints import export, load, save
from headlight.cli.main import main
from headlight.config import Config, GenerationConfig, OutputHeadConfig
from headlight.errors import CheckpointError
from headlight.generation.generate import generate
from headlight.generation.rules import end_tokens
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.predictions import candidates
from headlight.tracing.run import run
from headlight.training.recipe import parse_recipe
from tests.families.reference import TEXT, VOCABULARY, tokenizer
from tests.model.toys import masked

SIZES: dict[str, Any] = {
    "vocabulary_size": VOCABULARY,
    "context_length": 30,
    "d_model": 24,
    "layers": 2,
    "heads": 3,
    "d_ff": 38,
}
SMALL: dict[str, Any] = {"d_model": 24, "layers": 1, "heads": 3}
ENCODER = SIZES | {
    "architecture": "encoder", "masks": (), "norm": "layernorm", "embedding.norm": True, "first_norm": False,
    "output_head": "masked-language-model",
}  # fmt: skip
ROOT = SIZES | {
    "architecture": "encoder", "masks": (), "output_head": "masked-language-model",
    "output_head_config": OutputHeadConfig(transform="none", bias=False),
}  # fmt: skip
EXPORTED = {
    "decoder": SIZES,
    "grouped": SIZES | {"key_value_heads": 1, "head_dim": 10, "embedding.tied": False, "dropout": 0.1},
    "bare": SIZES | {"output_head": "none", "embedding.tied": False},
    "encoder": ENCODER,
    "untied": ENCODER | {"embedding.tied": False, "feed_forward": "geglu"},
    "encoder with rms norms": ROOT,
    "bare encoder with rms norms": SIZES
    | {"architecture": "encoder", "masks": (), "output_head": "none", "embedding.tied": False},
    "bare encoder": ENCODER | {"output_head": "none", "embedding.tied": False},
}


@pytest.mark.parametrize("name", EXPORTED)
def test_the_reference_opens_what_is_exported_and_answers_the_same(name: str, tmp_path: Path) -> None:
    model = Transformer(Config.from_paths(EXPORTED[name])).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    save(tmp_path / "ours", model, Tokenizer(tokenizer(False)), dtype="float32")
    assert main(["export", str(tmp_path / "ours"), str(tmp_path / "theirs")]) == 0
    config = transformers.AutoConfig.from_pretrained(tmp_path / "theirs")
    kind = getattr(transformers, config.architectures[0])
    theirs = kind.from_pretrained(tmp_path / "theirs", attn_implementation="eager", dtype=torch.float32).eval()
    words = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    ids = torch.tensor([tokenizer(False).encode(TEXT).ids])
    assert words(TEXT)["input_ids"] == ids[0].tolist()
    with torch.no_grad():
        answer = theirs(ids, output_hidden_states=True)
        ours = model(ids)
        np.testing.assert_allclose(model.encode_hidden(ids), answer.hidden_states[-1], atol=1e-4)
    if ours is not None:
        np.testing.assert_allclose(ours, answer.logits, atol=1e-4)
    again = load(tmp_path / "theirs")
    read = again.model.config
    assert read.replace(dropout=0.0, generation=GenerationConfig()) == model.config.replace(dropout=0.0)
    assert end_tokens(read, again.tokenizer) == end_tokens(model.config, Tokenizer(tokenizer(False)))


RULES = GenerationConfig(
    end_token_ids=(0, 1), repetition_penalty=1.3, no_repeat_ngram_size=3, suppressed_token_ids=(5,),
    first_suppressed_token_ids=(1, 4),
)  # fmt: skip


def test_rules_for_generation_are_exported_and_the_reference_follows_them(tmp_path: Path) -> None:
    words = Tokenizer(tokenizer(False))
    model = Transformer(Config.from_paths(SIZES | {"generation": RULES})).eval()
    assert export(tmp_path, model, words) == "llama"
    assert load(tmp_path).model.config.generation == RULES
    theirs: Any = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    ids = torch.tensor([words.backend.encode(TEXT).ids])[:, :4]
    written = theirs.generate(ids, max_new_tokens=8, do_sample=False, pad_token_id=2)[0, 4:].tolist()
    steps = generate(model, words, words.decode(ids[0].tolist()), steps=8, temperature=0.0)
    assert [step.chosen_token for step in steps] == written


CLASSIFIERS: dict[str, tuple[dict[str, Any], Any]] = {
    "eurobert": (ROOT | {"biases": ("transform",)}, "dense"),
    "modernbert": (ENCODER, "dense-norm"),
}
MEANINGS: dict[str, tuple[tuple[str, ...], Any]] = {
    "one logit": (("good",), "single-label"),
    "several labels": (("sport", "music", "food"), "multi-label"),
    "one score": (("stars",), "regression"),
    "one of several": (("no", "maybe", "yes"), "single-label"),
}


@pytest.mark.parametrize("meaning", MEANINGS)
@pytest.mark.parametrize("family", CLASSIFIERS)
def test_what_labels_mean_is_exported_and_read_back(family: str, meaning: str, tmp_path: Path) -> None:
    fields, transform = CLASSIFIERS[family]
    labels, problem_type = MEANINGS[meaning]
    head = OutputHeadConfig(transform=transform, problem_type=problem_type)
    classifier = {"output_head": "sequence-classifier", "embedding.tied": False, "output_head_config": head}
    model = Transformer(Config.from_paths(fields | classifier | {"labels": labels})).eval()
    assert export(tmp_path, model, Tokenizer(tokenizer(False))) == family
    opened = load(tmp_path)
    assert (opened.model.config.labels, opened.model.config.output_head_config) == (labels, head)
    theirs: Any = transformers.pipeline("text-classification", str(tmp_path), top_k=None, device="cpu")
    expected = {each["label"]: each["score"] for each in theirs([TEXT])[0]}
    found = candidates(run(opened.model, opened.tokenizer, TEXT), opened.tokenizer)
    shown = {each.token: each.score if problem_type == "regression" else each.probability for each in found}
    assert shown == pytest.approx(expected, abs=1e-4)


def test_the_mask_is_a_number_of_the_vocabulary(tmp_path: Path) -> None:
    words = masked()
    model = Transformer(Config(**ROOT | {"vocabulary_size": words.vocabulary_size}))
    assert export(tmp_path, model, words) == "eurobert"
    assert transformers.AutoConfig.from_pretrained(tmp_path).mask_token_id == words.mask_id


def test_a_model_that_no_family_is_built_like_is_refused(tmp_path: Path) -> None:
    model = Transformer(Config(**SIZES | {"masks": ()}))
    with pytest.raises(CheckpointError, match="none of them is a decoder with the output head language-model and the"):
        export(tmp_path, model, Tokenizer(tokenizer(False)))


CLASSIFIER = {"objective": "sequence-classification", "task": "sentiment"}


@pytest.mark.parametrize(
    ("recipe", "model"),
    [
        ({"objective": "masked"}, {}),  # the default recipe of each objective
        (CLASSIFIER, {}),
        ({"objective": "token-classification", "task": "entities"}, {}),
        ({"objective": "masked"}, {"norm": "layernorm", "bias": True, "feed_forward": "gelu"}),
        (CLASSIFIER, {"positional_encoding": "learned", "pooling": "max"}),
        (
            {"objective": "causal"},
            {"positional_encoding": "alibi", "attention": {"qk_norm": "per-head"}, "norm_placement": "post"},
        ),
    ],
)
def test_the_refusal_names_the_fields_of_a_recipe_with_which_a_model_can_be_exported(
    recipe: dict[str, str], model: dict[str, Any], tmp_path: Path
) -> None:
    words = masked()
    config = parse_recipe({**recipe, "model": {**SMALL, **model}}).config(words.vocabulary_size)
    with pytest.raises(CheckpointError, match=r"not exported as \w+ because .* under \[model\]") as refusal:
        export(tmp_path, Transformer(config), words)
    fields = str(refusal.value).partition(" has ")[2].partition(". Train with")[0]
    named = tomllib.loads(re.sub(r", (?=[\w.]+ = )", "\n", fields))
    config = parse_recipe({**recipe, "model": _merged({**SMALL, **model}, named)}).config(words.vocabulary_size)
    assert export(tmp_path, Transformer(config), words) in str(refusal.value)


def _merged(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    return base | {
        name: _merged(base.get(name, {}), each) if isinstance(each, dict) else each for name, each in more.items()
    }
