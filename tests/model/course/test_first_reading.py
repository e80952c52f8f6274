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
from headlight.course.chapters import CHAPTERS, CORE_PATH, ENTRIES, find_screen
from headlight.course.first_reading.reading import token_names
from headlight.errors import HeadlightError
from headlight.nn.transformer import Transformer, variant
from headlight.questions.kinds import Choice, Question
from headlight.tracing.trace import Trace
from headlight.views.kinds import HeatMapView, LinesView, TableView, Verdict, View
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
NO_NUMBER = re.compile(r"“[^”]*”|(?:[Hh]ead|layer|place) \d+")  # tokens and names
Kind = TypeVar("Kind", bound=View)
Numbers = set[str]
Checked = tuple[Numbers, str]  # the numbers that sentences may contain, and the right answer


@cache
def opened(name: str) -> Checkpoint:
    """A shipped model."""
    return load(find_checkpoint(name))


def shown(name: str, **inputs: str) -> tuple[Row, ...]:
    """The rows of a screen of the chapter."""
    screen = CHAPTERS["first-reading"].screens[name]
    values = screen.parse(inputs)
    return screen.rows(**values | {each: opened(values[each]) for each in screen.model_controls})


def blocks(network: Transformer) -> Any:
    """The blocks of a decoder."""
    return network.stack("decoder").blocks


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
        q, k = (self.trace[f"decoder.{layer}.self.rotated_{name}"][head].astype(float) for name in "qk")
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

    def lost(self, trace: Trace) -> float:
        """The mean loss of a trace."""
        return float(cross_entropy(torch.tensor(trace["logits"][:-1]), self.ids[0, 1:]))

    def without(self, layer: int, head: int) -> Transformer:
        """The network without a head: its columns of W_O are 0."""
        network = deepcopy(self.opened.model)
        output = blocks(network)[layer].self_attention.output.weight
        width = output.shape[1] // network.config.heads
        output.data[:, head * width : (head + 1) * width] = 0
        return network


def look(at: Read) -> Checked:
    weights = at.weights(*at.place())
    [query] = at.asked()
    assert at.place() == (4, 5), "the head of the default sentence stays"
    return {f"{weights[query].max():.0%}", "1.00"}, at.names[int(weights[query].argmax())]


def take(at: Read) -> Checked:
    last, chances = len(at.names) - 1, {}
    best = int(at.trace["logits"][-1].argmax())
    assert isinstance(at.question, Choice)
    numbers = {f"{at.trace.probabilities()[best]:.1%}"}
    for name in at.question.options:
        hidden = variant(at.opened.model, masks=f"causal+painted:{last}-{at.names.index(name)}")
        probabilities = run(hidden, at.opened.tokenizer, at.text).probabilities()
        chances[name] = probabilities[best]
        numbers |= {f"{probabilities[best]:.1%}", f"{probabilities.max():.1%}"}
    attention = np.mean([at.weights(layer, head)[-1] for layer in range(6) for head in range(8)], axis=0)
    assert f"looks most at “{at.names[int(attention[:-1].argmax())]}”" in said(at.rows)
    return numbers, min(chances, key=lambda name: chances[name])


def tokens(at: Read) -> Checked:
    count = len(at.opened.tokenizer.encode(at.text, add_special_tokens=False).ids)
    pieces = {len(at.opened.tokenizer.encode(f" {word}", add_special_tokens=False).ids) for word in at.text.split()}
    return {"8,000", str(count), str(len(at.text.split())), *map(str, pieces | {1})}, str(count)


def vectors(at: Read) -> Checked:
    table = at.opened.model.embedding.weight.detach().numpy()
    ids = dict.fromkeys(at.opened.tokenizer.encode(f" {at.text}", add_special_tokens=False).ids)
    names = [at.opened.tokenizer.token_text(each).strip() for each in ids]
    unit = table[list(ids)] / np.linalg.norm(table[list(ids)], axis=1, keepdims=True)
    cosines = unit @ unit.T - 2 * np.eye(len(ids))
    one, other = np.unravel_index(cosines.argmax(), cosines.shape)
    asked = names.index(re.findall("“([^”]*)”", at.question.text)[0])
    assert asked in (one, other)
    return {f"{cosines.max():.2f}"}, names[other if asked == one else one]


def softmax(at: Read) -> Checked:
    layer, head = at.place()
    query = at.names.index(re.findall("“([^”]*)”", at.views(View)[1].title)[0])
    one, other = at.asked()
    scores, weights = at.products(layer, head)[query], at.weights(layer, head)[query]
    apart = round(float(scores[one]), 2) - round(float(scores[other]), 2)
    assert sorted(weights)[-2:] == sorted((weights[one], weights[other])), "the two largest"
    assert exp(apart) == pytest.approx(weights[one] / weights[other], rel=0.02)
    told = {f"{weights[one]:.3f}", f"{weights[other]:.3f}", f"{scores[one]:.2f}", f"{abs(scores[other]):.2f}"}
    return told | {f"{apart:.2f}", f"{exp(apart):.2f}", "1.00", f"{e:.2f}", "1"}, str(exp(apart))


def one_sided(at: Read) -> Checked:
    head, layer = map(int, re.findall(r"head (\d+) of layer (\d+)", at.views(View)[0].title)[0])
    scores, (query, key) = at.products(layer, head), at.asked()[:2]
    words = [at for at, name in enumerate(at.names) if re.search(r"\w", name) and at]
    apart = (scores - scores.T)[np.ix_(words[-8:], words[-8:])]
    assert apart.max() == pytest.approx(scores[query, key] - scores[key, query], abs=1e-4)
    cell = ",".join(str(words[-8:].index(each)) for each in (query, key))
    return {f"{abs(scores[query, key]):.2f}", f"{abs(scores[key, query]):.2f}"}, cell


def scale(at: Read) -> Checked:
    head, layer = map(int, re.findall(r"head (\d+) of layer (\d+)", at.views(View)[0].title)[0])
    query = at.names.index(re.findall("“([^”]*)”", at.views(View)[0].title)[0])
    scores = at.products(layer, head)[query, : query + 1]
    both = [np.exp(factor * scores - (factor * scores).max()) for factor in (1, 32**0.5)]
    both = [powers / powers.sum() for powers in both]
    top = int(scores.argmax())
    numbers = {f"{line[top]:.0%}" for line in both} | {f"{line[top] * (1 - line[top]):.3f}" for line in both}
    spread = round(float(scores.std()), 2)
    return numbers | {"32", f"{32**0.5:.2f}", f"{spread:.2f}"}, str(spread * 32**0.5)


def without_positions(at: Read) -> Checked:
    layer, head = at.place()
    share = float(np.diag(at.weights(layer, head), -1).mean())
    bare = at.changed("decoder.position_ids=set:0")  # all at one place
    left = float(np.diag(bare[f"decoder.{layer}.self.weights"][head], -1).mean())
    evenly = float(np.mean([1 / count for count in range(2, len(at.names) + 1)]))
    nearest = min((0.0, evenly, share), key=lambda each: abs(each - left))
    numbers = {f"{each:.0%}" for each in (share, left, evenly)} | {f"{at.losses().mean():.2f}", f"{at.lost(bare):.2f}"}
    option = {0.0: "none", evenly: f"{evenly:.0%}, as if it looked at all tokens alike", share: f"{share:.0%}, as now"}
    return numbers | {f"{left:.3g}"}, option[nearest]


def places(at: Read) -> Checked:
    last = len(at.names) - 1
    frequencies = 10_000.0 ** (-np.arange(0, 128, 2) / 128)
    cosines = [float(np.cos((last - place) * frequencies).mean()) for place in range(last)]
    assert isinstance(at.question, Choice)
    best = max(at.question.options, key=lambda name: cosines[int(name.split()[1])])
    nearest = int(np.argmax(cosines))
    return {f"{max(cosines):.2f}", f"{cosines[0]:.2f}", f"{cosines[int(best.split()[1])]:.2f}", str(nearest)}, best


def mask(at: Read) -> Checked:
    lifted = at.changed("decoder.*.self.mask=set:1")
    means = float(at.losses().mean()), at.lost(lifted)
    wanted = at.ids[0, 1:].numpy()
    right = [int((trace["logits"][:-1].argmax(-1) == wanted).sum()) for trace in (at.trace, lifted)]
    cheat = Read(at.rows, at.text, "ladder-4-feed-forward")
    with torch.inference_mode():
        prefixes = [cheat.opened.model(cheat.ids[:, :end])[:, -1] for end in range(1, cheat.ids.shape[1])]
    writing = float(cross_entropy(torch.cat(prefixes), cheat.ids[0, 1:]))
    layer, head = cheat.place(2)
    share = float(np.diag(cheat.trace[f"decoder.{layer}.self.weights"][head], 1).mean())
    change = means[1] - means[0]
    answer = "nearly the same" if abs(change) < 0.1 else "higher" if change > 0 else "lower"
    numbers = {f"{each:.2f}" for each in (*means, float(cheat.losses().mean()), writing)}
    return numbers | {f"{share:.0%}", str(len(wanted)), *map(str, right), f"{abs(change):.3g}"}, answer


def heads(at: Read) -> Checked:
    both = [at.place(number) for number in (0, 1)]
    whole, *without = (float(at.losses(each).mean()) for each in (None, *(at.without(*place) for place in both)))
    shared = np.minimum(*(at.weights(*place) for place in both)).sum(-1).mean()
    names = [f"head {head} of layer {layer}" for layer, head in both]
    apart = without[0] - without[1]
    answer = "nearly the same, within 0.005 nats" if abs(apart) < 0.005 else names[apart < 0]
    return {f"{shared:.0%}", "1", *(f"{each:.3f}" for each in (whole, *without))}, answer


def side_by_side(at: Read) -> Checked:
    layer = int(re.findall(r"layer (\d+)", at.views(HeatMapView)[0].title)[0])
    output = blocks(at.opened.model)[layer].self_attention.output.weight.detach().numpy()
    values, parts = at.trace[f"decoder.{layer}.self.v"], []
    for head in range(8):
        parts.append(output[:, head * 32 : head * 32 + 32] @ (at.weights(layer, head)[-1] @ values[head]))
    lengths = np.linalg.norm(parts, axis=1)
    np.testing.assert_allclose(np.sum(parts, axis=0), at.trace[f"decoder.{layer}.self.output"][-1], atol=1e-3)
    numbers = {f"{np.linalg.norm(np.sum(parts, axis=0)):.2f}", f"{lengths.sum():.2f}", f"{lengths.max():.2f}"}
    return numbers | {"8", "32", "256"}, f"head {lengths.argmax()}"


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
        numbers |= {f"{shares[name]:.0%}", *re.findall(r"\d+%", title)}
        weights = at.weights(*at.place(number))
        patterns = {"before": np.diag(weights, -1), "itself": np.diag(weights)[1:], "first token": weights[1:, 0]}
        [pattern] = (cells for words, cells in patterns.items() if title.endswith(words))
        assert f" {pattern.mean():.0%} " in title
    return numbers, min(shares, key=lambda name: shares[name])


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
    return numbers, f"layer {steps.argmax()}"


def networks(at: Read) -> Checked:
    mute = {"networks": deepcopy(at.opened.model), "attention": deepcopy(at.opened.model)}
    for layer in range(6):
        blocks(mute["networks"])[layer].feed_forward.down.weight.data.zero_()
        blocks(mute["attention"])[layer].self_attention.output.weight.data.zero_()
    with torch.inference_mode():
        whole, *others = (net(at.ids)[0, :-1].argmax(-1) for net in (at.opened.model, *mute.values()))
    kept = [int((each == whole).sum()) for each in others]
    assert isinstance(at.question, Choice)
    answer = min(at.question.options, key=lambda name: abs(int(name) - kept[1]))
    losses = [float(at.losses(net).mean()) for net in (None, *mute.values())]
    return {str(len(whole)), *map(str, kept), *(f"{each:.2f}" for each in losses)}, answer


def targets(at: Read) -> Checked:
    losses = at.losses()
    most, mean = float(losses.max()), float(losses.mean())
    numbers = {f"{exp(-most):.2%}", f"{most:.2f}", f"{mean:.2f}", f"{exp(mean):,.0f}", str(len(losses))}
    return numbers, at.names[1 + int(losses.argmax())]


CHECKS: dict[str, Callable[[Read], Checked]] = {
    "look": look, "take": take, "tokens": tokens, "vectors": vectors, "softmax": softmax, "one-sided": one_sided,
    "scale": scale, "without-positions": without_positions, "places": places, "mask": mask, "heads": heads,
    "side-by-side": side_by_side, "layers": layers, "stream": stream, "networks": networks, "targets": targets,
}  # fmt: skip
OLDER = ("order", "mask-added", "changed-word")  # screens of other chapters, with tests of their own
STEADY = {"layers", "without-positions"}  # what these models do is the same on most texts
OF = {"vectors": ("words", WORDS), "layers": ("text", REPEATED)}
MODELS = {
    "without-positions": "positions-decoder-rope", "places": "positions-decoder-sinusoidal", "layers": "induction"
}  # fmt: skip


def said(rows: tuple[Row, ...]) -> str:
    """All sentences of a screen: of its rows, of its question, and of the reason of its answer."""
    questions = [row.question for row in rows if row.question]
    told = [view.text for row in rows for view in row.views if isinstance(view, Verdict)]
    return " ".join((*(row.text for row in rows), *told, *(f"{each.text} {each.because}" for each in questions)))


def test_the_path_is_the_first_chapter_and_each_screen_is_checked_here() -> None:
    assert tuple(f"first-reading/{name}" for name in next(iter(CHAPTERS.values())).screens) == CORE_PATH
    assert {*CHECKS, *OLDER, "writers"} == {path.partition("/")[2] for path in CORE_PATH}
    assert all(find_screen(*path.split("/")) for path in ENTRIES.values())


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("name", CHECKS)
def test_each_number_and_answer_of_the_path_is_what_the_model_computes(name: str, number: int) -> None:
    control, texts = OF.get(name, ("text", TEXTS))
    text = texts[number]
    rows = shown(name, **{control: text})
    numbers, right = CHECKS[name](Read(rows, text, MODELS.get(name, "stories-causal")))
    told = set(NUMBER.findall(NO_NUMBER.sub("", said(rows))))
    assert told <= numbers, f"not computed again: {told - numbers}"
    [question] = (row.question for row in rows if row.question)
    assert question.agrees(right, question.right), f"{question.text} {question.right}, not {right}"


def test_right_answers_differ_from_text_to_text() -> None:
    for name in {*CHECKS} - STEADY:
        control, texts = OF.get(name, ("text", TEXTS))
        given = [{}, *({control: text} for text in texts)]
        assert len({row.question.right for each in given for row in shown(name, **each) if row.question}) > 1, name


def test_a_small_model_is_trained_and_writes_beside_a_shipped_one() -> None:
    text = "The cat sat on the mat. The dog sat on the rug. The cat and the dog ran home."
    rows = shown("writers", text=text, steps="20")
    [lines] = (view for row in rows for view in row.views if isinstance(view, LinesView))
    [table] = (view for row in rows for view in row.views if isinstance(view, TableView))
    losses = np.array(lines.series["loss"])
    chance, reached = log(len(set(text))), float(losses[-20:].mean())
    numbers = {f"{chance:.2f}", f"{losses[0]:.2f}", f"{reached:.2f}", f"{reached:.3g}", "20", "3", "4", "6", "8"}
    told = set(NUMBER.findall(said(rows))) - {str(len(set(text)))}
    assert len(losses) == 20 and told <= numbers
    assert [line[0] for line in table.rows] == ["the model trained here", "stories-causal"]
    assert "continuation of “The cat sat”" in table.columns and all(line[2] for line in table.rows)


@pytest.mark.parametrize("text", ODD)
@pytest.mark.parametrize("path", CORE_PATH[:-1])
def test_whatever_is_typed_gets_an_answer_or_a_sentence(path: str, text: str) -> None:
    name = path.partition("/")[2]
    control = next(
        (each for each in ("text", "words", "one") if each in find_screen("first-reading", name).controls), ""
    )
    if not control:
        return
    try:
        rows = shown(name, **{control: text})
    except HeadlightError as error:
        assert str(error).endswith(".") and len(str(error)) > 20
    else:
        assert any(row.question for row in rows)
        for row in rows:
            if isinstance(row.question, Choice):
                assert len(set(row.question.options)) == len(row.question.options) > 1
