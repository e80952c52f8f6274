"""The view on the screen as a program that makes its numbers again: Python with `model` alone, and a shell's."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from app.access.uploads import guests
from app.access.visitor import visitor
from app.explore.head_view import asked_of, view
from app.explore.quantities import Asked
from app.services.head_selection import chosen_grid, chosen_heads
from app.services.images import names
from app.services.traces import models, trace, wired
from app.state.state import OWN, Question, State
from model.attention_groups import Grid
from model.registry import Registry
from model.tracing.run import BUDGET, pairs

PICTURE = "THE FILE OF YOUR PICTURE"
FOLDER, FOLDERS = "THE FOLDER OF YOUR MODEL", "THE FOLDER OF YOUR MODELS"


@dataclass(frozen=True)
class Expression:
    """How Python writes a kind of view for `head` of the attention at `path`, from `trace`.

    `uses` is imported; `before` are lines that come first; `needs` are the sites that the trace must hold.
    """

    text: str
    uses: str = ""
    needs: tuple[str, ...] = ("weights",)
    before: Callable[[Question, Asked], tuple[str, ...]] = lambda question, asked: ()


def python_program(question: Question, state: State) -> str:
    """Python that ends with `numbers`, [query key]: the picture's own, before tokens are hidden or joined."""
    grid = chosen_grid(question, state)
    heads, asked = chosen_heads(state, grid), asked_of(question, state, grid)[0]
    found = EXPRESSIONS[state.view]
    long = _is_long(question)
    body = (
        f"loaded = load({_model(question)})",
        *_wired(question),
        f"trace = {_run(question, keep=_keep(grid, heads, found) if long else ())}",
        *found.before(question, asked),
        "",
        "",
        "def numbers_of(layer, head):",
        f'    path = f"{grid.stack}.{{layer}}.{grid.kind}"',
        f"    return {_filled(found.text, grid, asked)}",
        "",
        "",
        f"numbers = {_together(heads, state.rule)}",
        _comment(f"The page shows: {'; '.join(view(question, state).said)}."),
        "print(numbers)",
    )
    shown = () if long else (f"trace.show(layer={heads[0][0]}, head={heads[0][1]})  # in a notebook: all heads",)
    return "\n".join((*_imports(question, found, len(heads) > 1), "", *body, *shown)) + "\n"


def shell_program(question: Question, state: State) -> str:
    """`headlight trace` with everything that was chosen, and how to read the chosen head's weights from its file."""
    grid = chosen_grid(question, state)
    layer, head = chosen_heads(state, grid)[0]
    both = wired(question).config.has_cross
    words = ["headlight", "trace", "--model", question.model if _known(question) else FOLDER]
    words += ["--models", FOLDERS] if _known(question) and not _shipped(question) else []
    words += [f"--{name}={choice}" for name, choice in _choices(question).items() if choice]
    words += [f"--edit={edit}" for edit in question.edits] + [f"--masked={place}" for place in question.masked]
    words += [f"--target={question.text}"] if both else []
    picture = wired(question).config.picture.channels
    text = ["--", question.source if both else question.text]
    words += ["--out", "trace.npz", *(["--image", _file(question)] if picture else text)]
    name = "attention" if not both else "cross_attention" if grid.kind == "cross" else f"{grid.stack}_attention"
    read = f'import numpy; print(numpy.load("trace.npz")["{name}"][{layer}, {head}])'
    lines = [shlex.join(words), shlex.join(["python", "-c", read])]
    if "\0" in question.text + question.source:
        lines.insert(0, "# No shell can hand over the character U+0000 that stands in this text; Python can.")
    if state.view != "weights":
        lines.append("# The file holds weights and logits; what the page shows now is made by the Python program.")
    return "\n".join(lines) + "\n"


def _file(question: Question) -> str:
    """Where a picture lies: a drawn one in the project, a visitor's own they know themselves."""
    own = question.image.startswith(OWN)
    return PICTURE if own else f"assets/pictures/inputs/{question.image or names()[0]}.png"


def _imports(question: Question, found: Expression, several: bool) -> tuple[str, ...]:
    doors = {"find": _known(question), "load": True, "run": True, "variant": question.rewired}
    doors |= dict.fromkeys(("read_picture", "view"), bool(wired(question).config.picture.channels))
    wanted = ", ".join(sorted(name for name, holds in doors.items() if holds))
    own = (f"from model import {wanted}", *((found.uses,) if found.uses else ()))
    return ("import numpy as np", "", *own) if several else own


def _comment(text: str) -> str:
    """On one line, and without signs that would hide what a program does."""
    return "# " + "".join(sign if sign.isprintable() else " " for sign in text)


def _known(question: Question) -> bool:
    """Whether others can open the model by its name; what a visitor brought they know by their own folder."""
    return guests().folder(visitor(), question.model) is None


def _shipped(question: Question) -> bool:
    return any(entry.shipped for entry in models() if entry.name == question.model)


def _model(question: Question) -> str:
    if not _known(question):
        return repr(FOLDER)
    found = f"find({question.model!r})" if _shipped(question) else f"find({question.model!r}, [{FOLDERS!r}])"
    return found if question.device == "auto" else f"{found}, device={question.device!r}"


def _choices(question: Question) -> dict[str, str]:
    """What was exchanged, by the option of `headlight trace` that exchanges it."""
    return {
        "mask": question.masks,
        "position": question.position,
        "kernel": question.kernel,
        "scale": question.scale,
    }


def _wired(question: Question) -> tuple[str, ...]:
    asked = {"masks": question.masks, "position": question.position, "kernel": question.kernel}
    parts = [f"{name}={choice!r}" for name, choice in asked.items() if choice]
    parts += [f"scale={question.scale == 'on'}"] if question.scale else []
    return (f"model = variant(loaded.model, {', '.join(parts)})" if parts else "model = loaded.model",)


def _run(question: Question, model: str = "model", keep: tuple[str, ...] = ()) -> str:
    picture = wired(question).config.picture.channels
    read = f"view(read_picture({_file(question)!r}), {model}.config.picture)" if picture else repr(question.text)
    parts = [model, "loaded.tokenizer", read]
    parts += [f"{list(question.edits)}"] if question.edits else []
    parts += [f"source={question.source!r}"] if wired(question).config.has_cross else []
    parts += [f"masked={question.masked}"] if question.masked else []
    parts += [f"keep={keep}"] if keep else []
    return f"run({', '.join(parts)})"


def _together(heads: list[tuple[int, int]], rule: str) -> str:
    each = [f"numbers_of({layer}, {head})" for layer, head in heads]
    if len(each) == 1:
        return each[0]
    stacked = f"np.stack([{', '.join(each)}])"
    if rule == "mean":
        return f"{stacked}.mean(0)"
    return f"{stacked}\nnumbers = np.take_along_axis(numbers, abs(numbers).argmax(0)[None], 0)[0]  # the largest"


def _filled(text: str, grid: Grid, asked: Asked) -> str:
    layer, head = asked.versus
    given = {"versus": f"{grid.stack}.{layer}.{grid.kind}.weights", "versus_head": head, "stack": grid.stack}
    for name, value in (given | {"place": asked.place, "token": asked.token}).items():
        text = text.replace(f"<{name}>", str(value))
    return text


def _is_long(question: Question) -> bool:
    """Whether a run keeps so little of the text that a program must say what it wants."""
    traced = trace(question)
    return pairs(traced.config, traced.text, traced.source) > BUDGET


def _keep(grid: Grid, heads: list[tuple[int, int]], found: Expression) -> tuple[str, ...]:
    layers = ["*"] if found.uses.endswith("rollout") else sorted({str(layer) for layer, _ in heads})
    return tuple(f"{grid.stack}.{layer}.{grid.kind}.{site}" for layer in layers for site in found.needs)


def _as_trained(question: Question, asked: Asked) -> tuple[str, ...]:
    return (f"trained = {_run(question.untouched, model='loaded.model')}",)


def _other_text(question: Question, asked: Asked) -> tuple[str, ...]:
    return (f"other = {_run(asked.elsewhere)}",)


EXPRESSIONS: Registry[Expression] = Registry(
    "view",
    {
        "weights": Expression('trace[f"{path}.weights"][head]'),
        "scores": Expression('trace[f"{path}.scores"][head]', needs=("scores",)),
        "masked": Expression('trace[f"{path}.masked"][head]', needs=("masked",)),
        "moved": Expression(
            "weighted_norm(model, trace, path)[head]", "from model.views import weighted_norm", ("weights", "v")
        ),
        "rollout": Expression('rollout(trace.attention(stack="<stack>"))[layer]', "from model.lens import rollout"),
        "gradient": Expression(
            'trace[f"{path}.weights"][head] * gradient(model, trace, path, <place>, <token>)[head]',
            "from model.views import gradient",
        ),
        "head": Expression('trace[f"{path}.weights"][head] - trace["<versus>"][<versus_head>]'),
        "trained": Expression('trace[f"{path}.weights"][head] - trained[f"{path}.weights"][head]', before=_as_trained),
        "text": Expression('trace[f"{path}.weights"][head] - other[f"{path}.weights"][head]', before=_other_text),
    },
)
