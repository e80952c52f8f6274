"""`headlight sinks`, `rankings` and `without`: JSON, text, and a message for invalid requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headlight import load
from headlight.cli.main import main
from tests.model import toys

TEXT, SINK = "the cat sat on the mat", ("decoder.1.self.scores[2,:,0]=add:5", "decoder.1.self.v[2,0]=scale:0.001")


@pytest.fixture
def ask(models: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Returns the output of a command."""

    def printed(verb: str, *arguments: str, model: str = "plain", status: int = 0) -> str:
        assert main([verb, TEXT, "--model", str(models / model), *arguments]) == status
        output = capsys.readouterr()
        return output.err if status else output.out

    return printed


def test_sinks(ask: Any) -> None:
    edits = [argument for edit in SINK for argument in ("--edit", edit)]
    assert {(sink["path"], sink["head"], sink["key"]) for sink in json.loads(ask("sinks", *edits, "--json"))} >= {
        ("decoder.1.self", 2, 0)
    }
    assert "decoder.1.self[2]" in ask("sinks", *edits) and "<|endoftext|>" in ask("sinks", *edits)


def test_rankings(ask: Any) -> None:
    found = json.loads(ask("rankings", "--json", "--position", "5", "--answer", "7"))
    assert (found["position"], found["answer"]) == (5, 7) and found["rankings"]["random"]["scores"] is None
    assert len(found["rankings"]["alti-logit"]["scores"]) == len(found["tokens"])
    lines = ask("rankings").splitlines()
    areas = [float(line.split("deletion ")[-1].split()[0]) for line in lines[1:]]
    assert len(lines) == 7 and areas == sorted(areas), "the most faithful comes first"
    assert "'good'" in ask("rankings", model="judge") or "'bad'" in ask("rankings", model="judge")


def test_without_a_head(ask: Any, models: Path) -> None:
    arguments = ("--head", "decoder.0.self[3]", "--position", "4", "--answer", "7")
    found = json.loads(ask("without", *arguments, "--json"))
    model = load(models / "plain").model
    logits = [toys.traced(model, *edits)["logits"][4, 7] for edits in ((), ("decoder.0.self.weights[3]=set:0",))]
    assert [found["before"], found["after"]] == pytest.approx(logits, abs=1e-4)
    parts = found["direct"] + sum(found["responses"].values()) + found["norms"]
    assert parts == pytest.approx(found["change"], abs=1e-6)
    lines = ask("without", *arguments).splitlines()
    changes = [float(line.split()[0]) for line in lines[1:] if line.startswith("  ")]
    assert sum(changes[:-1]) == pytest.approx(changes[-1], abs=0.01)
    assert ("Self-repair" in lines[-1]) == ((found["self_repair"] or 0) > 1 / 3)


def test_what_cannot_be_asked_is_a_sentence(ask: Any) -> None:
    assert "is not a head" in ask("without", "--head", "decoder.0.self", status=2)
    assert "no head 9" in ask("without", "--head", "decoder.0.self[9]", status=2)
    assert "no token 50" in ask("rankings", "--position", "50", "--answer", "7", status=2)
    assert ask("rankings", model="bare", status=2).count("\n") == 1
    assert "predicts at each token" in ask("without", "--head", "encoder.0.self[0]", model="judge", status=2)
