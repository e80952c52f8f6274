"""A few of the cases of `python -m tests.bench hostile`, and its runner's detection of failures."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.bench import hostile
from tests.bench.hostile import Runner
from tests.families import endless_case
from tests.sampling import parameter_set


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    victims = tmp_path_factory.mktemp("victims")
    hostile.make_victims(victims)
    made = Runner(victims, endless_case.__name__)
    yield made
    made.worker.stop()


@pytest.mark.parametrize(
    ("kind", "seed"),
    [parameter_set(kind, seed, full=seed >= 3) for kind in hostile.CASES_BY_KIND for seed in range(16)],
)
def test_hostile_cases_end_in_an_answer_or_a_sentence(kind: str, seed: int, runner: Runner) -> None:
    outcome = runner.run(kind, seed)
    assert not outcome.wrong, outcome


@pytest.mark.full
def test_a_case_that_does_not_end_is_killed_and_the_next_one_runs(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile, "MAX_SECONDS", 0.0)
    assert "longer than the 0 seconds" in runner.run("endless", 0).wrong
    monkeypatch.undo()
    assert runner.run("no such kind", 0).wrong == "KeyError: \"'no such kind'\""
    assert not runner.run("questions", 0).wrong


def test_a_seed_is_the_same_case_again(tmp_path: Path) -> None:
    told = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text('{"layers": 2, "heads": {"count": 4}}')
        hostile.change_value(Random("seed"), tmp_path / name)
        told.append((tmp_path / name / "config.json").read_text())
    assert told[0] == told[1] != '{"layers": 2, "heads": {"count": 4}}'
