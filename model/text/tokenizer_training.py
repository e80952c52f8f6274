"""Tokenizers made from texts. Every kind keeps case, and splits at line ends, so that texts may be read line by line.

The same texts make the same vocabulary, number for number; only Unigram's equal letters change places by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

from model.registry import Registry
from model.text.tokenizer import DOCUMENT, Tokenizer, whole

DOCUMENT_SPECIAL = (DOCUMENT,)
MASKED_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
UNKNOWN = "[UNK]"
INSIDE = "##"  # what WordPiece writes in front of pieces that no word begins with
# What phones and word processors put in the place of keys, and the keys.
TYPOGRAPHY = {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "--", "…": "...", "\u00a0": " "}


def _with_space(name: str) -> AddedToken:
    """Where words carry the space before them, [MASK] stands for a word with its space."""
    return AddedToken(name, special=True, lstrip=name == "[MASK]")


def _bpe(texts: Iterable[str], size: int, special: Sequence[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    marks, alphabet = [_with_space(name) for name in special], pre_tokenizers.ByteLevel.alphabet()
    return _learnt(backend, texts, trainers.BpeTrainer, size, marks, initial_alphabet=alphabet)


def _wordpiece(texts: Iterable[str], size: int, special: Sequence[str]) -> tokenizers.Tokenizer:
    """The library numbers the letters inside words as it meets them, in an order of chance; here they come first."""
    backend = tokenizers.Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    texts = list(texts)  # gone through twice
    letters = _letters(texts, most=max(100, size // 40))  # each takes two entries, at a word's start and inside
    inside = [INSIDE + letter for letter in letters if len(backend.pre_tokenizer.pre_tokenize_str(f"a{letter}")) == 1]
    choices: dict[str, Any] = {"initial_alphabet": letters, "limit_alphabet": len(letters)}
    _learnt(backend, texts, trainers.WordPieceTrainer, size, [*special, *inside], **choices)
    made = tokenizers.Tokenizer(models.WordPiece(backend.get_vocab(), unk_token=UNKNOWN))
    made.pre_tokenizer, made.decoder = backend.pre_tokenizer, backend.decoder
    made.add_special_tokens(list(special))  # not those inside words
    return made


def _letters(texts: Iterable[str], most: int) -> list[str]:
    """The characters that are met most often, the most frequent first."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(whole(text))
    ordered = sorted(counts, key=lambda letter: (-counts[letter], letter))
    return [letter for letter in ordered if not letter.isspace()][:most]


def _unigram(texts: Iterable[str], size: int, special: Sequence[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("\n", "isolated"), pre_tokenizers.Metaspace(prepend_scheme="never")]
    )
    backend.decoder = decoders.Metaspace(prepend_scheme="never")
    marks = [_with_space(name) for name in special]
    return _learnt(backend, texts, trainers.UnigramTrainer, size, marks, unk_token=UNKNOWN)


def _word(texts: Iterable[str], size: int, special: Sequence[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return _learnt(backend, texts, trainers.WordLevelTrainer, size, special)


def _character(texts: Iterable[str], size: int, special: Sequence[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    return _learnt(backend, texts, trainers.WordLevelTrainer, size, special)


def _learnt(
    backend: tokenizers.Tokenizer,
    texts: Iterable[str],
    trainer: Callable[..., Any],
    size: int,
    special: Sequence[str | AddedToken],
    **choices: Any,
) -> tokenizers.Tokenizer:
    made = trainer(vocab_size=size, special_tokens=list(special), show_progress=False, **choices)
    backend.train_from_iterator(_lines(texts), made)
    return backend


def _lines(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from whole(text).splitlines(keepends=True)


TOKENIZERS: Registry[Callable[[Iterable[str], int, Sequence[str]], tokenizers.Tokenizer]] = Registry(
    "tokenizer",
    {"bpe": _bpe, "wordpiece": _wordpiece, "unigram": _unigram, "word": _word, "character": _character},
)


def train_tokenizer(
    kind: str,
    texts: Iterable[str],
    size: int,
    special: Sequence[str] = DOCUMENT_SPECIAL,
    plain_typography: bool = False,
) -> Tokenizer:
    """A tokenizer of at most `size` entries made from texts.

    Special tokens [CLS] and [SEP] are put around a text, or else <|endoftext|> in front of it, where they are among
    `special`; all kinds but byte-level BPE also get [UNK]. With `plain_typography` curly quotes, dashes and the
    ellipsis are read as the keys they stand for. Raises UnknownName for an unknown kind.
    """
    if kind != "bpe" and UNKNOWN not in special:
        special = (*special, UNKNOWN)
    if plain_typography:
        keys = {ord(curly): key for curly, key in TYPOGRAPHY.items()}
        texts = (text.translate(keys) for text in texts)
    backend = TOKENIZERS[kind](texts, size, special)
    if plain_typography:
        replacements = [normalizers.Replace(curly, key) for curly, key in TYPOGRAPHY.items()]
        backend.normalizer = normalizers.Sequence(replacements)
    backend.post_processor = _template(backend, special)
    return Tokenizer(backend)


def _template(backend: tokenizers.Tokenizer, special: Sequence[str]) -> Any:
    """What stands around a text, or around two."""
    if "[CLS]" in special and "[SEP]" in special:
        single, pair = "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"
    elif DOCUMENT in special:
        single, pair = f"{DOCUMENT} $A", f"{DOCUMENT} $A {DOCUMENT} $B:1"
    else:
        return None
    numbers = [(name, backend.token_to_id(name)) for name in special if name in single]
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=numbers)
