"""The ladder of improvements: each rung has one part more, and is asked as in training and as in writing."""

from dataclasses import asdict

import pytest
import torch

from headlight.course.language_modeling.ladder import MASK, RUNGS, climb, rung_configs, windows, writing_loss
from headlight.errors import InputError

TEXT = "the cat sat on the mat and the dog sat on the rug, "


def test_each_rung_is_the_one_before_it_with_one_part_more() -> None:
    configs = list(rung_configs(TEXT).values())
    assert (configs[0].heads, configs[0].masks, configs[0].positional_encoding) == (1, (), "none")
    for before, after, added in zip(configs[:-1], configs[1:], list(RUNGS.values())[1:], strict=True):
        changed = {name for name, value in asdict(after).items() if value != asdict(before)[name]}
        assert changed & set(added) == set(added)
        assert changed <= set(added) | {"d_ff", "head_dim", "value_head_dim", "key_value_heads"}


def test_with_the_mask_first_all_later_parts_are_added_under_it() -> None:
    notes, configs = (list(rung_configs(TEXT, order).items()) for order in ("notes", "mask-first"))
    assert [name for name, config in configs if not config.masks] == [configs[0][0]] and configs[1][0] == MASK
    assert (configs[0], configs[-1]) == (notes[0], notes[-1])


@pytest.mark.parametrize(
    ("name", "sees"), [("+ four heads", True), ("+ causal mask", False), ("+ three layers", False)]
)
def test_without_a_mask_a_model_sees_what_it_is_to_predict(name: str, sees: bool) -> None:
    rung = climb(TEXT, rung_configs(TEXT)[name], 2, 1)
    ids = torch.tensor([[1, 2, 3, 4, 5, 6]])
    other = ids.clone()
    other[0, 3] = 7
    with torch.no_grad():
        assert (not torch.allclose(rung.model(ids)[0, 2], rung.model(other)[0, 2], atol=1e-5)) == sees
    assert len(rung.sample) == 48 and set(rung.sample) <= set(TEXT)


def test_the_loss_in_writing_is_that_of_the_last_character_of_each_beginning() -> None:
    rung = climb(TEXT, rung_configs(TEXT)["+ causal mask"], 2, 3)
    ids = torch.tensor([sorted(set(TEXT)).index(each) for each in TEXT])
    [batch] = windows(ids, 2, 1, 4)
    with torch.no_grad():
        alone = torch.stack([torch.log_softmax(rung.model(row[None, :1])[0, -1], -1)[row[1]] for row in batch])
    assert torch.isfinite(alone).all() and rung.writing_loss == pytest.approx(writing_loss(rung.model, ids, 3))


def test_a_text_that_teaches_nothing_gets_a_sentence() -> None:
    for text, said in (("short", "more than 48"), ("a" * 60, "one kind of character")):
        with pytest.raises(InputError, match=said):
            rung_configs(text)
