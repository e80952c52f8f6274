"""A text with far too many tokens is refused before it is tokenized whole; no text that fits is refused."""

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models, normalizers, pre_tokenizers, trainers

import headlight.tracing.inputs as subject
from headlight.errors import TextError
from headlight.paths import assets_dir
from headlight.text.tokenizer import Tokenizer
from headlight.tracing.inputs import MAX_CHARACTERS, encode_input, encode_source
from tests.model import toys
from tests.sampling import examples

SHIPPED = [Tokenizer.load(path.parent) for path in sorted((assets_dir() / "models").glob("*/tokenizer.json"))]


def unigram() -> Tokenizer:
    """Pieces without any word boundaries, and one unknown token for a run of unknown characters."""
    backend = tokenizers.Tokenizer(models.Unigram())
    backend.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents()])
    trainer = trainers.UnigramTrainer(vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"])
    backend.train_from_iterator(toys.LINES, trainer)
    return Tokenizer(backend)


def one_word() -> Tokenizer:
    """BPE over whole texts, which merges the same letters into longer and longer tokens."""
    runs = ["a" * 2**power for power in range(8)]
    backend = tokenizers.Tokenizer(
        models.BPE(
            {run: number for number, run in enumerate(["<unk>", *runs])},
            [(run, run) for run in runs[:-1]],
            unk_token="<unk>",
            fuse_unk=True,
        )
    )
    return Tokenizer(backend)


def words() -> Tokenizer:
    backend = tokenizers.Tokenizer(models.WordLevel({"[UNK]": 0, "the": 1}, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return Tokenizer(backend)


TOKENIZERS = [*SHIPPED, toys.causal(), toys.masked(), unigram(), one_word(), words()]
PARTS = st.sampled_from(
    ["the cat ", "a", "mat", " ", "\n", "\u0301", "語", "😀", "ﷺ", "once upon a time, ", "x" * 99, "\0"]
)
TEXTS = st.lists(st.tuples(PARTS, st.integers(1, 40)), min_size=1, max_size=8).map(
    lambda parts: "".join(part * count for part, count in parts)
)


@examples(150)
@given(TEXTS, st.sampled_from(range(len(TOKENIZERS))), st.integers(8, 64))
def test_no_text_that_fits_is_refused(text: str, number: int, limit: int) -> None:
    tokenizer, network = TOKENIZERS[number], toys.decoder(context_length=limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subject, "PREFIX_CHARACTERS", 150)
        patch.setattr(subject, "CHARACTERS_PER_TOKEN", 1)
        try:
            subject._check_prefix("text", text, network.config, tokenizer)
        except TextError:
            assert len(tokenizer.encode(text, add_special_tokens=False).ids) > limit, (text, number)


def test_a_text_that_is_too_long_is_not_tokenized_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, network = toys.causal(), toys.decoder()
    lengths = []
    encode = Tokenizer.encode

    def watched(self: Tokenizer, text: str, add_special_tokens: bool = True) -> object:
        lengths.append(len(text))
        return encode(self, text, add_special_tokens)

    monkeypatch.setattr(Tokenizer, "encode", watched)
    with pytest.raises(TextError, match=r"The text has more than [\d]+ tokens; this model reads at most 24\."):
        encode_input(network, tokenizer, "the cat sat " * 15_000)
    with pytest.raises(TextError, match=r"The source has more than [\d]+ tokens; this model reads at most 24\."):
        encode_source(toys.both(), toys.masked(), "the cat sat " * 15_000)
    assert lengths == [subject.PREFIX_CHARACTERS] * 2


def test_characters_that_a_tokenizer_drops_take_no_place() -> None:
    text = "the cat" + " " * (MAX_CHARACTERS - 10) + "sat"
    assert len(encode_input(toys.encoder(), toys.masked(), text).ids) < 24
