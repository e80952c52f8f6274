"""From the last layer to the probability of each word: final norm, the matrix to the vocabulary, softmax."""

from __future__ import annotations

from itertools import zip_longest

import torch

from headlight.analysis.walkthrough.prediction import PredictionWalkthrough, paths_to_keep, prediction_walkthrough
from headlight.analysis.walkthrough.steps import WalkthroughStep
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import WordRank, rank_word, token_labels, value
from headlight.errors import InputError
from headlight.nn.output_heads import LanguageModelHead, MaskedLanguageModelHead, PredictionHead
from headlight.nn.transformer import Transformer
from headlight.questions.asking import ask_flip, choose
from headlight.questions.kinds import Question
from headlight.tracing.predictions import prediction_positions
from headlight.tracing.run import run
from headlight.views.forms import bars
from headlight.views.kinds import MatrixView, TableView, Verdict
from headlight.views.rows import row
from headlight.views.words import digits, percent, three_digits

SHOWN_CHANNELS, CANDIDATES = 8, 8
SENTENCE = "The cat sat on the"
OF_VECTORS = ("last-layer", "final-norm", "project-out", "transform")  # steps that end with a vector


def last_steps(model: Checkpoint, text: str, word: str) -> ScreenRows:
    """The steps at the token that is predicted from: the last one, or the first mask."""
    network = model.model
    trace = run(network, model.tokenizer, text, keep=(*paths_to_keep(network.config), "logits"))
    places = prediction_positions(network, model.tokenizer, trace.text)
    if not places:
        raise InputError("This model fills masks, but the sentence has none. Write [MASK] in place of a word.")
    walkthrough = prediction_walkthrough(network, trace, places[0], count=CANDIDATES)
    assert walkthrough is not None  # it predicts tokens
    names = tuple(model.tokenizer.stripped_token_text(token) for token in walkthrough.answers)
    vectors = tuple(_channels(step) for step in walkthrough.steps if step.name in OF_VECTORS)
    label = token_labels(trace.text)[places[0]]
    width, vocabulary = walkthrough.steps[0].values[0].array.size, network.config.vocabulary_size
    ranked = rank_word(model, word, value(trace, "logits")[places[0]].softmax(-1))
    chances = dict(zip(names, _numbers(walkthrough, "probabilities")[-1].tolist(), strict=True))
    if ranked.rank > len(names):
        chances[f"{ranked.name} (number {ranked.rank:,})"] = ranked.probability
    return (
        row(*vectors, title=f"At “{label}”: the first {SHOWN_CHANNELS} of {width} channels"),
        row(
            _table(walkthrough, names, vocabulary),
            bars("Probability", chances, digits=4),
            title=f"Times the matrix to the vocabulary: the {CANDIDATES} largest of {vocabulary:,} logits",
            question=ask_rank(ranked),
        ),
        f"“{ranked.name}”{' (the first token of your word)' if ranked.is_part else ''} is number {ranked.rank:,} "
        f"of {vocabulary:,}, with a probability of {percent(ranked.probability, 2)}. Its loss would be "
        f"{ranked.loss:.2f} nats.",
        row(_verdict(network, walkthrough), question=_ask_to_flip(model, text, names[0])),
    )


def _ask_to_flip(model: Checkpoint, text: str, guess: str) -> Question | None:
    """Asks to replace one word of the sentence so that the first guess changes; None if the model has no guess."""
    trace = run(model.model, model.tokenizer, SENTENCE, keep=("logits",))
    places = prediction_positions(model.model, model.tokenizer, trace.text)
    if not places:
        return None
    before = model.tokenizer.stripped_token_text(int(value(trace, "logits")[places[0]].argmax()))
    words, others = SENTENCE.split(), text.split()
    changed = sum(one != other for one, other in zip_longest(words, others))
    return ask_flip(
        f"For “{SENTENCE}” its first guess is “{before}”. Replace a single word of that sentence so that the first "
        "guess changes.",
        guess != before and changed == 1,
        f"The first guess is still “{guess}”.",
        (changed == 0, f"That is the sentence as it was, and its first guess is “{before}”."),
        (changed > 1, f"{changed} words have changed. Replace only one."),
        solution={"text": SENTENCE.replace("cat", "bird")},
        hints=("Which word says most about the next one?", "Who would sit somewhere else? Replace “cat”."),
        because=f"Its guess depends on every word: for “{text.strip()}” it is “{guess}”.",
    )


def ask_rank(ranked: WordRank) -> Question:
    """Asks how many words the model finds likelier, which may differ from what people expect."""
    options = ("none", "1 to 9", "10 to 99", "100 or more")
    return choose(
        f"How many words does this model find likelier than “{ranked.name}”?",
        options,
        min(3, len(str(ranked.rank - 1))) if ranked.rank > 1 else 0,
        {"none": "It has read stories for children, and predicts what is likely there."},
    )


def _numbers(walkthrough: PredictionWalkthrough, name: str) -> list[torch.Tensor]:
    """The values of a step."""
    step = next(step for step in walkthrough.steps if step.name == name)
    return [torch.tensor(value.array) for value in step.values]


def _channels(step: WalkthroughStep) -> MatrixView:
    numbers = torch.tensor(step.values[-1].array)
    length = f"length {three_digits(float(numbers.norm()))}, mean {digits(float(numbers.mean()), 2)}"
    return MatrixView(
        step.description.title,
        numbers[None, :SHOWN_CHANNELS],
        column_axis="channel",
        before="" if step.name == OF_VECTORS[0] else "→",
        note=length,
    )


def _table(walkthrough: PredictionWalkthrough, names: tuple[str, ...], vocabulary: int) -> TableView:
    logits, powers, total, probabilities = _numbers(walkthrough, "probabilities")
    columns = (each.tolist() for each in (logits, powers, probabilities))
    return TableView(
        ("token", "logit", "e^(logit − largest)", "probability"),
        tuple(zip(names, *columns, strict=True)),
        digits=3,
        note=f"All {vocabulary:,} numbers of the third column add up to {digits(float(total), 4)}; each is divided by "
        "this sum.",
    )


def _verdict(model: Transformer, walkthrough: PredictionWalkthrough) -> Verdict:
    *parts, logits = _numbers(walkthrough, "logits")
    total = float(sum(parts))
    assert isinstance(model.output_head, PredictionHead)
    weight = model.output_head.projection.weight
    words = " plus its bias" if len(parts) > 1 else ""
    tied = " W is the embedding matrix, transposed." if weight.data_ptr() == model.embedding.weight.data_ptr() else ""
    return Verdict(
        f"Checked for the best token: its column of W times the vector{words} is {total:.4f}; its logit is "
        f"{float(logits[0]):.4f}.{tied}",
        good=abs(total - float(logits[0])) < 1e-2 * max(1.0, abs(total)),
    )


LAST_STEPS = Screen(
    title="The last steps: from a vector to a word",
    lesson="After the last layer a token's vector is normalized once more and compared with the vector of every token "
    "of the vocabulary by dot products, the logits. Softmax turns them into probabilities of all words, not only of "
    "the best: name one, and see its rank.",
    controls={
        "model": ModelControl(default="stories-causal", needs="predicts-tokens"),
        "text": TextControl("Sentence", SENTENCE),
        "word": TextControl("Any word", "mat", longest=40),
    },
    compute=last_steps,
    formulas=(
        r"p = \mathrm{softmax}(W\, \mathrm{norm}(x) + b)",
        r"\mathrm{rank} = 1 + \sum_t [\,p_t > p_{\mathrm{word}}\,]",
    ),
    code=(LanguageModelHead, MaskedLanguageModelHead, rank_word),
    explore=link("model", "text", fixed={"tab": "walkthrough", "step": "last-layer"}),
)
