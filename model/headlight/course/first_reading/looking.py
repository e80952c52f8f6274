"""One row of a trained head's map, and what a token takes from there."""

from __future__ import annotations

from headlight.checkpoints import Checkpoint
from headlight.course.first_reading.reading import (
    BEGINNING,
    MODEL,
    START,
    STORY,
    first_guess,
    largest,
    map_of,
    read,
    telling_row,
    token_names,
)
from headlight.course.screen import Screen, ScreenRows, link
from headlight.nn.attention import Attention
from headlight.questions.asking import ask_largest
from headlight.tracing.run import run
from headlight.views.forms import bars
from headlight.views.kinds import BarsView, TokensView
from headlight.views.rows import row
from headlight.views.words import percent, places


def look(text: str, model: Checkpoint) -> ScreenRows:
    """The map of the head that looks at a distant word most clearly, and one of its rows."""
    trace = read(model, text)
    layer, head, query, keys = telling_row(trace, model)
    names, weights = token_names(trace.text), trace.attention()[layer, head]
    line, column = weights[query], weights[:, query]
    asked, best = names[query], names[int(line.argmax())]
    options = {names[at]: float(line[at]) for at in largest(line, range(len(names)))}
    says = {
        name: f"“{asked}” gives it {percent(share, 0)}; another token gets more." for name, share in options.items()
    }
    if column[[at for at in range(len(names)) if at != query]].any():
        at = max((at for at in range(len(names)) if at != query), key=lambda at: column[at])
        options.setdefault(names[at], float(line[at]))
        says[names[at]] = (
            f"“{names[at]}” gives “{asked}” {percent(column[at], 0)}. Read the row of “{asked}”, not its column."
        )
    return (
        row(
            map_of(trace, (layer, head), is_small=False),
            text="A row for each token that looks, a column for each that is looked at. The brighter a cell, the "
            "larger the weight." + (f" {START} stands in front of every text." if START in names else ""),
        ),
        row(
            bars(f"The row of “{asked}”", [names[at] for at in keys], line[keys], high=1.0),
            question=ask_largest(
                f"Which token does “{asked}” look at most?", options, says, f"It gets {percent(line.max(), 0)}."
            ),
        ),
        f"“{asked}” gives “{best}” {percent(line.max(), 0)} of its attention. All weights of the row add up to "
        f"{places(line.sum())}. Change a word of the sentence, and see which weights follow.",
    )


LOOK = Screen(
    title="What does a token look at?",
    lesson="A head of a model is one set of weights, which say how much each token looks at each other. A trained "
    "model reads this sentence: find the largest weight of one row of a head.",
    controls={"text": STORY, "model": MODEL},
    compute=look,
    formulas=(r"\sum_j a_{ij} = 1",),
    code=(look, telling_row),
    explore=link("model", "text"),
)


def take(text: str, model: Checkpoint) -> ScreenRows:
    """The next token, and its probability if the last token may not look at one of those before it."""
    trace = read(model, text)
    names, last = token_names(trace.text), len(trace.text.ids) - 1
    attention = trace.attention()[:, :, last].mean((0, 1))
    token, guess, before = first_guess(trace, model)
    hidden = largest(attention, range(last), 4)
    runs = {
        names[at]: read(model, text, [f"{trace.config.stacks[-1]}.*.self.mask[:,{last},{at}]=set:0"]) for at in hidden
    }
    after = {name: float(each.probabilities()[token]) for name, each in runs.items()}
    says = {name: f"Without “{name}” “{guess}” still gets {percent(chance)}." for name, chance in after.items()}
    most, worst = names[int(attention[:last].argmax())], min(after, key=lambda name: after[name])
    _, instead, share = first_guess(runs[worst], model)
    looks = f"Of those before it, “{names[last]}” looks most at “{most}”"
    told = (
        f"and hiding that one leaves “{guess}” least"
        if most == worst
        else f"but hiding “{worst}” leaves “{guess}” less"
    )
    left = "" if most == worst else f" Without “{most}” “{guess}” still gets {percent(after[most])}."
    return (
        row(
            TokensView(
                f"What “{names[last]}” looks at, on average over all heads",
                names,
                shades=attention / attention.max(),
                below=tuple(f"{percent(share, 0)}" for share in attention),
            ),
            f"After “{names[last]}” the model expects “{guess}” ({percent(before)}).",
        ),
        row(
            BarsView(
                title=f"Probability of “{guess}”",
                labels=("nothing hidden", *(f"“{name}” hidden" for name in after)),
                series={"": [before, *after.values()]},
                as_percent=True,
            ),
            question=ask_largest(
                f"“{names[last]}” may not look at one of these. Which one, if hidden, leaves “{guess}” the smallest "
                "probability?",
                after,
                says,
                f"Without it “{guess}” gets {percent(after[worst])} instead of {percent(before)}.",
                least=True,
            ),
        ),
        f"{looks}, {told}: the model then expects “{instead}” ({percent(share)}).{left} A "
        "weight is the share that is taken of a token's value, a vector. It does not say how much that vector matters.",
    )


TAKE = Screen(
    title="What does it take from there?",
    lesson="Where a token looks, it takes something: a share of that token's value. Hide a token from the last one in "
    "every head, and the next word may change.",
    controls={"text": BEGINNING, "model": MODEL},
    compute=take,
    formulas=(r"o_i = \sum_j a_{ij} v_j",),
    code=(take, Attention.weighted_sum, run),
    explore=link("model", "text"),
)
