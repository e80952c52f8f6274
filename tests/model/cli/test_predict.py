"""`headlight predict` and `headlight models`, and the common behaviour of all commands."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from headlight import ATTENTION_FUNCTIONS, POSITIONAL_ENCODINGS, TOKENIZER_TRAINERS, run
from headlight.checkpoints.load import DEVICE_COUNTS
from headlight.cli.main import COMMANDS, main, usage
from headlight.nn.masks import MASKS
from headlight.paths import assets_dir
from headlight.training.optimizers import OPTIMIZERS, PRECISIONS, SCHEDULES
from headlight.vision.shipped_images import shipped_image_path
from tests.model import toys
from tests.model.cli.conftest import MODELS
from tests.shell import Shell

TEXT = "the cat sat on the mat"


def predicted(models: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON that `headlight predict --json` prints; it prints nothing else."""
    assert main(["predict", "--json", "--models", str(models), *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return json.loads(printed.out)


def test_a_decoder_predicts_what_follows_the_last_token(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (answer,) = predicted(models, capsys, TEXT, "--model", "decoder")
    trace = run(MODELS["decoder"](), toys.causal(), TEXT)
    assert set(answer) == {"position", "candidates"}
    assert answer["position"] == len(trace.text.ids) - 1
    assert len(answer["candidates"]) == 5
    for candidate in answer["candidates"]:
        assert set(candidate) == {"token", "id", "probability"}
        assert candidate["probability"] == pytest.approx(float(trace.probabilities()[candidate["id"]]))
        assert candidate["token"] == toys.causal().token_text(candidate["id"]).strip()


def test_a_masked_model_predicts_each_mask_in_order(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = predicted(models, capsys, "the [MASK] sat on the [MASK]", "--model", "encoder", "--top", "3")
    assert [answer["position"] for answer in answers] == [2, 6]
    for answer in answers:
        assert len(answer["candidates"]) == 3
        assert not any(candidate["token"].startswith("##") for candidate in answer["candidates"])


@pytest.mark.parametrize(("model", "text"), [("decoder", TEXT), ("encoder", "the [MASK]")])
def test_probabilities_are_over_the_whole_vocabulary(
    models: Path, capsys: pytest.CaptureFixture[str], model: str, text: str
) -> None:
    (answer,) = predicted(models, capsys, text, "--model", model, "--top", "100000")
    shares = [candidate["probability"] for candidate in answer["candidates"]]
    size = {"decoder": toys.causal(), "encoder": toys.masked()}[model].vocabulary_size
    assert len(shares) == size
    assert sum(shares) == pytest.approx(1, abs=1e-4)
    assert shares == sorted(shares, reverse=True)


def test_without_json_lines_are_printed(models: Path, shell: Shell) -> None:
    lines = shell(["predict", TEXT, "--model", "decoder", "--models", str(models), "--top", "2"]).splitlines()
    assert len(lines) == 3
    assert lines[0] == "token 6: after mat"
    assert "%" in lines[1]


def test_a_classifier_labels_the_text_or_each_of_its_tokens(shell: Shell) -> None:
    said = shell(["predict", "A wonderful film.", "--model", "sentiment"])
    assert re.fullmatch(r"of the whole text\n +[<\d.]+ %  positive\n +[<\d.]+ %  negative\n", said)
    lines = shell(["predict", "They live in London", "--model", "entities", "--top", "1"]).splitlines()
    places, labels = lines[::2], [line.split()[-1] for line in lines[1::2]]
    assert places[0] == "token 1: of They"
    first = next(at for at, place in enumerate(places) if place.endswith("of in")) + 1
    assert set(labels[:first]) == {"O"} and set(labels[first:]) == {"LOC"}


def test_an_encoder_decoder_writes_for_a_text_or_a_picture(shell: Shell) -> None:
    said = shell(["predict", "Three dogs are running.", "--model", "translate"])
    assert said == "Trois chiens sont en train de courir.\n"
    picture = assets_dir() / shipped_image_path("purple-cross-below-blue-star")
    asked = ["predict", "--image", str(picture), "--model", "caption"]
    assert json.loads(shell([*asked, "--json"])) == {"text": "a purple cross below a blue star"}
    assert shell([*asked, "--target", "a purple"]) == "a purple cross below a blue star\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([TEXT, "--model", "encoder"], "has no [MASK]"),
        (["the [MASK]", "--model", "decoder"], "decoder continues texts and fills no [MASK]"),
        (["", "--model", "decoder"], "The text is empty"),
        (["the cat " * 50, "--model", "decoder"], "reads at most 24"),
        ([TEXT, "--model", "bare"], "without a head"),
        ([TEXT, "--model", "bare", "--target", "a"], "--target is for encoder-decoder models"),
        (["--model", "decoder", "--image", "nowhere.png"], "nowhere.png"),
        ([TEXT, "--model", "decoder", "--top", "0"], "--top"),
        ([TEXT, "--model", "decoder", "--top", "²"], "--top"),
        (["--model", "decoder"], "TEXT"),
    ],
)
def test_an_error_is_one_sentence_and_nothing_on_standard_output(
    models: Path, shell: Shell, arguments: list[str], sentence: str
) -> None:
    assert sentence in shell.refused(["predict", "--json", "--models", str(models), *arguments])


def test_models_lists_the_catalog(models: Path, shell: Shell) -> None:
    lines = shell(["models", "--models", str(models)]).splitlines()
    described = {line.split()[0]: line for line in lines}
    assert {"decoder", "encoder", "both", "bare"} <= set(described)
    assert "2 layers x 4 heads" in described["decoder"]
    assert "3 + 2 layers" in described["both"]
    assert "context 24" in described["encoder"]


def test_models_as_json_are_those_of_the_list(models: Path, shell: Shell) -> None:
    listed = [line.split()[0] for line in shell(["models", "--models", str(models)]).splitlines()]
    found = json.loads(shell(["models", "--json", "--models", str(models)]))
    assert [one["name"] for one in found] == listed
    both = next(one for one in found if one["name"] == "both")
    assert both["layers"] == {"encoder": 3, "decoder": 2} and Path(both["folder"]) == models / "both"
    assert next(one for one in found if one["name"] == "ladder-1-attention")["heads"] == 1


def test_what_there_is_one_of_is_said_so(shell: Shell) -> None:
    said = shell(["models"])
    assert "1 layer x 1 head," in said and "1 layers" not in said and "1 heads" not in said


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["predct"], "There is no command 'predct'. Did you mean 'predict'?"),
        (["forecast"], "There is no command 'forecast'. Known: card, check"),
        (["predict", TEXT, "--model", "stories-casual"], "'stories-casual'. Did you mean 'stories-causal'?"),
        (["predict", TEXT, "--modle", "x"], "does not know '--modle'. Did you mean '--model'?"),
        (["models", "--models", "/nosuch"], "There is no folder '/nosuch'"),
        (["predict", TEXT, "--models", "/nosuch"], "There is no folder '/nosuch'"),
        (["train", "--text", "a.txt", "--out", "o", "--steps", "1", "--threads", "10000"], "threads is 10000; it must"),
    ],
)
def test_a_slip_is_named(shell: Shell, arguments: list[str], sentence: str) -> None:
    assert sentence in shell.refused(arguments)


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == main(["--help"]) == 0
    assert all(verb in usage() for verb in COMMANDS)
    with pytest.raises(SystemExit) as left:
        main(["trace", "--help"])
    assert left.value.code == 0
    assert "--edit" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("trace", {name for name, mask in MASKS.items() if mask.selectable}),
        ("trace", {*ATTENTION_FUNCTIONS, *POSITIONAL_ENCODINGS, *DEVICE_COUNTS}),
        ("train", {*TOKENIZER_TRAINERS, *OPTIMIZERS, *SCHEDULES, *PRECISIONS, *DEVICE_COUNTS}),
    ],
)
def test_help_names_every_choice(command: str, names: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert names <= set(re.findall(r"[\w-]+", capsys.readouterr().out))


def test_json_is_ascii(models: Path) -> None:
    """A real process prints ASCII and exits with the status of `main`."""

    def process(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        environment = {**os.environ, "PYTHONIOENCODING": "ascii", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "headlight.cli", "predict", "--models", str(models), *arguments]
        return subprocess.run(command, capture_output=True, env=environment, check=False)

    done = process("é", "--model", "decoder", "--json", "--top", "300")
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(json.loads(done.stdout)[0]["candidates"]) == 300
    failed = process("é", "--model", "nöthing")
    assert (failed.returncode, failed.stdout) == (2, b"")
    assert b"Traceback" not in failed.stderr


@pytest.mark.parametrize(("text", "word"), [("She drank a glass of [MASK].", "water"), ("Once upon a", "time")])
def test_without_a_model_a_shipped_one_predicts(text: str, word: str, shell: Shell) -> None:
    assert word in shell(["predict", text])
