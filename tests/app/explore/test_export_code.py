"""Exported programs run unchanged and must reproduce the numbers of the view."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.cli.main import main
from headlight.errors import HeadlightError
from headlight_app.contract.question import Question
from headlight_app.contract.state import PatchKind, State
from headlight_app.engine.job import EngineRequest, VisitorFolder
from headlight_app.explore.answers.export.code import python_code, shell_code
from headlight_app.explore.answers.head_view import SHOWN, head_view
from headlight_app.explore.answers.quantities import QUANTITIES
from headlight_app.export.answers.programs import MODEL_PLACEHOLDER, MODELS_PLACEHOLDER
from headlight_app.inference.context import answering
from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_steps, ask_views, ask_worker, make_question
from tests.sampling import examples

TEXT = "the cat sat on the mat"
OFF = "decoder.0.self.weights[2]=set:0"
STACKS = {"next": "decoder", "masked": "encoder"}
HOSTILE = (
    'say "hi"; $(rm -rf /) `x` \\ $HOME',
    "it's\n'''quoted'''\t",
    "</script><b>",
    "שלום \u202e 😀",
    "-- --out x",
    "a\\'b",
)


def assert_equal_but_for_rounding(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal up to rounding: the page may continue the previous run, a program reads the whole text at once."""
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def executed(program: str, toys: Path, name: str = "numbers") -> Any:
    """The value of a name after running a program with the toy models available."""
    here: dict[str, Any] = {}
    exec(compile(program.replace(MODELS_PLACEHOLDER, str(toys)), "program", "exec"), here)
    return here[name]


def agree(question: Question, state: State, toys: Path) -> None:
    made = head_view(resolve(question), state)
    found = executed(python_code(resolve(question), state), toys)
    assert found.shape == made.values.shape
    shown = made.cell_states == SHOWN
    assert shown.any()
    assert_equal_but_for_rounding(found[shown].astype(np.float32), made.values[shown])


CHOICES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": ({}, {}),
    "wired another way": (
        {"masks": "causal+window:3", "positional_encoding": "alibi", "attention_function": "linear", "scale": "off"},
        {},
    ),
    "edited": ({"edits": (OFF, "decoder.0.residual[1]=scale:0.5")}, {}),
    "patched": ({"edits": (OFF, "decoder.1.residual[2]=from:B[1]"), "patch_from": "the dog ran"}, {}),
    "several heads": ({}, {"heads": ("0.1", "1.3", "1.0")}),
    "the largest of several": ({}, {"heads": ("0.1", "1.3"), "head_reduction": "max"}),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_python_makes_the_weights_of_the_view(choice: str, toys: Path) -> None:
    question_fields, state_fields = CHOICES[choice]
    question = make_question("next", TEXT, **question_fields)
    agree(question, State(layer=1, head=3, **state_fields), toys)


@pytest.mark.parametrize("reduction", ["mean", "max"])
def test_python_leaves_forbidden_scores_out_of_several_heads(reduction: str, toys: Path) -> None:
    question = make_question("next", TEXT, edits=("decoder.0.self.mask[1,3,1]=set:0",))
    state = State(layer=0, head=1, quantity="masked_scores", heads=("0.1", "0.2"), head_reduction=reduction)
    agree(question, state, toys)


@pytest.mark.parametrize("kind", QUANTITIES)
def test_python_makes_the_numbers_of_every_kind_of_view(kind: str, toys: Path) -> None:
    exists = QUANTITIES[kind].exists
    question = next(
        asked
        for model in ("next", "masked")
        if exists(resolve(asked := make_question(model, TEXT, edits=(OFF.replace("decoder", STACKS[model]),))).config)
    )
    agree(
        question,
        State(layer=1, head=1, quantity=kind, other_head="0.3", other_text="the dog sat on the rug", query=4),
        toys,
    )


def test_python_knows_hidden_tokens_two_texts_and_labels(toys: Path) -> None:
    agree(
        make_question("masked", "the cat sat on the [MASK]", masked_positions=(2,)),
        State(layer=1, quantity="gradient"),
        toys,
    )
    both = make_question("both", "the rug", source="the dog lay on the rug")
    agree(both, State(attention="decoder.cross", layer=1, head=2), toys)
    agree(
        both, State(attention="encoder.self", head=2, quantity="minus_text", other_text="the boy lay on the rug"), toys
    )
    agree(make_question("mood", TEXT), State(quantity="gradient"), toys)


@pytest.mark.parametrize("text", HOSTILE)
def test_odd_text_stays_text_in_python_and_in_the_shell(text: str, toys: Path, tmp_path: Path) -> None:
    agree(make_question("next", "x" + text), State(), toys)
    question = make_question("next", text)
    numbers = run_shell(shell_code(resolve(question), State()), toys, tmp_path)
    made = head_view(resolve(question), State())
    # The page computes incrementally, the shell all at once: the last bit of a weight may differ.
    shown = made.cell_states == SHOWN
    np.testing.assert_allclose(numbers["attention"][0, 0][shown], made.values[shown], rtol=1e-6)


def test_the_shell_patches_from_the_same_text(toys: Path, tmp_path: Path) -> None:
    patches = {"edits": ("decoder.0.residual[1]=from:B",), "patch_from": "a dog"}
    question = make_question("next", TEXT, **patches)
    numbers = run_shell(shell_code(resolve(question), State()), toys, tmp_path)
    assert str(numbers["patch_from"]) == "a dog"
    made = head_view(resolve(question), State(layer=1))
    shown = made.cell_states == SHOWN
    np.testing.assert_allclose(numbers["attention"][1, 0][shown], made.values[shown], rtol=1e-6)


def run_shell(program: str, toys: Path, folder: Path) -> dict[str, np.ndarray]:
    """The arrays that the first command of a shell program writes."""
    words = shlex.split(program, comments=True)
    words = words[: words.index("python")]
    assert words[0] == "headlight"
    given = {"trace.npz": str(folder / "trace.npz"), MODELS_PLACEHOLDER: str(toys)}
    assert main([given.get(word, word) for word in words[1:]]) == 0
    with np.load(folder / "trace.npz") as file:
        return dict(file)


@pytest.mark.parametrize(("kind", "layers", "field"), [("direct_heads", 2, "direct_heads"), ("k", 1, "heads")])
def test_programs_make_the_map_of_patches_again(
    toys: Path, capsys: pytest.CaptureFixture[str], kind: PatchKind, layers: int, field: str
) -> None:
    other, patch = "the dog sat on a mat", "decoder.0.residual[1]=from:B"
    state = State(tab="layers", analysis="patching", patch=kind, patch_from=other, target_token=7, layer=1, head=2)
    question = make_question("next", TEXT, edits=("decoder.0.self.scale=set:1", patch), patch_from=other)
    choice = {"patch": kind, "patch_from": other, "target_token": 7, "layer": 1, "head": 2}
    views, _ = ask_steps("patching", choice=choice, model="next", text=TEXT, edits=question.edits[:1])
    wanted = np.array(views["matrix"]["values"])
    assert len(wanted) == layers
    np.testing.assert_allclose(executed(python_code(resolve(question), state), toys, "patching"), wanted, atol=1e-5)
    capsys.readouterr()
    command = shlex.split(shell_code(resolve(question), state).splitlines()[-1])
    assert patch not in command[-1] and f"--edit={question.edits[0]}" in command
    asked = [str(toys) if word == MODELS_PLACEHOLDER else word for word in (*command[1:-2], "--json", *command[-2:])]
    assert main(asked) == 0
    np.testing.assert_allclose(json.loads(capsys.readouterr().out)[field], wanted, atol=1e-5)


def test_a_head_that_hears_nothing_leaves_the_rest_of_the_program(toys: Path) -> None:
    state = State(tab="layers", analysis="patching", patch="q", patch_from="the dog sat on a mat", layer=0, head=1)
    program = python_code(resolve(make_question("next", TEXT)), state)
    assert "numbers" in program and "patching" not in program


def test_programs_compare_the_two_sentences_again(toys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {"model": "masked", "text": TEXT, "task": "similar", "other_text": "the dog lay on the rug"}
    *_, largest, _ = ask_views("similar", model="masked", text=TEXT, choice={"other_text": asked["other_text"]})
    cosine = largest["end"][1]
    code, _ = ask_worker("export_code", **asked)
    found = executed(code["python"], toys, "similarity")
    assert found.cosine == pytest.approx(cosine, abs=1e-5)
    capsys.readouterr()
    command = shlex.split(code["shell"].splitlines()[-1])
    at = command.index("--")
    assert (
        main([str(toys) if word == MODELS_PLACEHOLDER else word for word in (*command[1:at], "--json", *command[at:])])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["cosine"] == pytest.approx(cosine, abs=1e-5)
    edited, _ = ask_worker("export_code", **asked, edits=("encoder.0.self.weights[1]=set:0",))
    assert "sentence_similarity" in edited["python"] and "headlight similarity" not in edited["shell"]


@pytest.mark.parametrize("reduction", ["mean", "max"])
def test_the_shell_prints_several_heads_as_the_page_combines_them(
    reduction: str, toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, state = make_question("next", TEXT), State(heads=("0.1", "1.3"), head_reduction=reduction)
    program, made = shell_code(resolve(question), state), head_view(resolve(question), state)
    run_shell(program, toys, tmp_path)
    monkeypatch.chdir(tmp_path)
    printed: list[np.ndarray] = []
    exec(shlex.split(program, comments=True)[-1], {"print": printed.append})
    shown = made.cell_states == SHOWN
    assert_equal_but_for_rounding(printed[0][shown], made.values[shown])


@pytest.mark.parametrize("choice", ["plain", "wired another way", "edited"])
def test_the_shell_writes_the_weights_of_the_view(choice: str, toys: Path, tmp_path: Path) -> None:
    question = make_question("next", TEXT, **CHOICES[choice][0])
    state = State(layer=1, head=3)
    made, numbers = (
        head_view(resolve(question), state),
        run_shell(shell_code(resolve(question), state), toys, tmp_path),
    )
    shown = made.cell_states == SHOWN
    assert_equal_but_for_rounding(numbers["attention"][1, 3][shown], made.values[shown])


def test_the_shell_knows_two_texts_and_hidden_tokens(toys: Path, tmp_path: Path) -> None:
    both, state = make_question("both", "-the rug", source="the dog lay"), State(attention="decoder.cross", layer=1)
    program = shell_code(resolve(both), state)
    assert 'load("trace.npz")["cross_attention"][1, 0]' in program
    made, numbers = head_view(resolve(both), state), run_shell(program, toys, tmp_path)
    assert_equal_but_for_rounding(numbers["cross_attention"][1, 0], made.values)
    masked = make_question("masked", TEXT, masked_positions=(1, 3))
    made, numbers = (
        head_view(resolve(masked), State()),
        run_shell(shell_code(resolve(masked), State()), toys, tmp_path),
    )
    assert_equal_but_for_rounding(numbers["attention"][0, 0], made.values)


def test_a_view_of_something_else_says_what_the_shells_file_holds() -> None:
    assert "Python program" in shell_code(resolve(make_question("next", TEXT)), State(quantity="scores"))
    assert "Python program" not in shell_code(resolve(make_question("next", TEXT)), State())


@examples(30)
@given(text=st.text(min_size=1, max_size=12))
def test_no_text_becomes_code(text: str, toys: Path) -> None:
    question = make_question("next", text)
    try:
        made = head_view(resolve(question), State())
    except HeadlightError:
        return
    program = python_code(resolve(question), State())
    found = executed(program, toys)
    assert_equal_but_for_rounding(found[made.cell_states == SHOWN], made.values[made.cell_states == SHOWN])
    words = shlex.split(shell_code(resolve(question), State()), comments=True)
    assert text in words


def test_a_name_that_only_a_visitor_knows_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("explore.answers.export.code", "export.answers.programs"):
        monkeypatch.setattr(f"headlight_app.{module}.can_be_found", lambda question: False)
    question = make_question("next", TEXT)
    assert MODEL_PLACEHOLDER in python_code(resolve(question), State()) and "next" not in python_code(
        resolve(question), State()
    )
    assert MODEL_PLACEHOLDER in shell_code(resolve(question), State())


@pytest.mark.parametrize("sent", ["", "/uploads/mine"], ids=["opened by its path", "uploaded"])
def test_programs_open_the_folder_of_ones_own_model_and_no_upload(sent: str, toys: Path) -> None:
    folder = str(toys / "next")
    own = VisitorFolder("mine-0123", "mine", folder, sent)
    with answering(EngineRequest("", b"", checkpoints=(own,))):
        resolved = resolve(make_question("mine-0123", TEXT))
        programs = python_code(resolved, State()), shell_code(resolved, State())
    for program in programs:
        assert (MODEL_PLACEHOLDER in program, folder in program) == (bool(sent), not sent)
        assert "mine-0123" not in program
