"""The shipped models as exported programs: the same weights and logits as `run`, for texts of any length."""

from typing import Any

import pytest

from headlight import Config, find_checkpoint, load, process_image, variant
from headlight.errors import ConfigError
from headlight.paths import assets_dir
from headlight.tracing.program import export_program
from tests.model import toys
from tests.model.tracing.programs import assert_program_agrees

SHIPPED = sorted(folder.name for folder in (assets_dir() / "models").iterdir() if (folder / "config.json").is_file())
QUICK = ("ladder-1-attention", "dates")
TEXTS = ("12 3", "7 once upon a time 45 there was 3 a dog.", "5")  # one tokenizer drops all but numbers
pytestmark = pytest.mark.usefixtures("unchecked_shapes")  # comparing symbolic sizes would fix them


def given(config: Config, text: str) -> dict[str, Any]:
    """The arguments of `run` for a text; an encoder-decoder also reads it, or a picture or sound of noise."""
    if config.has_cross_attention and config.reads_image:
        return {"text": text, "source": process_image(toys.photo(), config.image)}
    return {"text": text, "source": text} if config.has_cross_attention else {"text": text}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in SHIPPED]
)
def test_a_shipped_model_is_one_program_for_every_length(name: str) -> None:
    checkpoint = load(find_checkpoint(name))
    inputs = [given(checkpoint.model.config, text) for text in TEXTS]
    assert_program_agrees(checkpoint.model, checkpoint.tokenizer, inputs)


def test_a_custom_mask_has_one_length_and_a_program_all() -> None:
    model = variant(toys.decoder(), masks="causal+custom:100/110/111")
    with pytest.raises(ConfigError, match=r"^A custom mask is for texts of one length; a program is for all\."):
        export_program(model)
