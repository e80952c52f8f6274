"""The route behind the Generate page: each answer is what the model says, wherever one comes from."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from app.state.state import Question
from app.state.url import decode_generated, decode_sampling, encode_generated, encode_sampling
from app.ui.wire_format import unpack
from app.worker.open_models import open_checkpoint
from app.worker.prefix_cache import PrefixCache
from model import SamplingConfig, TextGenerator, fill_mask, generate, run
from tests.app.conftest import CONTEXT

TEXT = "the cat sat"
GREEDY = {"temperature": 0}


def ask(client: TestClient, **body: Any) -> tuple[dict[str, Any], np.ndarray]:
    headers = {"Content-Type": "application/json"}
    meta, numbers = unpack(client.post("/api/generate", content=json.dumps(body), headers=headers).content)
    return meta, np.frombuffer(numbers, "<f4")


def steps(client: TestClient, count: int, **body: Any) -> list[dict[str, Any]]:
    """Several steps, each with what the one before chose."""
    written: list[list[int]] = []
    made = []
    for _ in range(count):
        meta, _ = ask(client, generated=written, **body)
        assert "error" not in meta, meta
        made.append(meta)
        written.append([meta["position"], meta["chosen"]])
    return made


def test_steps_are_those_of_generate(client: TestClient) -> None:
    model, tokenizer = open_checkpoint("next").model, open_checkpoint("next").tokenizer
    rule = {"temperature": 0.7, "top_k": 20, "top_p": 0.9, "seed": 4}
    made = steps(client, 6, model="next", text=TEXT, sampling=rule)
    wanted = generate(model, tokenizer, TEXT, steps=6, temperature=0.7, top_k=20, top_p=0.9, seed=4)
    assert [meta["chosen"] for meta in made] == [step.chosen_token for step in wanted]
    assert [meta["tokens_read"] for meta in made] == [made[0]["length"], 1, 1, 1, 1, 1]


def test_candidates_have_their_shares_of_the_whole_vocabulary_and_their_chances(client: TestClient) -> None:
    meta, _ = ask(client, model="next", text=TEXT, sampling={"temperature": 0.5, "top_k": 5, "seed": 2})
    tokenizer = open_checkpoint("next").tokenizer
    probabilities = run(open_checkpoint("next").model, tokenizer, TEXT)["logits"][-1].astype(float)
    shares = np.exp(probabilities) / np.exp(probabilities).sum()
    draw = SamplingConfig(0.5, 5, None, 2).sample(probabilities, 0)
    listed = {item["id"]: item for item in meta["candidates"]}
    assert set(np.argsort(-shares)[:12]) <= listed.keys()
    for token, item in listed.items():
        assert item["probability"] == pytest.approx(shares[token], rel=1e-4)
        assert item["sampling_probability"] == pytest.approx(draw.probabilities[token], rel=1e-4)
        assert item["text"] == tokenizer.token_text(token)
    assert (meta["chosen"], meta["random_number"], meta["kept_count"]) == (draw.chosen, draw.random_number, 5)
    assert meta["rank"] == 1 + int((shares > shares[draw.chosen]).sum())


@pytest.mark.parametrize("remember", [True, False])
def test_the_numbers_are_the_row_that_asked_whatever_was_remembered(client: TestClient, remember: bool) -> None:
    made = steps(client, 3, model="next", text=TEXT, sampling=GREEDY, use_cache=remember)
    written = [[meta["position"], meta["chosen"]] for meta in made]
    meta, numbers = ask(client, model="next", text=TEXT, sampling=GREEDY, generated=written, use_cache=remember)
    writer = TextGenerator.from_text(open_checkpoint("next").model, open_checkpoint("next").tokenizer, TEXT)
    step, _ = writer.step([token for _, token in written])
    (grid,) = meta["attention_groups"]
    rows = numbers.reshape(grid["layers"], grid["heads"], grid["columns"])
    np.testing.assert_allclose(rows, step.attention()[:, :, -1], atol=1e-5)
    assert meta["tokens_read"] == (1 if remember else meta["length"])


def test_a_branch_reads_only_what_is_new(client: TestClient) -> None:
    made = steps(client, 5, model="next", text="she gave the ball", sampling=GREEDY)
    first = [made[0]["position"], made[0]["chosen"]]
    other = next(item["id"] for item in made[1]["candidates"] if item["id"] != made[1]["chosen"])
    branch, _ = ask(client, model="next", text="she gave the ball", generated=[first, [made[1]["position"], other]])
    assert branch["tokens_read"] == 1
    back, _ = ask(client, model="next", text="she gave the ball", generated=[first], sampling=GREEDY)
    assert back["tokens_read"] == 1 and back["chosen"] == made[1]["chosen"]


def test_what_is_kept_of_each_layer_is_told(client: TestClient) -> None:
    meta = steps(client, 2, model="next", text=TEXT)[-1]
    assert [layer["tokens"] for layer in meta["cache"]["layers"]] == [meta["length"]] * 2
    assert all(layer["bytes"] == 4 * meta["length"] * (4 + 4) * 4 for layer in meta["cache"]["layers"])
    assert meta["cache"]["heads"] == 4


@pytest.mark.parametrize(
    ("model", "choices"),
    [
        ("next", {"masks": "none"}),
        ("next", {"edits": ["decoder.0.residual[0:2]=mean"]}),
        ("masked", {"masked_positions": [1]}),
    ],
)
def test_where_nothing_is_kept_the_page_is_told_why(client: TestClient, model: str, choices: dict[str, Any]) -> None:
    meta, _ = ask(client, model=model, text=TEXT, **choices)
    assert not meta["cache"]["layers"]
    assert meta["cache"]["reason"].endswith(".")


def test_masks_are_filled_as_fill_does(client: TestClient) -> None:
    made = steps(client, 3, model="masked", text="the cat sat on the mat", masked_positions=[1, 2, 5], sampling=GREEDY)
    model, tokenizer = open_checkpoint("masked").model, open_checkpoint("masked").tokenizer
    filled: dict[int, int] = {}
    for meta in made:
        step = fill_mask(
            model,
            tokenizer,
            "the cat sat on the mat",
            masked_positions=(1, 2, 5),
            filled=filled,
            sampling=SamplingConfig(temperature=0.0),
        )
        assert (meta["position"], meta["chosen"]) == (step.position, step.chosen_token)
        filled[step.position] = step.chosen_token
    assert set(filled) == {1, 2, 5}
    written = [list(pair) for pair in filled.items()]
    meta, _ = ask(client, model="masked", text="the cat sat on the mat", masked_positions=[1, 2, 5], generated=written)
    assert meta["done"]
    assert not any(token["text"] == "[MASK]" for token in meta["tokens"]["text"])


def test_an_encoder_decoder_grows_its_target_over_the_source(client: TestClient) -> None:
    made = steps(client, 3, model="both", text="", source="the dog lay on the rug", with_tokens=True)
    assert [meta["length"] for meta in made] == [1, 2, 3]
    names = [[grid["name"] for grid in meta["attention_groups"]] for meta in made]
    assert names == [["decoder.self", "decoder.cross"]] * 3
    assert made[0]["attention_groups"][1]["columns"] == len(made[0]["tokens"]["source"])


def test_tokens_come_when_they_are_asked_for(client: TestClient) -> None:
    silent, _ = ask(client, model="next", text=TEXT)
    assert silent["tokens"] is None
    meta, _ = ask(client, model="next", text=TEXT, generated=[[0, 70]], with_tokens=True)
    pieces = [token["text"] for token in meta["tokens"]["text"]]
    assert "".join(pieces[1:-1]) == TEXT and pieces[-1] == open_checkpoint("next").tokenizer.token_text(70)


def test_a_custom_mask_goes_on_and_says_how(client: TestClient) -> None:
    first, _ = ask(client, model="next", text="the", masks="custom:10/11")
    if first.get("error"):
        pytest.fail(first["error"])
    second, _ = ask(client, model="next", text="the", masks="custom:10/11", generated=[[2, 5]])
    assert len(first["notes"]) == 1 and "not trained this way" in first["notes"][0]
    assert "holds among the tokens of the prompt" in second["notes"][1]


def test_changes_that_are_in_force_are_said(client: TestClient) -> None:
    edit = "decoder.1.self.weights[3]=set:0"
    plain, _ = ask(client, model="next", text=TEXT)
    edited, _ = ask(client, model="next", text=TEXT, edits=[edit])
    assert not plain["notes"]
    assert edit in edited["notes"][0]
    assert [item["probability"] for item in edited["candidates"]] != [
        item["probability"] for item in plain["candidates"]
    ]


def test_a_space_that_no_piece_says_is_told(client: TestClient) -> None:
    meta, _ = ask(client, model="masked", text="the caton [MASK] mat", with_tokens=True)
    text = "".join(
        " " * token["space_before"] + token["text"] for token in meta["tokens"]["text"] if not token["special"]
    )
    assert text.split() == ["the", "caton", "mat"], "a word that is cut has none inside"
    plain, _ = ask(client, model="next", text="the cat", with_tokens=True)
    assert not any(token["space_before"] for token in plain["tokens"]["text"])


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"model": "mood", "text": "cat"}, "no next-token head"),
        ({"model": "next", "text": ""}, "empty"),
        ({"model": "next", "text": "cat " * CONTEXT}, "at most"),
        ({"model": "next", "text": "cat", "generated": [[1, 10**7]]}, "no token"),
        ({"model": "next", "text": "cat", "generated": [[1, -1]]}, "no token"),
        ({"model": "next", "text": "cat", "generated": "all"}, "expected pairs of a position and a token's number"),
        ({"model": "next", "text": "cat", "generated": [[1]]}, "generated[0] is [1]; expected a pair of a position"),
        ({"model": "next", "text": "cat", "generated": [[1, "x"]]}, "generated[0][1] is 'x'; expected a whole number."),
        ({"model": "next", "text": "cat", "sampling": {"temperature": -1}}, "temperature"),
        (
            {"model": "next", "text": "cat", "sampling": {"temperature": "hot"}},
            "temperature is 'hot'; expected a number",
        ),
        ({"model": "next", "text": "cat", "sampling": {"temperature": 10**400}}, "expected a number"),
        ({"model": "next", "text": "cat", "sampling": {"top_p": 2}}, "top_p"),
        ({"model": "next", "text": "cat", "sampling": {"top_k": -3}}, "top_k"),
        ({"model": "next", "text": "cat", "masked_positions": [1]}, "no mask token"),
        ({"model": "next", "text": "cat", "masks": "custom:1"}, "custom mask is 1 x 1"),
        ({"model": "masked", "text": "cat", "masked_positions": [1], "generated": [[2, 5]]}, "not masked"),
        ({"model": "both", "text": "cat"}, "empty"),
    ],
)
def test_what_cannot_be_written_gets_a_sentence(client: TestClient, body: dict[str, Any], said: str) -> None:
    meta, numbers = ask(client, **body)
    assert said in meta["error"]
    assert "Something went wrong" not in meta["error"]
    assert not len(numbers)


def test_the_context_ends_the_text(client: TestClient) -> None:
    text = "cat " * 100
    tokens = open_checkpoint("next").tokenizer.encode(text).ids[1:]
    room = CONTEXT - len(open_checkpoint("next").tokenizer.encode("cat").ids)
    written = [[place, token] for place, token in enumerate(tokens[:room])]
    full, _ = ask(client, model="next", text="cat", generated=written)
    assert full["position"] == full["context"] == CONTEXT
    over, _ = ask(client, model="next", text="cat", generated=[*written, [0, tokens[0]]])
    assert f"at most {CONTEXT}" in over["error"]


def test_pasts_give_the_oldest_away_and_keep_no_beginning_twice() -> None:
    writer = TextGenerator.from_text(open_checkpoint("next").model, open_checkpoint("next").tokenizer, TEXT)
    other = TextGenerator.from_text(
        open_checkpoint("next").model, open_checkpoint("next").tokenizer, TEXT, ["decoder.0.residual=scale:2"]
    )
    _, short = writer.step()
    _, longer = writer.step((5,), short)
    ids = (*writer.text.ids, 5)
    store = PrefixCache(budget=longer.bytes)
    store.store(writer, short)
    store.store(writer, longer)
    assert [held.prefix for held in store.entries] == [longer]
    known = store.longest_prefix(writer, ids)
    assert known is not None and known.ids == writer.text.ids, "one token is left to read"
    assert store.longest_prefix(other, ids) is None, "another edit is another past"
    assert store.longest_prefix(writer, (1, *ids)) is None
    store.store(other, other.step((6,))[1])
    assert [held.key[0] for held in store.entries] == [("decoder.0.residual=scale:2",)]


@given(st.floats(0, 5), st.integers(0, 500), st.floats(0.01, 1), st.integers(0, 2**53))
def test_a_link_restores_the_rule(temperature: float, top_k: int, top_p: float, seed: int) -> None:
    rule = SamplingConfig(round(temperature, 2), top_k or None, round(top_p, 2), seed)
    assert decode_sampling(encode_sampling(rule)) == rule


@given(st.text(max_size=20), st.lists(st.tuples(st.integers(0, 999), st.integers(0, 99_999)), max_size=9))
def test_a_link_restores_the_steps_of_its_own_text_only(text: str, pairs: list[tuple[int, int]]) -> None:
    question, written = Question("next", text), tuple(pairs)
    encoded = encode_generated(question, written)
    assert decode_generated(question, encoded) == written
    assert decode_generated(Question("next", text + "!"), encoded) == () or not written


@given(st.text(max_size=40))
def test_any_word_is_a_rule_and_steps(word: str) -> None:
    decode_sampling(word)
    assert isinstance(decode_generated(Question("next", "cat"), word), tuple)
