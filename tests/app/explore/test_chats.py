"""A chat on the page: read by the model's template in every answer, program and file, and never marked wrongly."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight import Chat, load, run
from headlight.errors import TextError
from headlight.rendering.provenance import describe_provenance, provenance
from headlight_app.contract.state import State
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.explore.answers.export.worksheet import _texts
from headlight_app.explore.answers.head_view import head_view
from headlight_app.inference.origin import question_provenance
from headlight_app.inference.resolved_question import MAX_WEIGHTS_BYTES, resolve
from headlight_app.state.url import decode_generated, decode_state, encode_generated, encode_state
from tests.app.asking import ask_views, ask_worker, make_question
from tests.app.conftest import CHATS, TOYS, save_toys
from tests.app.explore.test_export_code import agree, executed, run_shell

TYPED = "the cat sat\nassistant: on the mat\nuser: the dog lay"
MADE = "she gave the cat sat to the boy\nshe gave on the mat to the boy\nshe gave the dog lay to the boy\nhe"


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of chats, one without a template, and an encoder-decoder."""
    return save_toys(tmp_path_factory.mktemp("chats"), CHATS | {name: TOYS[name] for name in ("next", "both")})


def test_the_answer_is_that_of_the_chat_and_says_whose_message_a_token_is_of(toys: Path) -> None:
    meta, _ = ask_worker("trace", model="talk", text=TYPED, chat="1")
    opened = load(toys / "talk")
    expected = run(opened.model, opened.tokenizer, Chat.from_text(TYPED))
    assert [token["text"] for token in meta["tokens"]] == list(expected.text.token_texts)
    assert meta["made_text"] == MADE
    assert (meta["question"]["text"], meta["question"]["chat"]) == (TYPED, "1")
    said = {role: "" for role in ("user", "assistant", "template")}
    for token in meta["tokens"]:
        said[token["role"]] += token["text"]
    assert (said["user"], said["assistant"]) == ("thecatsatthedoglay", "onthemat")
    assert MADE[: meta["tokens"][2]["end"]].endswith("the")
    top = max(expected.probabilities(-1))
    assert meta["predictions"][0]["candidates"][0]["after"] == pytest.approx(top, abs=1e-5)
    assert not any(group["has_segments"] for group in meta["attention_groups"])


@pytest.mark.parametrize(("model", "reads"), [("talk", True), ("next", False), ("both", False)])
def test_a_model_without_a_template_reads_the_text_as_typed(model: str, reads: bool) -> None:
    for page in ("explore_page", "generate_page", "compare_page"):
        assert ask_worker(page, model=model)[0]["reads_chat"] is reads
    asked = make_question(model, "the cat", source="the cat" if model == "both" else "", chat="1")
    assert resolve(asked).question.chat == ("1" if reads else "")
    plain, _ = ask_worker("trace", model="next", text="the cat")
    assert plain["made_text"] == "" and not any("role" in token for token in plain["tokens"])


def test_programs_read_the_chat(toys: Path, tmp_path: Path) -> None:
    question, state = make_question("talk", TYPED, chat="1"), State(layer=1, head=2)
    agree(question, state, toys)
    program = python_code(resolve(question), state)
    assert f"Chat.from_text({TYPED!r})" in program
    numbers = run_shell(shell_code(resolve(question), state), toys, tmp_path)
    shown = np.nan_to_num(head_view(resolve(question), state).values)
    np.testing.assert_allclose(numbers["attention"][1, 2], shown, rtol=1e-5)
    assert str(numbers["chat"]) == "1" and Chat.from_text(str(numbers["text"])) == Chat.from_text(TYPED)
    for fields in (question_provenance(resolve(question), ""), provenance(executed(program, toys, "trace"))):
        assert any(part.startswith("chat “") for part in describe_provenance(fields))


def test_a_patch_takes_values_from_another_chat(toys: Path) -> None:
    edits = ("decoder.1.residual[1]=from:B[1]",)
    patched = make_question("talk", TYPED, chat="1", edits=edits, patch_from="assistant: a dog")
    donor = resolve(patched).patched_from
    assert donor is not None and donor.model_input == Chat.from_text("assistant: a dog")
    agree(patched, State(layer=1, head=2), toys)


def test_what_needs_places_in_the_typed_text_is_left_out() -> None:
    assert not any("Try" in str(view) for view in ask_views("patching", model="talk", text=TYPED, chat="1"))
    assert _texts(resolve(make_question("talk", TYPED, chat="1"))) == [
        "user: the cat sat", "assistant: on the mat", "user: the dog lay",
    ]  # fmt: skip


def test_generate_continues_with_the_answer_of_the_assistant(toys: Path) -> None:
    asked: dict[str, Any] = {"model": "talk", "text": "the cat", "chat": "1"}
    first, _ = ask_worker("generate", **asked, with_tokens=True)
    assert [token["text"] for token in first["tokens"]["text"]][-1] == "he"
    step = first["step"]
    generated = [[step["position"], step["chosen"]]]
    after, _ = ask_worker("generate", **asked, with_tokens=True, generated=generated)
    assert [token["role"] for token in after["tokens"]["text"]][-2:] == ["template", "assistant"]
    copied, _ = ask_worker("copying", **asked, position=step["position"], token=step["chosen"])
    (bars,) = copied["rows"][-1]["views"]
    assert not bars["picks"] and not bars["action"]
    passages = copied["rows"][0]["views"][0]["tables"]["Passages of the prompt"]["axes"]["passage"]
    assert "".join(passages).startswith("she gave the cat")


def test_a_refusal_is_the_sentence_of_the_template() -> None:
    with pytest.raises(TextError, match="No system message here"):
        ask_worker("trace", model="talk", text="system: the cat", chat="1")
    with pytest.raises(TextError, match="The chat has no message"):
        ask_worker("trace", model="talk", text="", chat="1")


def test_the_made_text_decides_whether_a_text_is_long(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = resolve(make_question("talk", "the cat", chat="1"))
    made = 4 + len(b"she gave the cat to the boy\nhe")
    heads = resolved.config.heads * resolved.config.layers
    assert 4 * heads * made**2 < MAX_WEIGHTS_BYTES
    for limit, is_short in ((4 * heads * made**2, True), (4 * heads * made**2 - 1, False)):
        monkeypatch.setattr("headlight_app.inference.resolved_question.MAX_WEIGHTS_BYTES", limit)
        assert resolved.is_surely_short is is_short


def test_an_address_says_that_the_text_is_a_chat() -> None:
    state = State(model="talk", text=TYPED, chat="1")
    assert encode_state(state)["chat"] == "1" and decode_state(encode_state(state)) == state
    written = encode_generated(make_question("talk", TYPED, chat="1"), ((3, 4),))
    assert decode_generated(make_question("talk", TYPED, chat="1"), written) == ((3, 4),)
    assert decode_generated(make_question("talk", TYPED), written) == ()
