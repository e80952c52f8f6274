"""`headlight evaluate` and `headlight card`, from the arguments to the output."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from headlight import run, save
from headlight.analysis.head_metrics import head_metrics
from headlight.checkpoints import Checkpoint
from headlight.cli.main import main
from headlight.config import PerLayerConfig
from headlight.errors import CheckpointError
from headlight.evaluation.report import rank_heads
from tests.model import toys
from tests.shell import Shell

TEXT = "\n".join(toys.LINES[:8]) + "\n<|endoftext|>\n" + "\n".join(reversed(toys.LINES[:6])) + "\n"


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "tales.valid.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


@pytest.fixture
def causal(tmp_path: Path) -> str:
    save(tmp_path / "causal", toys.decoder(context_length=128), toys.causal())
    return str(tmp_path / "causal")


@pytest.fixture
def masked(tmp_path: Path) -> str:
    save(tmp_path / "masked", toys.encoder(context_length=64), toys.masked())
    return str(tmp_path / "masked")


def test_text_output_lists_the_misses(causal: str, tmp_path: Path, shell: Shell) -> None:
    test = tmp_path / "test.txt"
    test.write_text("the cat sat on the | zzz\n", encoding="utf-8")
    out = shell(["evaluate", causal, "--cloze", str(test)])
    assert "in 0 of 1 sentences (0.0%)" in out
    assert "missed: the cat sat on the  guesses: " in out


def test_nothing_to_measure_is_an_error(causal: str, shell: Shell) -> None:
    assert "--text" in shell.refused(["evaluate", causal])


@pytest.mark.parametrize("flag", ["--text", "--cloze"])
def test_a_missing_file_is_an_error_before_anything_is_read(causal: str, text: str, flag: str, shell: Shell) -> None:
    said = shell.refused(["evaluate", causal, "--text", text, flag, "nowhere.txt"])
    assert said == "headlight: There is no file nowhere.txt.\n"


def test_texts_of_the_same_name_get_their_folder(causal: str, text: str, tmp_path: Path, shell: Shell) -> None:
    other = tmp_path / "other" / "tales.valid.txt"
    other.parent.mkdir()
    other.write_text("the cat saw the dog\n" * 3, encoding="utf-8")
    printed = json.loads(shell(["evaluate", causal, "--text", text, "--text", str(other), "--json"]))["texts"]
    assert sorted(printed) == [f"{tmp_path}/other/tales.valid", f"{tmp_path}/tales.valid"]
    assert len({numbers["tokens"] for numbers in printed.values()}) == 2


def test_a_model_without_a_language_head_is_an_error(tmp_path: Path, text: str, shell: Shell) -> None:
    save(tmp_path / "bare", toys.decoder(output_head="none"), toys.causal())
    assert "ends without a head" in shell.refused(["evaluate", str(tmp_path / "bare"), "--text", text])


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_a_card_has_its_sections(kind: str, text: str, request: pytest.FixtureRequest, shell: Shell) -> None:
    folder = request.getfixturevalue(kind)
    printed = shell(["card", folder, "--text", text])
    assert "| held-out text | " in printed
    assert "| tales | " in printed
    assert "| the token before | " in printed
    parts = [line for line in printed.splitlines() if line.startswith("## ")]
    assert parts == [
        "## Measured",
        "## What the heads attend to",
        "## Continuations" if kind == "causal" else "## Masks filled",
    ]
    assert printed.count("\n0. ") == (kind == "causal")


@pytest.mark.full
def test_the_same_seeds_generate_the_same_text(causal: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for _ in range(2):
        main(["card", causal])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]


def test_the_best_heads_come_first() -> None:
    loaded = Checkpoint(toys.decoder(context_length=64), toys.causal(), "")
    found = {finding.metric: finding for finding in rank_heads(loaded, ["the cat saw the cat", "the dog ran"], count=8)}
    # The first token is the only special one, so "special" repeats "first" and is omitted.
    # Rows of uniform attention: 2 to 6 tokens.
    assert set(found) >= {"previous", "current", "first", "same-word", "induction", "entropy", "distance"}
    assert not set(found) & {"next", "punctuation", "special"}, "never, nowhere, and the same as the first"
    assert found["current"].uniform_value == pytest.approx(
        np.mean([np.mean([1 / row for row in range(2, len(loaded.tokenizer.encode(text).ids) + 1)])
                 for text in ("the cat saw the cat", "the dog ran")])
    )  # fmt: skip
    for metric, finding in found.items():
        means = [mean for _, _, mean in finding.top_heads]
        assert means == sorted(means, reverse=metric != "entropy")
        assert all(
            mean < finding.uniform_value if metric == "entropy" else mean > finding.uniform_value for mean in means
        )
        assert len({head[:2] for head in finding.top_heads}) == len(means)
        assert np.isfinite(finding.example_value)


def test_a_head_is_compared_with_the_uniform_head_of_its_own_layer() -> None:
    windows = PerLayerConfig(masks=("none", "window:2"))
    loaded = Checkpoint(toys.decoder(context_length=64, per_layer=windows), toys.causal(), "")
    sentences = ["the cat saw the cat", "the dog ran to the sea"]
    uniform_edits = ["decoder.*.self.weights=uniform"]
    uniform = [head_metrics(run(loaded.model, loaded.tokenizer, text, uniform_edits))["previous"] for text in sentences]
    by_layer = np.mean(uniform, axis=0)[:, 0]
    assert by_layer[1] > 1.2 * by_layer[0], "two keys in each row of layer 1, more in those of layer 0"
    (found,) = (one for one in rank_heads(loaded, sentences, count=8) if one.metric == "previous")
    assert found.uniform_value == pytest.approx(by_layer[found.top_heads[0][0]])
    assert all(mean > by_layer[layer] for layer, _, mean in found.top_heads)


@pytest.mark.parametrize("verb", ["evaluate", "card"])
def test_a_hub_id_is_downloaded(
    verb: str, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def download(name: str, cache: Path) -> Path:
        raise CheckpointError(f"{name} was asked for.")

    monkeypatch.setattr(import_module("headlight.checkpoints.catalog"), "download_model", download)
    assert main([verb, "some/model", "--text", text]) != 0
    assert "some/model was asked for." in capsys.readouterr().err
