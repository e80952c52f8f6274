"""Tasks: a row for each output head with the meaning of its logits, their positions, and the words for them.

All other code decides by these rows, not by the name of an output head, what a model can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from headlight.config import Config
from headlight.errors import ConfigError
from headlight.registry import Exercise, Registry


@dataclass(frozen=True)
class Example:
    """A text to start with, and one line on what to look at; `source` is the text of an encoder-decoder's encoder.

    `sort` is the head metric (or "layer") whose order puts the heads of this line first; if the line is about one token
    that looks at another, they are `query` and `key`.
    """

    text: str
    source: str = ""
    hint: str = ""
    sort: str = "layer"
    query: str = ""
    key: str = ""


@dataclass(frozen=True)
class Task:
    """The meaning of the logits of one output head.

    `candidates` are the possible answers: the vocabulary's tokens, the config's labels, or nothing. `whole_text`: a
    text has one row of logits instead of one per token. `fills_masks`: the relevant answers are those at mask tokens.
    `continues_text`: the last token's answer can be appended. `writes_frames`: the answers of all frames of a sound
    together are its transcript. `title` is shown on a model's card, `prediction_title` and `preposition` before an
    answer and its token ("Next token", "after "; without a token for answers to the whole text). `no_generation`
    completes "This model ..." if it generates nothing, `no_prediction` is the sentence if it never predicts. `exercise`
    is about its answers.
    """

    title: str
    candidates: Literal["tokens", "labels", "none"]
    whole_text: bool = False
    fills_masks: bool = False
    continues_text: bool = False
    writes_frames: bool = False
    prediction_title: str = ""
    preposition: str = "at "
    no_generation: str = ""
    no_prediction: str = ""
    examples: tuple[Example, ...] = ()
    exercise: Exercise | None = None

    @property
    def predicts(self) -> bool:
        """Whether the model has logits."""
        return self.candidates != "none"

    @property
    def predicts_tokens(self) -> bool:
        """Whether the logits are over the vocabulary."""
        return self.candidates == "tokens"

    @property
    def predicts_labels(self) -> bool:
        """Whether the logits are over the config's labels."""
        return self.candidates == "labels"

    @property
    def generates(self) -> bool:
        """Whether the model can extend a text, or fill its masks, token by token."""
        return self.continues_text or self.fills_masks

    def prediction_positions(self, ids: Sequence[int], mask_id: int | None) -> tuple[int, ...]:
        """The positions of the relevant answers: all mask tokens, else the last token."""
        if not self.fills_masks:
            return (len(ids) - 1,)
        return tuple(position for position, token in enumerate(ids) if token == mask_id)


def task_of(config: Config) -> Task:
    """The task of a model's output head."""
    return TASKS[config.output_head]


def require_token_task(config: Config) -> None:
    """Raise ConfigError unless the model predicts tokens of its vocabulary."""
    if not task_of(config).predicts_tokens:
        raise ConfigError(f"This model predicts no tokens: it {task_of(config).no_generation}.")


def has_number_labels(config: Config) -> bool:
    """Whether all labels are numbers, which have an order, unlike names."""
    return all(label.isdecimal() for label in config.labels)


def task_exercise(config: Config) -> Exercise | None:
    """A question for a class about the answers of a model; if its labels are numbers, the question is about sorting."""
    task = task_of(config)
    sorts = task.predicts_labels and not task.whole_text and has_number_labels(config)
    return _SORTING_EXERCISE if sorts else task.exercise


def label_text(config: Config, index: int) -> str:
    """The name of a label; "label 7" if the config has no names."""
    return config.labels[index] if index < len(config.labels) else f"label {index}"


TRANSLATION_EXAMPLES = (
    Example("", "The house is small."),
    Example("", "I read the letter again this morning."),
    Example("", "Where do the birds go in winter?"),
)
_NEXT_TOKEN_EXAMPLES = (
    Example(
        "Once upon a time there was a little",
        hint="Heads that look one token back draw a stripe beside the diagonal; order them by “Previous token”.",
        sort="previous",
    ),
    Example(
        "Tom gave the ball to Anna because she asked",
        hint="A pronoun: point at “she” and see which heads lead back to Anna, and which to Tom.",
        query="she",
        key="Anna",
    ),
    Example(
        "The birds in the tall tree",
        hint="Subject and verb: “tree” is nearest, yet “were” ranks before “was”. Which heads look at “birds”?",
        query="tree",
        key="birds",
    ),
    Example(
        "Anna and Ben had a red ball. One day Anna and",
        hint="Induction: at the second “and” the first of these heads look at Ben, who followed the first one.",
        sort="induction",
    ),
    Example(
        '"I want to go home',
        hint="Quotes that close: the first guess ends what was said. Which heads look at the mark that opened it?",
        query="home",
        key='"',
    ),
)
_MASKED_EXAMPLES = (
    Example(
        "The cat sat on the [MASK].",
        hint="Both sides count: the guess must fit the words before it, and the full stop.",
    ),
    Example(
        "She cut the bread with a [MASK].",
        hint="Point at [MASK]: which heads look at “cut”, which at “bread”? Mask those words, too.",
        query="[MASK]",
        key="cut",
    ),
    Example(
        "The boy was tired, so [MASK] went to bed.",
        hint="A pronoun to fill in: change “boy” to “girl” and see which heads carry it here.",
        query="[MASK]",
        key="boy",
    ),
    Example("The dogs [MASK] very hungry.", hint="Subject and verb: make it one dog, and “were” gives way to “was”."),
    Example(
        "She [MASK] the bread with a knife.",
        hint="The same from the other end: what comes after decides, and only a model that looks ahead can know.",
    ),
)
_WHOLE_TEXT_EXAMPLES = (
    Example(
        "The film was long, but I would watch it again tomorrow.",
        hint="A turn at “but”: delete what follows it and see how the labels change, and which heads looked there.",
    ),
    Example(
        "The food was not bad at all.",
        hint="Negation: which heads look from “bad” to “not”? Leave the word out and compare.",
        query="bad",
        key="not",
    ),
    Example("When does the next train leave?", hint="A question: does its mark, or its first word, get the attention?"),
)
_TOKEN_LABEL_EXAMPLES = (
    Example(
        "Anna Berg moved from Oslo to work for the Red Cross.",
        hint="Names of several words: point at “Cross” and see which heads look at “Red”.",
        query="Cross",
        key="Red",
    ),
    Example(
        "They can fish from the old can.",
        hint="The same word twice: at which neighbours do heads look to tell the first “can” from the second?",
    ),
)
_PLAIN_EXAMPLES = (
    Example("Tom gave the ball to Anna because she asked", hint="Point at “she”: which heads lead back to Anna?"),
    Example(
        "Anna and Ben had a red ball. One day Anna and Ben",
        hint="Words that come twice: which heads look from the second of them to the first?",
    ),
)
_SORTING_EXERCISE = Exercise(
    "Which number belongs in the place of each token when they are sorted? Which tokens must it look at to know?",
    "Compare with what the model finds likeliest. To know a place, a token must compare itself with all others: count "
    "how many are smaller.",
)


TASKS: Registry[Task] = Registry(
    "task of an output head",
    {
        "none": Task(
            "Attention only",
            "none",
            no_generation="ends without a head, so it writes nothing",
            no_prediction="This model ends without a head, so it predicts nothing.",
            examples=_PLAIN_EXAMPLES,
        ),
        "language-model": Task(
            "Continues texts",
            "tokens",
            continues_text=True,
            prediction_title="Next token",
            preposition="after ",
            examples=_NEXT_TOKEN_EXAMPLES,
            exercise=Exercise(
                "Which word would you write next? Name three, then say on which words of the text your guess rests.",
                "Compare with what the model finds likeliest. A good guess rests on few words, and "
                "some head should look "
                "at them from the last token.",
            ),
        ),
        "masked-language-model": Task(
            "Fills masks",
            "tokens",
            fills_masks=True,
            prediction_title="Masked token",
            examples=_MASKED_EXAMPLES,
            exercise=Exercise(
                "Which word fits the mask? Name three, then say which words before and after it decide.",
                "Compare with what the model finds likeliest. It may use both sides, and some head "
                "should look from the "
                "mask at the deciding words.",
            ),
        ),
        "ctc": Task(
            "Writes down speech",
            "tokens",
            writes_frames=True,
            prediction_title="Character",
            no_generation="names a character for each frame of a sound; it writes nothing more",
            examples=(Example(""),),
        ),
        "sequence-classifier": Task(
            "Labels texts",
            "labels",
            whole_text=True,
            prediction_title="Label",
            preposition="of the whole text",
            no_generation="gives a text one of its labels; it writes nothing",
            examples=_WHOLE_TEXT_EXAMPLES,
            exercise=Exercise(
                "Which label would you give this text? Name the one word whose change would change your answer.",
                "Compare with what the model finds likeliest, then change that word on the page and "
                "see whether it agrees.",
            ),
        ),
        "token-classifier": Task(
            "Labels tokens",
            "labels",
            prediction_title="Label",
            preposition="of ",
            no_generation="gives each token one of its labels; it writes nothing",
            exercise=Exercise(
                "Which label would you give each word? Mark the one that you find hardest, and say why.",
                "Compare with what the model finds likeliest. Hard words are those whose label "
                "depends on their neighbours.",
            ),
            examples=_TOKEN_LABEL_EXAMPLES,
        ),
    },
)
