"""The view on the screen as a program that makes its numbers again: Python with `headlight` alone, and a shell's."""

from __future__ import annotations

import shlex

from msgspec.structs import asdict

from headlight.attention_groups import AttentionGroup
from headlight.tracing.run import ATTENTION_BYTES_BUDGET, attention_bytes
from headlight.vision.shipped_images import shipped_image_names
from headlight_app.contract.question import OWN_IMAGE_PREFIX, Question
from headlight_app.contract.state import State
from headlight_app.explore.answers.head_view import head_view, quantity_request
from headlight_app.explore.answers.quantities import QUANTITIES, Expression, Quantity, QuantityRequest, has_residual
from headlight_app.inference.context import current_request
from headlight_app.inference.head_selection import selected_attention, selected_heads
from headlight_app.inference.open_models import available_models
from headlight_app.inference.resolved_question import ResolvedQuestion

IMAGE_PLACEHOLDER = "THE FILE OF YOUR PICTURE"
MODEL_PLACEHOLDER, MODELS_PLACEHOLDER = "THE FOLDER OF YOUR MODEL", "THE FOLDER OF YOUR MODELS"


def python_code(resolved: ResolvedQuestion, state: State) -> str:
    """Python that ends with `numbers`, [query key]: the picture's own, before tokens are hidden or joined."""
    question, attention_group = resolved.question, selected_attention(resolved.config, state.attention)
    heads, request = selected_heads(state, attention_group), quantity_request(resolved, state, attention_group)[0]
    expression = QUANTITIES[state.quantity].expression
    is_long = _is_long(resolved)
    body = (
        f"loaded = load({_model_arguments(question)})",
        *_variant_lines(question),
        f"trace = {_run_call(resolved, keep=_keep(attention_group, heads, expression) if is_long else ())}",
        *_other_lines(expression, request),
        "",
        "",
        "def numbers_of(layer, head):",
        f'    path = f"{attention_group.stack}.{{layer}}.{attention_group.kind}"',
        f"    return {_substitute(expression.code, attention_group, request)}",
        "",
        "",
        f"numbers = {_combined_heads(heads, state.head_reduction, QUANTITIES[state.quantity])}",
        _comment(f"The page shows: {'; '.join(head_view(resolved, state).rules)}."),
        "print(numbers)",
    )
    show_lines = (
        () if is_long else (f"trace.show(layer={heads[0][0]}, head={heads[0][1]})  # in a notebook: all heads",)
    )
    return "\n".join((*_imports(resolved, expression, len(heads) > 1), "", *body, *show_lines)) + "\n"


def shell_code(resolved: ResolvedQuestion, state: State) -> str:
    """`headlight trace` with everything that was chosen, and how to read the chosen head's weights from its file."""
    question, attention_group = resolved.question, selected_attention(resolved.config, state.attention)
    has_cross = resolved.config.has_cross_attention
    arguments = ["headlight", "trace", "--model", question.model if _can_be_found(question) else _own_folder(question)]
    arguments += ["--models", MODELS_PLACEHOLDER] if _can_be_found(question) and not _is_shipped(question) else []
    arguments += [f"--{name}={choice}" for name, choice in _variant_options(question).items() if choice]
    arguments += [f"--edit={edit}" for edit in question.edits] + [
        f"--mask-token={position}" for position in question.masked_positions
    ]
    arguments += [f"--target={question.text}"] if has_cross else []
    if resolved.config.reads_image:
        arguments += ["--out", "trace.npz", "--image", _own_image(resolved) or _image_name(resolved)]
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
    if "\0" in question.text + question.source:
        lines.insert(0, "# No shell can hand over the character U+0000 that stands in this text; Python can.")
    if state.quantity != "weights":
        lines.append("# The file holds weights and logits; what the page shows now is made by the Python program.")
    return "\n".join(lines) + "\n"


def _read_line(name: str, heads: list[tuple[int, int]], reduction: str) -> str:
    """Python that prints an array of the file: one head, or several as the page combines them."""
    array = f'numpy.load("trace.npz")["{name}"]'
    layers, indices = map(list, zip(*heads, strict=True))
    if len(heads) == 1:
        return f"import numpy; print({array}[{layers[0]}, {indices[0]}])"
    if reduction == "mean":
        return f"import numpy; print({array}[{layers}, {indices}].mean(0))  # of {len(heads)} heads"
    largest = "numpy.take_along_axis(w, abs(w).argmax(0)[None], 0)[0]"
    return f"import numpy; w = {array}[{layers}, {indices}]; print({largest})  # the largest of {len(heads)} heads"


def _image_name(resolved: ResolvedQuestion) -> str:
    """The name of a shipped image."""
    return resolved.question.image or shipped_image_names(resolved.config)[0]


def _own_image(resolved: ResolvedQuestion) -> str:
    """A placeholder for an image that a visitor brought, whose file only they have; empty for a shipped image."""
    return IMAGE_PLACEHOLDER if resolved.question.image.startswith(OWN_IMAGE_PREFIX) else ""


def _imports(resolved: ResolvedQuestion, expression: Expression, several: bool) -> tuple[str, ...]:
    question = resolved.question
    used_names = {
        "find_checkpoint": _can_be_found(question),
        "load": True,
        "run": True,
        "variant": bool(question.variant),
    }
    used_names |= dict.fromkeys(("read_image", "process_image"), resolved.config.reads_image)
    used_names["find_image"] = resolved.config.reads_image and not _own_image(resolved)
    model_names = ", ".join(sorted(name for name, holds in used_names.items() if holds))
    imports = (f"from headlight import {model_names}", *((expression.imports,) if expression.imports else ()))
    return ("import numpy as np", "", *imports) if several else imports


def _comment(text: str) -> str:
    """On one line, and without signs that would hide what a program does."""
    return "# " + "".join(character if character.isprintable() else " " for character in text)


def _can_be_found(question: Question) -> bool:
    """Whether others can open the model by its name; what a visitor brought they know by their own folder."""
    return all(folder.name != question.model for folder in current_request().checkpoints)


def _own_folder(question: Question) -> str:
    """The folder of a visitor's own model: where they opened it on this machine; of an upload only they know it."""
    own = next((each for each in current_request().checkpoints if each.name == question.model), None)
    return own.folder if own and not own.sent else MODEL_PLACEHOLDER


def _is_shipped(question: Question) -> bool:
    return any(entry.shipped for entry in available_models() if entry.name == question.model)


def _model_arguments(question: Question) -> str:
    if not _can_be_found(question):
        return repr(_own_folder(question))
    found = (
        f"find_checkpoint({question.model!r})"
        if _is_shipped(question)
        else f"find_checkpoint({question.model!r}, [{MODELS_PLACEHOLDER!r}])"
    )
    return found if question.device == "auto" else f"{found}, device={question.device!r}"


def _variant_options(question: Question) -> dict[str, str]:
    """The parts that replace the model's own, by the options of `headlight trace`."""
    parts: dict[str, str] = asdict(question.variant)
    return {{"masks": "mask"}.get(name, name.replace("_", "-")): choice for name, choice in parts.items()}


def _variant_lines(question: Question) -> tuple[str, ...]:
    parts: dict[str, str] = asdict(question.variant)
    values = {name: choice == "on" if name == "scale" else choice for name, choice in parts.items() if choice}
    arguments = [f"{name}={value!r}" for name, value in values.items()]
    return (f"model = variant(loaded.model, {', '.join(arguments)})" if arguments else "model = loaded.model",)


def _run_call(resolved: ResolvedQuestion, model: str = "model", keep: tuple[str, ...] = ()) -> str:
    question, config = resolved.question, resolved.config
    own = _own_image(resolved)
    file = repr(own) if own else f"find_image({_image_name(resolved)!r})"
    image = f"process_image(read_image({file}), {model}.config.image)" if config.reads_image else ""
    arguments = [model, "loaded.tokenizer", image if config.predicts_from_image else repr(question.text)]
    arguments += [f"{list(question.edits)}"] if question.edits else []
    arguments += [f"source={image or repr(question.source)}"] if config.has_cross_attention else []
    arguments += [f"masked_positions={question.masked_positions}"] if question.masked_positions else []
    arguments += [f"keep={keep}"] if keep else []
    return f"run({', '.join(arguments)})"


def _other_lines(expression: Expression, request: QuantityRequest) -> tuple[str, ...]:
    """The line that makes the trace with which an expression compares."""
    if expression.other is None:
        return ()
    other = expression.other(request)
    return (f"other = {_run_call(other, model='model' if other.question.variant else 'loaded.model')}",)


def _combined_heads(heads: list[tuple[int, int]], reduction: str, quantity: Quantity) -> str:
    calls = [f"numbers_of({layer}, {head})" for layer, head in heads]
    if len(calls) == 1:
        return calls[0]
    stacked = f"np.stack([{', '.join(calls)}])"
    if quantity.is_masked and not quantity.additive:  # a forbidden cell holds the least number there is
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
        "residual": has_residual(request),
    }
    for name, value in (values | {"position": request.position, "token": request.token}).items():
        code = code.replace(f"<{name}>", str(value))
    return code


def _is_long(resolved: ResolvedQuestion) -> bool:
    """Whether a run keeps so little of the text that a program must say what it wants."""
    traced = resolved.trace
    return attention_bytes(traced.config, traced.text, traced.source) > ATTENTION_BYTES_BUDGET


def _keep(attention_group: AttentionGroup, heads: list[tuple[int, int]], expression: Expression) -> tuple[str, ...]:
    layers = ["*"] if expression.imports.endswith("rollout") else sorted({str(layer) for layer, _ in heads})
    return tuple(
        f"{attention_group.stack}.{layer}.{attention_group.kind}.{hook_point}"
        for layer in layers
        for hook_point in expression.hook_points
    )
