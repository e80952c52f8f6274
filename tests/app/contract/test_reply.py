"""Replies to the browser are small and can be decoded."""

from typing import ClassVar

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headlight_app.contract.reply import Reply, answer_type, decode_reply
from headlight_app.contract.request import Answer, QuestionRequest
from tests.app.asking import unpack


class Told(Answer, frozen=True, kw_only=True):
    words: dict[str, str | int | None]


class Asked(QuestionRequest[Told], frozen=True, kw_only=True):
    route: ClassVar[str] = "asked"


class AskedAgain(Asked, frozen=True, kw_only=True):
    route: ClassVar[str] = "asked_again"


texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(texts, texts | st.integers(-(2**53), 2**53) | st.none()), st.binary(max_size=50))
def test_an_encoded_reply_is_decoded_to_itself_and_its_numbers_are_aligned(
    words: dict[str, str | int | None], numbers: bytes
) -> None:
    encoded = Reply(Told(words=words), numbers).encode()
    found = decode_reply(Told, encoded)
    assert (found.answer.words, found.numbers) == (words, numbers)
    assert unpack(encoded) == ({"words": words}, numbers)
    assert (len(encoded) - len(numbers)) % 4 == 0


def test_a_number_of_numpy_travels_as_a_number() -> None:
    assert unpack(Reply(Told(words={"a": np.int64(3)})).encode())[0] == {"words": {"a": 3}}  # type: ignore[dict-item]


def test_a_request_knows_the_kind_of_its_answer_also_where_it_inherits_it() -> None:
    assert answer_type(Asked) is Told and answer_type(AskedAgain) is Told
