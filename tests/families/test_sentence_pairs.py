"""Two texts are read as `transformers` reads them: special tokens, segments, and all that follows from them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import Checkpoint, TextError, TextPair, Trace, load, run
from headlight.analysis.ablation import ablate_tokens
from headlight.analysis.faithfulness.rankings import AnswerPlace
from headlight.analysis.weight_importance import log_probability_gradient
from headlight.checkpoints.tokenizers.open import open_tokenizer
from headlight.cli.main import main
from headlight.generation.generate import fill_mask
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_requests
from tests.families.decoders import LLAMA, NEOX
from tests.families.encoders import BART, CLASSIFIER, DEBERTA, DISTIL, MODERN, ROBERTA
from tests.families.reference import Case, build
from tests.families.test_tokenizers import JOINED, LAYOUTS
from tests.families.texts import NASTY, configured, reference, words
from tests.model import toys
from tests.sampling import examples

ONE, OTHER = "the cat sat on a mat", "two dogs run far"
PAIR = TextPair(ONE, OTHER)
ODD = [text for text in NASTY if text.strip()]


@pytest.mark.filterwarnings("ignore:This sequence already has </s>")  # of ByT5's
@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "marian"])
def test_a_layout_gives_the_pairs_of_transformers(name: str, tmp_path: Path) -> None:
    kind, make, options = LAYOUTS[name]
    make(configured(tmp_path, kind, **options))
    theirs, ours = reference(tmp_path), open_tokenizer(tmp_path, kind)
    always = kind == "albert"  # transformers 5 leaves its segments out; files of earlier versions had them
    read = [text for text in ODD if text not in JOINED.get(name, ())]
    # Classes without a fast tokenizer (ESM's) put a separator before an empty second text, too.
    last = "" if hasattr(theirs, "backend_tokenizer") else "the end"
    for one, other in zip(read, [*reversed(read[1:]), last], strict=True):
        expected = theirs(one, other, return_token_type_ids=True if always else None)
        found = ours.encode(TextPair(one, other))
        count = len(expected["input_ids"])
        assert list(found.ids) == expected["input_ids"], (one, other)
        assert list(found.segment_ids or (0,) * count) == expected.get("token_type_ids", [0] * count), (one, other)
        assert found.text_pair == other
        assert found.text == (f"{one}\n{other}" if other else one)


@pytest.mark.parametrize("name", ["bert", "bert, cased", "electra", "albert", "deberta-v2", "roberta", "nomic_bert"])
def test_files_saved_by_transformers_give_its_pairs(name: str, tmp_path: Path) -> None:
    kind, make, options = LAYOUTS[name]
    make(configured(tmp_path / "made", kind, **options))
    theirs, saved = reference(tmp_path / "made"), configured(tmp_path / "saved", kind)
    theirs.save_pretrained(saved)
    expected, found = theirs(ONE, OTHER), open_tokenizer(saved, kind).encode(PAIR)
    assert list(found.ids) == expected["input_ids"]
    types = expected.get("token_type_ids", [0] * len(found.ids))
    assert list(found.segment_ids or (0,) * len(found.ids)) == types


@pytest.mark.parametrize("named", [True, False])
def test_the_files_say_whether_the_model_is_given_segments(named: bool, tmp_path: Path) -> None:
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if named else [])]
    words(configured(tmp_path, "bert", model_input_names=names))
    expected = reference(tmp_path)(ONE, OTHER)
    found = open_tokenizer(tmp_path, "bert").encode(PAIR)
    assert list(found.segment_ids) == expected.get("token_type_ids", []), "neither gives segments, or both"


@given(one=st.text(min_size=1), other=st.text())
@examples(40)
def test_offsets_point_into_both_texts(one: str, other: str) -> None:
    tokenizer = toys.masked()
    encoded, alone = tokenizer.encode(TextPair(one, other)), tokenizer.encode(other, add_special_tokens=False)
    own = [place for place, is_special in enumerate(encoded.special_mask) if not is_special]
    begin = len(encoded.text) - len(encoded.text_pair)
    behind = [encoded.offsets[place] for place in own[len(own) - len(alone.ids) :]]
    assert [(first - begin, end - begin) for first, end in behind] == list(alone.offsets) or not other
    assert encoded.first_text == tokenizer.encode(one).text


SEPARATED, DOUBLED = "1 A 2 B 2", "1 A 2 2 B 2"
MODELS: dict[str, tuple[Case, str]] = {
    "bert": (Case("BertForSequenceClassification", NEOX | {"num_labels": 3}, special=True), SEPARATED),
    "bert, three segments": (Case("BertForMaskedLM", NEOX | {"type_vocab_size": 3}, special=True), SEPARATED),
    "electra": (Case("ElectraForSequenceClassification", NEOX | {"embedding_size": 13}, special=True), SEPARATED),
    "albert": (Case("AlbertForSequenceClassification", NEOX | {"embedding_size": 10}, special=True), SEPARATED),
    "deberta without segments": (Case("DebertaV2ForSequenceClassification", DEBERTA, special=True), SEPARATED),
    "deberta": (Case("DebertaV2ForMaskedLM", DEBERTA | {"type_vocab_size": 2}, special=True), SEPARATED),
    "nomic_bert": (Case("NomicBertForSequenceClassification", NEOX, special=True), SEPARATED),
    "roberta": (Case("RobertaForSequenceClassification", ROBERTA, special=True), DOUBLED),
    "xlm-roberta": (Case("XLMRobertaForTokenClassification", ROBERTA, special=True), DOUBLED),
    "distilbert": (Case("DistilBertForSequenceClassification", DISTIL, special=True), SEPARATED),
    "modernbert": (Case("ModernBertForSequenceClassification", MODERN, special=True), "A B"),
    "llama": (Case("LlamaForSequenceClassification", LLAMA | {"pad_token_id": 0}), "A B"),
    "bart": (Case("BartForSequenceClassification", BART | CLASSIFIER, special=True), DOUBLED),
}
HAS_SEGMENTS = ("bert", "bert, three segments", "electra", "albert", "deberta", "nomic_bert")


def asked(opened: Checkpoint, template: str, has_segments: bool) -> dict[str, torch.Tensor]:
    """The arguments of a model of transformers for PAIR."""
    ids: list[int] = []
    types: list[int] = []
    for part in template.split():
        more = [int(part)] if part.isdigit() else own_ids(opened, ONE if part == "A" else OTHER)
        types += [1 if part == "B" or types[-1:] == [1] else 0] * len(more)
        ids += more
    return {"input_ids": torch.tensor([ids])} | ({"token_type_ids": torch.tensor([types])} if has_segments else {})


def own_ids(opened: Checkpoint, text: str) -> list[int]:
    return list(opened.tokenizer.encode(text, add_special_tokens=False).ids)


def opened_pair(name: str, folder: Path) -> tuple[Any, Checkpoint, dict[str, torch.Tensor]]:
    case, template = MODELS[name]
    model, opened = build(case, folder), load(folder)
    return model, opened, asked(opened, template, name in HAS_SEGMENTS)


def close(found: Any, expected: torch.Tensor) -> bool:
    return np.allclose(found, expected.detach().numpy(), atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_a_pair_gives_the_numbers_of_transformers(name: str, tmp_path: Path) -> None:
    model, opened, given_ids = opened_pair(name, tmp_path)
    with torch.no_grad():
        expected = model(**given_ids, output_attentions=True, output_hidden_states=True)
    is_both = opened.model.config.has_cross_attention
    traced = run(opened.model, opened.tokenizer, "" if is_both else PAIR, source=PAIR if is_both else None)
    read = traced.source or traced.text
    assert list(read.ids) == given_ids["input_ids"][0].tolist()
    hidden, stack = expected["encoder_hidden_states" if is_both else "hidden_states"], traced.config.stacks[0]
    maps = expected["encoder_attentions" if is_both else "attentions"]
    assert close(traced.attention(stack=stack), torch.cat(maps))
    for layer in range(len(maps)):
        assert close(traced[f"{stack}.{layer}.residual"], hidden[layer][0])
    assert close(traced.logits, expected.logits[0])


@pytest.mark.parametrize("name", HAS_SEGMENTS)
def test_the_second_text_moves_the_answer_by_its_segment(name: str, tmp_path: Path) -> None:
    _, opened, _ = opened_pair(name, tmp_path)
    pair, typed = (run(opened.model, opened.tokenizer, text) for text in (PAIR, f"{ONE} [SEP] {OTHER}"))
    assert pair.text.ids == typed.text.ids
    assert typed.text.segment_ids == ()
    assert np.abs(pair["logits"] - typed["logits"]).max() > 1e-2


def test_runs_that_share_a_pass_or_follow_another_keep_their_segments(tmp_path: Path) -> None:
    _, opened, _ = opened_pair("bert", tmp_path)
    texts: tuple[str | TextPair, ...] = (PAIR, f"{ONE} [SEP] {OTHER}", ONE, TextPair(OTHER, "mat"))
    requests = [RunRequest.encode(opened.model, opened.tokenizer, text, keep=("*.residual",)) for text in texts]
    together = run_requests(opened.model, [(request, None) for request in requests])
    for text, finished in zip(texts, together, strict=True):
        assert finished is not None
        alone = run(opened.model, opened.tokenizer, text)
        assert np.allclose(finished.trace["encoder.1.residual"], alone["encoder.1.residual"], atol=1e-5)


def test_masks_deletions_and_gradients_keep_the_segments(tmp_path: Path) -> None:
    model, opened, given_ids = opened_pair("bert", tmp_path)
    traced = run(opened.model, opened.tokenizer, PAIR)
    length = len(traced.text.ids)
    for position in (0, 3, length - 2):
        mask = torch.ones((1, length))
        mask[0, position] = 0
        expected = model(**given_ids, attention_mask=mask).logits[0]
        assert close(ablate_tokens(opened.model, traced, [position])[0], expected)
        assert close(place(opened, traced).logits(mask.bool().numpy())[0], expected)
    value, _ = log_probability_gradient(opened.model, traced, "encoder.embedding", 0, 0)
    assert np.allclose(value.numpy(), traced["encoder.embedding"], atol=1e-6)


def place(opened: Checkpoint, traced: Trace) -> AnswerPlace:
    return AnswerPlace(opened.model, traced, 0, 0)


def test_a_masked_word_of_a_pair_stays_in_its_segment(tmp_path: Path) -> None:
    model, opened, given_ids = opened_pair("bert, three segments", tmp_path)
    opened.tokenizer.mask_id = 0
    ids = given_ids["input_ids"].clone()
    ids[0, -2] = 0
    expected = model(ids, token_type_ids=given_ids["token_type_ids"]).logits[0]
    masked = ids.shape[1] - 2
    assert close(run(opened.model, opened.tokenizer, PAIR, masked_positions=[masked]).logits, expected)
    step = fill_mask(opened.model, opened.tokenizer, PAIR, masked_positions=[masked], keep=("logits",))
    assert close(step.values["logits"], expected)


def test_a_pair_that_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path) -> None:
    _, opened, _ = opened_pair("bert", tmp_path / "bert")
    with pytest.raises(TextError, match=r"The two texts have 29 tokens together; this model reads at most 20\."):
        run(opened.model, opened.tokenizer, TextPair("cat " * 13, "mat " * 13))
    with pytest.raises(TextError, match="The text is empty"):
        run(opened.model, opened.tokenizer, TextPair("", OTHER))
    build(replace(MODELS["nomic_bert"][0], config=NEOX | {"type_vocab_size": 1}), tmp_path / "one")
    one = load(tmp_path / "one")
    with pytest.raises(TextError, match="in segment 1, but the model has only 1 segment, counted from 0"):
        run(one.model, one.tokenizer, PAIR)
    build(Case("BartForConditionalGeneration", BART), tmp_path / "bart")
    bart = load(tmp_path / "bart")
    with pytest.raises(TextError, match="a pair of texts can only be its source"):
        run(bart.model, bart.tokenizer, PAIR, source=ONE)


def test_the_command_reads_a_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, _, given_ids = opened_pair("bert", tmp_path / "model")
    with torch.no_grad():
        expected = model(**given_ids)
    capsys.readouterr()  # of writing the model
    arguments = [ONE, "--pair", OTHER, "--model", str(tmp_path / "model")]
    assert main(["predict", *arguments]) == 0
    printed = capsys.readouterr()
    assert f"{100 * float(expected.logits.softmax(-1).max()):.1f} %" in printed.out
    assert printed.err == ""
    assert main(["trace", *arguments, "--out", str(tmp_path / "out.npz")]) == 0
    with np.load(tmp_path / "out.npz") as found:
        assert found["token_type_ids"].tolist() == given_ids["token_type_ids"][0].tolist()
        assert close(found["logits"], expected.logits[0])
        assert (str(found["text"]), str(found["text_pair"])) == (ONE, OTHER)


SAID = "headlight: [SEP] in a text does not begin a second text; give one with --pair TEXT.\n"


def test_the_command_says_that_a_typed_separator_does_not_begin_a_second_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(MODELS["bert"][0], tmp_path)
    capsys.readouterr()  # of writing it
    for text, told in ((f"{ONE} [SEP] {OTHER}", SAID), (ONE, "")):
        assert main(["predict", text, "--model", str(tmp_path)]) == 0
        assert capsys.readouterr().err == told
    assert main(["predict", "--pair", ONE, "--model", str(tmp_path)]) == 2
