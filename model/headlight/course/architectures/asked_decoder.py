"""Questions for a decoder that continues texts: facts, which it does not know, and contents of a passage."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.block.last_steps import ask_rank
from headlight.course.cards import bits_per_token, card_section, card_table
from headlight.course.controls import CountControl, ModelControl, SeedControl, TextControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows, StateFields, link
from headlight.course.sentences import (
    continuation,
    rank_word,
    sentence_batch,
    target_loss,
    token_labels,
    value,
    word_pieces,
)
from headlight.errors import InputError
from headlight.generation.generate import generate
from headlight.questions.asking import ask_direction, ask_flip
from headlight.tracing.inputs import encode_input, token_tensor
from headlight.tracing.predictions import candidates
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.views.forms import bars
from headlight.views.kinds import HeatMapView, TableView, TokensView, Verdict
from headlight.views.rows import Row, row
from headlight.views.words import digits, percent

WRITTEN, TEMPERATURE, TOP_P = 24, 0.8, 0.95


def no_assistant(model: Checkpoint, prompt: str, answer: str, seed: int) -> ScreenRows:
    """The model's continuations, the rank of the true answer, and the training texts stated in its card."""
    written = (
        continuation(model, prompt, steps=WRITTEN, temperature=temperature, top_p=TOP_P, seed=seed).replace("\n", " ¶ ")
        for temperature in (0.0, TEMPERATURE)
    )
    return (
        row(
            *(f"{prompt} ▸{text}" for text in written),
            title="It continues, as a text of this kind would",
            text="After the mark ▸: first the likeliest token each time, then tokens drawn with the seed.",
        ),
        *_fact_rows(model, prompt, answer),
        *_card_rows(model, prompt),
    )


def _fact_rows(model: Checkpoint, prompt: str, answer: str) -> tuple[Row, Row]:
    trace = run(model.model, model.tokenizer, prompt, keep=("logits",))
    probabilities = value(trace, "logits")[-1].softmax(-1)
    ranked = rank_word(model, answer, probabilities)
    best = model.tokenizer.stripped_token_text(int(probabilities.argmax()))
    is_said = answer.strip().lower() in prompt.lower()
    part = f", or rather its first token “{ranked.name}”," if ranked.is_part else ""
    return (
        row(
            f"As the next word, “{answer.strip()}”{part} is number {ranked.rank:,} of {len(probabilities):,}, with a "
            f"probability of {digits(ranked.probability, 2)}; the first is “{best or 'a new line'}”.",
            title="The answer that you know",
            question=ask_rank(ranked),
        ),
        row(
            f"Its first guess is “{best or 'a new line'}”. It knows what its texts repeat, but no facts.",
            question=ask_flip(
                "Find something that it does know: change the prompt and the true answer until its first guess is that "
                "answer. The prompt must not contain it.",
                ranked.rank == 1 and not is_said,
                f"“{ranked.name}” is number {ranked.rank:,}; its first guess is “{best or 'a new line'}”.",
                (is_said, "The prompt contains the answer itself."),
                solution={"prompt": "The dog wagged its", "answer": "tail"},
                hints=("It has read stories for children.", "What does a dog in a story wag?"),
                because="It has learned by heart what stories say again and again, for example that a dog wags its "
                "tail.",
            ),
        ),
    )


def _card_rows(model: Checkpoint, prompt: str) -> ScreenRows:
    """The card's statements on training and limits, and its held-out losses beside that of the learner's prompt."""
    card = model.card
    if not card.strip():
        return ("This model has no card, so its training texts are unknown.",)
    rows = list[Row]()
    if limits := card_section(card, "Limits"):
        rows.append(row(" ".join(limits.split()), title="What its card says about its limits"))
    trained = card_table(card_section(card, "Training"))
    if trained:
        rows.append(row(TableView(trained[0], trained[1:]), title="What it has read"))
    measured = bits_per_token(card)
    return (*rows, _held_out_row(model, prompt, measured)) if measured else tuple(rows)


@torch.inference_mode()
def prompt_bits(model: Checkpoint, prompt: str) -> float:
    """The model's mean loss on the prompt, in bits per token."""
    _, batch = sentence_batch(model, prompt)
    return target_loss(model.model, batch) / math.log(2)


def _held_out_row(model: Checkpoint, prompt: str, measured: dict[str, float]) -> Row:
    numbers = {"your prompt": prompt_bits(model, prompt), **measured}
    return row(
        bars(
            "Loss in bits per token",
            numbers,
            note="The other bars are for texts held out from training; their numbers are from its card. A prompt is "
            "short, so its number says little by itself.",
        ),
        title="How well it predicts",
    )


NO_ASSISTANT = Screen(
    title="What these small models are not",
    lesson="A decoder continues texts: that is all it is trained for. Assistants are decoders, too, but a thousand "
    "times as large, trained on far more text, and then on questions with good answers. Ask this one something that "
    "you know, and read what it has learned from.",
    controls={
        "model": ModelControl(default="stories-causal", needs="continues-texts"),
        "prompt": TextControl("Prompt", "The capital of France is"),
        "answer": TextControl("The true answer", "Paris", longest=40),
        "seed": SeedControl(),
    },
    compute=no_assistant,
    formulas=(r"t_{n+1} \sim p(t \mid t_1, \ldots, t_n)",),
    code=(continuation, generate, prompt_bits),
    explore=link("model", text="prompt"),
    elsewhere={"generate": link("model", text="prompt", sampling=f"t{TEMPERATURE:g},p{TOP_P:g},s{{seed}}")},
)


SHOWN, MOST_QUESTIONS = 6, 6
WORD = re.compile(r"\w+(?:['’-]\w+)*")
PASSAGE = (
    "Ben has a blue kite and Anna has a red car. Ben hid his kite in the kitchen. Anna left her car on the beach, "
    "where a bird found it."
)
QUESTIONS = """Ben has a blue: kite
Anna left the car on the: beach
The car was found by a: bird
Anna played with her: car"""


@dataclass(frozen=True)
class AskedQuestion:
    """The beginning of a sentence, and the right answer, which completes it."""

    beginning: str
    right: str


@dataclass(frozen=True, eq=False)
class WordRanking:
    """Words and their probabilities as the continuation of a text; `best` is the likeliest of them."""

    words: tuple[str, ...]
    probabilities: Float[Tensor, " word"]

    @property
    def best(self) -> str:
        """The likeliest word."""
        return self.words[int(self.probabilities.argmax())]

    @property
    def shares(self) -> Float[Tensor, " word"]:
        """The probabilities as shares of their sum, as if no other word were possible."""
        return self.probabilities / self.probabilities.sum()


def question_answering(model: Checkpoint, passage: str, questions: str, shown: int) -> ScreenRows:
    """The answer to every question with and without the passage, and one of them in detail."""
    asked, words = parse_questions(questions), passage_words(passage)
    require_index(shown, len(asked), "question", "your list", first=1)
    read = [rank_words(model, f"{passage.strip()} {each.beginning}", words) for each in asked]
    unread = [rank_words(model, each.beginning, words) for each in asked]
    question = asked[shown - 1]
    trace = run(model.model, model.tokenizer, f"{passage.strip()} {question.beginning}", keep=("*.weights", "logits"))
    return (
        _table_row(asked, read, unread),
        _verdict(asked, read, unread),
        _words_row(model, trace, question, read[shown - 1]),
        *_heads_rows(model, trace, len(passage.strip()), read[shown - 1].best),
    )


def parse_questions(text: str) -> tuple[AskedQuestion, ...]:
    """Parses lines "beginning of a sentence: right answer". Raises InputError."""
    asked = []
    for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
        beginning, _, right = line.rpartition(":")
        if not (beginning.strip() and right.strip()):
            raise InputError(f"Line {number} has no answer. Write, for example, “Ben has a blue: kite”.")
        asked.append(AskedQuestion(beginning.strip(), right.strip()))
    if len(asked) > MOST_QUESTIONS:
        raise InputError(f"These are {len(asked)} questions; at most {MOST_QUESTIONS} are allowed.")
    return tuple(asked)


def passage_words(passage: str) -> tuple[str, ...]:
    """The words of a passage, each once. Raises InputError if there are fewer than two."""
    words = tuple(dict.fromkeys(WORD.findall(passage)))
    if len(words) < 2:
        raise InputError("The passage has fewer than two words, so there is nothing to choose from. Type more.")
    return words


@torch.inference_mode()
def rank_words(model: Checkpoint, text: str, words: tuple[str, ...]) -> WordRanking:
    """The probability of each word as the continuation of a text: the product over the word's tokens.

    All words are read in one batch, a row for each beginning of a word; padding to the right of a row does not change
    it, since the model is causal. Raises TextError for an invalid text, InputError for one that is too long.
    """
    ids = token_tensor(encode_input(model.model, model.tokenizer, text), model.model)[0]
    pieces = [word_pieces(model, word) for word in words]
    rows = {beginning: number for number, beginning in enumerate(dict.fromkeys(each[:-1] for each in pieces))}
    longest = max(map(len, rows))
    if len(ids) + longest > model.model.config.context_length:
        raise InputError(f"Passage and question have {len(ids)} tokens, too many for this model. Shorten them.")
    batch = torch.stack([torch.cat([ids, ids.new_tensor((*each, *[0] * (longest - len(each))))]) for each in rows])
    logs = model.model(batch)[:, len(ids) - 1 :].double().log_softmax(-1)
    chances = [sum(logs[rows[each[:-1]], at, token] for at, token in enumerate(each)) for each in pieces]
    return WordRanking(words, torch.stack([torch.as_tensor(chance) for chance in chances]).exp().float().cpu())


def _is_right(ranking: WordRanking, question: AskedQuestion) -> bool:
    return ranking.best.lower() == question.right.lower()


def _table_row(asked: tuple[AskedQuestion, ...], read: list[WordRanking], unread: list[WordRanking]) -> Row:
    rows = tuple(
        (
            f"{question.beginning} …",
            question.right,
            f"{'✓' if _is_right(ranking, question) else '✗'} {ranking.best} ({percent(ranking.shares.max(), 0)})",
            f"{'✓' if _is_right(other, question) else '✗'} {other.best} ({percent(other.shares.max(), 0)})",
        )
        for question, ranking, other in zip(asked, read, unread, strict=True)
    )
    columns = ("question", "right", "answer", "answer without the passage")
    return row(
        TableView(columns, rows),
        title="The likeliest word of the passage",
        text="Shares are among the words of the passage alone. For the last column the model chooses among the same "
        "words without having read the passage.",
        question=ask_direction(
            "Is the number of right answers without the passage lower or higher than after reading it?",
            sum(map(_is_right, unread, asked)) - sum(map(_is_right, read, asked)),
            1,
        ),
    )


def _verdict(asked: tuple[AskedQuestion, ...], read: list[WordRanking], unread: list[WordRanking]) -> Verdict:
    right, guessed = (sum(map(_is_right, rankings, asked)) for rankings in (read, unread))
    words = len(read[0].words)
    return Verdict(
        f"{right} of {len(asked)} right after the passage, {guessed} without it; a blind draw from the {words} words "
        f"is right once in {words} times. A small model that was trained to continue stories finds what it can repeat "
        "word for word. Ask for something that it would have to work out, such as who did something."
    )


def _words_row(model: Checkpoint, trace: Trace, question: AskedQuestion, ranking: WordRanking) -> Row:
    order = ranking.probabilities.argsort(descending=True)[:SHOWN].tolist()
    best = candidates(trace, model.tokenizer, count=SHOWN)
    return row(
        bars(
            "Only words of the passage",
            tuple(ranking.words[at] for at in order),
            ranking.shares[order],
            high=1.0,
            note=f"Together they have {percent(ranking.probabilities.sum())} of the probability.",
        ),
        bars(
            f"All {len(trace['logits'][-1]):,} tokens",
            tuple(each.token or "new line" for each in best),
            [each.probability for each in best],
            high=1.0,
        ),
        title=f"“{question.beginning} …”",
    )


def _heads_rows(model: Checkpoint, trace: Trace, length: int, word: str) -> tuple[Row, ...]:
    """How much each head looks from the last token at the answer, and the weights of the head that does so most."""
    stack = trace.config.stacks[-1]
    layers = range(trace.config.num_layers(stack))
    weights = torch.stack([value(trace, f"{stack}.{layer}.self.weights")[:, -1] for layer in layers])
    places = [match.span() for match in re.finditer(rf"\b{re.escape(word)}\b", trace.text.text[:length])]
    on_answer = torch.tensor(
        [any(a < end and b > first for first, end in places) for a, b in trace.text.offsets], dtype=torch.bool
    )
    looked = weights[..., on_answer].sum(-1)
    layer, head = divmod(int(looked.argmax()), looked.shape[1])
    strongest = weights[layer, head]
    return (
        row(
            HeatMapView(
                f"Weight of the last token on “{word}”",
                looked,
                rows=tuple(f"layer {layer}" for layer in layers),
                columns=tuple(map(str, range(looked.shape[1]))),
                column_axis="head",
                colours="weights",
            ),
            TokensView(
                f"Where head {head} of layer {layer} looks: {percent(looked.max(), 0)} on “{word}”",
                token_labels(trace.text),
                shades=strongest,
            ),
            title="Which heads look at the answer?",
        ),
    )


def _explore(model: str, passage: str, questions: str, shown: int) -> StateFields:
    asked = parse_questions(questions)
    return {"model": model, "text": f"{passage.strip()} {asked[min(shown, len(asked)) - 1].beginning}"}


QUESTION_ANSWERING = Screen(
    title="Answering questions about a text",
    lesson="A downstream task is what a pretrained model is used for afterwards, often with a new output head and some "
    "training on examples. In this way BERT learns to mark the words of a passage that answer a question. A decoder "
    "can be asked without any training: let the answer complete a sentence, and choose among the words of the passage.",
    controls={
        "model": ModelControl(default="stories-causal", needs="continues-texts"),
        "passage": TextControl("Passage", PASSAGE, longest=600, lines=3),
        "questions": TextControl("Questions, each “beginning of a sentence: answer”", QUESTIONS, longest=600, lines=4),
        "shown": CountControl("Question shown in detail", "1", 1, MOST_QUESTIONS),
    },
    compute=question_answering,
    formulas=(r"p(w) = \prod_i p(t_i \mid \text{text}, t_1 \ldots t_{i-1})",),
    code=(rank_words, passage_words),
    explore=_explore,
)
