"""Programs that reproduce the numbers of the displayed view: Python that needs only `headlight`, and shell commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import asdict

from headlight.attention_groups import AttentionGroup
from headlight.tasks import task_of
from headlight.tracing.live_edits import is_patch
from headlight.tracing.request import ATTENTION_BYTES_BUDGET, attention_bytes
from headlight_app.contract.question import Question
from headlight_app.contract.state import State
from headlight_app.explore.answers.analyses.row import Analysis, Program
from headlight_app.explore.answers.analyses.table import ANALYSES
from headlight_app.explore.answers.explanations.table import EXPLANATIONS
from headlight_app.explore.answers.head_view import head_view, quantity_request
from headlight_app.explore.answers.quantities import (
    QUANTITIES,
    Expression,
    Quantity,
    QuantityRequest,
    has_residual,
    shown_quantity,
)
from headlight_app.export.answers.programs import (
    MODELS_PLACEHOLDER,
    can_be_found,
    image_name,
    is_shipped,
    opening_lines,
    own_folder,
    own_image,
    run_call,
    used_names,
)
from headlight_app.inference.head_selection import selected_attention, selected_heads
from headlight_app.inference.resolved_question import ResolvedQuestion

Tasks = Mapping[str, Analysis]
NO_TASKS: Tasks = MappingProxyType({})


def python_code(resolved: ResolvedQuestion, state: State, tasks: Tasks = NO_TASKS) -> str:
    """Python that ends with `numbers`, [query key]: the displayed ones, before tokens are hidden or joined."""
    attention_group = selected_attention(resolved.config, state.attention)
    heads, request = selected_heads(state, attention_group), quantity_request(resolved, state, attention_group)[0]
    quantity = QUANTITIES[shown_quantity(resolved, state)]
    expression = quantity.expression
    is_long = _is_long(resolved)
    body = (
        *opening_lines(resolved),
        f"trace = {run_call(resolved, keep=_keep(attention_group, heads, quantity) if is_long else ())}",
        *_other_lines(expression, request),
        "",
        "",
        "def numbers_of(layer, head):",
        f'    path = f"{attention_group.stack}.{{layer}}.{attention_group.kind}"',
        f"    return {_substitute(expression.code, attention_group, request)}",
        "",
        "",
        f"numbers = {_combined_heads(heads, state.head_reduction, quantity)}",
        _comment(f"The page shows: {'; '.join(head_view(resolved, state).rules)}."),
        "print(numbers)",
        *(line for why in _explanations(resolved, state, tasks) for line in why.python),
    )
    show_lines = (
        () if is_long else (f"trace.show(layer={heads[0][0]}, head={heads[0][1]})  # in a notebook: all heads",)
    )
    return "\n".join((*_imports(resolved, expression, len(heads) > 1), "", *body, *show_lines)) + "\n"


def shell_code(resolved: ResolvedQuestion, state: State, tasks: Tasks = NO_TASKS) -> str:
    """`headlight trace` with all choices, and a command that reads the chosen head's weights from its file."""
    question, attention_group = resolved.question, selected_attention(resolved.config, state.attention)
    has_cross = resolved.config.has_cross_attention
    arguments = ["headlight", "trace", "--model", question.model if can_be_found(question) else own_folder(question)]
    arguments += ["--models", MODELS_PLACEHOLDER] if can_be_found(question) and not is_shipped(question) else []
    arguments += [f"--{name}={choice}" for name, choice in _variant_options(question).items() if choice]
    arguments += [f"--edit={edit}" for edit in question.edits] + [
        f"--mask-token={position}" for position in question.masked_positions
    ]
    arguments += [f"--patch-from={question.patch_from}"] if resolved.patched_from else []
    arguments += [f"--target={question.text}"] if has_cross else []
    arguments += [f"--pair={question.text_pair}"] if question.text_pair else ["--chat"] * bool(question.chat)
    if resolved.config.reads_signal:
        option = "--image" if resolved.config.reads_image else "--audio"
        arguments += ["--out", "trace.npz", option, own_image(resolved) or image_name(resolved)]
    else:
        arguments += ["--out", "trace.npz", "--", question.source if has_cross else question.text]
    name = (
        "attention"
        if not has_cross
        else "cross_attention"
        if attention_group.kind == "cross"
        else f"{attention_group.stack}_attention"
    )
    read_line = _read_line(name, selected_heads(state, attention_group), state.head_reduction)
    lines = [shlex.join(arguments), shlex.join(["python", "-c", read_line])]
    if "\0" in question.text + question.source + question.text_pair:
        lines.insert(0, "# This text contains U+0000, which no shell can pass on; Python can.")
    is_trained = not (question.variant or question.masked_positions)  # other commands accept neither
    at = arguments.index("--out")
    options, inputs = arguments[2:at], arguments[at + 2 :]
    if shown_quantity(resolved, state) == "moved" and is_trained:
        lines.append(shlex.join(["headlight", "sinks", *options, *inputs]))
    if shown_quantity(resolved, state) != "weights":
        lines.append("# The file holds weights and logits; the Python program computes what the page shows now.")
    if is_trained:
        unpatched = [each for each in options if not each.startswith("--patch-from=") and not is_patch(each)]
        lines += [
            shlex.join(
                ["headlight", *why.command, *(options if why.keeps_patches else unpatched), *inputs, *why.more_inputs]
            )
            for why in _explanations(resolved, state, tasks)
            if why.command
        ]
    return "\n".join(lines) + "\n"


def _explanations(resolved: ResolvedQuestion, state: State, tasks: Tasks) -> Iterator[Program]:
    """What the explanations, the chosen task and the open analysis compute."""
    for row in EXPLANATIONS.values():
        yield from row.programs(resolved, state)
    if state.task in tasks:
        yield from tasks[state.task].programs(resolved, state)
    if state.tab == "layers" and state.analysis in ANALYSES and task_of(resolved.config).predicts:
        yield from ANALYSES[state.analysis].programs(resolved, state)


def _read_line(name: str, heads: list[tuple[int, int]], reduction: str) -> str:
    """Python that prints an array of the file: one head, or several combined as on the page."""
    array = f'numpy.load("trace.npz")["{name}"]'
    layers, indices = map(list, zip(*heads, strict=True))
    if len(heads) == 1:
        return f"import numpy; print({array}[{layers[0]}, {indices[0]}])"
    if reduction == "mean":
        return f"import numpy; print({array}[{layers}, {indices}].mean(0))  # of {len(heads)} heads"
    largest = "numpy.take_along_axis(w, abs(w).argmax(0)[None], 0)[0]"
    return f"import numpy; w = {array}[{layers}, {indices}]; print({largest})  # the largest of {len(heads)} heads"


def _imports(resolved: ResolvedQuestion, expression: Expression, several: bool) -> tuple[str, ...]:
    used = f"from headlight import {', '.join(sorted(used_names(resolved)))}"
    imports = (used, *((expression.imports,) if expression.imports else ()))
    return ("import numpy as np", "", *imports) if several else imports


def _comment(text: str) -> str:
    """A one-line comment without control characters that could disguise code."""
    return "# " + "".join(character if character.isprintable() else " " for character in text)


def _variant_options(question: Question) -> dict[str, str]:
    """The replaced parts of the model, as options of `headlight trace`."""
    parts: dict[str, str] = asdict(question.variant)
    return {{"masks": "mask"}.get(name, name.replace("_", "-")): choice for name, choice in parts.items()}


def _other_lines(expression: Expression, request: QuantityRequest) -> tuple[str, ...]:
    """The line that creates the trace to which an expression compares."""
    if expression.other is None:
        return ()
    other = expression.other(request)
    return (f"other = {run_call(other, model='model' if other.question.variant else 'loaded.model')}",)


def _combined_heads(heads: list[tuple[int, int]], reduction: str, quantity: Quantity) -> str:
    calls = [f"numbers_of({layer}, {head})" for layer, head in heads]
    if len(calls) == 1:
        return calls[0]
    stacked = f"np.stack([{', '.join(calls)}])"
    if quantity.is_masked and not quantity.additive:  # a masked cell has the smallest float32
        lines = [f"np.ma.masked_less_equal({stacked}, np.finfo(np.float32).min)"]
        if reduction == "mean":
            lines.append("numbers = numbers.mean(0, dtype=float).filled(np.nan)")
        else:
            lines.append("largest = abs(numbers).filled(-1).argmax(0)[None]")
            lines.append("numbers = np.take_along_axis(numbers.filled(np.nan), largest, 0)[0]")
        return "\n".join(lines)
    if reduction == "mean":
        return f"{stacked}.mean(0, dtype=float)"
    return f"{stacked}\nnumbers = np.take_along_axis(numbers, abs(numbers).argmax(0)[None], 0)[0]  # the largest"


def _substitute(code: str, attention_group: AttentionGroup, request: QuantityRequest) -> str:
    layer, head = request.other_head
    values = {
        "other_path": f"{attention_group.path(layer)}.weights",
        "other_head": head,
        "stack": attention_group.stack,
        "residual": has_residual(request.resolved.config),
    }
    for name, value in (values | {"position": request.position, "token": request.token}).items():
        code = code.replace(f"<{name}>", str(value))
    return code


def _is_long(resolved: ResolvedQuestion) -> bool:
    """Whether the text is so long that a program must list the values to keep."""
    traced = resolved.trace
    return attention_bytes(traced.config, traced.text, traced.source) > ATTENTION_BYTES_BUDGET


def _keep(attention_group: AttentionGroup, heads: list[tuple[int, int]], quantity: Quantity) -> tuple[str, ...]:
    layers = ["*"] if quantity.of_all_heads else sorted({str(layer) for layer, _ in heads})
    return tuple(
        f"{attention_group.stack}.{layer}.{attention_group.kind}.{hook_point}"
        for layer in layers
        for hook_point in quantity.expression.hook_points
    )
