"""beam_search(): one beam is greedy decoding, wide beams find the most probable text, and edits reach every beam."""

from itertools import product

import numpy as np
import pytest
import torch

from headlight import EditError, Hypothesis, TextError, Tokenizer, Transformer, beam_search, generate, run
from headlight.config import OutputHeadConfig
from tests.model import toys

TEXT, SOURCE = "the cat", "a small bird sang"
EDIT = "decoder.0.self.weights[1]=set:0"


def last_beams(*arguments: object, **settings: object) -> tuple[Hypothesis, ...]:
    *_, beams = beam_search(*arguments, **settings)  # type: ignore[arg-type]
    return beams


@pytest.mark.parametrize("edits", [[], [EDIT]])
def test_one_beam_is_greedy_decoding(edits: list[str]) -> None:
    for model, tokenizer, text, source in (
        (toys.decoder(), toys.causal(), TEXT, None),
        (toys.both(), toys.masked(), "", SOURCE),
        (toys.captioner(), toys.masked(), "", toys.source(toys.captioner(), "")),
    ):
        (beam,) = last_beams(model, tokenizer, text, edits, source=source, beams=1, steps=8)
        steps = generate(model, tokenizer, text, edits, source=source, steps=8, temperature=0.0)
        assert list(beam.tokens) == [step.chosen_token for step in steps]


def text_probability(model: Transformer, tokenizer: Tokenizer, tokens: tuple[int, ...]) -> float:
    """The log probability of tokens after the source, each read in the whole text."""
    ids = torch.tensor([[model.config.decoder.start_token_id, *tokens]])
    source = torch.tensor([tokenizer.encode(SOURCE).ids])
    logits = model(ids, source=source)
    assert logits is not None
    rows = logits[0].log_softmax(-1)
    return sum(float(rows[position, token]) for position, token in enumerate(tokens))


@pytest.mark.full
def test_a_beam_as_wide_as_the_vocabulary_finds_the_most_probable_text() -> None:
    tokenizer = toys.masked()
    model, size = toys.both(seed=3), tokenizer.vocabulary_size
    beams = last_beams(model, tokenizer, "", source=SOURCE, beams=size, steps=2, length_penalty=0.0)
    texts = [(tokenizer.end_id or 0,), *((a, b) for a, b in product(range(size), repeat=2) if a != tokenizer.end_id)]
    assert beams[0].tokens in texts
    first_tokens = {beam.tokens[0] for beam in beams[:5]}
    candidates = [tokens for tokens in texts if tokens[0] in first_tokens]
    found = max(text_probability(model, tokenizer, tokens) for tokens in candidates)
    assert beams[0].log_probability == pytest.approx(found, abs=1e-4)


def test_the_log_probability_of_a_beam_is_that_of_its_tokens() -> None:
    model, tokenizer = toys.both(), toys.masked()
    beams = last_beams(model, tokenizer, "", source=SOURCE, beams=3, steps=6)
    assert len(set(beams)) == 3
    for beam in beams:
        assert beam.log_probability == pytest.approx(text_probability(model, tokenizer, beam.tokens), abs=1e-4)
        assert beam.is_finished == (beam.tokens[-1] == tokenizer.end_id)
    scores = [beam.score(0.6) for beam in beams]
    assert scores == sorted(scores, reverse=True)


def test_a_finished_beam_stays_as_it_is() -> None:
    model, tokenizer = toys.both(output_head_config=OutputHeadConfig(bias=True)), toys.masked()
    assert tokenizer.end_id is not None
    with torch.no_grad():  # all tokens equally likely, the end token e times as likely
        for parameter in model.parameters():
            parameter.zero_()
        model.get_parameter("output_head.projection.bias")[tokenizer.end_id] = 1.0
    steps = list(beam_search(model, tokenizer, "", source=SOURCE, beams=2, steps=9, length_penalty=0.0))
    assert steps[0][0] == steps[-1][0] and steps[0][0].tokens == (tokenizer.end_id,)
    assert len(steps) < 9 and all(beam.is_finished for beam in steps[-1])


def test_edits_reach_every_beam() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    plain, edited = (
        last_beams(model, tokenizer, TEXT, interventions=edits, beams=3, steps=4) for edits in ([], [EDIT])
    )
    assert plain != edited
    for beam in edited:
        text = TEXT + "".join(map(tokenizer.token_text, beam.tokens[:-1]))
        logits = run(model, tokenizer, text, [EDIT]).logits
        assert logits is not None
        if list(tokenizer.encode(text).ids[-3:]) == list(beam.tokens[:-1]):  # the text tokenizes to the same tokens
            row = logits[-1].astype(np.float64)
            expected = row[beam.tokens[-1]] - np.log(np.exp(row - row.max()).sum()) - row.max()
            assert beam.log_probabilities[-1] == pytest.approx(expected, abs=1e-4)


def test_the_search_ends_where_the_context_is_full() -> None:
    model, tokenizer = toys.decoder(context_length=6), toys.causal()
    beams = last_beams(model, tokenizer, TEXT, beams=2, steps=50)
    assert max(len(beam.tokens) for beam in beams) == 6 - len(tokenizer.encode(TEXT).ids) + 1


def test_what_cannot_be_searched_is_an_error() -> None:
    model, tokenizer = toys.decoder(), toys.causal()
    with pytest.raises(TextError, match="0 beams"):
        last_beams(model, tokenizer, TEXT, beams=0)
    with pytest.raises(EditError, match="changes nothing"):
        last_beams(model, tokenizer, TEXT, interventions=["decoder.7.self.weights=set:0"])
    with pytest.raises(TextError, match="does not continue"):
        last_beams(toys.encoder(), toys.masked(), TEXT)
