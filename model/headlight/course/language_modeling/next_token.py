"""Next-token training: the targets are the tokens moved by one; and how any word fares as a prediction."""

from __future__ import annotations

import torch

from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl, TextControl
from headlight.course.pictures import BarsPicture, Question, TablePicture, TokensPicture, Verdict, row, verdict_row
from headlight.course.questions import ask_nearest
from headlight.course.screen import Answer, Screen, link
from headlight.course.sentences import sentence_batch, target_loss, token_labels, value
from headlight.errors import InputError
from headlight.tracing.run import prediction_positions, run

SHOWN = 10


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


def any_word(model: Checkpoint, text: str, word: str) -> Answer:
    """The best predictions, and the rank and probability of the word that was named."""
    network, tokenizer = model.model, model.tokenizer
    trace = run(network, tokenizer, text, keep=("logits",))
    places = prediction_positions(network, tokenizer, trace.text)
    if not places:
        raise InputError("This model fills masks, and the sentence has none. Write [MASK] for a word.")
    probabilities = value(trace, "logits")[places[0]].softmax(-1)
    pieces = word_pieces(model, word)
    rank = int((probabilities > probabilities[pieces[0]]).sum()) + 1
    best = probabilities.topk(min(SHOWN, len(probabilities)))
    names = tuple(tokenizer.stripped_token_text(token) for token in best.indices.tolist())
    name = tokenizer.stripped_token_text(pieces[0])
    part = f" (it is {len(pieces)} tokens; this is its first)" if len(pieces) > 1 else ""
    return (
        row(
            Verdict(
                text=f"“{name}”{part} is number {rank:,} of {len(probabilities):,}, with a probability of "
                f"{float(probabilities[pieces[0]]):.2%}. Its loss would be "
                f"{-float(probabilities[pieces[0]].log()):.2f} nats."
            ),
            question=Question(
                f"How many words does this model find likelier than “{name}”?",
                ("none", f"1 to {SHOWN - 1}", f"{SHOWN} or more"),
                0 if rank == 1 else 1 if rank <= SHOWN else 2,
            ),
        ),
        row(
            BarsPicture(
                title="What the model would say",
                labels=(*names, *(() if rank <= len(names) else (f"{name} (number {rank:,})",))),
                series={
                    "": [*best.values.tolist(), *([] if rank <= len(names) else [float(probabilities[pieces[0]])])]
                },
                digits=4,
            )
        ),
    )


def word_pieces(model: Checkpoint, word: str) -> tuple[int, ...]:
    """The tokens of a word as it stands within a text: with a space in front, where the tokenizer keeps it."""
    ids = model.tokenizer.encode(f" {word.strip()}", add_special_tokens=False).ids
    if not ids:
        raise InputError(f"The tokenizer makes nothing of {word[:30]!r}. Type another word.")
    return ids


ANY_WORD = Screen(
    title="How does any word fare?",
    lesson=(
        "A model gives a probability to every token that it knows, not only to the best. Name a word, and see its "
        "rank: “The cat sat on the mat” is what people expect, and not what this small model would have said."
    ),
    controls={
        "model": ModelControl(default="stories-masked", needs="predicts-tokens"),
        "text": TextControl(title="Sentence", default="The cat sat on the [MASK]."),
        "word": TextControl(title="Word", default="mat", longest=40),
    },
    compute=any_word,
    formulas=(r"\mathrm{rank} = 1 + \sum_t [\,p_t > p_{\mathrm{word}}\,]",),
    code=(any_word, word_pieces),
    explore=link("model", "text"),
)
