"""One network, many output heads: the same vectors times different last matrices."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from headlight.array_types import Bool, Float
from headlight.checkpoints.load import Checkpoint
from headlight.config import Config, OutputHeadConfig
from headlight.course.controls import ModelControl, TextControl
from headlight.course.fitting import fit, parameter_count
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import token_labels
from headlight.errors import InputError
from headlight.nn.output_heads import LanguageModelHead, SequenceClassifier, TokenClassifier
from headlight.questions.asking import ask_number
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded
from headlight.tracing.inputs import encode_input, token_tensor
from headlight.tracing.predictions import prediction_positions
from headlight.views.forms import bars
from headlight.views.kinds import BarsView, TableView, TokensView
from headlight.views.rows import Row, row
from headlight.views.words import percent

STEPS, LEARNING_RATE, WEIGHT_DECAY = 150, 0.02, 0.05
MOST_LABELS, GUESSES = 6, 6
TAGS = ("not marked", "marked")
EXAMPLES = """happy: The little *dog* ran and played in the sun.
happy: The *cat* found its ball and was very happy.
happy: The boy laughed and hugged his *rabbit*.
sad: The *bird* was hurt and began to cry.
sad: The girl lost her *dog* and was very sad.
sad: The old *horse* was ill and alone."""


Head = TypeVar("Head", bound=nn.Module)


@dataclass(frozen=True)
class LabelledLine:
    """A sentence with its label and its marked characters."""

    label: str
    sentence: str
    marked: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Read:
    """A text after a forward pass: its tokens, and their vectors after the last layer."""

    text: Encoded
    vectors: Float[Tensor, "1 pos d_model"]


def output_heads(model: Checkpoint, examples: str, text: str) -> ScreenRows:
    """A classifier and a tagger fitted to the learner's lines, and the model's own head, on the same vectors."""
    config = model.model.config
    lines = parse_lines(examples)
    labels = tuple(dict.fromkeys(line.label for line in lines))
    learned = [read(model, line.sentence) for line in lines]
    classifier, tagger = fit_classifier(config, labels, lines, learned), fit_tagger(config, lines, learned)
    asked = read(model, text)
    with torch.no_grad():
        of_text = classifier(asked.vectors)[0].softmax(-1)
        of_tokens = tagger(asked.vectors)[0].softmax(-1)[:, 1]
    return (
        _matrices_row(model, labels, classifier, tagger, asked),
        row(
            bars("Classify: one answer for the text", labels, of_text, high=1.0),
            _own_answers(model, asked),
        ),
        row(
            TokensView("", token_labels(asked.text), shades=of_tokens, below=tuple(percent(p, 0) for p in of_tokens)),
            title="Tag: an answer for each token",
            text="The tagger's probability that you would have marked the token.",
        ),
    )


def read(model: Checkpoint, text: str) -> Read:
    """The body of the network, which is the same for every head."""
    encoded = encode_input(model.model, model.tokenizer, text)
    with torch.no_grad():
        return Read(encoded, model.model.encode_hidden(token_tensor(encoded, model.model)).float().cpu())


def fit_classifier(
    config: Config, labels: tuple[str, ...], lines: list[LabelledLine], learned: list[Read]
) -> SequenceClassifier:
    """A classifier of the mean of all tokens' vectors."""
    head = SequenceClassifier(_head_config(config, labels))
    targets = torch.tensor([labels.index(line.label) for line in lines])
    return _fit(head, lambda: torch.cat([head(each.vectors) for each in learned]), targets)


def fit_tagger(config: Config, lines: list[LabelledLine], learned: list[Read]) -> TokenClassifier:
    """A classifier of each token's vector as marked or not."""
    head = TokenClassifier(_head_config(config, TAGS))
    vectors = torch.cat([each.vectors[0] for each in learned])
    targets = torch.cat([marked_tokens(each.text, line) for line, each in zip(lines, learned, strict=True)]).long()
    return _fit(head, lambda: head(vectors), targets)


def _fit(head: Head, logits: Callable[[], Tensor], targets: Tensor) -> Head:
    """Trains the head's own weights, starting from zero; the network's weights do not change."""
    for parameter in head.parameters():
        nn.init.zeros_(parameter)
    optimizer = torch.optim.AdamW(head.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    fit(optimizer, lambda: nn.functional.cross_entropy(logits(), targets), STEPS)
    return head


def _head_config(config: Config, labels: tuple[str, ...]) -> Config:
    return config.replace(labels=labels, pooling="mean", output_head_config=OutputHeadConfig(transform="none"))


def parse_lines(text: str) -> list[LabelledLine]:
    """The learner's lines. Raises InputError if a line lacks its label or sentence, or if there is only one label."""
    lines = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        label, colon, rest = line.partition(":")
        if not (colon and label.strip() and rest.strip(" *")):
            raise InputError(f"Line {number} is not “label: sentence”. Write, for example: happy: The dog played.")
        lines.append(_parse_line(label.strip(), rest.strip()))
    count = len({line.label for line in lines})
    if not 2 <= count <= MOST_LABELS:
        raise InputError(f"Use 2 to {MOST_LABELS} different labels; your lines have {count}.")
    if not any(line.marked for line in lines):
        raise InputError("No word is marked. Put asterisks around some words: The *dog* played.")
    return lines


def _parse_line(label: str, rest: str) -> LabelledLine:
    sentence, marked = "", []
    for place, part in enumerate(re.split(r"\*([^*]+)\*", rest)):
        if place % 2:
            marked.append((len(sentence), len(sentence) + len(part)))
        sentence += part
    return LabelledLine(label, sentence, tuple(marked))


def marked_tokens(text: Encoded, line: LabelledLine) -> Bool[Tensor, " pos"]:
    """Which tokens lie in marked characters."""
    return torch.tensor([any(a < last and b > first for first, last in line.marked) for a, b in text.offsets])


def _matrices_row(
    model: Checkpoint, labels: tuple[str, ...], classifier: nn.Module, tagger: nn.Module, asked: Read
) -> Row:
    """A table of the heads, with the body that all of them share."""
    network, tokens = model.model, len(asked.text.ids)
    body = sum(p.numel() for name, p in network.named_parameters() if not name.startswith("output_head."))
    tied = ", which are the embedding's" if network.config.embedding.tied else ""
    own = parameter_count(network.output_head)
    heads = (
        ("classify", classifier, "a probability of each label, from the mean of the vectors"),
        ("tag", tagger, f"a probability for each of {tokens} tokens"),
    )
    rows = [("the network, once", f"{body:,}", f"→ {tokens} × {network.config.d_model} vectors")]
    rows += [(name, f"{parameter_count(head):,}", what) for name, head, what in heads]
    logits = f"{network.config.vocabulary_size:,} logits for each of {tokens} tokens"
    rows.append((task_of(network.config).prediction_title.lower(), f"{own:,}{tied}", logits))
    width, count = network.config.d_model, len(labels)
    return row(
        TableView(("part", "parameters", "gives"), tuple(rows)),
        title="One body, three heads",
        question=ask_number(
            f"A mean of {tokens} vectors of {width} channels, {count} labels: how many parameters has the classifier?",
            parameter_count(classifier),
            (width * count, "Each label has a bias, too."),
            (width * tokens * count, "It reads one vector, the mean of all tokens."),
            hints=("Each label has a number for each channel.", "And each label has one more, its bias."),
        ),
    )


def _own_answers(model: Checkpoint, asked: Read) -> BarsView | TokensView:
    """The prediction of the model's own head."""
    network = model.model
    title = f"{task_of(network.config).prediction_title}: one of {network.config.vocabulary_size:,}"
    places = prediction_positions(network, model.tokenizer, asked.text)
    if not places:
        return TokensView(title, ("[MASK]",), note="Write [MASK] in place of a word of the sentence.")
    with torch.no_grad():
        logits = network.output_head(asked.vectors.to(network.device, network.embedding.weight.dtype))
    best = logits[0, places[0]].float().softmax(-1).topk(GUESSES)
    names = tuple(model.tokenizer.stripped_token_text(token) or "new line" for token in best.indices.tolist())
    return bars(title, names, best.values, high=1.0)


OUTPUT_HEADS = Screen(
    title="One network, many output heads",
    lesson="All that a network knows about a text is in the vectors after its last layer. One more matrix decides "
    "their use. Label some lines of your own and mark words in them with asterisks: two small heads are fitted to them "
    "on the spot, and the network itself does not change.",
    controls={
        "model": ModelControl(default="stories-causal", needs="predicts-tokens"),
        "examples": TextControl(
            "Your lines, each “label: sentence”, with *marked* words", EXAMPLES, longest=1_200, lines=7
        ),
        "text": TextControl("A new sentence", "The little fox was lost and cried."),
    },
    compute=output_heads,
    formulas=(
        r"\text{classify: } \mathrm{softmax}(W_c\, \mathrm{mean}(x_1 \ldots x_n))",
        r"\text{tag: } \mathrm{softmax}(W_t\, x_i)",
        r"\text{next token: } \mathrm{softmax}(W_U\, x_n)",
    ),
    code=(read, fit_classifier, fit_tagger, fit, SequenceClassifier, TokenClassifier, LanguageModelHead),
    explore=link("model", "text"),
)
