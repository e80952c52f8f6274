"""The input in the picture: the vectors that the first layer reads, and the positions."""

import numpy as np
import pytest

from headlight_app.inference.resolved_question import resolve
from tests.app.asking import ask_worker, make_question

TEXT = "the cat sat on the mat"


def vectors(**body: object) -> tuple[dict[str, object], np.ndarray, np.ndarray]:
    meta, numbers = ask_worker("input_vectors", model="next", text=TEXT, **body)
    embedding, positions = (tuple(meta["shapes"][name]) for name in ("embedding", "positions"))
    flat = np.frombuffer(numbers, "<f4")
    count = embedding[0] * embedding[1]
    return meta, flat[:count].reshape(embedding), flat[count:].reshape(positions)


@pytest.mark.parametrize(
    ("encoding", "places"),
    [("sinusoidal", "added"), ("rope", "rotated"), ("alibi", "scores"), ("none", "")],
)
def test_the_vectors_are_those_of_the_trace_and_positions_stand_where_they_enter(encoding: str, places: str) -> None:
    meta, embedding, positions = vectors(positional_encoding=encoding)
    question = make_question("next", TEXT, positional_encoding=encoding)
    resolved = resolve(question)
    assert embedding == pytest.approx(resolved.value("decoder.embedding"))
    assert meta["places"] == places and len(positions) == len(embedding)
    if places == "added":
        assert positions == pytest.approx(resolved.value("decoder.position_embedding"))
    if places == "rotated":
        angles = resolved.position_profile(len(positions), "decoder").angles
        assert angles is not None and positions == pytest.approx(np.sin(angles), abs=1e-5)
    if places == "scores":
        bias = resolved.position_profile(len(positions), "decoder").bias
        assert bias is not None and positions == pytest.approx(bias[0])


def test_an_edit_of_the_embedding_is_seen() -> None:
    _, embedding, _ = vectors(edits=["decoder.embedding[2]=set:0"])
    assert not embedding[2].any() and embedding[1].any()
