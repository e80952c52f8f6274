"""Translators: a text's language prefix selects its language, as in the tokenizers of transformers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from transformers import GenerationConfig

from headlight import Checkpoint, TextError, load, run
from headlight.cli.main import main
from headlight.text.languages import with_language
from tests.families.encoders import BOTH
from tests.families.reference import Case, build

TEXT = "the cat sat on a mat"
LETTERS = ["<s>", "<pad>", "</s>", "<unk>", "▁", *"abcdefghijklmnopqrstuvwxyz"]
NLLB_LANGUAGES, MBART_LANGUAGES = ["eng_Latn", "fra_Latn", "zho_Hant"], ["en_XX", "fr_XX", "ro_RO"]
SIZES = BOTH | {"d_model": 24, "vocab_size": 70}


def nllb() -> Any:
    vocabulary = {letter: number for number, letter in enumerate(LETTERS)}
    return transformers.NllbTokenizer(vocabulary, [], extra_special_tokens=NLLB_LANGUAGES)


def mbart() -> Any:
    return transformers.MBartTokenizer([(letter, -1.0) for letter in LETTERS])


# A case, the factory of its tokenizer, and languages of the tokenizer.
TRANSLATORS: dict[str, tuple[Case, Callable[[], Any], list[str]]] = {
    "nllb": (Case("M2M100ForConditionalGeneration", SIZES), nllb, NLLB_LANGUAGES),
    "mbart": (Case("MBartForConditionalGeneration", SIZES | {"decoder_start_token_id": 40}), mbart, MBART_LANGUAGES),
}


@pytest.fixture(params=TRANSLATORS)
def translator(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Any, Any, list[str]]:
    """A folder, the transformers model and tokenizer saved in it, and languages."""
    case, make, languages = TRANSLATORS[request.param]
    model, tokenizer = build(case, tmp_path), make()
    tokenizer.save_pretrained(tmp_path)
    return tmp_path, model, tokenizer, languages


def test_a_text_is_read_in_the_language_that_it_begins_with(translator: tuple[Path, Any, Any, list[str]]) -> None:
    folder, _, theirs, languages = translator
    checkpoint = load(folder)
    assert set(languages) <= set(checkpoint.tokenizer.languages)
    assert any(note.startswith("A text is in the language") for note in checkpoint.notes)
    assert list(checkpoint.tokenizer.encode(TEXT).ids) == theirs(TEXT).input_ids
    for language in languages:
        theirs.src_lang = language
        for text in (f"{language} {TEXT}", f"  {language}{TEXT}"):
            found = checkpoint.tokenizer.encode(text)
            assert list(found.ids) == theirs(TEXT).input_ids
            spans = [span for span in found.offsets if span != (0, 0)]
            assert text[spans[0][0] : spans[-1][1]] == TEXT
            assert language in found.token_texts


def test_what_is_written_is_that_of_the_reference(translator: tuple[Path, Any, Any, list[str]]) -> None:
    folder, model, theirs, (source, target, _) = translator
    theirs.src_lang, checkpoint = source, load(folder)
    asked = theirs(TEXT, return_tensors="pt")
    language = theirs.convert_tokens_to_ids(target)
    # mBART starts with the language, the others put it after their start token.
    starts = {"decoder_start_token_id": language} if model.config.model_type == "mbart" else {
        "forced_bos_token_id": language
    }  # fmt: skip
    settings = GenerationConfig(max_new_tokens=6, num_beams=1, do_sample=False, eos_token_id=None, **starts)  # type: ignore[no-untyped-call]
    written = model.generate(asked.input_ids, settings)[0]
    trace = traced(checkpoint, f"{source} {TEXT}", target)
    begun = len(trace.text.ids)
    assert trace.text.ids == tuple(written[:begun].tolist())
    assert trace["logits"][-1].argmax() == written[begun]
    options = [TEXT, "--source-language", source, "--target-language", target, "--model", str(folder)]
    out = folder / "trace.npz"
    assert main(["trace", *options, "--out", str(out)]) == 0
    with np.load(out) as arrays:
        assert tuple(arrays["target_ids"]) == trace.text.ids
        assert tuple(arrays["input_ids"]) == trace.source.ids


def traced(checkpoint: Checkpoint, source: str, target: str) -> Any:
    with torch.no_grad():
        return run(checkpoint.model, checkpoint.tokenizer, target, source=source)


def test_a_language_that_a_model_lacks_is_refused_by_a_sentence() -> None:
    languages = {"eng_Latn": 7, "fra_Latn": 8}
    assert with_language("fra_Latn Oui", "eng_Latn", languages) == "eng_Latn Oui"
    with pytest.raises(TextError, match=r"no language 'eng_Lat'\. Did you mean 'eng_Latn'"):
        with_language("Yes", "eng_Lat", languages)
    with pytest.raises(TextError, match="has no language tokens"):
        with_language("Yes", "eng_Latn", {})
