"""Taggers from before the Transformer, a linear SVM, an HMM and a CRF, and attention, on the same sequences."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from headlight.array_types import Float, Int
from headlight.cancellation import check_cancelled
from headlight.config import Config
from headlight.course.controls import ChoiceControl, SeedControl
from headlight.course.fitting import fit
from headlight.course.pictures import BarsPicture, MatrixPicture, row, verdict_row
from headlight.course.questions import ask_best
from headlight.course.screen import Answer, Screen
from headlight.nn.transformer import Transformer

SYMBOLS = ("a", "b", "c", "d", "e")
DICE = torch.tensor([[0.35, 0.25, 0.2, 0.12, 0.08], [0.08, 0.12, 0.2, 0.25, 0.35]])  # how often each shows each symbol
CHANGE = 0.05  # how often the other one is taken
LENGTH, TRAINING, HELD_OUT, LABELS = 10, 256, 200, 2
NOISE = 0.01  # of a share of the held-out tokens
NEIGHBOURS = 1  # on each side, that the SVM sees
TASKS = {
    "neighbour": "is the token before it an a?",
    "dice": "which of two loaded dice showed it?",
    "first": "is it the same as the first token?",
}
Ids = Int[Tensor, "row pos"]
NewIds = Int[Tensor, "new_row pos"]
WHY = {
    "neighbour": "the answer stands beside each token, where a window sees it.",
    "dice": "the same die is thrown many times in a row, which is what a chain of labels is made for.",
    "first": "each token has to be compared with one that may be far away, which no chain remembers (attention may "
    "need another seed).",
}
Tagger = Callable[[Ids, Ids, NewIds], NewIds]  # training ids, their labels, other ids -> labels of those


def earlier_tools(task: str, seed: int) -> Answer:
    """The share of tokens that each tagger labels right on sequences that it has not seen, and one of those."""
    shares = accuracies(task, seed)
    ids, labels = sequences(task, HELD_OUT, seed + 1)
    best = max(shares, key=lambda name: shares[name])
    return (
        row(
            MatrixPicture(
                title=f"One sequence: {TASKS[task]}",
                values=labels[:1].float(),
                columns=tuple(SYMBOLS[each] for each in ids[0]),
                rows=("label",),
                colours="weights",
                digits=0,
            )
        ),
        row(
            BarsPicture(
                title=f"Tokens labelled right, of {HELD_OUT} new sequences: {TASKS[task]}",
                labels=tuple(shares),
                series={"": list(shares.values())},
                high=1.0,
                note="The first bar is what one gets by always giving the more frequent label.",
            ),
            question=ask_best(
                f"Which labels most tokens right: {TASKS[task]}",
                {name: 1 - share for name, share in shares.items()},
                NOISE,
            ),
        ),
        verdict_row(f"Best on this task: {best}, with {shares[best]:.1%}: {WHY[task]}"),
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


def accuracies(task: str, seed: int) -> dict[str, float]:
    """The share of right labels of each tagger, after the same training sequences."""
    ids, labels = sequences(task, TRAINING, seed)
    new, right = sequences(task, HELD_OUT, seed + 1)
    found = {"more frequent label": float((right == labels.flatten().mode().values).float().mean())}
    for name, tagger in TAGGERS.items():
        torch.manual_seed(seed)
        found[name] = float((tagger(ids, labels, new) == right).float().mean())
        check_cancelled()
    return found


def tag_by_svm(ids: Ids, labels: Ids, new: NewIds) -> NewIds:
    """A linear map of a token and its neighbours, trained with the hinge loss (Cortes and Vapnik 1995)."""

    def features(tokens: Int[Tensor, "any_row pos"]) -> Float[Tensor, "any_row pos feature"]:
        one_hot = functional.one_hot(functional.pad(tokens + 1, (NEIGHBOURS, NEIGHBOURS)), len(SYMBOLS) + 1).float()
        windows: Tensor = one_hot.unfold(1, 2 * NEIGHBOURS + 1, 1).flatten(2)
        return windows

    linear, sides = nn.Linear(features(ids).shape[-1], 1), 2.0 * labels - 1
    _descend(linear, lambda: torch.relu(1 - sides * linear(features(ids))[..., 0]).mean())
    found: NewIds = (linear(features(new))[..., 0] > 0).long()
    return found


def tag_by_hmm(ids: Ids, labels: Ids, new: NewIds) -> NewIds:
    """A hidden Markov model whose states are the labels: probabilities by counting (Rabiner 1989)."""

    def counted(first: Tensor, second: Tensor, sizes: tuple[int, int]) -> Float[Tensor, "state outcome"]:
        counts = torch.ones(sizes)  # as if everything had been seen once
        counts.index_put_((first.flatten(), second.flatten()), torch.tensor(1.0), accumulate=True)
        return (counts / counts.sum(1, keepdim=True)).log()

    transitions = counted(labels[:, :-1], labels[:, 1:], (LABELS, LABELS))
    emissions = counted(labels, ids, (LABELS, len(SYMBOLS)))
    begin = (torch.bincount(labels[:, 0], minlength=LABELS) + 1.0).log()
    return likeliest_labels(emissions.T[new], transitions, begin)


def tag_by_crf(ids: Ids, labels: Ids, new: NewIds) -> NewIds:
    """A linear-chain conditional random field: scores of tokens and of pairs of labels (Lafferty et al. 2001)."""
    scores = nn.ParameterList([torch.zeros(len(SYMBOLS), LABELS), torch.zeros(LABELS, LABELS), torch.zeros(LABELS)])

    def loss() -> Tensor:
        tokens, pairs, begin = scores[0][ids], scores[1], scores[2]
        path = tokens.gather(2, labels[..., None]).sum((1, 2)) + pairs[labels[:, :-1], labels[:, 1:]].sum(1)
        path, total = path + begin[labels[:, 0]], begin + tokens[:, 0]
        for each in tokens.unbind(1)[1:]:
            total = torch.logsumexp(total[:, :, None] + pairs, 1) + each
        negative: Tensor = (torch.logsumexp(total, 1) - path).mean() / LENGTH
        return negative

    _descend(scores, loss)
    return likeliest_labels(scores[0][new], scores[1], scores[2])


@torch.no_grad()
def likeliest_labels(
    tokens: Float[Tensor, "row pos label"], pairs: Float[Tensor, "label label"], begin: Float[Tensor, " label"]
) -> Ids:
    """The labels with the largest sum of scores of tokens and of neighbouring labels (Viterbi 1967)."""
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


def tag_by_attention(ids: Ids, labels: Ids, new: NewIds) -> NewIds:
    """A Transformer of one layer that labels tokens."""
    config = Config(
        architecture="encoder", vocabulary_size=len(SYMBOLS), context_length=LENGTH, d_model=32, layers=1, heads=4,
        masks=(), positional_encoding="learned", output_head="token-classifier", labels=("0", "1"),
    )  # fmt: skip
    model = Transformer(config).train()
    _descend(model, lambda: functional.cross_entropy(model(ids).flatten(0, 1), labels.flatten()), 240, 5e-3)
    with torch.no_grad():
        found: NewIds = model.eval()(new).argmax(-1)
    return found


def _descend(module: nn.Module, loss: Callable[[], Tensor], steps: int = 100, rate: float = 0.1) -> None:
    """Gradient descent with Adam."""
    fit(torch.optim.Adam(module.parameters(), lr=rate), loss, steps)


TAGGERS: dict[str, Tagger] = {
    "linear SVM": tag_by_svm,
    "hidden Markov model": tag_by_hmm,
    "CRF": tag_by_crf,
    "attention": tag_by_attention,
}

EARLIER_TOOLS = Screen(
    title="What came before: SVM, HMM, CRF",
    lesson="A support vector machine labels a token by what it is shown, here one more token on each side. A hidden "
    "Markov model and a conditional random field weigh which label follows which. Attention looks wherever the answer "
    "is; all four learn from the same sequences, here and now.",
    controls={
        "task": ChoiceControl(title="Label of each token", default="first", options=TASKS),
        "seed": SeedControl(),
    },
    compute=earlier_tools,
    formulas=(
        r"\text{SVM: } \mathrm{sign}(w \cdot x + b)",
        r"\text{HMM: } \sum_i \log p(y_i \mid y_{i-1}) + \log p(x_i \mid y_i)",
        r"\text{CRF: } \sum_i s(y_{i-1}, y_i) + s(x_i, y_i)",
    ),
    code=(tag_by_svm, tag_by_hmm, tag_by_crf, likeliest_labels, tag_by_attention, fit),
    is_long=True,
)
