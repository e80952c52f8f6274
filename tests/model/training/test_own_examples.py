"""Own training examples: the README's example, each kind of file, and unreadable rows."""

import json
import lzma
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headlight.training
from headlight.checkpoints import load
from headlight.cli.main import main
from headlight.cli.train import train
from headlight.data.examples import Example
from headlight.data.own_examples import ExampleFiles, own_task
from headlight.data.text_tasks import TargetKind, TextExamples
from headlight.errors import DataError, HeadlightError
from headlight.evaluation.text_tasks import label_answer
from headlight.training.recipe import Recipe, parse_recipe

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

SMALL = ["--d-model", "32", "--layers", "1", "--heads", "2", "--warmup-steps", "2", "--learning-rate", "0.01"]


def opened(path: Path, target: TargetKind) -> TextExamples:
    return own_task(ExampleFiles((str(path),)), target, (path,)).open()


@pytest.mark.full
@pytest.mark.skipif(shutil.which("bash") is None, reason="the example needs bash")
def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    readme = (Path(headlight.training.__file__).parent / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```sh\n(.*?)```", readme, re.DOTALL)
    assert example.count("\n") == 10
    command = f'set -e; headlight() {{ {shlex.quote(sys.executable)} -m headlight.cli "$@"; }}\n' + example
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert re.match(r"of the whole text\n +9\d\.\d %  dog\n +\d\.\d %  cat\n$", done.stdout)
    assert "300 examples" not in done.stderr and "pets.tsv" in (tmp_path / "pets" / "README.md").read_text()


def test_a_tagger_learns_from_json_lines_and_is_measured_by_its_recipe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"tokens": ["cat", str(n), "sees", "dog", "!"], "tags": ["N", "#", "V", "N", "."]} for n in range(200)]
    (tmp_path / "tags.jsonl.xz").write_bytes(lzma.compress("\n".join(map(json.dumps, rows)).encode()))
    recipe = tmp_path / "tags.toml"
    recipe.write_text(
        f'objective = "token-classification"\n[examples]\nfiles = ["{tmp_path}/tags.jsonl.xz"]\n'
        'text = "tokens"\nanswer = "tags"\n[training]\nsteps = 30\n'
    )
    assert train([str(recipe), "--out", str(tmp_path / "out"), *SMALL]) == 0
    checkpoint = load(tmp_path / "out")
    assert checkpoint.model.config.labels == ("#", ".", "N", "V")
    assert label_answer(checkpoint, "cat 7 sees dog!") == "N # V N ."
    capsys.readouterr()
    assert main(["evaluate", str(tmp_path / "out"), "--task", str(recipe), "--examples", "5", "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["examples"]["scores"]
    assert scores["the model"]["count"] == 25 and scores["the model"]["accuracy"] > 0.8


def test_pairs_train_a_model_that_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["source\ttarget", *(f"{n} cats\t{n} chats" for n in range(150))]
    (tmp_path / "pairs.tsv").write_text("\ufeff" + "\n".join(lines), encoding="utf-8")
    flags = ["--objective", "sequence-to-sequence", "--examples", str(tmp_path / "pairs.tsv"), *SMALL, "--steps", "3"]
    assert train([*flags, "--out", str(tmp_path / "out")]) == 0
    assert train([*flags, "--out", str(tmp_path / "out"), "--steps", "4"]) == 0, "the same recipe resumes the run"
    assert load(tmp_path / "out").model.config.architecture == "encoder-decoder"
    assert main(["predict", "3 cats", "--model", str(tmp_path / "out")]) == 0
    capsys.readouterr()


def test_a_vocabulary_is_as_large_as_the_recipe_asks(tmp_path: Path) -> None:
    path = tmp_path / "pets.tsv"
    path.write_text("text\tlabel\n" + "".join(f"a dog and {n} cats\t{n % 2}\n" for n in range(90)))
    flags = ["--objective", "sequence-classification", "--examples", str(path), *SMALL, "--steps", "1"]
    assert train([*flags, "--vocabulary-size", "270", "--out", str(tmp_path / "out")]) == 0
    checkpoint = load(tmp_path / "out")
    assert checkpoint.tokenizer.vocabulary_size == 270 and checkpoint.model.config.labels == ("0", "1")


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1, max_size=6)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8))
def test_a_file_of_each_kind_gives_the_same_examples(rows: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tsv, lines, conll = (Path(folder) / f"rows.{suffix}" for suffix in ("tsv", "jsonl", "conll"))
        tsv.write_text("labels\ttext\n" + "".join(f"{label}\t{word}\n" for word, label in rows), encoding="utf-8")
        keyed = [{"text": word, "labels": [label]} for word, label in rows]
        lines.write_text("\n\n".join(map(json.dumps, keyed)), encoding="utf-8")
        conll.write_text("\n\n".join(f"{word} x {label}" for word, label in rows), encoding="utf-8")
        read = [opened(path, TargetKind.WORD_LABELS).training for path in (tsv, lines)]
    assert read[0] == read[1] and len(read[0]) == len(rows)
    assert [example.text for example in read[0]] == [word for word, _ in rows]


def test_words_in_columns_lose_the_beginnings_of_names(tmp_path: Path) -> None:
    path = tmp_path / "names.conll"
    path.write_text("Ida x B-PER\nBerg x I-PER\nran O\n\n \nSo O\n", encoding="utf-8")
    data = opened(path, TargetKind.WORD_LABELS)
    assert data.training == (Example("Ida Berg ran", "PER PER O"), Example("So", "O")) and data.labels == ("O", "PER")


@pytest.mark.parametrize(
    ("name", "content", "target", "sentence"),
    [
        (
            "a.tsv",
            "text\tlabel\nx\ty\nz\n",
            TargetKind.LABEL,
            r"Line 3 of .*a.tsv has 1 field, .* 2 columns \(text, label",
        ),
        ("a.tsv", "text\tlabel\nx\t\n", TargetKind.LABEL, r"Line 2 of .*a.tsv has no text in 'label' \(it is ''\)"),
        (
            "a.tsv",
            "a\tb\nx\ty\n",
            TargetKind.LABEL,
            r"Line 2 of .*a.tsv has no 'text'; it has 'a', 'b'\. Under \[examples\]",
        ),
        ("a.tsv", "text\ttext\n", TargetKind.LABEL, r"Line 1 of .* should name the columns, each once"),
        ("a.tsv", "text\tlabel\nx\ty\nz\ty\n", TargetKind.LABEL, r"All examples of a.tsv have the label 'y'"),
        ("a.jsonl", '{"text": "x", "label": 1}\n{"text":\n', TargetKind.LABEL, r"Line 2 of .*a.jsonl is not JSON"),
        ("a.jsonl", "[1]\n", TargetKind.LABEL, r"Line 1 of .*a.jsonl is not a JSON object"),
        ("a.jsonl", "[" * 100_000, TargetKind.LABEL, r"Line 1 of .*a.jsonl is not JSON"),
        ("a.jsonl", '{"text": 3, "label": "x"}', TargetKind.LABEL, r"Line 1 of .* has no text in 'text' \(it is 3\)"),
        (
            "a.jsonl",
            '{"source": "x", "target": null}',
            TargetKind.TEXT,
            r"Line 1 .* no text in 'target' \(it is None\)",
        ),
        ("a.tsv", "text\tlabels\na b\tX\n", TargetKind.WORD_LABELS, r"Line 2 .* has 2 words and 1 labels; each word"),
        (
            "a.jsonl",
            '{"text": ["a"], "labels": ["x y"]}',
            TargetKind.WORD_LABELS,
            r"Line 1 .* 'x y' where a word or its",
        ),
        ("a.txt", "x", TargetKind.LABEL, r"end in \.tsv, \.jsonl, \.conll; .*a\.txt does not"),
        (
            "a.tsv",
            "text\tlabel\n",
            TargetKind.LABEL,
            r"too few examples of a.tsv in .*: 0, of which one in ten is held out",
        ),
    ],
)
def test_a_row_that_cannot_be_read_is_named(
    name: str, content: str, target: TargetKind, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        assert opened(tmp_path / name, target).labels


@given(st.binary(max_size=60), st.sampled_from(["tsv", "jsonl", "conll"]), st.sampled_from(TargetKind))
def test_any_bytes_are_read_or_refused_in_a_sentence(content: bytes, suffix: str, target: TargetKind) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows.{suffix}"
        path.write_bytes(content)
        try:
            assert opened(path, target).training
        except HeadlightError as error:
            assert str(path) in str(error) or path.name in str(error)


@pytest.mark.parametrize(
    ("recipe", "sentence"),
    [
        ({"objective": "completion"}, "objective completion reads no files of examples; masked-examples, sequence-cl"),
        ({"objective": "sequence-classification", "task": "sentiment"}, "The task sentiment has its own examples"),
        ({"objective": "sequence-classification", "texts": {"a.txt": 1}}, "leave out other texts"),
        ({"objective": "causal"}, "no objective on examples 'causal'"),
    ],
)
def test_examples_go_with_an_objective_on_examples(recipe: dict[str, object], sentence: str) -> None:
    table = {"examples": {"files": ["a.tsv"]}, "training": {"steps": 1}, **recipe}
    with pytest.raises(HeadlightError, match=sentence):
        parse_recipe(table).check()


def test_a_recipe_with_other_examples_is_another_recipe() -> None:
    one, other = (Recipe(examples=ExampleFiles((name,))).fingerprint() for name in ("a.tsv", "b.tsv"))
    assert one["examples"] != other["examples"] and "examples" not in Recipe().fingerprint()
