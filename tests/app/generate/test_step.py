"""The steps of Generate: each answer equals the model's, regardless of the steps before it."""

import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import SamplingConfig, TextGenerator, fill_mask, generate, run
from headlight.checkpoints import save
from headlight.errors import HeadlightError
from headlight.sound.frames import EncodedSound
from headlight.views.words import format_bytes
from headlight_app.contract.question import Question
from headlight_app.contract.reply import Reply
from headlight_app.contract.sampling import MAX_SEED, Sampling
from headlight_app.generate.answers.step import MAX_SPANS
from headlight_app.generate.contract import GenerateAnswer, ReadTokens, StepAnswer
from headlight_app.inference.open_models import open_checkpoint
from headlight_app.inference.prefix_cache import PrefixCache, prefix_cache
from headlight_app.inference.resolved_question import resolve
from headlight_app.state.url import decode_generated, decode_sampling, encode_generated, encode_sampling
from tests.app.asking import ask_worker
from tests.app.conftest import CONTEXT
from tests.model import toys as model_toys

TEXT = "the cat sat"
GREEDY = {"temperature": 0}


def reply(**body: Any) -> Reply[GenerateAnswer]:
    """The answer, decoded from its wire format."""
    answer, numbers = ask_worker("generate", **body)
    return Reply(msgspec.convert(answer, GenerateAnswer), numbers)


def ask(**body: Any) -> tuple[StepAnswer, np.ndarray]:
    """A step and its attention weights."""
    found = reply(**body)
    assert found.answer.step is not None
    return found.answer.step, np.frombuffer(found.numbers, "<f4")


def read_tokens(**body: Any) -> ReadTokens:
    """The tokens of the text."""
    found = reply(with_tokens=True, **body).answer.tokens
    assert found is not None
    return found


def candidates(step: StepAnswer) -> dict[int, tuple[str, float, float]]:
    """The text of each candidate by its token, and its probability by the model and after the settings."""
    (bars,) = step.rows[0]["views"]
    before, after = bars["series"].values()
    columns = zip(bars["picks"], before, after, strict=True)
    return {pick["token"]: (pick["token_text"], model, sampled) for pick, model, sampled in columns}


def steps(count: int, **body: Any) -> list[StepAnswer]:
    """Several steps, each with the tokens chosen so far."""
    written: list[list[int]] = []
    made = []
    for _ in range(count):
        step, _ = ask(generated=written, **body)
        made.append(step)
        written.append([step.position, step.chosen])
    return made


def test_steps_are_those_of_generate() -> None:
    prefix_cache.cache_clear()  # another test may have cached this text
    model, tokenizer = open_checkpoint("next").model, open_checkpoint("next").tokenizer
    rule = {"temperature": 0.7, "top_k": 20, "top_p": 0.9, "seed": 4}
    made = steps(6, model="next", text=TEXT, sampling=rule)
    wanted = generate(model, tokenizer, TEXT, steps=6, temperature=0.7, top_k=20, top_p=0.9, seed=4)
    assert [step.chosen for step in made] == [one.chosen_token for one in wanted]
    assert [step.tokens_read for step in made] == [made[0].length, 1, 1, 1, 1, 1]


def test_candidates_have_their_shares_of_the_whole_vocabulary_and_their_chances() -> None:
    step, _ = ask(model="next", text=TEXT, sampling={"temperature": 0.5, "top_k": 5, "seed": 2})
    tokenizer = open_checkpoint("next").tokenizer
    probabilities = run(open_checkpoint("next").model, tokenizer, TEXT)["logits"][-1].astype(float)
    shares = np.exp(probabilities) / np.exp(probabilities).sum()
    draw = SamplingConfig(0.5, 5, None, 2).sample(probabilities, 0)
    listed = candidates(step)
    assert set(np.argsort(-shares)[:12]) <= listed.keys()
    for token, (text, before, after) in listed.items():
        assert before == pytest.approx(shares[token], rel=1e-4)
        assert after == pytest.approx(draw.probabilities[token], rel=1e-4)
        assert text == tokenizer.token_text(token)
    (bars,), (strip,) = (row["views"] for row in step.rows)
    assert step.chosen == draw.chosen == bars["picks"][bars["marked"]]["token"] and strip["at"] == draw.random_number
    assert bars["texts"].count("filtered out") == len(listed) - 5
    assert strip["title"].startswith(f"Random number {draw.random_number:.3f}: ")
    rank = 1 + int((shares > shares[draw.chosen]).sum())
    assert strip["title"].endswith(f" (rank {rank})")
    assert strip["note"] == f"The sampling settings leave 5 of {len(shares)} tokens."
    reached = np.cumsum([length for length, _ in strip["parts"][0]])
    place = [group for _, group in strip["parts"][0]].index(0)
    assert reached[place] - strip["parts"][0][place][0] <= strip["at"] <= reached[place]
    entropy = -(shares * np.log2(shares)).sum()
    assert (
        step.rows[0]["text"].startswith("After \u2068“sat”\u2069. ")
        and f"Entropy {entropy:.2f} bits" in step.rows[0]["text"]
    )


def test_what_is_sampled_beyond_the_listed_tokens_is_listed_too() -> None:
    step, _ = ask(model="next", text=TEXT, sampling={"temperature": 2, "seed": 1})
    (bars,), (strip,) = (row["views"] for row in step.rows)
    assert len(bars["labels"]) == 13 and bars["marked"] == 12
    assert (
        all(group < 0 for _, group in strip["parts"][0])
        and sum(length for length, _ in strip["parts"][0]) < strip["at"]
    )


def test_at_temperature_0_nothing_is_random() -> None:
    step, _ = ask(model="next", text=TEXT, sampling=GREEDY)
    assert step.rows[1] | {"views": []} == step.rows[1] and "nothing is random" in step.rows[1]["text"]


@pytest.mark.parametrize("remember", [True, False])
def test_the_numbers_are_the_row_that_asked_whatever_was_remembered(remember: bool) -> None:
    made = steps(3, model="next", text=TEXT, sampling=GREEDY, use_cache=remember)
    written = [[step.position, step.chosen] for step in made]
    step, numbers = ask(model="next", text=TEXT, sampling=GREEDY, generated=written, use_cache=remember)
    writer = TextGenerator.from_text(open_checkpoint("next").model, open_checkpoint("next").tokenizer, TEXT)
    wanted, _ = writer.step([token for _, token in written])
    (grid,) = step.attention_groups
    rows = numbers.reshape(grid.layers, grid.heads, grid.columns)
    np.testing.assert_allclose(rows, wanted.attention()[:, :, -1], atol=1e-5)
    assert step.tokens_read == (1 if remember else step.length)


def test_settings_that_keep_all_tokens_keep_the_unlikeliest_too() -> None:
    step, _ = ask(model="next", text=TEXT, sampling={"temperature": 0.001, "top_k": 0, "top_p": 1})
    assert "leave all " in step.rows[1]["views"][0]["note"]


def test_a_branch_reads_only_what_is_new() -> None:
    made = steps(5, model="next", text="she gave the ball", sampling=GREEDY)
    first = [made[0].position, made[0].chosen]
    other = next(token for token in candidates(made[1]) if token != made[1].chosen)
    branch, _ = ask(model="next", text="she gave the ball", generated=[first, [made[1].position, other]])
    assert branch.tokens_read == 1
    back, _ = ask(model="next", text="she gave the ball", generated=[first], sampling=GREEDY)
    assert back.tokens_read == 1 and back.chosen == made[1].chosen


def test_what_is_kept_of_each_layer_is_told() -> None:
    step = steps(2, model="next", text=TEXT)[-1]
    (strips,) = step.cache_rows[0]["views"]
    assert strips["parts"] == [[[step.length - 1, -1], [1, 0]]] * 2 and step.caches
    size = format_bytes(2 * 4 * step.length * (4 + 4) * 4)
    assert f"Cached for {step.length} tokens: {size};" in step.cache_rows[0]["text"]


@pytest.mark.parametrize(
    ("model", "choices"),
    [
        ("next", {"variant": {"masks": "none"}}),
        ("next", {"edits": ["decoder.0.residual[0:2]=mean"]}),
        ("masked", {"masked_positions": [1]}),
    ],
)
def test_where_nothing_is_kept_the_page_is_told_why(model: str, choices: dict[str, Any]) -> None:
    step, _ = ask(model=model, text=TEXT, **choices)
    (row,) = step.cache_rows
    assert not step.caches and not row["views"]
    assert row["text"].startswith("Nothing can be cached. ") and row["text"].endswith(".")


def test_masks_are_filled_as_fill_does() -> None:
    made = steps(3, model="masked", text="the cat sat on the mat", masked_positions=[1, 2, 5], sampling=GREEDY)
    model, tokenizer = open_checkpoint("masked").model, open_checkpoint("masked").tokenizer
    filled: dict[int, int] = {}
    for step in made:
        wanted = fill_mask(
            model,
            tokenizer,
            "the cat sat on the mat",
            masked_positions=(1, 2, 5),
            filled=filled,
            sampling=SamplingConfig(temperature=0.0),
        )
        assert (step.position, step.chosen) == (wanted.position, wanted.chosen_token)
        filled[step.position] = step.chosen
    assert set(filled) == {1, 2, 5}
    written = [list(pair) for pair in filled.items()]
    done = reply(model="masked", text="the cat sat on the mat", masked_positions=[1, 2, 5], generated=written).answer
    assert done.step is None and done.tokens is not None
    assert not any(token.text == "[MASK]" for token in done.tokens.text)


def test_an_encoder_decoder_grows_its_target_over_the_source() -> None:
    asked = {"model": "both", "text": "", "source": "the dog lay on the rug"}
    made = steps(3, **asked)
    assert [step.length for step in made] == [1, 2, 3]
    names = [[grid.name for grid in step.attention_groups] for step in made]
    assert names == [["decoder.self", "decoder.cross"]] * 3
    assert made[0].attention_groups[1].columns == len(read_tokens(**asked).source or ())


def test_tokens_come_when_they_are_asked_for() -> None:
    assert reply(model="next", text=TEXT).answer.tokens is None
    pieces = [token.text for token in read_tokens(model="next", text=TEXT, generated=[[0, 70]]).text]
    assert "".join(pieces[1:-1]) == TEXT and pieces[-1] == open_checkpoint("next").tokenizer.token_text(70)


def test_a_custom_mask_goes_on_and_says_how() -> None:
    asked = {"model": "next", "text": "the", "variant": {"masks": "custom:10/11"}}
    first, second = ask(**asked)[0], ask(**asked, generated=[[2, 5]])[0]
    assert len(first.notes) == 1 and "was not trained this way" in first.notes[0]
    assert "applies within the prompt" in second.notes[1]


def test_changes_that_are_in_force_are_said() -> None:
    edit = "decoder.1.self.weights[3]=set:0"
    plain, _ = ask(model="next", text=TEXT)
    edited, _ = ask(model="next", text=TEXT, edits=[edit])
    assert not plain.notes
    assert edit in edited.notes[0]
    assert candidates(edited) != candidates(plain)


def test_a_space_that_no_piece_says_is_told() -> None:
    read = read_tokens(model="masked", text="the caton [MASK] mat").text
    text = "".join(" " * token.space_before + token.text for token in read if not token.special)
    assert text.split() == ["the", "caton", "mat"], "a split word has no spaces inside"
    assert not any(token.space_before for token in read_tokens(model="next", text="the cat").text)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"model": "mood", "text": "cat"}, "no next-token head"),
        ({"model": "next", "text": ""}, "empty"),
        ({"model": "next", "text": "cat " * CONTEXT}, "at most"),
        ({"model": "next", "text": "cat", "generated": [[1, 10**7]]}, "no token"),
        (
            {"model": "next", "text": "cat", "generated": [[1, -1]]},
            "generated[0][1] is -1; expected a whole number",
        ),
        ({"model": "next", "text": "cat", "generated": "all"}, "expected pairs of a position and a token's number"),
        ({"model": "next", "text": "cat", "generated": [[1]]}, "generated[0] is [1]; expected a pair of a position"),
        (
            {"model": "next", "text": "cat", "generated": [[1, "x"]]},
            "generated[0][1] is 'x'; expected a whole number",
        ),
        ({"model": "next", "text": "cat", "sampling": {"temperature": -1}}, "temperature"),
        (
            {"model": "next", "text": "cat", "sampling": {"temperature": "hot"}},
            "temperature is 'hot'; expected a number",
        ),
        ({"model": "next", "text": "cat", "sampling": {"temperature": 10**400}}, "expected a number"),
        ({"model": "next", "text": "cat", "sampling": {"top_p": 2}}, "top_p"),
        ({"model": "next", "text": "cat", "sampling": {"top_k": -3}}, "top_k"),
        ({"model": "next", "text": "cat", "masked_positions": [1]}, "no mask token"),
        ({"model": "next", "text": "cat", "variant": {"masks": "custom:1"}}, "custom mask is 1 x 1"),
        ({"model": "masked", "text": "cat", "masked_positions": [1], "generated": [[2, 5]]}, "not masked"),
        ({"model": "both", "text": "cat"}, "empty"),
    ],
)
def test_what_cannot_be_written_gets_a_sentence(body: dict[str, Any], said: str) -> None:
    with pytest.raises(HeadlightError, match=re.escape(said)):
        reply(**body)


def test_the_context_ends_the_text() -> None:
    text = "cat " * 100
    tokens = open_checkpoint("next").tokenizer.encode(text).ids[1:]
    room = CONTEXT - len(open_checkpoint("next").tokenizer.encode("cat").ids)
    written = [[place, token] for place, token in enumerate(tokens[:room])]
    full, _ = ask(model="next", text="cat", generated=written)
    assert full.position == full.context == CONTEXT
    with pytest.raises(HeadlightError, match=f"at most {CONTEXT}"):
        ask(model="next", text="cat", generated=[*written, [0, tokens[0]]])


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
    assert known is not None and known.ids == writer.text.ids, "only one token has to be read"
    assert store.longest_prefix(other, ids) is None, "another edit has its own cache"
    assert store.longest_prefix(writer, (1, *ids)) is None
    store.store(other, other.step((6,))[1])
    assert [held.key[0] for held in store.entries] == [("decoder.0.residual=scale:2",)]


@given(st.floats(0, 5), st.integers(0, 500), st.floats(0.01, 1), st.integers(0, MAX_SEED))
def test_a_link_restores_the_rule(temperature: float, top_k: int, top_p: float, seed: int) -> None:
    rule = Sampling(temperature=round(temperature, 2), top_k=top_k, top_p=round(top_p, 2), seed=seed)
    assert decode_sampling(encode_sampling(rule)) == rule


@given(st.text(max_size=20), st.lists(st.tuples(st.integers(0, 999), st.integers(0, 99_999)), max_size=9))
def test_a_link_restores_the_steps_of_its_own_text_only(text: str, pairs: list[tuple[int, int]]) -> None:
    question, written = Question(model="next", text=text), tuple(pairs)
    encoded = encode_generated(question, written)
    assert decode_generated(question, encoded) == written
    assert decode_generated(Question(model="next", text=text + "!"), encoded) == () or not written


@given(st.text(max_size=40))
def test_any_word_is_a_rule_and_steps(word: str) -> None:
    decode_sampling(word)
    assert isinstance(decode_generated(Question(model="next", text="cat"), word), tuple)


def test_the_frames_of_a_recording_are_summed_in_spans_of_time(toys: Path) -> None:
    folder, model = toys / "hears", model_toys.both(sound=model_toys.longer(100), context_length=40)
    save(folder, model, model_toys.masked())
    try:
        step, numbers = ask(model="hears", image="chords")
        source = read_tokens(model="hears", image="chords").source
        trace = resolve(Question(model="hears", image="chords")).trace
    finally:
        shutil.rmtree(folder)
    assert source is not None and isinstance(trace.source, EncodedSound)
    assert len(source) <= MAX_SPANS + 1 and source[0].text == "0.00–0.04 s" and source[-1].text.endswith("silence")
    (cross,) = (group for group in step.attention_groups if group.keys == "source")
    rows = numbers[cross.offset : cross.offset + cross.layers * cross.heads * cross.columns]
    rows = rows.reshape(cross.layers, cross.heads, cross.columns)
    whole = trace["decoder.1.cross.weights"][2, -1]
    ends = [*(token.id for token in source[1:]), len(whole)]
    wanted = [whole[token.id : end].sum() for token, end in zip(source, ends, strict=True)]
    np.testing.assert_allclose(rows[1, 2], wanted, atol=1e-6)
