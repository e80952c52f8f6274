"""Why layers: a head that needs another one before it; what each layer adds; and what is between the heads."""

from __future__ import annotations

import numpy as np

from headlight.analysis.attribution import attribute_logits
from headlight.analysis.head_metrics import head_metrics
from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.first_reading.reading import (
    BEGINNING,
    MODEL,
    STORY,
    Place,
    first_guess,
    guesses,
    head_title,
    largest,
    losses,
    map_of,
    read,
    token_names,
    without_head,
)
from headlight.course.screen import Screen, ScreenRows, link
from headlight.errors import InputError
from headlight.nn.stack import Block, ResidualConnection
from headlight.questions.asking import ask_largest, ask_nearest, choose
from headlight.tracing.trace import Trace
from headlight.views.forms import bars
from headlight.views.kinds import ChangesView, LinesView, TableView, TokensView
from headlight.views.rows import row

INDUCTION = "induction"
PARTS = {"self": "attention", "feed_forward": "network"}


def _needed(trace: Trace) -> tuple[Place, dict[Place, str]]:
    """The head that looks at what followed an earlier occurrence, and heads of earlier layers with their patterns."""
    metrics = head_metrics(trace)
    shares = metrics[INDUCTION]
    if len(shares) < 2:
        raise InputError("This model has a single layer, so no layer can need another one. Choose another model.")
    if not np.isfinite(shares[1:]).any():
        raise InputError("No word of this text comes a second time. Type one twice, with a word behind it.")
    layer, head = np.unravel_index(int(np.nanargmax(np.nan_to_num(shares[1:], nan=-1))), shares[1:].shape)
    found = (int(layer) + 1, int(head))
    earlier: dict[Place, str] = {}
    for metric, words in (("previous", "the token before"), ("current", "itself"), ("first", "the first token")):
        best = np.nan_to_num(metrics[metric][: found[0]], nan=-1)
        place = tuple(map(int, np.unravel_index(int(best.argmax()), best.shape)))
        earlier.setdefault((place[0], place[1]), f"gives {best.max():.0%} to {words}")
    return found, earlier


def two_layers(text: str, model: Checkpoint) -> ScreenRows:
    """An induction head, and its share without each of some heads of the layers before it."""
    trace = read(model, text)
    (layer, head), earlier = _needed(trace)
    share = float(head_metrics(trace)[INDUCTION][layer, head])
    runs = {place: read(model, text, [without_head(trace, place)]) for place in earlier}
    left = {place: float(head_metrics(each)[INDUCTION][layer, head]) for place, each in runs.items()}
    options = {head_title(place): chance for place, chance in left.items()}
    worst = min(left, key=lambda place: left[place])
    name = head_title((layer, head))
    return (
        row(
            map_of(trace, (layer, head)),
            *(map_of(trace, each, f"{head_title(each).capitalize()} {does}") for each, does in earlier.items()),
            text=f"Where a word comes a second time, {name} looks at the word that followed it the first time: with "
            f"{share:.0%} of its attention. Beside it are heads of the layers before it.",
        ),
        row(
            map_of(runs[worst], (layer, head), f"{name.capitalize()}, without {head_title(worst)}"),
            bars(
                "Its share for the word that followed",
                ("with all heads", *(f"without {each}" for each in options)),
                [share, *left.values()],
                high=1.0,
            ),
            question=ask_largest(
                f"Switch one of those off. Without which does {name} lose most of that?",
                options,
                {each: f"Without it the share is still {chance:.0%}." for each, chance in options.items()},
                f"Without it the share falls from {share:.0%} to {left[worst]:.0%}.",
                least=True,
            ),
        ),
        f"To find the word that followed, {name} has to know of each word which one stood before it. Its own layer "
        f"cannot tell: the vectors that it reads must say so already. {head_title(worst).capitalize()}, which "
        f"{earlier[worst]}, is the one whose loss it feels most.",
    )


TWO_LAYERS = Screen(
    title="Why several layers?",
    lesson="The words here are drawn at random, and come again. This small model continues them, with two layers that "
    "work together.",
    controls={
        "text": TextControl("Words", "cat sun key moon cat sun key moon", longest=160),
        "model": ModelControl(default="induction", needs="causal"),
    },
    compute=two_layers,
    formulas=(r"x \leftarrow x + \mathrm{attention}(x)",),
    code=(two_layers, head_metrics),
    explore=link("model", "text"),
)


def stream(text: str, model: Checkpoint) -> ScreenRows:
    """The logit of the first guess as a sum of what each layer has added to the last token."""
    trace = read(model, text)
    token, guess, chance = first_guess(trace, model)
    found = attribute_logits(model.model, trace)
    amounts = found.relative_logits(token).tolist()
    count = trace.config.num_layers(trace.config.stacks[-1])
    parts: dict[str, float] = {"embedding": 0.0}
    layers = [0.0] * count
    for component, amount in zip(found.components, amounts, strict=True):
        within = component.layer >= 0
        name = f"layer {component.layer}, {PARTS.get(component.kind, 'rest')}" if within else "embedding"
        parts[name] = parts.get(name, 0.0) + amount
        if within:
            layers[component.layer] += amount
    parts = {name: amount for name, amount in parts.items() if amount}
    sums = np.cumsum([sum(amounts) - sum(layers), *layers])
    names = tuple(f"layer {layer}" for layer in range(count))
    options = {names[at]: layers[at] for at in largest(np.array(layers), range(count))}
    best, total = max(options, key=lambda name: options[name]), float(sums[-1])
    return (
        row(
            LinesView(
                f"How much speaks for “{guess}”, after each layer",
                range(count + 1),
                {"logit above the mean": sums},
                "",
                "logit",
                x_labels=("embedding", *names),
            ),
            text=f"After “{token_names(trace.text)[-1]}” the model expects “{guess}” ({chance:.1%}). Each layer adds "
            "to the token's vector, and so to the logit of this word.",
        ),
        row(
            ChangesView(f"What is added to the logit of “{guess}”", tuple(parts.items()), end=("all together", total)),
            question=choose(
                f"Which layer adds most to “{guess}”?",
                tuple(options),
                list(options).index(best),
                {name: f"It adds {amount:+.2f}." for name, amount in options.items()},
                f"It adds {options[best]:+.2f} of {total:.2f}.",
                hints=("Look for the steepest step of the line.",),
            ),
        )
        if count > 1
        else ChangesView(f"What is added to the logit of “{guess}”", tuple(parts.items())),
        f"The parts add up to {total:.2f}: by so much is the logit of “{guess}” above the mean of all tokens. Nothing "
        "is overwritten in this stream; a layer that wants to change something adds to it.",
    )


STREAM = Screen(
    title="What does a layer add?",
    lesson="Each layer adds its output to the token's vector. What the model expects next is a sum, too.",
    controls={"text": BEGINNING, "model": MODEL},
    compute=stream,
    formulas=(r"x \leftarrow x + f(x)",),
    code=(stream, attribute_logits, ResidualConnection),
    explore=link("model", "text"),
)


def networks(text: str, model: Checkpoint) -> ScreenRows:
    """The first guesses of a model without its networks, and without its attention."""
    if not model.model.config.has_feed_forward:
        raise InputError("This model has attention and nothing else. Choose another one.")
    trace = read(model, text)
    stack, names, whole = trace.config.stacks[-1], token_names(trace.text), guesses(trace)
    runs = {
        "networks": read(model, text, [f"{stack}.*.feed_forward.output=set:0"]),
        "attention": read(model, text, [f"{stack}.*.self.output=set:0"]),
    }
    kept = {name: int((guesses(each) == whole).sum()) for name, each in runs.items()}
    loss = {name: float(losses(each).mean()) for name, each in ({"": trace} | runs).items()}
    told = model.tokenizer.stripped_token_text
    lines = tuple(
        (names[at], *(told(int(guesses(each)[at])).strip() or "␣" for each in (trace, *runs.values())))
        for at in range(len(whole))
    )
    parts = {str(part): part for part in (0, len(whole) // 4, len(whole) // 2, len(whole))}
    return (
        TokensView(
            "What the model expects after each token",
            names[:-1],
            below=tuple(line[1] for line in lines),
        ),
        row(
            TableView(
                ("after", "whole model", "without the networks", "without attention"),
                lines,
                title="First guesses without a part",
            ),
            question=ask_nearest(
                f"Without attention each token is read by itself. About how many of these {len(whole)} guesses stay "
                "the same?",
                parts,
                kept["attention"],
                {str(len(whole)): "Then no guess would need the words before."},
            ),
        ),
        f"{kept['attention']} guesses stay the same without attention, and {kept['networks']} without the networks. "
        f"The loss is {loss['']:.2f} nats with everything, {loss['networks']:.2f} without the networks, "
        f"{loss['attention']:.2f} without attention. Attention moves what is there from token to token; a network "
        "makes something new of each token's vector, by itself. The model was trained with both.",
    )


NETWORKS = Screen(
    title="What do the networks between do?",
    lesson="Behind each attention there is a small network, which reads one token at a time. Switch off all attention, "
    "and then all networks.",
    controls={"text": STORY, "model": MODEL},
    compute=networks,
    formulas=(r"\mathrm{FFN}(x) = f(x W_1) W_2",),
    code=(networks, Block),
    explore=link("model", "text"),
)
