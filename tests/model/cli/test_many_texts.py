"""Commands with many texts or with two: `trace --texts`, `metrics`, `--patch-from`, `patching`."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from headlight import head_metrics, patching_map, path_patching, run
from headlight.analysis.head_metrics import HEAD_METRICS
from headlight.analysis.patching import PATCHES
from headlight.cli.main import main
from tests.model import toys
from tests.model.cli.conftest import MODELS
from tests.shell import Shell

TEXTS = ("the cat sat on the mat", "a small bird sang and the small bird flew")
OTHER = "the dog sat on the mat"
PATCH = "decoder.1.residual[1]=from:B"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    file = tmp_path / "texts.txt"
    file.write_text(f"{TEXTS[0]}\n\n{TEXTS[1]}\n", "utf-8")
    return file


def test_each_text_of_a_file_gets_a_file(models: Path, texts: Path, tmp_path: Path) -> None:
    out = tmp_path / "traces"
    assert main(["trace", "--texts", str(texts), "--model", str(models / "decoder"), "--out", str(out)]) == 0
    assert sorted(each.name for each in out.iterdir()) == ["00001.npz", "00002.npz"]
    for number, text in enumerate(TEXTS, 1):
        with np.load(out / f"{number:05}.npz") as file:
            assert str(file["text"]) == text
            np.testing.assert_array_equal(file["logits"], run(MODELS["decoder"](), toys.causal(), text)["logits"])


def test_metrics_are_means_over_the_texts_that_give_occasion(models: Path, texts: Path, shell: Shell) -> None:
    printed = shell(["metrics", "--texts", str(texts), "--model", str(models / "decoder"), "--json"])
    found = json.loads(printed)["decoder.self"]
    one, other = (head_metrics(run(MODELS["decoder"](), toys.causal(), text)) for text in TEXTS)
    np.testing.assert_allclose(found["previous"], (one["previous"] + other["previous"]) / 2, rtol=1e-5)
    assert found["next"] == [[None] * 4] * 2  # hidden by the causal mask
    in_words = shell(["metrics", TEXTS[0], "--model", str(models / "decoder")])
    assert "entropy" in in_words and "no text determines it" in in_words


def test_a_metric_of_a_long_name_keeps_the_columns(models: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HEAD_METRICS, "the-very-first-token", HEAD_METRICS["first"])
    _, *lines = shell(["metrics", TEXTS[0], "--model", str(models / "decoder")]).splitlines()
    starts = [re.match(r"  [a-z-]+ +", line) for line in lines]
    assert len(starts) == len(HEAD_METRICS) and len({start.end() for start in starts if start}) == 1


def test_a_patch_takes_its_value_from_the_other_text(models: Path, tmp_path: Path) -> None:
    out, model = tmp_path / "out.npz", MODELS["decoder"]()
    named = ["--model", str(models / "decoder"), "--edit", PATCH, "--patch-from", OTHER, "--out", str(out)]
    assert main(["trace", TEXTS[0], *named]) == 0
    wanted = run(model, toys.causal(), TEXTS[0], [PATCH], runs={"B": run(model, toys.causal(), OTHER)})
    with np.load(out) as file:
        np.testing.assert_array_equal(file["logits"], wanted["logits"])
        assert file["edits"].tolist() == [PATCH]


def test_the_map_of_patches_is_that_of_python(models: Path, shell: Shell) -> None:
    asked = ["patching", TEXTS[0], "--other", OTHER, "--model", str(models / "decoder"), "--answers", "7", "11"]
    found = json.loads(shell([*asked, "--json"]))
    model = MODELS["decoder"]()
    trace, other = (run(model, toys.causal(), text) for text in (TEXTS[0], OTHER))
    wanted = patching_map(model, trace, other, answers=(7, 11))
    for kind in PATCHES:
        np.testing.assert_allclose(found[kind], getattr(wanted, kind), atol=1e-5)
    assert shell(asked).count("  layer") == 3
    into = ["--into", "blocks.1.attn.hook_k[:,1]"]  # TransformerLens's name
    paths = path_patching(model, trace, other, "decoder.1.self.k[1]", answers=(7, 11))
    told = json.loads(shell([*asked, *into, "--json"]))
    np.testing.assert_allclose(told["heads"], paths, atol=1e-5)
    assert (told["into"], told["answer"], told["other_answer"]) == ("decoder.1.self.k[1]", 7, 11)
    assert told["before"] == pytest.approx(found["before"], abs=1e-5)
    assert "on decoder.1.self.k[1]:" in shell([*asked, *into])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trace", "a text", "--texts", "FILE", "--out", "x"], "one of the four"),
        (["trace", "--texts", "nowhere.txt", "--out", "x"], "nowhere.txt cannot be read"),
        (["metrics", "--texts", "EMPTY"], "contains no text"),
        (["metrics", TEXTS[0], "--patch-from", OTHER], "no --edit takes a value from B"),
        (["metrics", TEXTS[0], "--edit", PATCH], "takes values from a run 'B'"),
        (["patching", TEXTS[0], "--other", TEXTS[0]], "give the same answer"),
        (["patching", TEXTS[0], "--other", OTHER, "--stack", "encoder"], "has no encoder"),
        (["patching", TEXTS[0], "--other", OTHER, "--into", "decoder.0.self.q[0]"], "nothing from earlier heads"),
        (["patching", TEXTS[0], "--other", OTHER, "--into", "blocks.1.attn.hook_q[:,9]"], "the heads 0 to 3"),
    ],
)
def test_what_cannot_be_gets_a_sentence(
    models: Path, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    (tmp_path / "empty.txt").write_text("\n  \n")
    files = {"FILE": str(texts), "EMPTY": str(tmp_path / "empty.txt")}
    named = [files.get(each, each) for each in arguments]
    assert main([*named, "--model", str(models / "decoder")]) == 2
    assert said in capsys.readouterr().err
