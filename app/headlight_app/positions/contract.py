"""The request of the Positions page, besides its views."""

from __future__ import annotations

from typing import ClassVar

from headlight_app.contract.question import NumberOrUnset
from headlight_app.contract.request import Answer, QuestionRequest
from headlight_app.contract.state import Label


class EncodingCodeAnswer(Answer, frozen=True, kw_only=True):
    """The code of a positional encoding, and the commands that measured the losses of all."""

    code: str
    commands: tuple[str, ...]


class EncodingCodeRequest(QuestionRequest[EncodingCodeAnswer], frozen=True, kw_only=True):
    """Requests the code of the encoding of a stack, and of a layer if layers differ, as a State names them."""

    route: ClassVar[str] = "encoding_code"
    is_http: ClassVar[bool] = False

    attention: Label = ""
    layer: NumberOrUnset = -1
