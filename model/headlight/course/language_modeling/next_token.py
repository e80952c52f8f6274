"""Next-token training: the targets are the tokens moved by one."""

from __future__ import annotations

import torch

from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import TablePicture, TokensPicture, row, verdict_row
from headlight.course.questions import ask_nearest
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import sentence_batch, target_loss, token_labels


@torch.inference_mode()
def shifted_targets(model: Checkpoint, text: str) -> Answer:
    """Each token of the sentence and its target, with the target's probability and loss."""
    network, tokenizer = model.model, model.tokenizer
    encoded, batch = sentence_batch(model, text)
    labels = token_labels(encoded)
    probabilities = network(batch.ids)[0, :-1].float().softmax(-1).cpu()
    wanted = batch.targets[0, :-1].cpu()
    of_target = probabilities[torch.arange(len(wanted)), wanted]
    best = [tokenizer.stripped_token_text(int(token)) for token in probabilities.argmax(-1)]
    rows = tuple(
        (f"{labels[at]}", labels[at + 1], float(p), -float(p.log()), best[at]) for at, p in enumerate(of_target)
    )
    right = sum(token == label for token, label in zip(best, labels[1:], strict=True))
    return (
        row(TokensPicture(title="What the model reads", tokens=labels[:-1])),
        row(
            TokensPicture(title="Targets: the same, moved by one", tokens=labels[1:], shades=of_target),
            question=ask_nearest(
                f"From how many predictions does training on these {len(labels)} tokens learn at once?",
                {"1, the last": 1} | {str(count): count for count in (len(labels) // 2, len(labels) - 1, len(labels))},
                len(rows),
            ),
        ),
        row(TablePicture(columns=("after", "target", "probability", "loss", "first guess"), rows=rows, digits=3)),
        verdict_row(
            f"One sentence, {len(rows)} tasks, all computed at once: the causal mask hides each target from its own "
            f"prediction. The mean loss is {target_loss(network, batch):.3f} nats; {right} first guesses are right."
        ),
    )


SHIFTED_TARGETS = Screen(
    title="Next-token training: the sentence is its own answer",
    lesson=(
        "The targets are the tokens themselves, moved by one place: at every token the model is asked for the next. No "
        "labels are needed. The shade of a target is the probability that the model gave it."
    ),
    controls={
        "model": ModelControl(default="stories-causal", needs="continues-texts"),
        "text": TextControl(title="Sentence", default="Once upon a time there was a little girl"),
    },
    compute=shifted_targets,
    formulas=(r"L = -\frac{1}{n} \sum_i \log p(t_{i+1} \mid t_1, \ldots, t_i)",),
    code=(shifted_targets, target_loss),
    explore=link("model", "text"),
)
