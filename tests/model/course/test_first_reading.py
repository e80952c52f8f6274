"""The twenty screens of the core path: each number and each right answer is computed a second time, another way."""

import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from math import e, exp, log
from typing import Any, TypeVar

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from headlight import find_checkpoint, load, run
from headlight.checkpoints import Checkpoint
from headlight.course.chapters import CHAPTERS, CORE_PATH, ENTRIES, SAME, find_screen
from headlight.course.first_reading.reading import token_names
from headlight.errors import HeadlightError
from headlight.nn.transformer import Transformer, variant
from headlight.questions.kinds import Choice, Question
from headlight.tracing.trace import Trace
from headlight.views.kinds import BarsView, HeatMapView, LinesView, TableView, Verdict, View
from headlight.views.rows import Row

TEXTS = (
    "The old dog slept because it was tired.",
    "Anna gave Ben a cake, and he ate the cake.",
    "Once upon a time a king lived in a castle.",
)
WORDS = ("sun moon star sea boat", "red blue run walk", "mother house father river")
REPEATED = ("oak van hat oak van hat", "dog sun dog sun dog", "bee sea map cup hat bee sea map cup")
ODD = ("\N{GRINNING FACE} the \N{GRINNING FACE} dog", "</script><b>x</b> is here", "word", "x", "   ", "")
NUMBER = re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?%?")
NO_NUMBER = re.compile(r"“[^”]*”|(?:[Hh]ead|layer|position) \d+")  # tokens and names
Kind = TypeVar("Kind", bound=View)
Numbers = set[str]
# The numbers that sentences may contain, the right answer, and further numbers of the reasons of wrong answers.
Checked = tuple[Numbers, str, dict[str, Numbers]]
LONG = (
    "The dog saw the cat and the cat ran home, and the dog sat on the mat and looked at the moon until it fell asleep."
)


@cache
def opened(name: str) -> Checkpoint:
    """A shipped model."""
    return load(find_checkpoint(name))


def shown(name: str, **inputs: str) -> tuple[Row, ...]:
    """The rows of a screen of the chapter."""
    screen = CHAPTERS["first-reading"].screens[name]
    values = screen.parse(inputs)
    return screen.rows(**values | {each: opened(values[each]) for each in screen.model_controls})


def blocks(network: Transformer, stack: str = "decoder") -> Any:
    """The blocks of a decoder or an encoder."""
    return network.stack(stack).blocks


class Read:
    """A shipped model on a text, computed without the functions of the screens."""

    def __init__(self, rows: tuple[Row, ...], text: str, model: str = "stories-causal") -> None:
        self.rows, self.opened, self.text = rows, opened(model), text
        self.trace: Trace = run(self.opened.model, self.opened.tokenizer, text)
        self.ids = torch.tensor([self.trace.text.ids])
        self.names = token_names(self.trace.text)
        self.question: Question = next(row.question for row in rows if row.question)

    def views(self, kind: type[Kind]) -> list[Kind]:
        """All views of a kind."""
        return [view for row in self.rows for view in row.views if isinstance(view, kind)]

    def place(self, number: int = 0) -> tuple[int, int]:
        """The layer and head that the title of a map names."""
        head, layer = map(int, re.findall(r"ead (\d+) of layer (\d+)", self.views(HeatMapView)[number].title)[0])
        return layer, head

    def asked(self) -> list[int]:
        """The tokens that the question names, in its order."""
        return [self.names.index(each) for each in re.findall("“([^”]*)”", self.question.text) if each in self.names]

    def products(self, layer: int, head: int) -> np.ndarray:
        """Queries times keys, divided by the square root of their channels."""
        stack = self.opened.model.config.stacks[-1]
        q, k = (self.trace[f"{stack}.{layer}.self.rotated_{name}"][head].astype(float) for name in "qk")
        return np.asarray(q @ k.T / q.shape[-1] ** 0.5)

    def weights(self, layer: int, head: int) -> np.ndarray:
        """Their softmax under a causal mask."""
        powers = np.tril(np.exp(self.products(layer, head)))
        return np.asarray(powers / powers.sum(-1, keepdims=True))

    def losses(self, network: Transformer | None = None) -> np.ndarray:
        """The loss of each token but the first."""
        with torch.inference_mode():
            logits = (network or self.opened.model)(self.ids)[0, :-1]
        return cross_entropy(logits.float(), self.ids[0, 1:], reduction="none").numpy()

    def changed(self, *edits: str) -> Trace:
        """The same text with edits."""
        return run(self.opened.model, self.opened.tokenizer, self.text, edits)

    def expected(self, logits: np.ndarray) -> float:
        """The probability of the right next token, on average over logits of all tokens but the last."""
        shares = torch.tensor(logits, dtype=torch.float64).softmax(-1)
        return float(shares[torch.arange(len(shares)), self.ids[0, 1:]].mean())

    def without(self, layer: int, head: int) -> Transformer:
        """The network without a head: its columns of W_O are 0."""
        network = deepcopy(self.opened.model)
        output = blocks(network)[layer].self_attention.output.weight
        width = output.shape[1] // network.config.heads
        output.data[:, head * width : (head + 1) * width] = 0
        return network


def share(weight: float) -> str:
    """A share as `numbers_of` reads it; a very small one is told as less than 1 %."""
    return f"{max(weight, 0.01) if weight else 0:.0%}"


def look(at: Read) -> Checked:
    weights = at.weights(*at.place())
    [query] = at.asked()
    assert at.place() == (4, 5), "the head of the default sentence stays"
    of = {name: {share(weights[query, other]), share(weights[other, query])} for other, name in enumerate(at.names)}
    return {f"{weights[query].max():.0%}", "1.00"}, at.names[int(weights[query].argmax())], of


def take(at: Read) -> Checked:
    last, chances, firsts = len(at.names) - 1, {}, {}
    best = int(at.trace["logits"][-1].argmax())
    assert isinstance(at.question, Choice)
    for name in at.question.options:
        hidden = variant(at.opened.model, masks=f"causal+painted:{last}-{at.names.index(name)}")
        probabilities = run(hidden, at.opened.tokenizer, at.text).probabilities()
        chances[name], firsts[name] = f"{probabilities[best]:.1%}", f"{probabilities.max():.1%}"
    attention = np.mean([at.weights(layer, head)[-1] for layer in range(6) for head in range(8)], axis=0)
    most, worst = at.names[int(attention[:-1].argmax())], min(chances, key=lambda name: float(chances[name][:-1]))
    assert f"looks most at “{most}”" in said(at.rows)
    assert ("hiding that one matters most" in said(at.rows)) == (most == worst)
    told = {f"{at.trace.probabilities()[best]:.1%}", chances[worst], firsts[worst], chances[most]}
    return told, worst, {name: {chance} for name, chance in chances.items()}


def tokens(at: Read) -> Checked:
    count = len(at.opened.tokenizer.encode(at.text, add_special_tokens=False).ids)
    pieces = {len(at.opened.tokenizer.encode(f" {word}", add_special_tokens=False).ids) for word in at.text.split()}
    return {"8,000", str(count), str(len(at.text.split())), *map(str, pieces | {1})}, str(count), {}


def vectors(at: Read) -> Checked:
    table = at.opened.model.embedding.weight.detach().numpy()
    ids = dict.fromkeys(at.opened.tokenizer.encode(f" {at.text}", add_special_tokens=False).ids)
    names = [at.opened.tokenizer.token_text(each).strip() for each in ids]
    unit = table[list(ids)] / np.linalg.norm(table[list(ids)], axis=1, keepdims=True)
    cosines = unit @ unit.T - 2 * np.eye(len(ids))
    one, other = np.unravel_index(cosines.argmax(), cosines.shape)
    asked = names.index(re.findall("“([^”]*)”", at.question.text)[0])
    assert asked in (one, other)
    of = {name: {f"{abs(cosines[asked, at]):.2f}"} for at, name in enumerate(names)}
    return {f"{cosines.max():.2f}"}, names[other if asked == one else one], of


def softmax(at: Read) -> Checked:
    layer, head = at.place()
    query = at.names.index(re.findall("“([^”]*)”", at.views(View)[1].title)[0])
    one, other = at.asked()
    scores, weights = at.products(layer, head)[query], at.weights(layer, head)[query]
    apart = round(float(scores[one]), 2) - round(float(scores[other]), 2)
    assert sorted(weights)[-2:] == sorted((weights[one], weights[other])), "the two largest"
    assert exp(apart) == pytest.approx(weights[one] / weights[other], rel=0.02)
    told = {f"{weights[one]:.3f}", f"{weights[other]:.3f}", f"{scores[one]:.2f}", f"{abs(scores[other]):.2f}"}
    return told | {f"{apart:.2f}", f"{exp(apart):.2f}", "1.00", f"{e:.2f}", "1"}, str(exp(apart)), {}


def one_sided(at: Read) -> Checked:
    head, layer = map(int, re.findall(r"head (\d+) of layer (\d+)", at.views(View)[0].title)[0])
    scores, (query, key) = at.products(layer, head), at.asked()[:2]
    x = torch.tensor(at.trace[f"encoder.{layer}.self.input"])
    attention = blocks(at.opened.model, "encoder")[layer].self_attention
    q, k = (getattr(attention, name)(x).detach()[:, 32 * head : 32 * head + 32] for name in ("query", "key"))
    np.testing.assert_allclose((q @ k.T / 32**0.5)[query, key], scores[query, key], atol=1e-3)
    words = [n for n, special in enumerate(at.trace.text.special_mask) if not special and re.search(r"\w", at.names[n])]
    apart = (scores - scores.T)[np.ix_(words[-8:], words[-8:])]
    assert apart.max() == pytest.approx(scores[query, key] - scores[key, query], abs=1e-4)
    cell = ",".join(str(words[-8:].index(each)) for each in (query, key))
    return {f"{abs(scores[query, key]):.2f}", f"{abs(scores[key, query]):.2f}"}, cell, {}


def scale(at: Read) -> Checked:
    head, layer = map(int, re.findall(r"head (\d+) of layer (\d+)", at.views(View)[0].title)[0])
    query = at.names.index(re.findall("“([^”]*)”", at.views(View)[0].title)[0])
    scores = at.products(layer, head)[query, : query + 1]
    both = [np.exp(factor * scores - (factor * scores).max()) for factor in (1, 32**0.5)]
    both = [powers / powers.sum() for powers in both]
    top = int(scores.argmax())
    slopes = [line[top] * (1 - line[top]) for line in both]
    numbers = {f"{line[top]:.0%}" for line in both} | {f"{slope:.3f}" for slope in slopes}
    hardly = slopes[1] < slopes[0] and both[1][top] > 0.95
    assert ("almost certain hardly learns" in said(at.rows)) == hardly
    spread = round(float(scores.std()), 2)
    return numbers | {"32", f"{32**0.5:.2f}", f"{spread:.2f}"}, str(spread * 32**0.5), {}


def without_positions(at: Read) -> Checked:
    layer, head = at.place()
    share = float(np.diag(at.weights(layer, head), -1).mean())
    bare = at.changed("decoder.position_ids=set:0")  # all at one place
    left = float(np.diag(bare[f"decoder.{layer}.self.weights"][head], -1).mean())
    evenly = float(np.mean([1 / count for count in range(2, len(at.names) + 1)]))
    nearest = min((0.0, evenly, share), key=lambda each: abs(each - left))
    chances = (at.expected(trace["logits"][:-1]) for trace in (at.trace, bare))
    numbers = {f"{each:.0%}" for each in (share, left, evenly, *chances)}
    option = {
        0.0: "none",
        evenly: f"{100 * evenly:.0f} %, as if it looked at all tokens alike",
        share: f"{100 * share:.0f} %, as now",
    }
    return numbers | {f"{left:.3g}"}, option[nearest], {}


def position_vectors(at: Read) -> Checked:
    last = len(at.names) - 1
    frequencies = 10_000.0 ** (-np.arange(0, 128, 2) / 128)
    back = [float(np.cos(steps * frequencies).mean()) for steps in range(last + 1)]
    falls = all(each <= min(back[:at]) + 0.005 for at, each in enumerate(back) if at)
    first = next((at for at, each in enumerate(back) if at and each > min(back[:at]) + 0.005), 0)
    told = {f"{back[1]:.2f}", f"{back[-1]:.2f}", str(last - first)}
    return told, "yes" if falls else "no", {}


def mask(at: Read) -> Checked:
    lifted = at.changed("decoder.*.self.mask=set:1")
    shares = [100 * at.expected(trace["logits"][:-1]) for trace in (at.trace, lifted)]
    cheat = Read(at.rows, at.text, "ladder-4-feed-forward")
    with torch.inference_mode():
        prefixes = [cheat.opened.model(cheat.ids[:, :end])[:, -1] for end in range(1, cheat.ids.shape[1])]
    reading, writing = (
        100 * cheat.expected(each) for each in (cheat.trace["logits"][:-1], torch.cat(prefixes).numpy())
    )
    layer, head = cheat.place(2)
    share = 100 * float(np.diag(cheat.trace[f"decoder.{layer}.self.weights"][head], 1).mean())
    change = shares[1] - shares[0]
    answer = "nearly the same" if abs(change) < 2 else "higher" if change > 0 else "lower"
    numbers = {f"{max(each, 0.1):.1f}%" for each in (*shares, share, reading, writing)}
    return numbers | {f"{abs(change):.3g}", "2"}, answer, {}


def heads(at: Read) -> Checked:
    both = [at.place(number) for number in (0, 1)]
    whole, *without = (
        float(np.exp(-at.losses(each)).mean()) for each in (None, *(at.without(*place) for place in both))
    )
    one, other = (at.weights(*place) for place in both)
    query, key = at.asked()
    assert query == int(np.abs(one - other).sum(-1).argmax()) and key == int((one - other)[query].argmax())
    shares = [round(100 * float(each[query, key])) for each in (one, other)]
    numbers = {f"{np.minimum(one, other).sum(-1).mean():.0%}", *(f"{each:.1%}" for each in (whole, *without))}
    return numbers | {"1", "100%", *map(str, shares), *(f"{each}%" for each in shares)}, str(sum(shares) / 2), {}


def side_by_side(at: Read) -> Checked:
    layer = int(re.findall(r"layer (\d+)", at.views(HeatMapView)[0].title)[0])
    output = blocks(at.opened.model)[layer].self_attention.output.weight.detach().numpy()
    values, parts, z = at.trace[f"decoder.{layer}.self.v"], [], []
    for head in range(8):
        z.append(at.weights(layer, head)[-1] @ values[head])
        parts.append(output[:, head * 32 : head * 32 + 32] @ z[-1])
    lengths = np.linalg.norm(parts, axis=1)
    np.testing.assert_allclose(np.sum(parts, axis=0), at.trace[f"decoder.{layer}.self.output"][-1], atol=1e-3)
    switched_off = at.changed(f"decoder.{layer}.self.weights[0]=set:0")[f"decoder.{layer}.self.output"][-1]
    [shown] = (view.series[""] for view in at.views(BarsView) if view.title.startswith("What the heads add together"))
    apart = np.linalg.norm(switched_off - np.sum(parts, axis=0))
    np.testing.assert_allclose(np.array(shown)[1:], [np.linalg.norm(switched_off), apart], atol=0.01)
    numbers = {f"{np.linalg.norm(np.sum(parts, axis=0)):.2f}", f"{lengths.sum():.2f}", f"{lengths.max():.2f}"}
    of = {f"head {head}": {f"{lengths[head]:.2f}", f"{np.linalg.norm(z[head]):.2f}"} for head in range(8)}
    return numbers | {"8", "32", "256"}, f"head {lengths.argmax()}", of


def followed(at: Read, weights: np.ndarray) -> float:
    """The share of the word that followed an earlier occurrence, on average over the tokens that had one."""
    ids = at.trace.text.ids
    pairs = [(query, key + 1) for query in range(1, len(ids)) for key in range(1, query) if ids[query] == ids[key]]
    rows = sorted({query for query, _ in pairs})
    return float(np.mean([sum(weights[query, key] for one, key in pairs if one == query) for query in rows]))


def layers(at: Read) -> Checked:
    layer, head = at.place()
    shares, numbers = {}, {f"{followed(at, at.weights(layer, head)):.0%}"}
    assert isinstance(at.question, Choice)
    for number, name in enumerate(at.question.options, 1):
        other = Checkpoint(at.without(*at.place(number)), at.opened.tokenizer, "")
        trace = run(other.model, other.tokenizer, at.text)
        shares[name] = followed(at, trace[f"decoder.{layer}.self.weights"][head])
        title = at.views(HeatMapView)[number].title
        numbers |= set(numbers_of(title))
        weights = at.weights(*at.place(number))
        patterns = {"before": np.diag(weights, -1), "itself": np.diag(weights)[1:], "first token": weights[1:, 0]}
        [pattern] = (cells for words, cells in patterns.items() if title.endswith(words))
        assert f" {100 * pattern.mean():.0f} % " in title
    worst = min(shares, key=lambda name: shares[name])
    is_needed = shares[worst] <= 2 / 3 * followed(at, at.weights(layer, head))
    assert ("needs it." in said(at.rows)) == is_needed
    assert ("No single head of those is needed" in said(at.rows)) != is_needed
    of = {name: {f"{share:.0%}"} for name, share in shares.items()}
    return numbers | of[worst], worst, of


def stream(at: Read) -> Checked:
    best = int(at.trace["logits"][-1].argmax())
    total = at.trace["logits"][-1, best] - at.trace["logits"][-1].mean()
    network: Any = at.opened.model
    unembedding = network.output_head.projection.weight.detach().numpy()
    scales = network.stack("decoder").final_norm.weight.detach().numpy()
    direction = (unembedding[best] - unembedding.mean(0)) * scales
    streams = [at.trace[f"decoder.{layer}.residual"][-1] for layer in range(6)] + [at.trace["decoder.residual"][-1]]
    size = np.sqrt(np.square(streams[-1]).mean() + 1e-5)
    steps = np.diff([each @ direction / size for each in streams])
    numbers = {f"{total:.2f}", f"{steps.max():.2f}", f"{at.trace.probabilities()[best]:.1%}"}
    return (
        numbers,
        f"layer {steps.argmax()}",
        {f"layer {layer}": {f"{abs(step):.2f}"} for layer, step in enumerate(steps)},
    )


def networks(at: Read) -> Checked:
    mute = {"networks": deepcopy(at.opened.model), "attention": deepcopy(at.opened.model)}
    for layer in range(6):
        blocks(mute["networks"])[layer].feed_forward.down.weight.data.zero_()
        blocks(mute["attention"])[layer].self_attention.output.weight.data.zero_()
    with torch.inference_mode():
        whole, *others = (net(at.ids)[0, :-1].argmax(-1) for net in (at.opened.model, *mute.values()))
    kept = [int((each == whole).sum()) for each in others]
    answer = "as many" if kept[0] == kept[1] else "fewer" if kept[0] < kept[1] else "more"
    chances = [100 * float(np.exp(-at.losses(net)).mean()) for net in (None, *mute.values())]
    return {str(len(whole)), *map(str, kept), *(f"{max(each, 0.1):.1f}%" for each in chances)}, answer, {}


def targets(at: Read) -> Checked:
    losses = at.losses()
    mean = float(losses.mean())
    numbers = {f"{mean:.2f}", f"{exp(mean):,.0f}", str(len(losses))}
    of = {
        name: {f"{loss:.2f}", f"{float(f'{100 * exp(-loss):.2g}'):g}%"}
        for name, loss in zip(at.names[1:], losses, strict=True)
    }
    worst = at.names[1 + int(losses.argmax())]
    return numbers | of[worst], worst, of


CHECKS: dict[str, Callable[[Read], Checked]] = {
    "look": look, "take": take, "tokens": tokens, "vectors": vectors, "softmax": softmax, "one-sided": one_sided,
    "scale": scale, "position-vectors": position_vectors, "without-positions": without_positions, "mask": mask,
    "heads": heads, "side-by-side": side_by_side, "layers": layers, "stream": stream,
    "networks": networks, "targets": targets,
}  # fmt: skip
OLDER = ("order", "mask-added", "changed-word")  # screens of other chapters, with tests of their own
PATH = (
    "look", "take", "tokens", "vectors", "softmax", "one-sided", "scale", "order", "position-vectors",
    "without-positions", "mask", "mask-added", "heads", "side-by-side", "layers", "stream", "networks", "changed-word",
    "targets", "writers",
)  # fmt: skip
STEADY = {"layers", "without-positions", "networks"}  # what these models do is the same on most texts
OF = {
    "vectors": ("words", WORDS),
    "layers": ("text", REPEATED),
    "position-vectors": ("text", (*TEXTS[:2], LONG)),
}
PAIRS = (("dog bit man", "man bit dog"), ("the red ball", "ball the red"), ("Anna saw Ben", "Ben saw Anna"))
MODELS = {
    "one-sided": "positions-encoder-sinusoidal",
    "without-positions": "positions-decoder-rope",
    "position-vectors": "positions-decoder-sinusoidal",
    "layers": "induction",
}


def said(rows: tuple[Row, ...]) -> str:
    """All sentences of a screen: of its rows, and of its question with the hints and the reason of its answer."""
    questions = [row.question for row in rows if row.question]
    told = [view.text for row in rows for view in row.views if isinstance(view, Verdict)]
    asked = (" ".join((each.text, each.because, *each.hints)) for each in questions)
    return " ".join((*(row.text for row in rows), *told, *asked)).replace(" %", "%")


def numbers_of(text: str) -> Numbers:
    """The numbers of a sentence that are no part of a name."""
    return set(NUMBER.findall(NO_NUMBER.sub("", text.replace(" %", "%"))))


def test_the_path_is_the_first_chapter_and_each_screen_is_checked_here() -> None:
    assert next(iter(CHAPTERS)) == "first-reading" and tuple(CHAPTERS["first-reading"].screens) == PATH
    assert tuple(f"first-reading/{name}" for name in PATH) == CORE_PATH
    assert {*CHECKS, *OLDER, "writers"} == {*PATH}
    assert all(find_screen(*path.split("/")) for path in ENTRIES.values())


def test_a_screen_of_two_chapters_is_kept_under_one_address() -> None:
    assert {path.partition("/")[2] for path in SAME} == {*OLDER}
    assert all(find_screen(*one.split("/")) is find_screen(*other.split("/")) for one, other in SAME.items())


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("name", OLDER)
def test_the_older_screens_of_the_path_answer_three_inputs(name: str, number: int) -> None:
    pair = dict(zip(("one", "other"), PAIRS[number], strict=True))
    rows = shown(name, **({"tokens": "356"[number]} if name == "mask-added" else pair))
    [question] = (row.question for row in rows if row.question)
    assert question.is_answer(question.right)
    assert all(not question.agrees(answer, question.right) for answer, _ in question.mistakes)


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("name", CHECKS)
def test_each_number_and_answer_of_the_path_is_what_the_model_computes(name: str, number: int) -> None:
    control, texts = OF.get(name, ("text", TEXTS))
    text = texts[number]
    rows = shown(name, **{control: text})
    numbers, right, of = CHECKS[name](Read(rows, text, MODELS.get(name, "stories-causal")))
    told = numbers_of(said(rows))
    assert told <= numbers, f"not computed again: {told - numbers}"
    [question] = (row.question for row in rows if row.question)
    for answer, says in question.mistakes:
        assert numbers_of(says) <= numbers | of.get(answer, set()), f"{answer}: {says}"
    assert question.agrees(right, question.right), f"{question.text} {question.right}, not {right}"


def test_right_answers_differ_from_text_to_text() -> None:
    for name in {*CHECKS} - STEADY:
        control, texts = OF.get(name, ("text", TEXTS))
        given = [{}, *({control: text} for text in texts)]
        assert len({row.question.right for each in given for row in shown(name, **each) if row.question}) > 1, name


@pytest.mark.parametrize("number", range(3))
def test_a_small_model_is_trained_and_writes_beside_a_shipped_one(number: int) -> None:
    text = f"{TEXTS[number]} {LONG}"
    rows = shown("writers", text=text, steps="20")
    [lines] = (view for row in rows for view in row.views if isinstance(view, LinesView))
    [table] = (view for row in rows for view in row.views if isinstance(view, TableView))
    losses, known = np.array(lines.series["loss"]), len(set(text))
    chance, reached = log(known), float(losses[-20:].mean())
    numbers = {f"{chance:.2f}", f"{losses[0]:.2f}", f"{reached:.2f}", f"{reached:.3g}", "20", "3", "4", "6", "8"}
    assert len(losses) == 20 and numbers_of(said(rows)) <= numbers | {str(known)}
    assert [line[:2] for line in table.rows] == [
        ("the model trained here", f"{known} characters"), ("stories-causal", "8,000 tokens")
    ]  # fmt: skip
    assert table.rows[1][2] == "6.57 M" and all(line[3] for line in table.rows)
    assert f"continuation of “{' '.join(text.split()[:3])}”" in table.columns


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("path", CORE_PATH[:-1])  # the last one trains
def test_whatever_is_typed_gets_an_answer_or_a_sentence(path: str, text: str) -> None:
    name = path.partition("/")[2]
    control = "words" if name == "vectors" else "one" if name in ("order", "changed-word") else "text"
    if control not in find_screen(*path.split("/")).controls:
        pytest.skip("This screen reads no text.")
    try:
        rows = shown(name, **{control: text})
    except HeadlightError as error:
        assert str(error).endswith(".") and len(str(error)) > 20
    else:
        assert any(row.question for row in rows)
        for row in rows:
            if isinstance(row.question, Choice):
                assert len(set(row.question.options)) == len(row.question.options) > 1
