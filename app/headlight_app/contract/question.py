"""A question to a model: the model, its variant, its input, and the edits."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

UNCHANGED = ""  # the value of a part that stays as trained
DEVICES = ("auto", "cpu", "cuda", "mps")
OWN_IMAGE_PREFIX = "own-"  # begins the names of visitors' own pictures
IMAGE_GONE = "This file is no longer here: uploads are kept only for a while. Choose it again."
MAX_POSITION = 2**31 - 1


def one_of(names: Iterable[str]) -> Meta:
    """An annotation for a field: its value is one of these names."""
    listed = tuple(names)
    description = "one of " + ", ".join(name or "nothing" for name in listed)
    return Meta(pattern=rf"\A({'|'.join(map(re.escape, listed))})\Z", description=description)


Position = Annotated[int, Meta(ge=0, le=MAX_POSITION, description="a whole number from 0, a position")]
Index = Annotated[int, Meta(ge=0, le=1_000_000, description="a whole number from 0")]
NumberOrUnset = Annotated[int, Meta(ge=-1, le=MAX_POSITION, description="a whole number from 0, or -1 for none")]
Name = Annotated[str, Meta(max_length=4_000)]  # of a model (which may be a path) or of one of its parts
Text = Annotated[str, Meta(max_length=1_000_000)]  # more than any model reads; the model reports a too long text
Edits = Annotated[tuple[Annotated[str, Meta(max_length=100_000)], ...], Meta(max_length=10_000)]
Positions = Annotated[tuple[Position, ...], Meta(max_length=1_000_000)]
Device = Annotated[str, one_of(DEVICES)]
Flag = Annotated[str, one_of(("", "1"))]
MEASURES = {
    "": "attention weight",
    "moved": "share of the head's output: weight × length of its projected value (Kobayashi et al. 2020)",
}


class Variant(Struct, frozen=True, forbid_unknown_fields=True):
    """The parts that replace a model's own, by their registry names; an empty one stays as trained.

    `masks` joins names by "+", `scale` is "on" or "off".
    """

    masks: Text = UNCHANGED
    positional_encoding: Name = UNCHANGED
    attention_function: Name = UNCHANGED
    scale: Annotated[str, one_of(("", "on", "off"))] = UNCHANGED
    pooling: Name = UNCHANGED

    def __bool__(self) -> bool:
        """Whether any part is replaced."""
        return self != AS_TRAINED


AS_TRAINED = Variant()


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings that determine an answer, besides model and texts. `image` is a picture's name; empty is the first.

    `text_pair` is the second text for a model of pairs, read with the text (or with the source); empty for none.
    `chat` is "1" if the text is a chat, whose messages the model's chat template turns into what the model reads.

    `patch_from` is the text of run B, from which edits such as `decoder.2.residual[5]=from:B[3]` take values; for a
    model that reads only images, it is the name of a picture.
    `measure` is the quantity that attention pictures show; see MEASURES.
    """

    image: Name = ""
    text_pair: Text = ""
    chat: Flag = ""
    variant: Variant = AS_TRAINED
    device: Device = "auto"
    measure: Annotated[str, one_of(MEASURES)] = ""
    edits: Edits = ()
    patch_from: Text = ""
    masked_positions: Positions = ()


class Question(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a model computes: equal questions have equal answers."""

    model: Name
    text: Text = ""
    source: Text = ""

    @property
    def is_patched(self) -> bool:
        """Whether an edit takes a value from the run of another text."""
        return any("=from:" in edit for edit in self.edits)

    @property
    def without_input(self) -> Question:
        """The question of the model and its variant alone: no text, image or source, and nothing that changes a run."""
        return replace(
            self,
            text="",
            text_pair="",
            chat="",
            source="",
            image="",
            edits=(),
            patch_from="",
            masked_positions=(),
        )

    @property
    def as_trained(self) -> Question:
        """The same input to the model as it was trained: no edit, no part replaced."""
        return replace(self, variant=AS_TRAINED, edits=(), patch_from="")


QUESTION_FIELDS = Question.__struct_fields__
