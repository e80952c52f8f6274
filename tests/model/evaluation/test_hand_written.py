"""The hand-written sentences as examples: read as people type them, with links between the right words."""

from headlight.data.text_tasks import EXAMPLE_TASKS, TEXT_TASKS, word_spans
from headlight.evaluation.held_out import aligned_examples, hand_written_examples, join_french


def test_each_task_on_texts_has_a_hundred_sentences() -> None:
    for name in TEXT_TASKS:
        examples = hand_written_examples(name)
        assert len({example.text for example in examples}) >= 100
        labels = EXAMPLE_TASKS[name].labels
        assert not labels or {label for one in examples for label in one.answer.split()} == set(labels)
    assert all(len(one.answer.split()) == len(word_spans(one.text)) for one in hand_written_examples("entities"))


def test_french_is_joined_as_people_type_it() -> None:
    assert join_french(("J'", "ai", "vu", ",", "tu", "vois", "?")) == ("J'ai vu, tu vois ?", [0, 2, 5, 7, 9, 12, 17])


def test_links_join_the_words_that_translate_each_other() -> None:
    examples = aligned_examples()
    assert len(examples) == 50
    first = examples[0]
    pairs = [(first.text[slice(*link.text)], first.answer[slice(*link.answer)]) for link in first.links]
    assert first.text == "The bread is still warm." and ("bread", "pain") in pairs and ("warm", "chaud") in pairs
