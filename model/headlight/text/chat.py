"""Chats: messages that a checkpoint's own template turns into the text that its model was trained on.

A template is a stranger's program, which runs in a process of its own (`template_process`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from headlight.errors import TextError
from headlight.text.template_process import render_template

ROLES = ("system", "user", "assistant")
# Characters without a meaning, around each message while its place is found.
_BEGINNINGS, _END = range(0xF0000, 0x110000), "\ue000"
_MARKS = re.compile("[\ue000\U000f0000-\U0010ffff]")
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

    def render(self, chat: Chat) -> tuple[str, tuple[MessageSpan, ...]]:
        """The text of a chat, and where in it the messages are; if the model is to answer, it ends where it begins to.

        There are no spans if the template changes its messages. Raises TextError for a template that fails, needs too
        much time or memory, or refuses the chat.
        """
        is_answered = chat.messages[-1].role == "assistant"
        # As in `transformers`, tools and documents are always given, and none are.
        nothing = dict.fromkeys(("tools", "documents"))
        variables = {**self.special_tokens, **nothing, "add_generation_prompt": not is_answered}
        chats = [[message._asdict() for message in messages] for messages in (chat.messages, _marked(chat.messages))]
        text, with_marks = render_template(self.source, variables, chats)
        return text, _spans(text, with_marks, chat.messages)


def _marked(messages: Sequence[Message]) -> list[Message]:
    """The messages between marks; each begins with a mark of its own, since a template may change their order."""
    begun = zip(_BEGINNINGS, messages, strict=False)
    return [Message(role, f"{chr(mark)}{content}{_END}") for mark, (role, content) in begun]


def _spans(text: str, with_marks: str, messages: Sequence[Message]) -> tuple[MessageSpan, ...]:
    """The places of messages in a text, from the same text with marks around each message."""
    marks = [*_MARKS.finditer(with_marks)]
    places = [mark.start() - number for number, mark in enumerate(marks)]
    begun = [ord(mark[0]) - _BEGINNINGS.start for mark in marks[::2]]
    is_whole = sorted(begun) == [*range(len(messages))] and all(mark[0] == _END for mark in marks[1::2])
    if not is_whole or _MARKS.sub("", with_marks) != text:
        return ()
    ends = zip(begun, places[::2], places[1::2], strict=True)
    return tuple(MessageSpan(messages[number].role, start, end) for number, start, end in ends)
