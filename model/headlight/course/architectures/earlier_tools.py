"""Attention and three earlier taggers, a linear SVM, an HMM and a CRF, on the same sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.cancellation import check_cancelled
from headlight.config import Config
from headlight.course.controls import ChoiceControl, CountControl, SeedControl, TextControl
from headlight.course.fitting import fit
from headlight.course.screen import Screen, ScreenRows
from headlight.errors import InputError, shortened
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_best, choose
from headlight.questions.kinds import Question
from headlight.views.forms import bars
from headlight.views.kinds import MatrixView, TableView
from headlight.views.rows import row
from headlight.views.words import percent

SYMBOLS = ("a", "b", "c", "d", "e")
DICE = torch.tensor([[0.35, 0.25, 0.2, 0.12, 0.08], [0.08, 0.12, 0.2, 0.25, 0.35]])  # symbol shares of each die
CHANGE = 0.05  # how often the other die is taken
LENGTH, TRAINING, HELD_OUT, LABELS = 10, 256, 200, 2
NOISE = 0.01  # largest difference between two shares of held-out tokens that counts as a tie
NEIGHBOURS = 1  # tokens on each side that the SVM sees
TASKS = {
    "neighbour": "is the token before it an a?",
    "dice": "which of two loaded dice was thrown?",
    "first": "is it the same as the first token?",
}
OWN = "own"
MOST_LABELS, MOST_WORDS = 8, 30
EXAMPLES = """the/D dog/N saw/V the/D cat/N
a/D cat/N can/M run/V
the/D can/N fell/V
she/N can/M see/V the/D saw/N
a/D dog/N can/M see/V a/D can/N
the/D saw/N can/M cut/V"""
SENTENCE = "the cat can saw the can"
Ids = Int[Tensor, "row pos"]
NewIds = Int[Tensor, "new_row pos"]
WHY = {
    "neighbour": "the answer is next to each token, where a window sees it.",
    "dice": "the same die is thrown many times in a row, which is what a chain of labels is made for.",
    "first": "each token has to be compared with one that may be far away, which a chain does not remember (attention "
    "may need another seed).",
}
Batches = list[tuple[Ids, Ids]]  # sequences of one length together, with their labels
Tagger = Callable[[Ids, Ids, NewIds, int], NewIds]  # training ids, labels, other ids, steps -> labels of those


def compare_taggers(task: str, steps: int, seed: int) -> ScreenRows:
    """The share of tokens that each tagger labels correctly on unseen sequences, and one of those sequences."""
    shares = accuracies(task, steps, seed)
    ids, labels = sequences(task, HELD_OUT, seed + 1)
    best = max(shares, key=lambda name: shares[name])
    return (
        MatrixView(
            f"One sequence: {TASKS[task]}",
            labels[:1].float(),
            columns=tuple(SYMBOLS[each] for each in ids[0]),
            rows=("label",),
            colours="weights",
            digits=0,
        ),
        row(
            bars(
                f"Tokens labelled correctly, of {HELD_OUT} new sequences: {TASKS[task]}",
                shares,
                high=1.0,
                note="The first bar is the result of always giving the more frequent label.",
            ),
            question=ask_best(
                f"Which tagger labels the most tokens correctly: {TASKS[task]}",
                {name: 1 - share for name, share in shares.items()},
                NOISE,
            ),
        ),
        f"Best on this task: {best}, with {percent(shares[best])}: {WHY[task]}",
    )


def sequences(task: str, count: int, seed: int) -> tuple[Ids, Ids]:
    """Random sequences and the right label of each token."""
    generator = torch.Generator().manual_seed(seed)
    if task == "dice":
        changes = torch.rand(count, LENGTH, generator=generator) < CHANGE
        first = torch.randint(LABELS, (count, 1), generator=generator)
        labels = (first + changes.long().cumsum(1)) % LABELS
        ids = torch.multinomial(DICE[labels].flatten(0, 1), 1, generator=generator).view(count, LENGTH)
        return ids, labels
    ids = torch.randint(len(SYMBOLS), (count, LENGTH), generator=generator)
    labels = ids == ids[:, :1] if task == "first" else functional.pad(ids[:, :-1] == 0, (1, 0))
    return ids, labels.long()


def accuracies(task: str, steps: int, seed: int) -> dict[str, float]:
    """The share of correct labels of each tagger after training on the same sequences."""
    ids, labels = sequences(task, TRAINING, seed)
    new, right = sequences(task, HELD_OUT, seed + 1)
    found = {"more frequent label": float((right == labels.flatten().mode().values).float().mean())}
    for name, tagger in TAGGERS.items():
        torch.manual_seed(seed)
        found[name] = float((tagger(ids, labels, new, steps) == right).float().mean())
        check_cancelled()
    return found


def tag_by_svm(ids: Ids, labels: Ids, new: NewIds, _: int) -> NewIds:
    """A linear map of a token and its neighbours, trained with the hinge loss (Cortes and Vapnik 1995)."""

    def features(tokens: Int[Tensor, "any_row pos"]) -> Float[Tensor, "any_row pos feature"]:
        one_hot = functional.one_hot(functional.pad(tokens + 1, (NEIGHBOURS, NEIGHBOURS)), len(SYMBOLS) + 1).float()
        windows: Tensor = one_hot.unfold(1, 2 * NEIGHBOURS + 1, 1).flatten(2)
        return windows

    given, sides = features(ids), 2.0 * labels - 1
    linear = nn.Linear(given.shape[-1], 1)
    _descend(linear, lambda: torch.relu(1 - sides * linear(given)[..., 0]).mean())
    found: NewIds = (linear(features(new))[..., 0] > 0).long()
    return found


@dataclass(frozen=True, eq=False)
class Chain:
    """Scores of a symbol with its label, of a label after another, and of the first label."""

    symbols: Float[Tensor, "symbol label"]
    pairs: Float[Tensor, "label label"]
    begin: Float[Tensor, " label"]

    def tag(self, ids: NewIds) -> NewIds:
        """The likeliest labels of sequences."""
        return likeliest_labels(self.symbols[ids], self.pairs, self.begin)


def fit_hmm(batches: Batches, symbols: int, labels: int) -> Chain:
    """A hidden Markov model whose states are the labels: probabilities by counting (Rabiner 1989)."""
    pairs, emissions, begin = torch.ones(labels, labels), torch.ones(labels, symbols), torch.ones(labels)
    one = torch.tensor(1.0)  # added for each occurrence; all counts start at 1
    for ids, given in batches:
        pairs.index_put_((given[:, :-1].flatten(), given[:, 1:].flatten()), one, accumulate=True)
        emissions.index_put_((given.flatten(), ids.flatten()), one, accumulate=True)
        begin.index_put_((given[:, 0],), one, accumulate=True)
    emissions, pairs, begin = ((counts / counts.sum(-1, keepdim=True)).log() for counts in (emissions, pairs, begin))
    return Chain(emissions.T, pairs, begin)


def fit_crf(batches: Batches, symbols: int, labels: int) -> Chain:
    """A linear-chain conditional random field: scores of symbols and of pairs of labels (Lafferty et al. 2001)."""
    scores = nn.ParameterList([torch.zeros(symbols, labels), torch.zeros(labels, labels), torch.zeros(labels)])

    def negative(ids: Ids, given: Ids) -> Tensor:
        seen, pairs, begin = scores[0][ids], scores[1], scores[2]
        path = seen.gather(2, given[..., None]).sum((1, 2)) + pairs[given[:, :-1], given[:, 1:]].sum(1)
        path, total = path + begin[given[:, 0]], begin + seen[:, 0]
        for each in seen.unbind(1)[1:]:
            total = torch.logsumexp(total[:, :, None] + pairs, 1) + each
        difference: Tensor = (torch.logsumexp(total, 1) - path).sum()
        return difference

    tokens = sum(ids.numel() for ids, _ in batches)
    _descend(scores, lambda: torch.stack([negative(*batch) for batch in batches]).sum() / tokens)
    return Chain(*(each.detach() for each in scores))


@torch.no_grad()
def likeliest_labels(
    tokens: Float[Tensor, "row pos label"], pairs: Float[Tensor, "label label"], begin: Float[Tensor, " label"]
) -> Ids:
    """The labels with the largest sum of token scores and scores of neighbouring labels (Viterbi 1967)."""
    best, back = begin + tokens[:, 0], []
    for each in tokens.unbind(1)[1:]:
        values, before = (best[:, :, None] + pairs).max(1)
        best = values + each
        back.append(before)
    labels = [best.argmax(1)]
    for before in reversed(back):
        labels.insert(0, before.gather(1, labels[0][:, None])[:, 0])
    found: Ids = torch.stack(labels, 1)
    return found


def tag_by_attention(ids: Ids, labels: Ids, new: NewIds, steps: int) -> NewIds:
    """A Transformer of one layer that labels tokens."""
    config = Config(
        architecture="encoder", vocabulary_size=len(SYMBOLS), context_length=LENGTH, d_model=32, layers=1, heads=4,
        masks=(), positional_encoding="learned", output_head="token-classifier", labels=("0", "1"),
    )  # fmt: skip
    model = Transformer(config).train()
    _descend(model, lambda: functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten()), steps, 5e-3)
    with torch.no_grad():
        found: NewIds = model.eval()(new).argmax(-1)
    return found


def _descend(module: nn.Module, loss: Callable[[], Tensor], steps: int = 100, rate: float = 0.1) -> None:
    """Gradient descent with Adam."""
    fit(torch.optim.Adam(module.parameters(), lr=rate), loss, steps)


TAGGERS: dict[str, Tagger] = {
    "linear SVM": tag_by_svm,
    "hidden Markov model": lambda ids, labels, new, _: fit_hmm([(ids, labels)], len(SYMBOLS), LABELS).tag(new),
    "CRF": lambda ids, labels, new, _: fit_crf([(ids, labels)], len(SYMBOLS), LABELS).tag(new),
    "attention": tag_by_attention,
}


def label_own(examples: str, sentence: str) -> ScreenRows:
    """A hidden Markov model and a CRF trained on the learner's labels: their tables, and a new sentence."""
    read = parse_examples(examples)
    words = sorted({word for line in read for word, _ in line})
    labels = tuple(sorted({label for line in read for _, label in line}))
    batches = [
        (torch.tensor([[words.index(word) for word, _ in line]]), torch.tensor([[labels.index(at) for _, at in line]]))
        for line in read
    ]
    asked = sentence.lower().split()[:MOST_WORDS]
    ids = torch.tensor([[words.index(word) if word in words else len(words) for word in asked]])
    chains = {name: fitted(batches, len(words) + 1, len(labels)) for name, fitted in CHAINS.items()}
    found = {name: [labels[at] for at in chain.tag(ids)[0]] for name, chain in chains.items()}
    hmm, crf = (chain.pairs for chain in chains.values())
    table = partial(MatrixView, rows=labels, columns=labels, row_axis="label", column_axis="the next one")
    return (
        row(
            TableView(("", *asked), tuple((name, *given) for name, given in found.items()), title="The labels"),
            question=_ask_of_label(asked[-1], labels, read, next(iter(found.values()))[-1]),
        ),
        row(
            table(title="HMM: how likely a label is after another", values=hmm.exp(), colours="weights", row_sums=True),
            table(title="CRF: the score of a label after another", values=crf),
            title="What each has learned about successive labels",
            text="The rows of the HMM are probabilities, from counts. The scores of the CRF are trained, together with "
            "those of its words, so that right labellings beat all others; they need not add up to 1.",
        ),
    )


def _ask_of_label(word: str, labels: tuple[str, ...], read: list[list[tuple[str, str]]], answer: str) -> Question:
    alone = Counter(label for line in read for each, label in line if each == word).most_common(1)
    said = f"That is the most frequent label of “{word}”; the words before it count, too."
    mistakes = {label: said for label, _ in alone}
    return choose(f"Which label does the HMM give to the last word, “{word}”?", labels, labels.index(answer), mistakes)


def parse_examples(text: str) -> list[list[tuple[str, str]]]:
    """Lines of words with their labels, such as "the/D cat/N". Raises InputError."""
    lines = [[part.rpartition("/") for part in line.split()] for line in text.splitlines() if line.strip()]
    for line in lines:
        for word, _, label in line:
            if not word or not label:
                given = shortened(f"{word}{label}", 30)
                raise InputError(f"“{given}” has no label. Write each word with a slash and its label, as in cat/N.")
    found = [[(word.lower(), label) for word, _, label in line] for line in lines]
    kinds = {label for line in found for _, label in line}
    if not LABELS <= len(kinds) <= MOST_LABELS:
        raise InputError(f"Use {LABELS} to {MOST_LABELS} different labels; your sentences have {len(kinds)}.")
    return found


CHAINS = {"HMM": fit_hmm, "CRF": fit_crf}

EARLIER_TOOLS = Screen(
    title="What came before: SVM, HMM, CRF",
    lesson="A support vector machine labels a token by a window, here with one more token on each side. A hidden "
    "Markov model and a conditional random field weigh which label follows which. Attention looks wherever the answer "
    "is; all four learn from the same sequences, here and now, and two of them from yours.",
    controls={
        "task": ChoiceControl("Label of each token", "first", TASKS | {OWN: "my own labels"}),
        "examples": TextControl("Sentences to learn from, each word/LABEL", EXAMPLES, longest=1_000, lines=7),
        "sentence": TextControl("A sentence to label", SENTENCE),
        "steps": CountControl("Steps of attention", "240", 20, 480, step=20),
        "seed": SeedControl(),
    },
    compute={**dict.fromkeys(TASKS, compare_taggers), OWN: label_own},
    formulas=(
        r"\text{SVM: } \mathrm{sign}(w \cdot x + b)",
        r"\text{HMM: } \sum_i \log p(y_i \mid y_{i-1}) + \log p(x_i \mid y_i)",
        r"\text{CRF: } \sum_i s(y_{i-1}, y_i) + s(x_i, y_i)",
    ),
    code=(tag_by_svm, fit_hmm, fit_crf, likeliest_labels, tag_by_attention, fit),
    is_long=True,
)
