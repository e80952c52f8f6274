"""Claims that a model shows: what a token sees, who mixes the tokens, what a decoder has."""

import numpy as np
import pytest
import torch

from headlight import find_checkpoint, load
from headlight.checkpoints.load import Checkpoint
from headlight.course.errors.decoders import decoder_parts
from headlight.course.masks.look_ahead import LIFTED, OTHER_MASKS, other_mask
from headlight.course.pictures import BarsPicture, LinesPicture, TablePicture
from headlight.course.tokens.model_screens import CONTEXT
from headlight.course.tokens.model_vectors import classify_alone, first_mask
from headlight.errors import InputError
from headlight.nn.masks import QueryKeyPositions, combine_masks, parse_masks
from headlight.nn.transformer import variant
from headlight.tracing.run import run
from tests.model import toys
from tests.model.course.shown import compute, pictures, sentences, verdict

STRICT = OTHER_MASKS["itself"].masks


def test_the_strict_mask_forbids_the_diagonal_and_no_more(decoder: Checkpoint) -> None:
    places = torch.arange(9)
    allowed = combine_masks(parse_masks(STRICT), QueryKeyPositions(places, places))[0, 0]
    assert torch.equal(allowed, torch.ones(9, 9).tril(-1).bool())
    answer = other_mask(decoder, toys.SENTENCE, "itself")
    (bars,) = pictures(answer, BarsPicture)
    for name, masks in (("j ≤ i", "causal"), ("j < i", STRICT)):
        trace = run(variant(decoder.model, masks=masks), decoder.tokenizer, toys.SENTENCE)
        logits = torch.tensor(trace["logits"])[:-1]
        losses = torch.nn.functional.cross_entropy(logits, torch.tensor(trace.text.ids)[1:], reduction="none")
        assert list(bars.series[name]) == pytest.approx(losses.tolist(), rel=1e-3)
    assert LIFTED.explore is not None and LIFTED.explore(model="m", text="t", mask="itself")["masks"] == STRICT


def test_the_classifier_reads_one_vector_which_has_read_the_sentence(encoder: Checkpoint) -> None:
    text, other = "the cat [MASK] on the mat", "the dog [MASK] on the mat"
    answer = compute(CONTEXT, encoder, word="[MASK]", one=text, other=other)
    cosines = pictures(answer, LinesPicture)[0].series["cosine"]
    assert float(cosines[0]) == pytest.approx(1) and float(cosines[-1]) < 1 - 1e-6, "layers mix in the other word"
    trace, place = first_mask(encoder, text)
    alone = classify_alone(encoder.model, torch.tensor(trace["encoder.final_residual"][place]))
    assert alone.tolist() == pytest.approx(trace["logits"][place].tolist(), abs=1e-5)
    assert f"up to {np.abs(alone.numpy() - trace['logits'][place]).max():.1g}." in sentences(answer)
    with pytest.raises(InputError, match="does not have the word"):
        compute(CONTEXT, encoder, word="[MASK]", one=text, other="the cat sat")


def test_a_decoder_has_a_mask_and_cross_attention_only_beside_an_encoder(decoder: Checkpoint) -> None:
    alone = decoder_parts(decoder, "nothing", toys.SENTENCE)
    both = decoder_parts(load(find_checkpoint("dates")), "third of March 2021", "2021-03")
    for answer, cross in ((alone, 0), (both, 2)):
        (table,) = pictures(answer, TablePicture)
        kinds = [str(row[0]) for row in table.rows]
        assert sum("cross" in kind for kind in kinds) == cross and verdict(answer).good
        masked = [row for row in table.rows if "self" in str(row[0])]
        assert all(row[4] == "0.00" and float(row[5]) > 0 for row in masked)
    lifted = Checkpoint(variant(decoder.model, masks="none"), decoder.tokenizer, "")
    assert verdict(decoder_parts(lifted, "", toys.SENTENCE)).good is False
    trace = run(lifted.model, lifted.tokenizer, toys.SENTENCE)
    most = max(float(np.triu(trace[path], 1).max()) for path in trace.values if path.endswith("self.weights"))
    assert f"more than {most:.2f}" in verdict(decoder_parts(lifted, "", toys.SENTENCE)).text
