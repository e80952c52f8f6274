"""The exchangeable parts of a model are exactly those of the registries."""

from dataclasses import replace

import pytest

from headlight import ATTENTION_FUNCTIONS, MASKS, POSITIONAL_ENCODINGS
from headlight.nn.attention_functions import SoftmaxAttention
from headlight.nn.masks import check_mask
from headlight.nn.output_heads import POOLINGS
from headlight.nn.positional_encodings import PositionalEncoding
from headlight_app.inference.choices import mask_argument_rows, variant_choices


def test_every_row_is_offered() -> None:
    choices = {field: set(names) for field, (_, names) in variant_choices().items()}
    assert choices["positional_encoding"] == set(POSITIONAL_ENCODINGS)
    assert choices["attention_function"] == set(ATTENTION_FUNCTIONS)
    assert choices["pooling"] == set(POOLINGS)
    assert choices["masks"] >= {"none", "causal", "window", "causal+window", "painted"}
    assert not choices["masks"] & {"padding", "custom", "causal+painted"}, "what only a batch or a config names"


def test_a_new_row_is_offered_by_its_title(monkeypatch: pytest.MonkeyPatch) -> None:
    class Spiral(PositionalEncoding):
        title = "Spiral"

    class Cubed(SoftmaxAttention):
        title = "Cubed"

    monkeypatch.setitem(POSITIONAL_ENCODINGS, "spiral", Spiral)
    monkeypatch.setitem(ATTENTION_FUNCTIONS, "cubed", Cubed())
    monkeypatch.setitem(MASKS, "stripes", replace(MASKS["window"], title="Stripes"))
    titles = {field: names for field, (_, names) in variant_choices().items()}
    assert titles["positional_encoding"]["spiral"] == "Spiral"
    assert titles["attention_function"]["cubed"] == "Cubed"
    assert mask_argument_rows()["causal+stripes"] == mask_argument_rows()["window"]
    assert (titles["masks"]["stripes"], titles["masks"]["causal+stripes"]) == ("Stripes", "Causal + stripes")


def test_masks_with_an_argument_say_with_what_it_begins() -> None:
    arguments = mask_argument_rows()
    assert set(arguments) >= {"window", "causal+window", "painted"}
    for name, argument in arguments.items():
        check_mask(f"{name.removeprefix('causal+')}:{argument.default}")
