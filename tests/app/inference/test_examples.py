"""The shipped models show what the examples promise."""

import numpy as np
import pytest

from headlight import candidates, run
from headlight.analysis.head_metrics import head_metrics
from headlight.checkpoints import load
from headlight.checkpoints.catalog import read_examples
from headlight.paths import assets_dir
from headlight.tasks import TASKS, Example, task_of
from headlight.tracing.inputs import encode_input
from headlight.tracing.predictions import prediction_positions


def own_examples(name: str) -> tuple[Example, ...]:
    return read_examples(assets_dir() / "models" / name)


def guesses(name: str, text: str, top: int = 5) -> list[str]:
    loaded = load(assets_dir() / "models" / name)
    place = prediction_positions(loaded.model, loaded.tokenizer, encode_input(loaded.model, loaded.tokenizer, text))[0]
    return [
        guess.token for guess in candidates(run(loaded.model, loaded.tokenizer, text), loaded.tokenizer, place, top)
    ]


@pytest.mark.parametrize("name", ["stories-causal", "stories-masked"])
def test_heads_can_be_sorted_by_what_an_example_names(name: str) -> None:
    shipped = load(assets_dir() / "models" / name)
    for example in (*task_of(shipped.model.config).examples, *own_examples(name)):
        if example.sort != "layer":
            metric = head_metrics(run(shipped.model, shipped.tokenizer, example.text))[example.sort]
            assert np.nanmax(metric) > 0.5


def test_the_causal_examples_end_as_their_lines_say() -> None:
    assert guesses("stories-causal", "Lily had a cat named Max. Every day she played with")[0] == "Max"
    assert guesses("stories-causal", "Anna and Ben had a red ball. One day Anna and")[0] == "Ben"
    birds = guesses("stories-causal", "The birds in the tall tree")
    assert "were" in birds and "was" not in birds[: birds.index("were")]
    assert guesses("stories-causal", '"I want to go home')[0].endswith('"')


def test_the_masked_examples_are_filled_as_their_lines_say() -> None:
    first = {
        "She cut the bread with a [MASK].": "knife",
        "The girl said that [MASK] was tired.": "she",
        "The boy said that [MASK] was tired.": "he",
        "The boy was tired, so [MASK] went to bed.": "he",
        "The dogs [MASK] very hungry.": "were",
        "The dog [MASK] very hungry.": "was",
        "She [MASK] the bread with a knife.": "cut",
    }
    assert {text: guesses("stories-masked", text, 1)[0] for text in first} == first
    examples = (*TASKS["masked-language-model"].examples, *own_examples("stories-masked"))
    assert {example.text for example in examples} - set(first) == {"The cat sat on the [MASK]."}
