"""From the last layer to a probability: final norm, the matrix to the vocabulary, softmax."""

from __future__ import annotations

import torch

from headlight.analysis.walkthrough.prediction import PredictionWalkthrough, paths_to_keep, prediction_walkthrough
from headlight.analysis.walkthrough.steps import WalkthroughStep
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import BarsPicture, MatrixPicture, TablePicture, Verdict, row
from headlight.course.questions import ask_largest
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import token_labels
from headlight.errors import InputError
from headlight.nn.output_heads import LanguageModelHead, MaskedLanguageModelHead, PredictionHead
from headlight.nn.transformer import Transformer
from headlight.tracing.run import prediction_positions, run

SHOWN_CHANNELS, CANDIDATES = 8, 8
OF_VECTORS = ("last-layer", "final-norm", "project-out", "transform")  # steps that end with a vector


def last_steps(model: Checkpoint, text: str) -> Answer:
    """The steps at the token whose prediction a person wants: the last one, or the first mask."""
    network = model.model
    trace = run(network, model.tokenizer, text, keep=paths_to_keep(network.config))
    places = prediction_positions(network, model.tokenizer, trace.text)
    if not places:
        raise InputError("This model fills masks, and the sentence has none. Write [MASK] for a word.")
    walkthrough = prediction_walkthrough(network, trace, places[0], count=CANDIDATES)
    assert walkthrough is not None  # it predicts tokens
    names = tuple(model.tokenizer.stripped_token_text(token) for token in walkthrough.answers)
    vectors = tuple(_channels(step) for step in walkthrough.steps if step.name in OF_VECTORS)
    label = token_labels(trace.text)[places[0]]
    width, vocabulary = walkthrough.steps[0].values[0].array.size, network.config.vocabulary_size
    probabilities = _numbers(walkthrough, "probabilities")
    return (
        row(*vectors, title=f"At “{label}”: {width} channels, of which the first {SHOWN_CHANNELS}"),
        row(
            _table(walkthrough, names, vocabulary),
            BarsPicture(title="Probability", labels=names, series={"": probabilities[-1]}, high=1.0),
            title=f"Times the matrix to the vocabulary: {vocabulary:,} logits, of which the {CANDIDATES} largest",
            question=ask_largest(
                "Which of these does the model find likeliest?",
                dict(sorted(zip(names, probabilities[-1].tolist(), strict=True))),
            ),
        ),
        row(_verdict(network, walkthrough)),
    )


def _numbers(walkthrough: PredictionWalkthrough, name: str) -> list[torch.Tensor]:
    """The values of a step."""
    step = next(step for step in walkthrough.steps if step.name == name)
    return [torch.tensor(value.array) for value in step.values]


def _channels(step: WalkthroughStep) -> MatrixPicture:
    numbers = torch.tensor(step.values[-1].array)
    length = f"length {float(numbers.norm()):.3g}, mean {float(numbers.mean()):.2g}".replace("-", "−")
    return MatrixPicture(
        title=step.description.title,
        values=numbers[None, :SHOWN_CHANNELS],
        column_axis="channel",
        before="" if step.name == OF_VECTORS[0] else "→",
        note=length,
    )


def _table(walkthrough: PredictionWalkthrough, names: tuple[str, ...], vocabulary: int) -> TablePicture:
    logits, powers, total, probabilities = _numbers(walkthrough, "probabilities")
    columns = (each.tolist() for each in (logits, powers, probabilities))
    return TablePicture(
        columns=("token", "logit", "e^(logit − largest)", "probability"),
        rows=tuple(zip(names, *columns, strict=True)),
        digits=3,
        note=f"All {vocabulary:,} numbers of the third column add up to {float(total):.4g}; each is divided by that.",
    )


def _verdict(model: Transformer, walkthrough: PredictionWalkthrough) -> Verdict:
    *parts, logits = _numbers(walkthrough, "logits")
    total = float(sum(parts))
    assert isinstance(model.output_head, PredictionHead)
    weight = model.output_head.projection.weight
    words = " plus its bias" if len(parts) > 1 else ""
    tied = " W is the embedding matrix, transposed." if weight.data_ptr() == model.embedding.weight.data_ptr() else ""
    return Verdict(
        text=f"Checked for the best token: its column of W times the vector{words} is {total:.4f}; its logit is "
        f"{float(logits[0]):.4f}.{tied}",
        good=abs(total - float(logits[0])) < 1e-2 * max(1.0, abs(total)),
    )


LAST_STEPS = Screen(
    title="The last steps: from a vector to a word",
    lesson=(
        "After the last layer a token's vector is normed once more and compared with the vector of every token of the "
        "vocabulary: a dot product each, the logits. Softmax makes probabilities of them."
    ),
    controls={
        "model": ModelControl(default="stories-causal", needs="predicts-tokens"),
        "text": TextControl(title="Sentence", default="The little dog ran to the"),
    },
    compute=last_steps,
    formulas=(r"p = \mathrm{softmax}(W\, \mathrm{norm}(x) + b)",),
    code=(LanguageModelHead, MaskedLanguageModelHead),
    explore=link("model", "text", fixed={"tab": "walkthrough", "step": "last-layer"}),
)
