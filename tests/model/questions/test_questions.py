"""Questions of every kind: right answers, messages for mistakes, and number of tries."""

import pytest
import torch

from headlight.questions.asking import (
    DIRECTIONS,
    ask_best,
    ask_cell,
    ask_direction,
    ask_largest,
    ask_mask,
    ask_measured,
    ask_nearest,
    ask_number,
    ask_order,
    ask_whether,
    choose,
)
from headlight.questions.marking import GIVE_UP, HINT, mark


def test_questions_are_answered_by_what_was_computed() -> None:
    assert ask_whether("?", True).right == "yes" and ask_whether("?", False).options == ("yes", "no")
    largest, least = (ask_largest("?", {"a": 1.0, "b": 3.0, "c": 2.0}, least=least) for least in (False, True))
    assert (largest.right, least.right) == ("b", "a")
    assert mark(largest, ("c",)).said == "“c” comes to 2; another is larger. Try once more."
    assert mark(least, ("c",)).said == "“c” comes to 2; another is smaller. Try once more."
    assert ask_number("?", 1.0, (1, "One."), (2, "Two."), (2.0, "Two as well.")).mistakes == (("2.0", "Two."),)
    losses = {"a": 1.0, "b": 1.01, "c": 3.0}
    assert [ask_best("?", losses, noise).right[:8] for noise in (0.001, 0.1)] == ["a", "the best"]
    assert ask_nearest("?", {"1": 1, "√64": 8, "64": 64}, 64).right == "64"
    assert tuple(ask_direction("?", change, 0.1).right for change in (-1.0, 1.0, 0.05)) == DIRECTIONS


def test_what_was_measured_is_itself_an_option_and_right() -> None:
    even = {0.25: "That is an even share."}
    question = ask_measured("?", (0.25, 0.6, 0.9), 0.888, "{:.2f}".format, even)
    assert question.options == ("0.25", "0.60", "0.89") and question.number == 0.888
    assert mark(question, ("0.89",)).said == "Right."
    assert mark(question, ("0.25",)).said.startswith("That is an even share.")
    assert mark(question, ("0.60",)).said.startswith("0.60 is too small.")
    assert ask_measured("?", (0.25, 0.6, 0.9), 0.26, "{:.2f}".format, even).mistakes[0][0] == "0.60"


def test_a_told_answer_is_a_sentence() -> None:
    assert mark(ask_whether("?", False), (GIVE_UP,)).said == "The answer is “no”."
    assert (
        mark(choose("?", ("Words", "Letters", "Both"), 0, because="So."), (GIVE_UP,)).said
        == "The answer is “Words”. So."
    )


def test_a_wrong_answer_is_understood_and_there_is_a_second_try() -> None:
    question = ask_number("How much?", 0.5, (0.25, "You took the root twice."), hints=("Look.", "Look at row 1."))
    assert mark(question, ()).said == "" and not mark(question, ()).is_settled
    first = mark(question, ("0.25",))
    assert (first.is_settled, first.said) == (False, "You took the root twice. Try once more.")
    assert mark(question, ("0.25", "0.502")).is_right
    last = mark(question, ("7", "0.25"))
    assert last.is_settled and not last.is_right and last.said.endswith("The answer is 0.5.")
    hinted = mark(question, (HINT,) * 3)
    assert hinted.hints == (*question.hints, "It lies between 0.375 and 0.75.") and not hinted.more_hints
    assert mark(question, (HINT, HINT)).hints == question.hints
    assert ask_whether("?", True).last_hints == ()
    assert ask_largest("?", {"a": 1, "b": 2, "c": 0}).last_hints == ("It is not “c”.",)
    assert "not a number" in mark(question, ("a half",)).said and not mark(question, ("a half", "b")).is_settled
    assert mark(question, (GIVE_UP,)).said == "The answer is 0.5."


def test_a_cell_a_mask_and_an_order_are_marked_and_their_mistakes_understood() -> None:
    names = ("a", "b", "c")
    point = ask_cell("?", names, names, (1, 2), ((2, 1), "Exchanged."), ((9, 9), "No such cell."))
    assert point.mistakes == (("2,1", "Exchanged."),) and mark(point, ("1,2",)).is_right
    wrong = mark(point, ("1,0",))
    assert (wrong.said, wrong.ruled_out) == ("The row is right, the column is not. Try once more.", ("1,0",))
    assert mark(point, ("3,0",)).said.endswith("Choose one that is shown.")
    assert mark(point, (GIVE_UP,)).said == "The answer is the cell in row “b”, column “c”."
    lower = torch.ones(3, 3).tril().bool()
    draw = ask_mask("?", names, names, lower, (lower.T, "Exchanged."), (lower, "None."))
    assert mark(draw, ("1,0,0;1,1,0;1,1,1",)).is_right and len(draw.mistakes) == 1
    assert mark(draw, ("1,1,1;0,1,1;0,0,1",)).said == "Exchanged. Try once more."
    assert "2 of the cells are wrong, the first in row “b”" in mark(draw, ("1,0,0;0,1,0;1,1,0",)).said
    assert not draw.is_answer("1,0;1,1") and not draw.is_answer("1,0,2;1,1,0;1,1,1")
    assert mark(draw, (GIVE_UP,)).said == "The answer is “a”: a; “b”: a, b; “c”: a, b, c."
    order = ask_order("?", ("score", "scale", "softmax"), (("score", "softmax", "scale"), "Too late."))
    assert order.options == ("scale", "score", "softmax") and mark(order, ("1,0,2",)).is_right
    assert mark(order, ("1,2,0",)).said == "Too late. Try once more."
    assert mark(order, ("0,1,2",)).said.startswith("The first is not right.") and not order.is_answer("0,0,1")
    assert ask_order("?", ("a", "b")).options == ("b", "a"), "the items are not shown in the right order"


@pytest.mark.parametrize("options", [("yes", "no"), ("a", "b", "c")])
def test_a_second_try_is_given_where_it_is_no_certainty(options: tuple[str, ...]) -> None:
    question = choose("?", options, 0, because="So it is.")
    wrong = mark(question, (options[1],))
    assert wrong.is_settled == (len(options) == 2) and wrong.ruled_out == (options[1],)
    assert mark(question, options[1:]).is_settled
    assert mark(question, (options[0],)).said == "Right. So it is."
