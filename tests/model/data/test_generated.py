"""Generated tasks: every example is right, seeds are reproducible, and held-out examples are never trained on."""

import re
from datetime import date, timedelta
from random import Random

import numpy as np
import pytest

from headlight.data.examples import Example, is_held_out
from headlight.data.generated import (
    ENDINGS,
    EVENTS,
    GENERATED_TASKS,
    ORDINAL_WORDS,
    RELATIONS,
    TEMPLATES,
    WORDS,
    write_date,
)
from headlight.text.tokenizer import Tokenizer

TASKS = sorted(GENERATED_TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_training_and_held_out_examples_share_no_key(name: str) -> None:
    task = GENERATED_TASKS[name]
    trained, held_out = task.training_examples(1, 300), task.held_out_examples(2, 300)
    assert len(trained) == len(held_out) == 300
    keys = [{task.split_key(one) for one in examples} for examples in (trained, held_out)]
    assert not any(map(is_held_out, keys[0])) and all(map(is_held_out, keys[1])) and not keys[0] & keys[1]
    assert not {one.answer for one in trained} & {one.answer for one in held_out}


@pytest.mark.parametrize("name", TASKS)
def test_the_same_seed_draws_the_same_examples(name: str) -> None:
    task = GENERATED_TASKS[name]
    assert task.training_examples(7, 20) == task.training_examples(7, 20) != task.training_examples(8, 20)


@pytest.mark.parametrize("name", TASKS)
def test_the_tokenizer_is_always_the_same_and_knows_every_example(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    task = GENERATED_TASKS[name]
    tokenizer, folder = task.make_tokenizer(), tmp_path_factory.mktemp(name)
    tokenizer.save(folder)
    assert task.make_tokenizer().backend.to_str() == tokenizer.backend.to_str()
    opened = Tokenizer.load(folder)
    for example in task.training_examples(3, 100):
        for text in (example.text, example.answer):
            ids = opened.encode(text).ids
            assert opened.unknown_id is None or opened.unknown_id not in ids
            assert opened.decode(ids) == text


def linked_text(example: Example) -> list[tuple[str, str]]:
    return [(example.answer[slice(*link.answer)], example.text[slice(*link.text)]) for link in example.links]


def test_sorted_numbers_are_the_same_numbers_in_order() -> None:
    lengths, repeats = set(), 0
    for example in GENERATED_TASKS["sort"].training_examples(1, 500):
        numbers, answer = ([int(word) for word in text.split()] for text in (example.text, example.answer))
        assert answer == sorted(numbers) and all(0 <= number <= 99 for number in numbers)
        assert {(given, place) for given, place in linked_text(example)} == {(str(n), str(n)) for n in numbers}
        lengths.add(len(numbers))
        repeats += len(set(numbers)) < len(numbers)
    assert lengths == set(range(4, 17)) and 100 < repeats < 450


def test_whatever_stands_between_numbers_is_not_read() -> None:
    tokenizer = GENERATED_TASKS["sort"].make_tokenizer()
    assert tokenizer.encode("17, 4;99 and 4").tokens == ("17", "4", "99", "4")
    assert tokenizer.encode("100 -3").tokens == ("[UNK]", "3")


@pytest.mark.parametrize(("name", "offsets"), [("induction", range(4, 21)), ("induction-fixed-offset", [20])])
def test_a_block_comes_again_after_words_that_differ(name: str, offsets: list[int]) -> None:
    seen = set()
    for example in GENERATED_TASKS[name].training_examples(1, 500):
        words = [*example.text.split(), *example.answer.split()]
        offset = len(example.answer.split()) + 1
        assert words[-offset:] == words[-2 * offset : -offset]
        assert len(set(words)) == len(words) - offset and len(words) <= 47
        assert [given for given, _ in linked_text(example)] == example.answer.split()
        assert all(given == place for given, place in linked_text(example))
        seen.add(offset)
    assert seen == set(offsets)
    assert len(WORDS) == len(set(WORDS)) == 64


def test_a_date_is_written_in_many_ways_that_mean_it() -> None:
    written = [write_date(date(2021, 3, 3), template).text for template in TEMPLATES]
    assert len(set(TEMPLATES)) >= 12 and len(set(written)) == len(written)
    assert {"third of March 2021", "Wednesday, 3 March 2021", "03-Mar-2021", "3.3.2021", "03/03/2021", "20210303"} <= {
        *written
    }
    assert write_date(date(1999, 12, 31), "{month} the {day_word}, {year}").text == "December the thirty-first, 1999"
    assert [write_date(date(2000, 1, day), "{day_th}").text for day in (1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "22nd", "23rd", "31st",
    ]  # fmt: skip
    assert len(ORDINAL_WORDS) == len(set(ORDINAL_WORDS)) == 31


def test_no_two_days_are_written_alike() -> None:
    days = [date(2004, 1, 1) + timedelta(days=number) for number in range(366)]
    for template in TEMPLATES:
        assert len({write_date(day, template).text for day in days}) == len(days)


def test_the_links_of_a_date_name_year_month_and_day() -> None:
    example = write_date(date(2021, 3, 4), "{weekday}, {month} {day}, {year}")
    assert linked_text(example) == [("03", "March"), ("04", "4"), ("2021", "2021")]
    assert {len(one.links) for one in GENERATED_TASKS["dates"].training_examples(1, 200)} == {3}


def test_numbers_in_dates_are_read_digit_by_digit() -> None:
    tokens = GENERATED_TASKS["dates"].make_tokenizer().encode("third of March 2021").token_texts
    assert tokens == ("third", " of", " March", " ", "2", "0", "2", "1", "</s>")


def test_a_caption_says_what_is_where() -> None:
    said = set()
    for example in GENERATED_TASKS["caption"].training_examples(1, 500):
        assert example.drawing is not None
        wide, narrow = example.drawing.figures
        relation = example.answer.removeprefix(f"a {wide.name} ").removesuffix(f" a {narrow.name}")
        across, down = narrow.x - wide.x, narrow.y - wide.y
        sides = {"left of": across, "right of": -across, "above": down, "below": -down}
        assert relation == max(sides, key=lambda name: sides[name]) and wide.radius > narrow.radius + 1
        for figure in (wide, narrow):
            assert min(figure.box) >= 0 and max(figure.box) <= example.drawing.side
        words = [example.answer[slice(*link.answer)] for link in example.links]
        assert words == [wide.name, narrow.name] and [link.box for link in example.links] == [wide.box, narrow.box]
        said.add((wide.name, relation, narrow.name))
    assert len({name for name, _, _ in said}) == 30 and {relation for _, relation, _ in said} == set(RELATIONS)


def test_a_held_out_pair_is_never_drawn_for_training_in_any_place_or_size() -> None:
    task = GENERATED_TASKS["caption"]
    trained, held_out = (
        {frozenset(figure.name for figure in one.drawing.figures) for one in examples if one.drawing}
        for examples in (task.training_examples(1, 3000), task.held_out_examples(1, 3000))
    )
    assert not trained & held_out and 25 <= len(held_out) <= 60 and len(trained) > 300


def test_a_drawing_shows_each_figure_in_its_colour_at_its_place() -> None:
    for example in GENERATED_TASKS["caption"].held_out_examples(4, 20):
        assert example.drawing is not None
        pixels = example.drawing.render()
        assert pixels.shape == (48, 48, 3) and pixels.dtype == np.uint8
        assert (pixels[0, 0] == example.drawing.ground).all() or (pixels[-1, -1] == example.drawing.ground).all()
        for figure in example.drawing.figures:
            assert tuple(pixels[int(figure.y), int(figure.x)]) == figure.shade


def test_a_draw_depends_on_its_random_numbers_alone() -> None:
    for task in GENERATED_TASKS.values():
        assert task.draw(Random(5)) == task.draw(Random(5))


def test_a_story_tells_in_two_sentences_what_its_summary_says() -> None:
    lengths = set()
    for example in GENERATED_TASKS["summary"].training_examples(1, 300):
        hero, event, rest = example.answer.split(" ", 2)
        thing, place, helper, ending = re.fullmatch(r"a (\w+) in the (\w+), and (\w+) (.*)\.", rest).groups()  # type: ignore[union-attr]
        told = [each.format(thing=thing) for each in EVENTS[event]]
        assert any(f"In the {place}, {hero} {each}." in example.text for each in told)
        assert any(f"{helper} {each.format(thing=thing)}." in example.text for each in ENDINGS[ending])
        assert {given for given, _ in linked_text(example)} == {hero, thing, place, helper}
        assert all(given == found for given, found in linked_text(example))
        lengths.add(example.text.count("."))
    assert lengths == {3, 4, 5}
