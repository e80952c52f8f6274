"""Training of tokenizers. All kinds keep case and split at line breaks, so that texts can be read line by line.

The same texts give the same vocabulary with the same ids, except that Unigram may order equally likely entries
differently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Event, Thread
from typing import Any

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

from headlight.registry import Registry
from headlight.text.tokenizer import END_OF_TEXT, Tokenizer, sanitize_surrogates

CAUSAL_SPECIAL_TOKENS = (END_OF_TEXT,)
SEQUENCE_SPECIAL_TOKENS = ("<s>", "</s>", "<pad>")  # the encoder of an encoder-decoder reads </s> at the end
MASKED_SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
UNKNOWN_TOKEN = "[UNK]"
CONTINUATION_PREFIX = "##"  # WordPiece's prefix of pieces inside words
# Typographic characters and their ASCII equivalents.
PLAIN_TYPOGRAPHY = {"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "--", "…": "...", "\u00a0": " "}


def _special_token(name: str) -> AddedToken:
    """A special token; [MASK] includes the space before it, as words do."""
    return AddedToken(name, special=True, lstrip=name == "[MASK]")


def _train_bpe(texts: Iterable[str], vocabulary_size: int, special_tokens: Sequence[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    added_tokens, alphabet = [_special_token(name) for name in special_tokens], pre_tokenizers.ByteLevel.alphabet()
    return _train(backend, texts, trainers.BpeTrainer, vocabulary_size, added_tokens, initial_alphabet=alphabet)


def _train_wordpiece(texts: Iterable[str], vocabulary_size: int, special_tokens: Sequence[str]) -> tokenizers.Tokenizer:
    """A WordPiece tokenizer in which letters come first, by frequency; the library numbers them in random order."""
    backend = tokenizers.Tokenizer(models.WordPiece(unk_token=UNKNOWN_TOKEN))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    texts = list(texts)  # iterated twice
    letters = _most_frequent_letters(
        texts, limit=max(100, vocabulary_size // 40)
    )  # each letter has two entries, at a word's start and inside
    continuation_letters = [
        CONTINUATION_PREFIX + letter
        for letter in letters
        if len(backend.pre_tokenizer.pre_tokenize_str(f"a{letter}")) == 1
    ]
    options: dict[str, Any] = {"initial_alphabet": letters, "limit_alphabet": len(letters)}
    _train(
        backend, texts, trainers.WordPieceTrainer, vocabulary_size, [*special_tokens, *continuation_letters], **options
    )
    ordered = tokenizers.Tokenizer(models.WordPiece(backend.get_vocab(), unk_token=UNKNOWN_TOKEN))
    ordered.pre_tokenizer, ordered.decoder = backend.pre_tokenizer, backend.decoder
    ordered.add_special_tokens(list(special_tokens))  # not those inside words
    return ordered


def _most_frequent_letters(texts: Iterable[str], limit: int) -> list[str]:
    """The most frequent characters, by frequency."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(sanitize_surrogates(text))
    ordered = sorted(counts, key=lambda letter: (-counts[letter], letter))
    return [letter for letter in ordered if not letter.isspace()][:limit]


def _train_unigram(texts: Iterable[str], vocabulary_size: int, special_tokens: Sequence[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split("\n", "isolated"), pre_tokenizers.Metaspace(prepend_scheme="never")]
    )
    backend.decoder = decoders.Metaspace(prepend_scheme="never")
    added_tokens = [_special_token(name) for name in special_tokens]
    return _train(backend, texts, trainers.UnigramTrainer, vocabulary_size, added_tokens, unk_token=UNKNOWN_TOKEN)


def _train_word(texts: Iterable[str], vocabulary_size: int, special_tokens: Sequence[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.WordLevel(unk_token=UNKNOWN_TOKEN))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    return _train(backend, texts, trainers.WordLevelTrainer, vocabulary_size, special_tokens)


def _train_character(texts: Iterable[str], vocabulary_size: int, special_tokens: Sequence[str]) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(models.WordLevel(unk_token=UNKNOWN_TOKEN))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    backend.decoder = decoders.Fuse()
    return _train(backend, texts, trainers.WordLevelTrainer, vocabulary_size, special_tokens)


def _train(
    backend: tokenizers.Tokenizer,
    texts: Iterable[str],
    trainer: Callable[..., Any],
    vocabulary_size: int,
    special_tokens: Sequence[str | AddedToken],
    **options: Any,
) -> tokenizers.Tokenizer:
    trainer_instance = trainer(
        vocab_size=vocabulary_size, special_tokens=list(special_tokens), show_progress=False, **options
    )
    _train_interruptibly(backend, texts, trainer_instance)
    return backend


def _train_interruptibly(backend: tokenizers.Tokenizer, texts: Iterable[str], trainer: Any) -> None:
    """Train in another thread: Python handles signals in the main one, which would be in Rust all the while."""
    errors: list[BaseException] = []
    stopped, is_read = Event(), Event()

    def lines() -> Iterator[str]:
        try:
            for text in texts:
                if stopped.is_set():
                    return
                yield from sanitize_surrogates(text).splitlines(keepends=True)
        finally:
            is_read.set()

    def train() -> None:
        try:
            backend.train_from_iterator(lines(), trainer)
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=train, daemon=True)
    try:
        thread.start()
        while thread.is_alive():
            thread.join(0.1)
    except BaseException:
        stopped.set()
        if thread.is_alive():
            is_read.wait()  # no Python runs in the thread after that
        raise
    if errors:
        raise errors[0]


TOKENIZER_TRAINERS: Registry[Callable[[Iterable[str], int, Sequence[str]], tokenizers.Tokenizer]] = Registry(
    "tokenizer",
    {
        "bpe": _train_bpe,
        "wordpiece": _train_wordpiece,
        "unigram": _train_unigram,
        "word": _train_word,
        "character": _train_character,
    },
)


def train_tokenizer(
    kind: str,
    texts: Iterable[str],
    vocabulary_size: int,
    special_tokens: Sequence[str] = CAUSAL_SPECIAL_TOKENS,
    plain_typography: bool = False,
) -> Tokenizer:
    """A tokenizer of at most `vocabulary_size` entries, trained on texts.

    The tokenizer adds [CLS] and [SEP] around a text, or </s> after it, or <|endoftext|> before it, if they are among
    the `special_tokens`; all kinds except byte-level BPE also get [UNK]. With `plain_typography`, curly quotes, dashes
    and the ellipsis become their ASCII equivalents. Raises UnknownNameError for an unknown kind.
    """
    if kind != "bpe" and UNKNOWN_TOKEN not in special_tokens:
        special_tokens = (*special_tokens, UNKNOWN_TOKEN)
    if plain_typography:
        translation = {ord(curly): key for curly, key in PLAIN_TYPOGRAPHY.items()}
        texts = (text.translate(translation) for text in texts)
    backend = TOKENIZER_TRAINERS[kind](texts, vocabulary_size, special_tokens)
    if plain_typography:
        replacements = [normalizers.Replace(curly, key) for curly, key in PLAIN_TYPOGRAPHY.items()]
        backend.normalizer = normalizers.Sequence(replacements)
    backend.post_processor = _post_processor(backend, special_tokens)
    return Tokenizer(backend)


def _post_processor(backend: tokenizers.Tokenizer, special_tokens: Sequence[str]) -> Any:
    """The template of special tokens around a text, or a pair of texts."""
    if "[CLS]" in special_tokens and "[SEP]" in special_tokens:
        single, pair = "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"
    elif "</s>" in special_tokens:
        single, pair = "$A </s>", "$A </s> $B:1 </s>:1"
    elif END_OF_TEXT in special_tokens:
        single, pair = f"{END_OF_TEXT} $A", f"{END_OF_TEXT} $A {END_OF_TEXT} $B:1"
    else:
        return None
    ids = [(name, backend.token_to_id(name)) for name in special_tokens if name in single]
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=ids)
