"""The sources of a generated token: head contributions equal the attribution, and planted words are found."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight import find_checkpoint, load
from headlight.analysis.attribution import attribute_logits
from headlight.analysis.faithfulness import copying
from headlight.analysis.faithfulness.alti_logit import alti_logit
from headlight.analysis.faithfulness.copying import KEEP, cut_passages, trace_copying
from headlight.errors import ConfigError
from headlight.nn.transformer import variant
from headlight.tracing.run import run
from tests.model import toys

TEXT = "the cat sat on the mat and the dog sat on the"


@pytest.mark.parametrize("placement", toys.NORMED_PLACEMENTS)
@pytest.mark.parametrize("key_value_heads", [2, 4])
def test_what_a_head_takes_from_all_keys_is_its_row_of_the_attribution(placement: str, key_value_heads: int) -> None:
    model = toys.decoder(norm_placement=placement, key_value_heads=key_value_heads, bias=True)
    trace = toys.traced(model, keep=KEEP)
    place, token = len(trace.text.ids) - 1, 7
    every = attribute_logits(model, trace, place)
    logits = every.logits(np.arange(model.config.vocabulary_size))
    relative = logits[:, token] - logits.mean(1)
    wanted = {part.path("decoder"): number for part, number in zip(every.components, relative, strict=True)}
    found = copying._copies(model, trace, place, token, range(place + 1))
    for path in ("decoder.0.self", "decoder.1.self"):
        for head in range(4):
            own = [copy for copy in found if (copy.path, copy.head) == (path, head)]
            assert sum(copy.logit for copy in own) == pytest.approx(wanted[f"{path}[{head}]"], abs=1e-3)
            weights = {copy.key: copy.weight for copy in own}
            assert weights == pytest.approx(dict(enumerate(trace[f"{path}.weights"][head, place])))


@pytest.mark.parametrize("place", [-1, -4])
def test_occurrences_up_to_the_predicting_token_are_copied_from(place: int) -> None:
    """The predicting token itself may be the one that is copied; a causal model does not read what follows."""
    model = toys.decoder()
    trace = toys.traced(model, text=TEXT, keep=KEEP)
    token, last = trace.text.ids[place], len(trace.text.ids) + place
    found = trace_copying(model, trace, place, token)
    assert found.occurrences == tuple(key for key in range(last + 1) if trace.text.ids[key] == token)
    assert found.occurrences[-1] == last
    assert {copy.key for copy in found.heads} <= set(found.occurrences)
    assert [abs(copy.logit) for copy in found.heads] == sorted((abs(copy.logit) for copy in found.heads), reverse=True)


def test_a_later_token_that_the_painted_mask_lets_through_may_be_copied() -> None:
    model = toys.decoder()
    ids = toys.traced(model, text=TEXT, keep=KEEP).text.ids
    place, later = 1, len(ids) - 1
    trace = toys.traced(variant(model, masks=("causal", f"painted:{place}-{later}")), text=TEXT, keep=KEEP)
    assert later in trace_copying(model, trace, place, ids[later]).occurrences


@pytest.mark.parametrize("edits", [(), ("logits=scale:2",)])
def test_passages_share_out_the_logit_relative_to_all_others(edits: tuple[str, ...]) -> None:
    model = toys.decoder(bias=True)
    trace = toys.traced(model, *edits, text="the cat sat.\nthe dog ran.\nthe cat", keep=KEEP)
    passages, token = cut_passages(trace.text), trace.text.ids[-1]
    found = trace_copying(model, trace, -1, token, passages)
    logits = trace["logits"][-1].astype(np.float64)
    assert len(passages) == 3
    assert sum(found.moved) + found.rest == pytest.approx(logits[token] - logits.mean(), abs=1e-4)


def test_what_was_copied_is_measured_like_what_was_moved() -> None:
    """A logit that is higher for all tokens is neither copied nor moved: no probability changes."""
    model, text = toys.decoder(), "the cat sat.\nthe dog ran.\nthe cat"
    trace = toys.traced(model, text=text, keep=KEEP)
    passages, token = cut_passages(trace.text), trace.text.ids[-1]
    before = trace_copying(model, trace, -1, token, passages)
    with torch.no_grad():
        assert model.output_head is not None and isinstance(model.output_head.projection, torch.nn.Linear)
        projection = model.output_head.projection
        projection.weight = torch.nn.Parameter(projection.weight + torch.linspace(-1, 1, projection.weight.shape[1]))
    after = trace_copying(model, toys.traced(model, text=text, keep=KEEP), -1, token, passages)
    assert after.copied == pytest.approx(before.copied, abs=1e-4)
    assert after.moved == pytest.approx(before.moved, abs=1e-4)


def test_every_copy_counts_for_its_passage_but_only_large_ones_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    model = toys.decoder()
    trace = toys.traced(model, text=TEXT, keep=KEEP)
    passages, token = cut_passages(trace.text), trace.text.ids[-1]
    before = trace_copying(model, trace, -1, token, passages)
    monkeypatch.setattr(copying, "LEAST_LOGIT", 1e9)
    found = trace_copying(model, trace, -1, token, passages)
    assert not found.heads and found.copied == before.copied != (0.0,)


def test_a_label_is_no_token_of_the_text() -> None:
    """A label has a number of its own, which is also the number of some token."""
    opened = load(find_checkpoint("entities"))
    trace = run(opened.model, opened.tokenizer, "Anna lives in Paris.", keep=KEEP)
    passages = cut_passages(trace.text)
    for label in (0, *(id for id in trace.text.ids if id < len(trace.config.labels))):
        found = trace_copying(opened.model, trace, 1, label, passages)
        assert not found.occurrences and not found.heads and found.source is None
        whole = alti_logit(opened.model, trace, 1, label)
        assert sum(found.moved) + found.rest == pytest.approx(whole.tokens.sum() + whole.rest)


@given(st.lists(st.sampled_from(["the cat sat", "a dog ran.", "on the mat", ""]), min_size=1, max_size=5))
def test_lines_are_passages_and_no_token_is_in_two(lines: list[str]) -> None:
    text = toys.causal().encode("\n".join(lines))
    passages = cut_passages(text)
    places = [place for passage in passages for place in range(passage.first, passage.end)]
    assert len(places) == len(set(places))
    assert all(text.text[passage.start : passage.stop].strip() for passage in passages)


def test_sentences_of_a_single_line_are_passages() -> None:
    text = toys.causal().encode("The cat sat. The dog ran! Did the mat?")
    assert [text.text[each.start : each.stop].strip() for each in cut_passages(text)] == [
        "The cat sat.",
        "The dog ran!",
        "Did the mat?",
    ]


def test_the_induction_model_copies_from_the_block_that_begins_anew() -> None:
    """The answer also occurs in another passage, after another word."""
    opened = load(find_checkpoint("induction"))
    text = "cat sun key moon\ndog key pan hat\nfox owl map jar\ncat sun"
    trace = run(opened.model, opened.tokenizer, text, keep=KEEP)
    token = int(np.argmax(trace["logits"][-1]))
    found = trace_copying(opened.model, trace, -1, token, cut_passages(trace.text))
    assert opened.tokenizer.token_text(token).strip() == "key"
    assert found.source == 0 and found.heads[0].path == "decoder.1.self" and found.heads[0].weight > 0.5
    assert len(found.occurrences) == 2


def test_an_encoder_decoder_is_refused_in_a_sentence() -> None:
    model = toys.both()
    trace = toys.traced(model, source="the dog")
    with pytest.raises(ConfigError, match="two"):
        trace_copying(model, trace, -1, 3)
