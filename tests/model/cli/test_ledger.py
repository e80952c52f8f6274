"""`headlight ledger`: the score of a cell as JSON and as a table."""

import json
import re
from pathlib import Path

import pytest

from headlight import load
from tests.model import toys
from tests.shell import Shell

TEXT = "the cat sat on the mat"


def test_json_adds_up_to_the_score(models: Path, shell: Shell) -> None:
    found = json.loads(
        shell(["ledger", TEXT, "--model", str(models / "alibi"), "--cell", "decoder.1.self[3,5,2]", "--json"])
    )
    assert set(found) == {"cell", "score", "query_writers", "key_writers", "parts", "terms"}
    assert [len(row) for row in found["parts"]] == [len(found["key_writers"])] * len(found["query_writers"])
    wanted = toys.traced(load(models / "alibi").model)["decoder.1.self.scores"][3, 5, 2]
    total = sum(map(sum, found["parts"])) + sum(found["terms"].values())
    assert found["score"] == pytest.approx(wanted, abs=1e-5) == pytest.approx(total, abs=1e-4)
    assert found["terms"]["position_bias"] != 0


def test_the_table_ranks_writers_and_adds_up(models: Path, shell: Shell) -> None:
    arguments = ["ledger", TEXT, "--model", str(models / "alibi"), "--cell", "decoder.1.self[3,5,2]", "--top", "2"]
    first, *sections = shell([*arguments, "--edit", "decoder.0.self.weights[1]=set:0"]).split("\n\n")
    score = float(re.findall(r"score (\S+)", first)[0])
    numbers = [[float(line.split()[0]) for line in section.splitlines()[1:]] for section in sections]
    writers, keys, pairs, terms = map(sum, numbers)
    assert writers == pytest.approx(keys, abs=1e-3) == pytest.approx(pairs, abs=1e-3)
    assert pairs + terms == pytest.approx(score, abs=1e-3)
    assert "decoder.0.self[1]" not in sections[0] and "position_bias" in sections[3]


def test_what_is_no_cell_is_a_sentence(models: Path, shell: Shell) -> None:
    for cell in ("decoder.1.self[3,2,5]", "decoder.1.self[3]", "decoder.7.self[0,0,0]"):
        assert shell.refused(["ledger", TEXT, "--model", str(models / "alibi"), "--cell", cell]).count("\n") == 1
