"""PhoBERT and BERTweet: ids, attention and answers as in transformers, from fastBPE's vocab.txt and bpe.codes."""

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st

from headlight import TextPair, load, run
from headlight.checkpoints.tokenizers.open import open_tokenizer
from headlight.errors import CheckpointError
from tests.families.cases import CASES
from tests.families.reference import build

SENTENCES = "đây là một câu ngắn về con mèo và con chó , chúng chạy ra biển . mèo mun ngồi xa biển một mình"
WORDS = SENTENCES.split()
TEXTS = (
    "con mèo chạy", "mèo", "a", "con <mask> ngồi .", "con<mask> xa", "biển\nxa\n", "Ω biểnΩ xaa", "  con\tmèo ",
    "</s> con@@ mèo",
)  # fmt: skip
MERGES = 60


def learn_codes(folder: Path) -> None:
    """The merges that occur most often in WORDS, and the pieces that they leave, as fastBPE writes them."""
    words = {word: (*word[:-1], f"{word[-1]}</w>") for word in WORDS}
    merges = []
    for _ in range(MERGES):
        pairs = Counter(pair for pieces in words.values() for pair in pairwise(pieces))
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        words = {word: merged(pieces, best) for word, pieces in words.items()}
    pieces = Counter(piece for pieces in words.values() for piece in pieces)
    known = [piece.removesuffix("</w>") if piece.endswith("</w>") else f"{piece}@@" for piece in pieces]
    (folder / "bpe.codes").write_text("".join(f"{a} {b} 7\n" for a, b in merges), encoding="utf-8")
    letters = sorted({f"{letter}@@" for word in WORDS for letter in word} | {word[-1] for word in WORDS})
    entries = dict.fromkeys((*known[::2], *letters[::3]))  # some pieces are missing
    (folder / "vocab.txt").write_text("".join(f"{entry} 5\n" for entry in entries), encoding="utf-8")


def merged(pieces: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    made: list[str] = []
    for piece in pieces:
        if made and (made[-1], piece) == pair:
            made[-1] += piece
        else:
            made.append(piece)
    return tuple(made)


def folder(path: Path, kind: str = "PhobertTokenizer", **fields: Any) -> Path:
    path.mkdir(exist_ok=True)
    learn_codes(path)
    (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": kind, **fields}))
    return path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    path = folder(tmp_path_factory.mktemp("words"))
    return transformers.PhobertTokenizer.from_pretrained(path), open_tokenizer(path, "roberta")


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_has_the_ids_of_the_reference(both: tuple[Any, Any], text: str) -> None:
    theirs, ours = both
    assert list(ours.encode(text).ids) == theirs(text)["input_ids"]
    assert list(ours.encode(TextPair(text, "con mèo")).ids) == theirs(text, "con mèo")["input_ids"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*WORDS, *"đâxΩ.a", "\n", " "]), min_size=1, max_size=8))
def test_any_text_has_the_ids_of_the_reference(both: tuple[Any, Any], parts: list[str]) -> None:
    theirs, ours = both
    text = "".join(parts)
    assert list(ours.encode(text).ids) == theirs(text)["input_ids"]


@pytest.mark.parametrize(
    ("kind", "case"),
    [("PhobertTokenizer", "RobertaForMaskedLM"), ("BertweetTokenizer", "RobertaForSequenceClassification")],
)
def test_a_checkpoint_answers_as_the_reference(kind: str, case: str, tmp_path: Path) -> None:
    given_case = CASES["roberta"][0]
    path = folder(tmp_path / "model", kind)
    size = len(transformers.PhobertTokenizer.from_pretrained(path))
    text = "con mèo chạy xa biển ."
    fields = given_case.config | {"vocab_size": size, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    model = build(replace(given_case, kind=case, config=fields), path)
    (path / "tokenizer.json").unlink()
    opened = load(path)
    traced = run(opened.model, opened.tokenizer, text)
    ids = transformers.PhobertTokenizer.from_pretrained(path)(text, return_tensors="pt")["input_ids"]
    answer = model(ids, output_attentions=True)
    assert traced.logits is not None
    np.testing.assert_allclose(traced.logits, answer.logits[0].detach().numpy(), atol=1e-4)
    for layer, weights in enumerate(answer.attentions):
        found = traced[f"encoder.{layer}.self.weights"]
        np.testing.assert_allclose(found, weights[0].detach().numpy(), atol=1e-4)


def test_the_rewriting_of_tweets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"rewrites tweets"):
        open_tokenizer(folder(tmp_path / "model", "BertweetTokenizer", normalization=True), "roberta")


@pytest.mark.parametrize(("file", "text"), [("bpe.codes", "a b\n"), ("vocab.txt", "con\n"), ("bpe.codes", "a b c 4\n")])
def test_a_line_of_another_form_is_refused(file: str, text: str, tmp_path: Path) -> None:
    path = folder(tmp_path / "model")
    (path / file).write_text(text)
    with pytest.raises(CheckpointError, match=f"its {file} has the line"):
        open_tokenizer(path, "roberta")
