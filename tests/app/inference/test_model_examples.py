"""The page opens with a sentence that suits the open model."""

import json
import shutil
from pathlib import Path

import pytest

from headlight.checkpoints import CatalogEntry, load, save
from headlight.generation.generate import generate
from headlight.paths import assets_dir
from headlight.tasks import TASKS
from headlight_app.explore.contract import ExplorePageRequest
from headlight_app.inference import examples as subject
from headlight_app.inference.examples import opening, opening_examples
from headlight_app.inference.model_listing import listed_models
from headlight_app.inference.open_models import available_models
from tests.app.asking import ask_worker
from tests.model import toys as tiny


def entry(name: str) -> CatalogEntry:
    return next(entry for entry in available_models() if entry.name == name)


def test_an_encoder_decoder_begins_with_what_it_would_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    monkeypatch.setattr(subject, "MAX_PROCESSOR_SECONDS", 60.0)
    save(tmp_path / "writer", tiny.both(context_length=40), tiny.masked())
    listed_models(refresh=True)
    checkpoint = load(tmp_path / "writer")
    for written in opening_examples(entry("writer")):
        steps = generate(
            checkpoint.model,
            checkpoint.tokenizer,
            "",
            source=written.source,
            temperature=0.0,
            steps=20,
        )
        ids = [step.chosen_token for step in steps if step.chosen_token != checkpoint.tokenizer.end_id]
        assert written.source
        # The library's WordPiece training breaks ties at random: the text may be short, empty or only punctuation.
        assert written.text == checkpoint.tokenizer.decode(ids)


def test_the_target_is_written_for_the_source_that_was_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    monkeypatch.setattr(subject, "MAX_PROCESSOR_SECONDS", 60.0)
    save(tmp_path / "writer", tiny.both(seed=3, context_length=40), tiny.masked())
    listed_models(refresh=True)
    first = opening_examples(entry("writer"))[0]
    assert opening(entry("writer"), ExplorePageRequest(model="writer"), first) == first
    typed = opening(entry("writer"), ExplorePageRequest(model="writer", source="the dog ran on the mat"), first)
    assert typed.source == "the dog ran on the mat" and typed.text != first.text
    told, _ = ask_worker("trace", model="writer", source=typed.source, writes_target=True)
    assert told["question"]["text"] == typed.text, "the browser gets the same text"


def test_a_sentence_without_a_source_is_left_alone() -> None:
    first = opening_examples(entry("next"))[0]
    assert opening(entry("next"), ExplorePageRequest(model="next", source="the dog"), first) == first


def test_a_large_model_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    subject.write_target.cache_clear()
    monkeypatch.setattr(subject, "MAX_PROCESSOR_SECONDS", -1.0)
    assert {written.text for written in opening_examples(entry("both"))} == {""}
    subject.write_target.cache_clear()


def test_a_mask_is_the_models_own_word_for_one(toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all("[MASK]" in written.text for written in opening_examples(entry("masked")))
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / "other").mkdir(exist_ok=True)
        (tmp_path / "other" / file).write_bytes((toys / "masked" / file).read_bytes().replace(b"[MASK]", b"<mask>"))
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    listed_models(refresh=True)
    texts = [written.text for written in opening_examples(entry("other"))]
    assert all("<mask>" in text and "[MASK]" not in text for text in texts)


@pytest.mark.parametrize("name", ["next", "masked", "mood"])
def test_the_examples_are_those_of_the_task(name: str) -> None:
    examples = opening_examples(entry(name))
    assert examples == TASKS[entry(name).config.output_head].examples
    assert ("next" in name) == any("Once upon a time" in example.text for example in examples)


def test_a_classifier_reads_whole_sentences() -> None:
    assert all(example.text[-1] in ".?!" for example in opening_examples(entry("mood")))


def test_a_model_that_cannot_be_opened_has_sentences_all_the_same(toys: Path) -> None:
    (lost,) = [one for one in available_models() if one.name == "both"]
    gone = CatalogEntry("gone", lost.folder, lost.config, shipped=False)
    assert json.dumps([written.source for written in opening_examples(gone)])


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (assets_dir() / "models").glob("*/config.json")))
def test_every_shipped_model_opens_with_an_example_of_its_own(name: str) -> None:
    first = opening_examples(entry(name))[0]
    meta = ask_worker("trace", model=name, text=first.text, source=first.source)[0]
    assert "error" not in meta
    assert json.loads(json.dumps(meta))["question"]["model"] == name


def test_a_file_of_examples_that_cannot_be_read_leaves_those_of_the_task(
    tmp_path: Path, toys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(toys / "next", tmp_path / "own")
    monkeypatch.setenv("HEADLIGHT_MODELS", str(tmp_path))
    for content, texts in (('[{"text": "the cat"}]', ["the cat"]), ("[", None), ('[{"words": 3}]', None)):
        (tmp_path / "own" / "examples.json").write_text(content)
        listed_models(refresh=True)
        found = opening_examples(entry("own"))
        assert [one.text for one in found] == texts if texts else found == TASKS["language-model"].examples
