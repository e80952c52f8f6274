"""Training on texts and measuring: sentiment, entities and translation, on a handful of sentences."""

import json
import lzma
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from headlight.checkpoints import load
from headlight.cli.main import main
from headlight.cli.train import train
from headlight.data.examples import Example
from headlight.data.text_tasks import EXAMPLE_TASKS, SENTIMENT, TextExamples
from headlight.errors import DataError
from headlight.evaluation.text_tasks import label_answer
from headlight.training.objectives.batch import IGNORE_INDEX
from headlight.training.objectives.examples import (
    LOG_ODDS_WORDS,
    BagOfWordsDistillation,
    ExampleObjective,
    MaskedExamples,
    SequenceClassification,
    Teacher,
    TokenClassification,
)
from headlight.training.recipe import load_recipe
from headlight.training.run_dir import RunFolder
from headlight.training.train_step import ValidationMetrics, batch_loss, cross_entropy
from headlight.training.trainer import Trainer
from tests.model.training.recipes import write_recipe
from tests.sampling import some
from tests.shell import Shell

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

NAMES = {"PER": ("Anna", "Ben", "Ida"), "LOC": ("Oslo", "Rome", "Bern"), "ORG": ("Nokia", "Fiat", "Shell")}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a little data of each task to HEADLIGHT_DATA, where the recipes look for it."""
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    words = ["good", "bad"]
    reviews = [f"{n % 2}\tfilm {n} was {words[1 - n % 2]} .\tmade up" for n in range(200)]
    write(tmp_path, "sentiment.tsv", ["label\tsentence\tsource", *reviews])
    pairs = [f"I see {n} birds.\tJe vois {n} oiseaux." for n in range(200)]
    write(tmp_path, "eng-fra.tsv", [*pairs, *(line.replace("Je vois", "J'aperçois") for line in pairs)])
    sentences = []
    for n in range(100):
        rows = [(names[n % 3], f"B-{kind}") for kind, names in NAMES.items()]
        sentences += [f"{word}\t{tag}" for word, tag in [(f"{n}", "O"), *rows, (".", "O")]] + [""]
    for corpus in ("wikigold", "broad_twitter", "wnut17"):
        write(tmp_path, f"ner-{corpus}.conll", sentences)


def write(folder: Path, name: str, lines: list[str]) -> None:
    (folder / "tasks").mkdir(exist_ok=True)
    (folder / "tasks" / f"{name}.xz").write_bytes(lzma.compress("\n".join(lines).encode()))


@pytest.mark.parametrize("task", ["sentiment", "entities", "translate"])
def test_a_model_is_trained_and_measured(task: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert train([str(write_recipe(tmp_path, task)), "--out", str(out)]) == 0
    assert load(out).model.config.labels == EXAMPLE_TASKS[task].labels
    count = 1 if task == "translate" else 9  # an untrained model never stops writing
    capsys.readouterr()
    assert main(["evaluate", str(out), "--task", task, "--examples", str(count), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["examples"]
    assert printed["task"] == task and printed["examples"] == count and len(printed["scores"]) >= 2
    assert main(["card", str(out), "--task", task, "--examples", str(count)]) == 0
    card = capsys.readouterr().out
    assert f"of the task {task}:" in card or "references (" in card
    assert f"The first {count} of the hand-written sentences" in card and card.count("\n| ") == count + 1


@pytest.mark.parametrize("pooling", some(["first", "mean", "max"], lambda pooling: pooling == "mean"))
def test_a_classifier_learns_with_each_pooling(pooling: str, tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, "sentiment", steps=60, model=f'pooling = "{pooling}"')
    train([str(recipe), "--out", str(tmp_path / "out")])
    checkpoint = load(tmp_path / "out")
    assert checkpoint.model.config.pooling == pooling
    assert [label_answer(checkpoint, f"film 7 was {word}.") for word in ("good", "bad")] == ["positive", "negative"]


def test_a_tagger_learns(tmp_path: Path) -> None:
    train([str(write_recipe(tmp_path, "entities", steps=60)), "--out", str(tmp_path / "out")])
    assert label_answer(load(tmp_path / "out"), "41 Ben Rome Fiat.") == "O PER LOC ORG O"


def test_the_head_alone_is_trained_where_the_rest_is_frozen(tmp_path: Path) -> None:
    first = write_recipe(tmp_path, "sentiment", steps=2)
    train([str(first), "--out", str(tmp_path / "first")])
    frozen = f'train_head_only = true\ninit_from = "{tmp_path / "first"}"'
    recipe = write_recipe(tmp_path, "sentiment", steps=3, training=frozen)
    run = Trainer(RunFolder(load_recipe(recipe).check(), tmp_path / "second", lambda text: None))
    before = {name: weight.clone() for name, weight in run.train_state.model.named_parameters()}
    for _ in range(3):
        run.train_step()
    changed = {
        name for name, weight in run.train_state.model.named_parameters() if not torch.equal(weight, before[name])
    }
    assert changed and all(name.startswith("output_head.") for name in changed)


def test_each_token_has_the_label_of_its_word_and_special_tokens_have_none() -> None:
    data = EXAMPLE_TASKS["entities"].open()
    assert isinstance(data, TextExamples)
    objective = TokenClassification(data.make_tokenizer(), data)
    batch = objective.make_batch([Example("Ben saw Oslo.", "PER O LOC O"), Example("Yes", "O")])
    encoded = objective.tokenizer.encode("Ben saw Oslo.")
    names = [data.labels[label] if label != IGNORE_INDEX else "" for label in batch.targets[0].tolist()]
    assert len(names) == len(encoded.ids) and {"PER", "LOC"} < set(names)
    for name, (start, end) in zip(names, encoded.offsets, strict=True):
        is_word = bool(encoded.text[start:end].strip())
        assert name == ("" if not is_word else "PER" if end <= 3 else "LOC" if 8 < end <= 12 else "O")
    with pytest.raises(DataError, match="not have one label for each word"):
        objective.make_batch([Example("Ben saw", "O")])


def test_a_text_has_one_label() -> None:
    data = EXAMPLE_TASKS["sentiment"].open()
    objective = SequenceClassification(data.make_tokenizer(), data)
    batch = objective.make_batch([Example("good", "positive"), Example("so bad", "negative")])
    assert batch.targets.tolist() == [[1], [0]] and batch.target_count == 2
    assert batch.padding_mask is not None and batch.ids.shape == batch.padding_mask.shape


def sentiment_objective(kind: type[ExampleObjective], **options: float) -> ExampleObjective:
    data = EXAMPLE_TASKS["sentiment"].open()
    assert isinstance(data, TextExamples)
    return kind(data.make_tokenizer(), data, options)


def test_a_part_of_the_tokens_is_hidden_from_a_classifier_in_training_alone() -> None:
    plain, hiding = (sentiment_objective(SequenceClassification, token_dropout=rate) for rate in (0.0, 0.3))
    whole, hidden = (one.batch(np.random.default_rng(1), 100, 64) for one in (plain, hiding))
    mask_id = hiding.tokenizer.mask_id
    assert mask_id is not None and not whole.ids.eq(mask_id).any()
    changed = whole.ids != hidden.ids
    assert hidden.ids[changed].eq(mask_id).all() and torch.equal(hidden.targets, whole.targets)
    ordinary = ~torch.isin(whole.ids, torch.tensor(sorted(hiding.tokenizer.special_ids)))
    assert not (changed & ~ordinary).any() and abs(float(changed.sum() / ordinary.sum()) - 0.3) < 0.01
    assert torch.equal(*(one.validation_batch(one.task, 20, 64).ids for one in (plain, hiding)))


def test_the_texts_of_the_examples_are_masked_anew_in_training_and_alike_in_validation() -> None:
    objective = sentiment_objective(MaskedExamples, mask_rate=0.2)
    first, second = (objective.batch(np.random.default_rng(seed), 50, 64) for seed in (1, 2))
    for batch in (first, second):
        asked = batch.targets != IGNORE_INDEX
        assert asked.any() and batch.padding_mask is not None and batch.padding_mask[asked].all()
    assert not torch.equal(first.targets[:5, :5], second.targets[:5, :5])
    batch, again = (objective.validation_batch(objective.task, 20, 64) for _ in range(2))
    assert torch.equal(batch.ids, again.ids) and torch.equal(batch.targets, again.targets)
    assert batch.ids[batch.targets != IGNORE_INDEX].eq(objective.tokenizer.mask_id or 0).all()


@pytest.fixture
def two_stages(tmp_path: Path) -> Path:
    """A classifier's recipe that starts from a recipe for masked texts."""
    first = tmp_path / "first.toml"
    recipe = write_recipe(tmp_path, "sentiment")
    recipe.rename(first).write_text(first.read_text().replace("sequence-classification", "masked-examples"))
    start = f'init_from = "{first}"\ntoken_dropout = 0.1'
    return write_recipe(tmp_path, "sentiment", model='output_head_config = { transform = "none" }', training=start)


def test_a_classifier_starts_from_a_model_that_knows_the_texts(
    two_stages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, command = tmp_path / "out", [str(two_stages), "--out", str(tmp_path / "out")]
    assert train(command) == 0
    masked, trained = load(out / "run" / "start"), load(out)
    assert masked.model.config.output_head == "masked-language-model" and not masked.model.config.labels
    assert trained.model.config.output_head == "sequence-classifier"
    assert "first.toml, in" in capsys.readouterr().err
    assert train([*command, "--steps", "6"]) == 0, "only the second stage continues"
    assert "first.toml" not in capsys.readouterr().err


def test_a_recipe_that_starts_from_itself_is_refused(
    two_stages: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two_stages.write_text(two_stages.read_text().replace("first.toml", two_stages.name))
    assert main(["train", str(two_stages), "--out", str(tmp_path / "out")]) != 0
    assert "starts from itself" in capsys.readouterr().err


def test_the_exported_classifier_is_the_one_with_the_fewest_wrong_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Trainer(RunFolder(load_recipe(write_recipe(tmp_path, "sentiment")).check(), tmp_path / "out", lambda _: None))
    scores = []
    for loss, accuracy in ((0.5, 0.6), (0.9, 0.8), (0.4, 0.7)):
        measured = ValidationMetrics(loss, accuracy, accuracy)
        monkeypatch.setattr(run.train_state, "measure", lambda batch, measured=measured: measured)
        run.evaluate()
        scores.append(run.progress.best_score)
    assert scores == pytest.approx([0.4, 0.2, 0.2])


def test_a_spliced_text_has_the_log_odds_that_its_words_have_elsewhere() -> None:
    objective = sentiment_objective(BagOfWordsDistillation)
    first, again, other = (objective.batch(np.random.default_rng(seed), 50, 64) for seed in (1, 1, 2))
    assert torch.equal(first.ids, again.ids) and first.ids.tolist() != other.ids.tolist()
    assert first.logits is not None and first.logits.shape == (50, 2)
    texts = objective.tokenizer.backend.decode_batch(first.ids.tolist())
    assert len({len(text.split()) for text in texts}) == 1, "all texts of a batch have equal length"
    for text, target, (bad, good) in zip(texts, first.targets, first.logits, strict=True):
        assert int(target) == int(good > bad)
        if text.count("good") != text.count("bad"):
            assert (good > bad) == (text.count("good") > text.count("bad"))


def test_a_teacher_has_not_seen_the_texts_that_it_labels() -> None:
    texts = [Example(" ".join([f"{n:03}"] * 30), "negative" if n % 3 else "positive") for n in range(100)]
    data = TextExamples(SENTIMENT, tuple(texts), tuple(texts), tuple(texts))
    batch = BagOfWordsDistillation(data.make_tokenizer(), data).batch(np.random.default_rng(1), 100, 384)
    assert len({*batch.targets.flatten().tolist()}) == 1, "unseen words give the same label everywhere"


def test_a_text_is_spliced_from_pieces_of_several_texts_and_scaled_by_its_length(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = [Example(" ".join(f"t{n}w{k}" for k in range(30)), ("negative", "positive")[n % 2]) for n in range(20)]
    data = TextExamples(SENTIMENT, tuple(texts), tuple(texts), tuple(texts))
    asked: list[list[str]] = []

    def log_probabilities(teacher: Teacher, text: str) -> dict[str, float]:
        asked.append(text.split())
        return {"negative": 0.0, "positive": 8.0}

    monkeypatch.setattr(Teacher, "log_probabilities", log_probabilities)
    batch = BagOfWordsDistillation(data.make_tokenizer(), data).batch(np.random.default_rng(3), 40, 384)
    assert batch.logits is not None
    (length,) = {len(words) for words in asked}
    assert batch.logits.tolist() == [[0.0, pytest.approx(LOG_ODDS_WORDS * 8 / length)]] * 40
    pieces = [[re.match(r"t\d+", word)[0] for word in words] for words in asked]  # type: ignore[index]
    assert any(len({*texts}) > 1 for texts in pieces), "a text has pieces of several texts"
    assert len({words[0].partition("w")[2] for words in asked}) > 5, "pieces begin at any word"


def test_a_teacher_adds_what_its_three_parts_say() -> None:
    parts: list[Any] = [
        SimpleNamespace(log_probabilities=lambda text, of=of: {"good": of}) for of in (1.0, 10.0, 100.0)
    ]
    assert Teacher(*parts).log_probabilities("a text") == {"good": pytest.approx(1 + 0.2 * 10 + 2 * 100)}


def test_only_texts_can_be_spliced() -> None:
    dates = EXAMPLE_TASKS["dates"].open()
    objective = BagOfWordsDistillation(dates.make_tokenizer(), dates)
    with pytest.raises(DataError, match="not texts with words"):
        objective.batch(np.random.default_rng(1), 1, 64)


def test_logits_are_learned_up_to_a_constant(tmp_path: Path) -> None:
    recipe = write_recipe(tmp_path, "sentiment", steps=40)
    recipe.write_text(recipe.read_text().replace("sequence-classification", "bag-of-words-distillation"))
    train([str(recipe), "--out", str(tmp_path / "out")])
    checkpoint = load(tmp_path / "out")
    assert [label_answer(checkpoint, f"film 7 was {word}.") for word in ("good", "bad")] == ["positive", "negative"]
    logits, wanted = torch.tensor([[3.0, 1.0], [0.0, 0.5]]), torch.tensor([[7.0, 5.0], [1.0, 2.5]])
    targets = torch.tensor([0, 1])
    assert float(batch_loss(logits, targets, wanted, 0.0)) == pytest.approx(2 * 0.5 * 0.5**2)
    assert torch.equal(batch_loss(logits, targets, None, 0.1), cross_entropy(logits, targets, 0.1))


def test_the_mean_of_runs_with_several_seeds_is_exported(tmp_path: Path) -> None:
    train([str(write_recipe(tmp_path, "sentiment", steps=2)), "--out", str(tmp_path / "start")])
    seeds = f'seeds = [3, 4]\ninit_from = "{tmp_path / "start"}"'
    recipe, out = write_recipe(tmp_path, "sentiment", steps=5, training=seeds), tmp_path / "out"
    assert train([str(recipe), "--out", str(out)]) == 0
    first, second, mean = (load(folder) for folder in (out / "run/seed-3", out / "run/seed-4", out))
    each = zip(first.model.parameters(), second.model.parameters(), mean.model.parameters(), strict=True)
    assert all(torch.allclose((a + b) / 2, c, atol=1e-2) for a, b, c in each), "equal up to bfloat16"
    assert not torch.equal(first.model.embedding.weight, second.model.embedding.weight)
    assert "in 10 steps" in mean.card
    assert train([str(recipe), "--out", str(out)]) == 0, "a finished run is not trained again"
    assert "in 10 steps" in load(out).card


@pytest.mark.parametrize(
    "options", ["seeds = [1, 2]", 'seeds = [1, 1]\ninit_from = "x"', "seeds = [1]\nkeep_steps = [1]"]
)
def test_seeds_need_a_common_start(options: str, tmp_path: Path, shell: Shell) -> None:
    assert "the runs need the same start" in shell.refused(
        ["train", str(write_recipe(tmp_path, "sentiment", training=options)), "--out", str(tmp_path)]
    )
