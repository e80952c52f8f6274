"""Tensor names in messages."""

from headlight.checkpoints.weight_mapping import join_names


def test_a_tensor_name_with_a_line_break_stays_on_the_line() -> None:
    """A damaged file may contain any name; a message about it is one line."""
    assert join_names(["\ntransformer.wte.weight", "a\tb", "größe"]) == "\\ntransformer.wte.weight, a\\tb, größe"


def test_of_many_names_the_first_are_told() -> None:
    assert join_names([str(number) for number in range(10)]) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
