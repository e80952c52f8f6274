"""Tasks on texts: files read, no text on both sides of the split, and batches of similar length."""

import lzma
from collections import Counter
from pathlib import Path

import pytest

from headlight.data.examples import Example
from headlight.data.text_tasks import EXAMPLE_TASKS, TRANSLATE, TextExamples, split_key
from headlight.errors import DataError

PAIRS = [(f"I see {number} birds.", f"Je vois {number}\u202foiseaux d’ici.") for number in range(100, 200)]
PAIRS += [(f"And then {english}", f"Et puis après {french}") for english, french in PAIRS]
PAIRS += [(english.upper(), french) for english, french in PAIRS]


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TextExamples:
    write(tmp_path, "eng-fra.tsv", "".join(f"{english}\t{french}\n" for english, french in PAIRS))
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    return TRANSLATE.open()


def write(folder: Path, name: str, text: str) -> None:
    (folder / "tasks").mkdir(exist_ok=True)
    (folder / "tasks" / f"{name}.xz").write_bytes(lzma.compress(text.encode()))


def test_a_pair_is_read_with_plain_spaces_and_apostrophes(pairs: TextExamples) -> None:
    examples = {*pairs.training, *pairs.validation, *pairs.held_out}
    assert len(examples) == len(PAIRS)
    assert Example("I see 103 birds.", "Je vois 103 oiseaux d'ici.") in examples


def test_texts_of_the_same_words_are_in_the_same_part(pairs: TextExamples) -> None:
    sides = [{split_key(one.text) for one in side} for side in (pairs.training, pairs.validation, pairs.held_out)]
    assert len(set.union(*sides)) == sum(map(len, sides)) == 200
    assert 0 < len(sides[1]) < len(sides[2]) < 40
    assert split_key("Isn't it? ") == split_key("isn't  it") != split_key("is it")


def test_examples_come_equally_often_in_batches_of_similar_length(pairs: TextExamples) -> None:
    assert pairs.training_examples(3, 20) == pairs.training_examples(3, 20) != pairs.training_examples(4, 20)
    drawn = [pairs.training_examples(seed, 20) for seed in range(400)]
    for batch in drawn:
        lengths = [len(one.text) + len(one.answer) for one in batch]
        assert max(lengths) == min(lengths) and 1000 < sum(lengths) < 1150
    counts = Counter(one for batch in drawn for one in batch)
    assert len(counts) == len(pairs.training)
    short, long = (
        [count for one, count in counts.items() if ("then" in one.text.lower()) is is_long] for is_long in (False, True)
    )
    assert abs(sum(short) / len(short) / (sum(long) / len(long)) - 1) < 0.15


def test_held_out_examples_are_always_the_same(pairs: TextExamples) -> None:
    assert pairs.held_out_examples(1, 7) == pairs.held_out_examples(1, 7) != pairs.held_out_examples(2, 7)
    assert len(pairs.held_out_examples(1, 10_000)) == len(pairs.held_out)
    assert set(pairs.validation_examples(10_000)) == set(pairs.validation)


def test_the_encoder_reads_an_end_token_and_the_decoder_starts_with_token_0(pairs: TextExamples) -> None:
    tokenizer = pairs.make_tokenizer()
    encoded = tokenizer.encode("I see 4 birds.")
    assert encoded.ids[-1] == tokenizer.end_id and encoded.ids[0] != 0
    assert tokenizer.start_id == 0 and tokenizer.decode(encoded.ids) == "I see 4 birds."


def test_a_line_that_is_no_pair_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    write(tmp_path, "eng-fra.tsv", "Go.\tVa !\nStop.\n")
    with pytest.raises(DataError, match=r"Line 2 of .*eng-fra.tsv.xz has 1 field, where tabs should part 2 columns"):
        TRANSLATE.open()
    write(tmp_path, "eng-fra.tsv", "Go.\tVa !\n")
    with pytest.raises(DataError, match="too few examples of translate"):
        TRANSLATE.open()
    monkeypatch.delenv("HEADLIGHT_DATA")
    with pytest.raises(DataError, match="export HEADLIGHT_DATA"):
        EXAMPLE_TASKS["translate"].open()
