"""Python programs that compute again what a page shows, with `headlight` alone."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from msgspec.structs import asdict, replace

from headlight.attention_groups import attention_groups
from headlight.config import Config
from headlight.errors import TextError
from headlight.tasks import task_of
from headlight.tracing.live_edits import patched_paths
from headlight.vision.shipped_images import shipped_image_names
from headlight_app.contract.question import OWN_IMAGE_PREFIX, Question
from headlight_app.contract.reply import Reply
from headlight_app.contract.sampling import Sampling
from headlight_app.export.contract import ExportProgramRequest, ProgramAnswer, Side
from headlight_app.inference.context import current_request
from headlight_app.inference.open_models import available_models
from headlight_app.inference.resolved_question import ResolvedQuestion, resolve

IMAGE_PLACEHOLDER = "THE FILE OF YOUR PICTURE"
MODEL_PLACEHOLDER, MODELS_PLACEHOLDER = "THE FOLDER OF YOUR MODEL", "THE FOLDER OF YOUR MODELS"


def answer_export_program(request: ExportProgramRequest) -> Reply[ProgramAnswer]:
    """The program for what a page shows."""
    if request.length:
        lines = _position_lines(request)
    elif request.sampling:
        lines = _generation_lines(request, request.sampling)
    else:
        lines = _side_lines(request.sides)
    return Reply(ProgramAnswer(python="\n".join(lines) + "\n"))


def _side_lines(sides: tuple[Side, ...]) -> list[str]:
    """The lines that compute each side's head weights, as `numbers_a`, `numbers_b` ..."""
    names: set[str] = set()
    body: list[str] = []
    for letter, side in zip(ascii_lowercase, sides, strict=False):
        resolved = resolve(side.question)
        names |= used_names(resolved) | ({"moved_values"} if side.question.measure == "moved" else set())
        body += ["", *opening_lines(resolved), f"trace_{letter} = {run_call(resolved)}"]
        body += [f"numbers_{letter} = {weights}" for weights in _weights(f"trace_{letter}", side)]
        body += [f"print(numbers_{letter})"]
    return [f"from headlight import {', '.join(sorted(names))}", *body]


def _weights(trace: str, side: Side) -> Iterator[str]:
    """The expression for a side's weights, or what they move: one head or the mean over several; none without heads."""
    stack, _, kind = side.attention_group.partition(".")
    array = f'{trace}[f"{stack}.{{layer}}.{kind}.weights"][head]'
    if side.question.measure == "moved":
        array = f'moved_values(model, {trace}, f"{stack}.{{layer}}.{kind}").length[head]'
    weights = [
        array.replace('f"', '"').replace("{layer}", str(layer)).replace("[head]", f"[{head}]")
        for layer, head in side.heads
    ]
    if len(weights) > 1:
        yield f"sum({array} for layer, head in {list(side.heads)}) / {len(weights)}"
    else:
        yield from weights


def _of_all_heads(side: Side, config: Config) -> Side:
    """The same side, with all heads of its attention group if it names none."""
    groups = [group for group in attention_groups(config) if group.name == side.attention_group and not side.heads]
    heads = tuple((layer, head) for group in groups for layer in range(group.layers) for head in range(group.heads))
    return replace(side, heads=side.heads or heads)


def _only_side(request: ExportProgramRequest) -> Side:
    """The only side of a request. Raises TextError if there are several."""
    if len(request.sides) != 1:
        raise TextError(f"A program of steps or positions is about one side; {len(request.sides)} were given.")
    return request.sides[0]


def _generation_lines(request: ExportProgramRequest, sampling: Sampling) -> list[str]:
    """The lines for the step after the generated tokens: the chosen token, and the weights of the shown heads."""
    side = _only_side(request)
    resolved = resolve(side.question)
    fills_masks = task_of(resolved.config).fills_masks
    names = used_names(resolved) - {"run"} | {"SamplingConfig", "fill_mask" if fills_masks else "TextGenerator"}
    names |= set() if resolved.config.has_cross_attention else {"cut_passages", "trace_copying"}
    names |= {"moved_values"} if side.question.measure == "moved" else set()
    top_p = sampling.top_p if sampling.top_p < 1 else None
    settings = f"SamplingConfig({sampling.temperature}, {sampling.top_k or None}, {top_p}, {sampling.seed})"
    arguments = run_call(resolved).removeprefix("run(").removesuffix(")")
    if fills_masks:
        step = f"step = fill_mask({arguments}, filled={dict(request.generated)}, sampling=sampling)"
    else:
        tokens = tuple(token for _, token in request.generated)
        step = f"step, _ = TextGenerator.from_text({arguments}, sampling=sampling).step({tokens})"
    return [
        f"from headlight import {', '.join(sorted(names))}",
        "",
        *opening_lines(resolved),
        f"sampling = {settings}",
        step,
        "print(step.chosen_token, loaded.tokenizer.token_text(step.chosen_token))",
        *_copying_lines(resolved.config),
        *(f"print({weights})" for weights in _weights("step", _of_all_heads(side, resolved.config))),
    ]


def _copying_lines(config: Config) -> Iterator[str]:
    """The lines that trace where the token was copied from; none for an encoder-decoder."""
    if config.has_cross_attention:
        return
    position = "step.position" if task_of(config).fills_masks else "-1"
    yield "passages = cut_passages(step.text)"
    yield f"print(trace_copying(model, step, {position}, step.chosen_token, passages))"


def _position_lines(request: ExportProgramRequest) -> list[str]:
    """The lines that compute the arrays of a positional encoding."""
    side = _only_side(request)
    resolved = resolve(side.question)
    names = ", ".join(sorted(used_names(resolved) - {"run"}))
    stack = f", {request.stack!r}" if request.stack else ""
    layer = "" if request.layer is None else f", layer={request.layer}"
    return [
        f"from headlight import {names}",
        "from headlight.analysis.position_profile import position_profile",
        "",
        *opening_lines(resolved),
        f"profile = position_profile(model, {request.length}{stack}{layer})",
        "print(profile)",
    ]


def opening_lines(resolved: ResolvedQuestion) -> tuple[str, ...]:
    """The lines that load a question's model and build its variant."""
    return f"loaded = load({model_arguments(resolved.question)})", *variant_lines(resolved.question)


def image_name(resolved: ResolvedQuestion) -> str:
    """The name of a shipped image."""
    return resolved.question.image or shipped_image_names(resolved.config)[0]


def own_image(resolved: ResolvedQuestion) -> str:
    """A placeholder for a visitor's own image, whose file only they have; empty for a shipped image."""
    return IMAGE_PLACEHOLDER if resolved.question.image.startswith(OWN_IMAGE_PREFIX) else ""


def used_names(resolved: ResolvedQuestion) -> set[str]:
    """The names of `headlight` that a program for a question imports."""
    question, config = resolved.question, resolved.config
    names = {
        "find_checkpoint": can_be_found(question),
        "load": True,
        "run": True,
        "TextPair": bool(question.text_pair),
        "Chat": bool(question.chat),
        "variant": bool(question.variant),
        "read_image": config.reads_image,
        "process_image": config.reads_image,
        "read_recording": config.reads_sound,
        "process_sound": config.reads_sound,
        "find_image": config.reads_signal and not own_image(resolved),
    }
    return {name for name, is_used in names.items() if is_used}


def can_be_found(question: Question) -> bool:
    """Whether a program can find the model by its name: any but the visitor's own checkpoints."""
    return all(folder.name != question.model for folder in current_request().checkpoints)


def own_folder(question: Question) -> str:
    """The folder of a visitor's own model on this machine; a placeholder for an upload."""
    own = next((each for each in current_request().checkpoints if each.name == question.model), None)
    return own.folder if own and not own.sent else MODEL_PLACEHOLDER


def is_shipped(question: Question) -> bool:
    return any(entry.shipped for entry in available_models() if entry.name == question.model)


def model_arguments(question: Question) -> str:
    if not can_be_found(question):
        return repr(own_folder(question))
    found = (
        f"find_checkpoint({question.model!r})"
        if is_shipped(question)
        else f"find_checkpoint({question.model!r}, [{MODELS_PLACEHOLDER!r}])"
    )
    return found if question.device == "auto" else f"{found}, device={question.device!r}"


def variant_lines(question: Question) -> tuple[str, ...]:
    parts: dict[str, str] = asdict(question.variant)
    values = {name: choice == "on" if name == "scale" else choice for name, choice in parts.items() if choice}
    arguments = [f"{name}={value!r}" for name, value in values.items()]
    return (f"model = variant(loaded.model, {', '.join(arguments)})" if arguments else "model = loaded.model",)


def run_call(resolved: ResolvedQuestion, model: str = "model", keep: tuple[str, ...] = ()) -> str:
    question, config = resolved.question, resolved.config
    own = own_image(resolved)
    file = repr(own) if own else f"find_image({image_name(resolved)!r})"
    signals = {
        "image": f"process_image(read_image({file}), {model}.config.image)",
        "sound": f"process_sound(read_recording({file}), {model}.config.sound)",
    }
    image = signals.get(config.modalities[-1], "")
    text = f"Chat.from_text({question.text!r})" if question.chat else repr(resolved.model_input)
    arguments = [model, "loaded.tokenizer", text if config.reads_text else image]
    arguments += [f"{list(question.edits)}"] if question.edits else []
    arguments += [f"source={image or repr(resolved.source)}"] if config.has_cross_attention else []
    arguments += [f"masked_positions={question.masked_positions}"] if question.masked_positions else []
    arguments += [f"keep={keep}"] if keep else []
    other = resolved.patched_from
    arguments += [f"runs={{'B': {run_call(other, model, patched_paths(question.edits))}}}"] if other else []
    return f"run({', '.join(arguments)})"
