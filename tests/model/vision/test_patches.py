"""A picture's patches instead of tokens: the same edits, heads and variants."""

import numpy as np
import pytest
import torch

from headlight import EncodedImage, ImageError, TextError, Transformer, run, variant
from headlight.analysis.ablation import ablate_heads
from headlight.tracing.trace import Trace
from headlight.vision.image import ProcessedImage, process_image
from headlight.vision.patches import class_token_tokenizer
from tests.model import toys


def seen(edits: tuple[str, ...] = (), model: Transformer | None = None) -> Trace:
    """The trace of the image toy for a picture of noise."""
    model = model or toys.seer()
    return run(model, class_token_tokenizer(), process_image(toys.photo(), model.config.image), edits)


def test_patches_are_told_as_tokens() -> None:
    text = seen().text
    assert isinstance(text, EncodedImage)
    assert text.token_texts == text.tokens == ("[CLS]", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2")
    assert text.special_mask == (True, *[False] * 6)
    assert (text.patch_rows, text.patch_columns, text.image.width, text.image.height) == (2, 3, 40, 31)
    assert text.covered_region == (0, 0, 40, 31)


def test_the_encoder_of_a_captioner_reads_patches_alone() -> None:
    model = toys.captioner()
    trace = run(model, toys.masked(), "the cat", source=toys.source(model, ""))
    assert isinstance(trace.source, EncodedImage) and not isinstance(trace.text, EncodedImage)
    assert trace.source.tokens == ("0,0", "0,1", "0,2", "1,0", "1,1", "1,2") and trace.source.first_patch == 0
    boxes = trace.source.patch_boxes()  # the picture has 40 x 31 pixels
    assert boxes[0] == pytest.approx((0, 0, 40 / 3, 15.5)) and boxes[5] == pytest.approx((80 / 3, 15.5, 40, 31))


def test_a_picture_is_the_source_of_a_captioner_and_a_text_that_of_others() -> None:
    captioner, both, words = toys.captioner(), toys.both(), toys.masked()
    image = toys.source(captioner, "")
    assert isinstance(image, ProcessedImage)
    for given in ("a text", None):
        with pytest.raises(TextError, match="reads images, not texts"):
            run(captioner, words, "the cat", source=given)
    with pytest.raises(ImageError, match="decoder reads a text; give its encoder the image"):
        run(captioner, words, image)
    with pytest.raises(ImageError, match="reads texts, not images"):
        run(both, words, "the cat", source=image)


def test_a_patch_is_the_sum_of_its_pixels_times_the_projection() -> None:
    model = toys.seer()
    pixels = torch.from_numpy(np.random.default_rng(0).standard_normal((1, 3, 12, 18), dtype=np.float32))
    assert model.patch_embedding is not None
    found = model.patch_embedding(pixels)[0, 4]  # the second row's second patch
    weight, bias = model.patch_embedding.projection.weight, model.patch_embedding.projection.bias
    assert bias is not None
    wanted = (weight * pixels[0, :, 6:12, 6:12]).sum((1, 2, 3)) + bias
    torch.testing.assert_close(found, wanted)


def test_a_change_of_one_patch_reaches_its_own_embedding_alone() -> None:
    picture = toys.photo(12, 18)
    other = picture.copy()
    other[6:, 12:] = 255 - other[6:, 12:]
    model = toys.seer()
    traces = [run(model, class_token_tokenizer(), process_image(each, model.config.image)) for each in (picture, other)]
    changed = (traces[0]["encoder.embedding"] != traces[1]["encoder.embedding"]).any(-1)
    assert changed.tolist() == [False] * 6 + [True]


@pytest.mark.parametrize(
    "edit", ["encoder.1.self.weights[2]=set:0", "encoder.0.self.mask[:,0,3]=set:0", "pixels[0,6:12,0:6]=set:1"]
)
def test_edits_work_as_on_texts(edit: str) -> None:
    plain, edited = seen(), seen((edit,))
    assert not np.allclose(plain["logits"], edited["logits"])
    if edit.startswith("pixels"):
        embedded = (plain["encoder.embedding"] != edited["encoder.embedding"]).any(-1)
        assert embedded.tolist() == [False] * 4 + [True] + [False] * 2


def test_the_mean_of_pixels_is_that_of_the_whole_picture() -> None:
    plain, edited = seen(), seen(("pixels[1,0:2]=mean",))
    np.testing.assert_allclose(edited["pixels"][1, :2], plain["pixels"][1].mean(), rtol=1e-5)
    np.testing.assert_array_equal(edited["pixels"][[0, 2]], plain["pixels"][[0, 2]])


def test_heads_off_many_at_once_are_heads_off_one_by_one() -> None:
    model = toys.seer()
    trace = seen(("pixels[0]=scale:2",), model)
    found = ablate_heads(model, trace, "encoder.0.self", 0, 1, 0, 4)
    for head in range(4):
        logits = seen(("pixels[0]=scale:2", f"encoder.0.self.weights[{head}]=set:0"), model)["logits"]
        assert found[head] == pytest.approx(logits[1] - np.logaddexp(*logits), abs=1e-5)


def test_the_wiring_can_be_exchanged() -> None:
    model = variant(toys.seer(), masks="causal", positional_encoding="none")
    attention = seen((), model).attention()
    assert not attention[..., *np.triu_indices(7, 1)].any()
    assert attention[0, 0, 6].any()
