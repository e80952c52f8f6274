"""Models with NaN or infinite weights open with a warning."""

import json
from pathlib import Path

import pytest
import torch

from headlight import load, run, save
from headlight.checkpoints import describe_nonfinite, find_nonfinite
from headlight.cli.main import main
from headlight.errors import EditError
from headlight.tracing.trace import OVERFLOW
from tests.model import toys


def spoilt(folder: Path, number: float, *names: str, count: int = 1) -> Path:
    """A checkpoint with a few weights set to `number`."""
    model = toys.decoder()
    with torch.no_grad():
        for name in names:
            model.get_parameter(name).flatten()[:count] = number
    save(folder, model, toys.causal(), dtype="float32")
    return folder


def test_good_weights_are_fit_however_large(tmp_path: Path) -> None:
    assert find_nonfinite(load(spoilt(tmp_path / "a", 1.0))) == ()
    largest = torch.finfo(torch.float32).max
    folder = spoilt(tmp_path / "b", largest, "decoder.final_norm.weight", count=9)
    assert find_nonfinite(load(folder)) == (), "only their sum is infinite"
    assert describe_nonfinite(()) == ""


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_named(tmp_path: Path, number: float, dtype: str) -> None:
    names = ("embedding.weight", "decoder.final_norm.weight")
    loaded = load(spoilt(tmp_path, number, *names), dtype=dtype)
    assert set(find_nonfinite(loaded)) == set(names)


def test_the_sentence_names_a_few_of_many() -> None:
    assert describe_nonfinite(("a",)) == "1 tensor holds NaN or infinite weights, so results will be meaningless: a."
    many = describe_nonfinite(tuple(f"weight {number}" for number in range(500)))
    assert many.startswith("500 tensors hold") and many.endswith("and 492 more.") and len(many) < 300


def test_the_command_says_so_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(spoilt(tmp_path / "toy", float("nan"), "decoder.final_norm.weight"))
    assert main(["trace", "the cat", "--model", folder, "--out", str(tmp_path / "out.npz")]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("headlight: 1 tensor holds NaN") and said.out == ""
    assert main(["predict", "the cat", "--model", folder, "--json"]) == 0
    said = capsys.readouterr()
    (answer,) = json.loads(said.out, parse_constant=pytest.fail)
    assert {candidate["probability"] for candidate in answer["candidates"]} == {None}
    assert "decoder.final_norm.weight" in said.err
    assert main(["predict", "the cat", "--model", folder]) == 0
    assert "NaN" in capsys.readouterr().out


def test_finite_weights_that_overflow_on_the_way_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    largest = torch.finfo(torch.float32).max
    folder = str(spoilt(tmp_path / "toy", largest, "decoder.final_norm.weight", count=9))
    assert main(["trace", "the cat", "--model", folder, "--out", str(tmp_path / "out.npz")]) == 0
    said = "headlight: " + OVERFLOW.format(path="decoder.final_residual") + "\n"
    assert capsys.readouterr().err == said
    assert main(["predict", "the cat", "--model", folder]) == 0
    assert said in capsys.readouterr().err
    assert run(toys.decoder(), toys.causal(), "the cat").overflow_note == ""


@pytest.mark.parametrize(("number", "norm"), [(1e30, "layernorm"), (1e30, "rmsnorm"), (float("nan"), "rmsnorm")])
def test_the_layer_is_named_where_numbers_overflow_though_the_output_may_be_finite(number: float, norm: str) -> None:
    model = toys.decoder(norm=norm)
    with torch.no_grad():
        model.get_parameter("decoder.blocks.0.feed_forward.down.weight")[0] = number
    assert run(model, toys.causal(), "the cat").overflow_note == OVERFLOW.format(path="decoder.1.residual")


@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm"])
def test_an_edit_that_makes_numbers_overflow_is_refused_with_its_place(norm: str) -> None:
    with pytest.raises(EditError, match=r"first at decoder\.0\.residual"):
        run(toys.decoder(norm=norm), toys.causal(), "the cat", ["decoder.0.residual=scale:1e38"])
