"""Why layers: a head that needs another one before it; what each layer adds; and what is between the heads."""

from __future__ import annotations

import numpy as np

from headlight.analysis.attribution import attribute_logits
from headlight.analysis.head_metrics import head_metrics
from headlight.checkpoints import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.first_reading.reading import (
    BEGINNING,
    STORY,
    STREAM_MODEL,
    Place,
    chance,
    first_guess,
    guesses,
    head_title,
    in_words,
    largest,
    map_of,
    read,
    token_names,
    without_head,
)
from headlight.course.screen import Screen, ScreenRows, link
from headlight.errors import InputError
from headlight.nn.stack import Block, ResidualConnection
from headlight.questions.asking import ask_largest, choose
from headlight.tracing.trace import Trace
from headlight.views.forms import bars
from headlight.views.kinds import ChangesView, LinesView, TableView
from headlight.views.rows import row
from headlight.views.words import percent, places

INDUCTION = "induction"
KEPT = 2 / 3  # of a share: a head is needed if less is left without it
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
        earlier.setdefault((place[0], place[1]), f"gives {percent(best.max(), 0)} to {words}")
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
    name, needed = head_title((layer, head)), head_title(worst).capitalize()
    return (
        row(
            map_of(trace, (layer, head)),
            *(map_of(trace, each, f"{head_title(each).capitalize()} {does}") for each, does in earlier.items()),
            text=f"Where a word comes a second time, {name} looks at the word that followed it the first time: with "
            f"{percent(share, 0)} of its attention. Beside it are heads of the layers before it.",
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
                f"Switch one of those off. Without which is this share of {name} smallest?",
                options,
                {each: f"Without it the share is still {percent(chance, 0)}." for each, chance in options.items()},
                f"Without it the share goes from {percent(share, 0)} to {percent(left[worst], 0)}.",
                least=True,
            ),
        ),
        f"To find the word that followed by the words alone, {name} has to know of each word which one stood before "
        "it. Its own layer cannot tell: the vectors that it reads must say so already. "
        + (
            f"{needed}, which {earlier[worst]}, is missed most: {name} needs it."
            if left[worst] <= KEPT * share
            else "No single head of those is needed here; one that looks back over a fixed distance needs none. "
            f"{needed}, which {earlier[worst]}, is missed most."
        ),
    )


TWO_LAYERS = Screen(
    title="Why several layers?",
    lesson="Read some words that come a second time in the same order. To continue them, a head has to find what "
    "followed the first time. Which other heads does it need?",
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
    has_bias = any(each.kind == "bias" and amount for each, amount in zip(found.components, amounts, strict=True))
    outside = "embedding and biases" if has_bias else "embedding"
    parts: dict[str, float] = {outside: 0.0}
    layers = [0.0] * count
    for component, amount in zip(found.components, amounts, strict=True):
        within = component.layer >= 0
        name = f"layer {component.layer}, {PARTS.get(component.kind, 'rest')}" if within else outside
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
                x_labels=(outside, *names),
            ),
            text=f"After “{token_names(trace.text)[-1]}” the model expects “{guess}” ({percent(chance)}). Each layer "
            "adds to the token's vector, and so to the logit of this word.",
        ),
        row(
            ChangesView(f"What is added to the logit of “{guess}”", tuple(parts.items()), end=("all together", total)),
            question=choose(
                f"Which layer adds most to “{guess}”?",
                tuple(options),
                list(options).index(best),
                {name: f"It adds {places(amount)}." for name, amount in options.items()},
                f"It adds {places(options[best])} of {places(total)}.",
                hints=("Look for the steepest rise of the line.",),
            ),
        )
        if count > 1
        else ChangesView(f"What is added to the logit of “{guess}”", tuple(parts.items())),
        f"The parts add up to {places(total)}: by so much is the logit of “{guess}” above the mean of all tokens. "
        "Nothing is overwritten in this stream; a layer that wants to change something adds to it.",
    )


STREAM = Screen(
    title="What does a layer add?",
    lesson="Each layer adds its output to the token's vector. What the model expects next is a sum, too.",
    controls={"text": BEGINNING, "model": STREAM_MODEL},
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
    shares = [percent(chance(each)) for each in (trace, *runs.values())]
    said = {
        name: [in_words(model.tokenizer.token_text(each)) for each in guesses(run).tolist()]
        for name, run in ({"whole": trace} | runs).items()
    }
    fewer = kept["networks"] - kept["attention"]
    return (
        row(
            TableView(
                ("after", "whole model", "without attention"),
                tuple(zip(names, said["whole"], said["attention"], strict=False)),
                title="What the model expects next",
            ),
            text=f"Without attention each token is read by itself: {kept['attention']} of {len(whole)} guesses stay "
            "the same.",
        ),
        row(
            TableView(
                ("after", "whole model", "without the networks"),
                tuple(zip(names, said["whole"], said["networks"], strict=False)),
                title="The same without the networks",
            ),
            question=choose(
                "Now with attention and without any network. Do fewer guesses stay the same than without attention?",
                ("fewer", "more", "as many"),
                2 if not fewer else int(fewer > 0),
                {
                    "more": "Count the rows in which both columns are the same.",
                    "fewer": "Count the rows in which both columns are the same.",
                    "as many": "Count the rows in which both columns are the same.",
                },
                f"{kept['networks']} of {len(whole)} stay the same, and without attention {kept['attention']}.",
            ),
        ),
        f"The right next token gets {shares[0]} on average with everything, {shares[1]} without the networks, "
        f"{shares[2]} without attention. Attention moves what is there from token to token; a network makes something "
        "new of each token's vector, by itself. The model was trained with both.",
    )


NETWORKS = Screen(
    title="What do the networks between do?",
    lesson="Behind each attention there is a small network, which reads one token at a time. All attention is switched "
    "off here, and then all networks instead.",
    controls={"text": STORY, "model": STREAM_MODEL},
    compute=networks,
    formulas=(r"x \leftarrow x + \mathrm{FFN}(x)",),
    code=(networks, Block),
    explore=link("model", "text"),
)
