"""The label of a whole text without one of its tokens."""

import numpy as np

from headlight import run
from headlight.analysis.ablation import KEEP, ablate_tokens
from tests.model import toys

LABELS = {"output_head": "sequence-classifier", "labels": ("glad", "sad", "calm"), "pooling": "last"}


def test_both_stacks_of_an_encoder_decoder_lack_the_token() -> None:
    model, tokenizer = toys.both(**LABELS), toys.masked()
    traced = run(model, tokenizer, "", source=toys.TEXT, keep=KEEP)
    positions = [place for place, is_special in enumerate(traced.text.special_mask) if not is_special]
    assert traced.source and [traced.text.tokens[place] for place in positions] == [*traced.source.tokens[1:-1]]
    found = ablate_tokens(model, traced, positions)
    for place, logits in zip(positions, found, strict=True):
        edits = [
            f"encoder.*.self.mask[:,:,{place - 1}]=set:0", f"decoder.*.self.mask[:,:,{place}]=set:0",
            f"decoder.*.cross.mask[:,:,{place - 1}]=set:0",
        ]  # fmt: skip
        if place < len(traced.text.ids) - 1:  # the last token is pooled
            expected = run(model, tokenizer, "", edits, source=toys.TEXT)["logits"]
            np.testing.assert_allclose(logits, expected, atol=1e-5)


def test_a_text_of_its_own_for_the_decoder_lacks_it_alone() -> None:
    model, tokenizer = toys.both(**LABELS), toys.masked()
    traced = run(model, tokenizer, "we ran", source=toys.TEXT, keep=KEEP)
    expected = run(model, tokenizer, "we ran", ["decoder.*.self.mask[:,:,2]=set:0"], source=toys.TEXT)["logits"]
    np.testing.assert_allclose(ablate_tokens(model, traced, [2])[0], expected, atol=1e-5)
