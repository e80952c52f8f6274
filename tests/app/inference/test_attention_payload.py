"""The trace cache, and the page's information about models."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from headlight.config import Config
from headlight.errors import TextError
from headlight.nn.attention_functions import ATTENTION_FUNCTIONS
from headlight.nn.masks import MASKS
from headlight.nn.positional_encodings import POSITIONAL_ENCODINGS
from headlight.tracing.continuation import FinishedRun
from headlight.tracing.recompute import trace_logits
from headlight.tracing.request import RunRequest
from headlight.tracing.runner import run_request
from headlight.tracing.trace import Trace
from headlight_app.contract.question import Question
from headlight_app.engine.job import EngineRequest
from headlight_app.inference import attention_payload
from headlight_app.inference.attention_payload import loss_note, notes, predictions, variant_differences
from headlight_app.inference.context import answering
from headlight_app.inference.examples import examples_for
from headlight_app.inference.open_models import find_model
from headlight_app.inference.resolved_question import resolve
from headlight_app.inference.source_code import code_sections
from headlight_app.inference.trace_cache import TraceCache, trace_cache
from tests.app.asking import make_question


def test_equal_questions_share_one_trace() -> None:
    assert resolve(make_question("next", "the cat")).trace is resolve(make_question("next", "the cat")).trace
    assert resolve(make_question("next", "the cat")).trace is not resolve(make_question("next", "the dog")).trace


FALLS = "Tom had a red ball. He kicked it far."


@pytest.mark.parametrize(
    ("text", "variant", "edits", "words"),
    [
        (FALLS, {"masks": "none"}, (), "makes no better model: a token now sees the very token that it is to predict."),
        ("the", {"masks": "none"}, (), "makes no better model: a token now sees the very token that it is to predict."),
        (FALLS, {"positional_encoding": "none"}, (), "The loss on this text rises from "),
        (FALLS, {"masks": "none"}, ("decoder.0.self.weights[0]=set:0",), "With all changes the loss on this text "),
    ],
)
def test_a_changed_model_tells_the_loss_before_and_after(
    text: str, variant: dict[str, str], edits: tuple[str, ...], words: str
) -> None:
    """Never “expect worse answers” where the loss fell: both losses are those of the runs."""
    asked = resolve(make_question("stories-causal", text, edits=edits, **variant))
    found = re.search(r"(falls|rises) from ([\d.]+) to ([\d.]+) nats per token", loss_note(asked))
    assert found and words in loss_note(asked) and loss_note(asked) in notes(asked)[0]
    for told, one in zip(found.groups()[1:], (asked.as_trained, asked), strict=True):
        traced = one.trace_of("logits")
        rows = torch.tensor(traced["logits"]).log_softmax(-1)
        losses = [-float(rows[at, token]) for at, token in enumerate(traced.text.ids[1:])]
        assert float(told) == pytest.approx(sum(losses) / len(losses), abs=0.006)
    assert (float(found[3]) < float(found[2])) == (found[1] == "falls")


def test_a_loss_that_is_not_known_at_once_is_not_told() -> None:
    for model, text, variant in (
        ("next", "the cat", {}),  # nothing is changed
        ("masked", "the [MASK] sat", {"masks": "causal"}),
        ("mood", "the cat", {"masks": "causal"}),
        ("both", "the cat sat", {"masks": "none"}),  # the model may have written this itself
    ):
        source = "a dog" if model == "both" else ""
        assert loss_note(resolve(make_question(model, text, source=source, **variant))) == ""


def test_a_loss_that_is_no_number_or_takes_long_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TextError, match="empty"):
        loss_note(resolve(make_question("next", "", masks="none")))
    asked = resolve(make_question("next", "the cat sat on", masks="none"))
    assert loss_note(asked)
    with monkeypatch.context() as patched:
        patched.setattr(attention_payload, "MAX_LOSS_PRODUCTS", 1)
        assert loss_note(asked) == ""
    monkeypatch.setattr(attention_payload, "trace_logits", lambda *run: trace_logits(*run) * torch.nan)
    assert loss_note(resolve(make_question("next", "the cat sat by", masks="none"))) == ""


def test_what_a_model_does_not_read_is_not_kept() -> None:
    large = "x" * (1 << 20)
    asked = resolve(make_question("next", "the cat", source=large, image=large))
    assert asked.trace is resolve(make_question("next", "the cat")).trace
    assert large not in repr(asked.question)


def test_a_value_that_was_not_kept_is_made_again() -> None:
    question = make_question("next", "the cat")
    scores = resolve(question).value("decoder.0.self.scores")
    assert scores.shape == resolve(question).trace["decoder.0.self.weights"].shape
    assert not scores.flags.writeable


def finished(question: Question) -> FinishedRun:
    resolved = resolve(question)
    request = RunRequest.encode(resolved.model, resolved.tokenizer, question.text, keep=("*.weights",))
    return run_request(resolved.model, request)


def test_the_cache_gives_the_oldest_away() -> None:
    questions = [make_question("next", f"the cat{' sat' * count}") for count in range(4)]
    runs = [finished(question) for question in questions]
    cache = TraceCache(budget=runs[2].bytes + runs[3].bytes)
    for question, made in zip(questions, runs, strict=True):
        cache.get((question, (), Path(), 0, ""), lambda previous, made=made: made)  # type: ignore[misc]
    assert [key[0] for key in cache.runs] == questions[2:]
    assert cache.runs.currsize == runs[2].bytes + runs[3].bytes


def test_a_run_goes_on_from_the_last_one_that_differs_in_its_text_alone() -> None:
    cache, edited = TraceCache(), ("decoder.0.self.weights[0]=set:0",)
    offered: list[str] = []

    def ask(text: str, edits: tuple[str, ...] = ()) -> Trace:
        question = make_question("next", text, edits=edits)

        def compute(previous: FinishedRun | None) -> FinishedRun:
            offered.append(previous.trace.text.text if previous else "")
            return finished(question)

        return cache.get((question, (), Path(), 0, ""), compute)

    first = ask("the cat")
    ask("the cat sat")
    ask("the dog", edited)
    assert ask("the cat") is first
    ask("the cat lay")
    assert offered == ["", "the cat", "", "the cat"]


def test_what_one_visitor_typed_answers_another_no_sooner() -> None:
    shipped = examples_for(find_model("next"))[0].text

    def traced(visitor: str, text: str) -> Trace:
        with answering(EngineRequest("trace", b"", visitor=visitor)):
            return resolve(make_question("next", text)).trace

    for text, is_shared in (("the cat sat on", False), (shipped, True)):
        first = traced("anna", text)
        assert traced("anna", text) is first
        assert (traced("ben", text) is first) == is_shared


def test_a_letter_at_the_end_shows_what_the_whole_text_shows() -> None:
    typed = ["the c", "the ca", "the cat", "the cat s", "the cat sat", "the cat sa"]
    one_by_one = [resolve(make_question("next", text)).trace for text in typed]
    trace_cache.cache_clear()
    for text, before in zip(reversed(typed), reversed(one_by_one), strict=True):
        trace_cache.cache_clear()
        whole = resolve(make_question("next", text)).trace
        assert whole.values.keys() == before.values.keys()
        for path, value in whole.values.items():
            np.testing.assert_allclose(before[path], value, atol=1e-5)


def test_a_label_belongs_to_the_whole_text_whatever_token_is_looked_at() -> None:
    resolved = resolve(make_question("mood", "the cat sat"))
    (label,) = predictions(resolved)
    assert (label.preposition, label.token_text) == ("of the whole text", None)
    assert predictions(resolved, query=1) == (label,)


@pytest.mark.parametrize(("model", "preposition"), [("next", "after"), ("masked", "at"), ("both", "after")])
def test_an_answer_is_after_a_token_or_at_a_masked_one(model: str, preposition: str) -> None:
    resolved = resolve(make_question(model, "the [MASK]", source="the cat" if model == "both" else ""))
    assert predictions(resolved)[0].preposition.strip() == preposition


def test_a_row_that_an_edit_leaves_below_one_is_said() -> None:
    edits = ("decoder.1.self.weights[3]=scale:0.5",)
    (told,) = notes(resolve(make_question("next", "the cat sat", edits=edits)))
    assert "A row of decoder.1.self sums to 0.5, not to 1." in told


def test_only_what_differs_is_called_exchanged() -> None:
    config = Config(vocabulary_size=5, context_length=4, d_model=8, layers=1, heads=2)
    assert variant_differences(config, config) == []
    other = config.replace(attention_function="hardmax", masks=())
    assert variant_differences(config, other) == [
        ("masks", "Mask", "Causal", "Bidirectional"),
        ("attention_function", "Attention function", "Softmax", "Hard (argmax)"),
    ]
    ((_, _, _, masks),) = variant_differences(config, config.replace(masks=("causal", "window:3")))
    assert masks == "Causal + sliding window (3)"
    ((_, _, _, masks),) = variant_differences(config, config.replace(masks=("custom:10/11",)))
    assert masks == "Custom matrix"
    ((_, _, _, masks),) = variant_differences(config, config.replace(masks=("causal", "painted:1-3")))
    assert masks == "Causal + custom"


def test_the_code_of_every_part_can_be_shown() -> None:
    for position in POSITIONAL_ENCODINGS:
        for kernel in ATTENTION_FUNCTIONS:
            masks = tuple(f"{name}:{row.argument.default}" if row.argument else name for name, row in MASKS.items())
            config = Config(
                vocabulary_size=5,
                context_length=4,
                d_model=8,
                layers=1,
                heads=2,
                positional_encoding=position,
                attention_function=kernel,
                masks=masks,
            )
            assert all(part.code.startswith(("class ", "def ")) for part in code_sections(config))
