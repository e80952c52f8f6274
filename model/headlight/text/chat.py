"""Chats: messages that a checkpoint's own template turns into the text that its model was trained on.

A template is a stranger's program in the language of Jinja2. It runs in Jinja2's sandbox, for at most MAX_SECONDS.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from time import thread_time
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import jinja2
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from headlight.errors import TextError, shortened

ROLES = ("system", "user", "assistant")
MAX_SECONDS = 1.0
MAX_CHARACTERS = 200_000  # of a chat's text
LARGEST_PRODUCT = 100_000  # of a repeated text or list, and of numbers to the power of others
_START, _END = "\ue000", "\ue001"  # characters without a meaning, around a message while its place is found
_TURN = re.compile(rf"^[ \t]*({'|'.join(ROLES)}):[ \t]*", re.MULTILINE)


class Message(NamedTuple):
    """A message of a chat, and who wrote it: one of ROLES."""

    role: str
    content: str


class Chat(NamedTuple):
    """The messages of a chat in order. The model's answer is to follow, unless the last one is the assistant's."""

    messages: tuple[Message, ...]

    @classmethod
    def from_text(cls, text: str) -> Chat:
        """The messages of a text, in which a line that starts with `system:`, `user:` or `assistant:` begins one.

        What stands before the first such line is a message of the user. Raises TextError for a text without a message.
        """
        first, *turns = _TURN.split(text)
        found = [("user", first), *zip(turns[::2], turns[1::2], strict=True)]
        messages = tuple(Message(role, content.strip()) for role, content in found if content.strip())
        if not messages:
            raise TextError("The chat has no message; type one, such as user: Hello.")
        return cls(messages)

    def to_text(self) -> str:
        """The messages as `from_text` reads them, if none of them has a line that begins one."""
        return "\n".join(f"{role}: {content}" for role, content in self.messages)


class MessageSpan(NamedTuple):
    """The characters of a chat's text that are a message of this role."""

    role: str
    start: int
    end: int


@dataclass(frozen=True)
class ChatTemplate:
    """A checkpoint's template, and the special tokens that it names (`bos_token`, `eos_token`)."""

    source: str
    special_tokens: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _compiled(self) -> jinja2.Template:
        """The template as a program, made once: a page renders it at each letter."""
        with _Deadline(MAX_SECONDS):
            return _environment().from_string(self.source)

    def render(self, chat: Chat) -> tuple[str, tuple[MessageSpan, ...]]:
        """The text of a chat, and where in it the messages are; if the model is to answer, it ends where it begins to.

        There are no spans if the template changes its messages. Raises TextError for a template that fails, takes too
        long, or refuses the chat.
        """
        is_answered = chat.messages[-1].role == "assistant"
        marked = [Message(role, f"{_START}{content}{_END}") for role, content in chat.messages]
        try:
            compiled = self._compiled
            with _Deadline(MAX_SECONDS):
                text, with_marks = (
                    compiled.render(
                        messages=[message._asdict() for message in messages],
                        add_generation_prompt=not is_answered,
                        **self.special_tokens,
                    )
                    for messages in (chat.messages, marked)
                )
        except _TooLongError as error:
            raise TextError(
                f"This model's chat template took longer than {MAX_SECONDS:.0f} s; it was stopped."
            ) from error
        except Exception as error:  # whatever a stranger's program raises
            raise TextError(f"This model's chat template fails at this chat: {shortened(str(error), 200)}") from error
        if len(text) > MAX_CHARACTERS:
            raise TextError(
                f"This model's chat template writes {len(text):,} characters; at most {MAX_CHARACTERS:,} are read."
            )
        return text, _spans(text, with_marks, chat.messages)


def _spans(text: str, with_marks: str, messages: Sequence[Message]) -> tuple[MessageSpan, ...]:
    """The places of messages in a text, from the same text with marks around each message."""
    if with_marks.replace(_START, "").replace(_END, "") != text or with_marks.count(_START) != len(messages):
        return ()
    found = []
    for number, (role, content) in enumerate(messages):
        start = [match.start() for match in re.finditer(_START, with_marks)][number] - 2 * number
        found.append(MessageSpan(role, start, start + len(content)))
    return tuple(found)


class _TooLongError(Exception):
    """The template runs for too long."""


class _Deadline:
    """Stops Python code of this thread at its next call, or the template at its next line, after some seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __enter__(self) -> None:
        self.before, self.until = sys.gettrace(), thread_time() + self.seconds
        sys.settrace(self._check)

    def __exit__(self, *error: object) -> None:
        sys.settrace(self.before)

    def _check(self, frame: FrameType, event: str, argument: object) -> Any:
        if thread_time() > self.until:
            raise _TooLongError
        return self._check if frame.f_code.co_filename == "<template>" else None  # Jinja2's own lines are many


class _Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, without products of any size."""

    intercepted_binops = frozenset(("*", "**"))

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        sizes = [len(value) if hasattr(value, "__len__") else abs(value) for value in (left, right)]
        if max(sizes, default=0) > LARGEST_PRODUCT or (operator == "**" and sizes[1] > 64):
            raise SecurityError(f"a product of {sizes[0]} and {sizes[1]} is too large.")
        return super().call_binop(context, operator, left, right)


class _Generation(Extension):
    """The block `generation`, by which a template marks what the model writes; it only stands for its contents."""

    def __init__(self, environment: jinja2.Environment) -> None:
        super().__init__(environment)
        self.tags = {"generation"}

    def parse(self, parser: Parser) -> list[Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _environment() -> _Sandbox:
    """What templates of `transformers` may use."""
    environment = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": _refuse, "strftime_now": _format_today}
    return environment


def _to_json(value: Any, ensure_ascii: bool = False, indent: int | None = None, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, **options)


def _refuse(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _format_today(wanted: str) -> str:
    return datetime.now().strftime(wanted)
