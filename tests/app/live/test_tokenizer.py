"""The tokens of a page without a server are those of the server: ids, texts, marks of added ones, ends, and back."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from headlight.checkpoints.tokenizers.open import open_tokenizer
from headlight.errors import CheckpointError
from headlight.live.tokenizer.file import tokenizer_file
from headlight.live.tokenizer.patterns import javascript_pattern
from headlight.text.tokenizer import TOKENIZER_FILE, Tokenizer
from tests.app.live.odd_texts import odd_texts
from tests.app.live.reading import differences, read_by_file
from tests.families.test_tokenizers import LAYOUTS, LLAMA, Make, spm
from tests.families.texts import NASTY, configured

MODELS = Path(__file__).parents[3] / "assets" / "models"
SHIPPED = sorted(path.parent.name for path in MODELS.glob(f"*/{TOKENIZER_FILE}"))
TEXTS = odd_texts()
SOME = [*NASTY, *TEXTS[::10]]
# Layouts whose tokenizers have a program of their own, or languages.
REFUSED = {"mbart", "mbart50", "mbart50 in German", "m2m_100", "byt5", "byt5 with fewer sentinels", "marian"}
MORE: dict[str, tuple[str, Make, dict[str, Any]]] = {
    "llama": ("llama", spm("tokenizer.model", LLAMA), {}),
    "merges of pieces": ("llama", spm("tokenizer.model", {"vocab_size": 500, "model_type": "bpe"}), {}),
    "pieces or bytes": (
        "llama",
        spm("tokenizer.model", {"vocab_size": 500, "model_type": "unigram", "byte_fallback": True}),
        {},
    ),
}
EVERY = {**LAYOUTS, **MORE}


FIRST = 4  # of the steps of a kind, in the short run


def mostly_full(steps: Sequence[Any]) -> list[Any]:
    """The first steps, and the others for the full run alone."""
    return [*steps[:FIRST], *(pytest.param(step, marks=pytest.mark.full) for step in steps[FIRST:])]


def opened(name: str, folder: Path) -> Tokenizer:
    kind, make, options = EVERY[name]
    make(configured(folder, kind, **options))
    return open_tokenizer(folder, kind)


@pytest.mark.parametrize("name", ["stories-causal", "stories-masked", "induction", "sort"])
def test_a_shipped_model_reads_odd_texts_as_the_library_does(name: str) -> None:
    assert differences(Tokenizer.load(MODELS / name), SOME) == []


@pytest.mark.full
@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_model_reads_every_odd_text_as_the_library_does(name: str) -> None:
    assert differences(Tokenizer.load(MODELS / name), TEXTS) == []


@pytest.mark.parametrize("name", ["qwen2", "bert", "llama", "t5"])
def test_a_familys_tokenizer_reads_odd_texts_as_the_library_does(name: str, tmp_path: Path) -> None:
    assert differences(opened(name, tmp_path), SOME) == []


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(EVERY.keys() - REFUSED))
def test_every_familys_tokenizer_reads_every_odd_text_as_the_library_does(name: str, tmp_path: Path) -> None:
    assert differences(opened(name, tmp_path), [*NASTY, *TEXTS]) == []


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_tokenizer_that_a_page_cannot_have_is_refused_by_a_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="which a page without a server"):
        tokenizer_file(opened(name, tmp_path))


def letters(**parts: Any) -> Tokenizer:
    """A tokenizer of a few words and letters with other parts; every other piece is unknown."""
    names = ["<unk>", "a", "b", "ab", "the", " ", "1", "é", "e", ".", "▁", "-", "<s>"]
    backend = tokenizers.Tokenizer(models.WordLevel({name: at for at, name in enumerate(names)}, unk_token="<unk>"))
    for name, part in parts.items():
        setattr(backend, name, part)
    return Tokenizer(backend)


def test_a_vocabulary_of_any_size_opens() -> None:
    """A quarter of a million tokens are more than a call takes as arguments; XLM-RoBERTa has them."""
    tokens = [("<unk>", 0.0), *((f"t{number}", -1.0) for number in range(250_000))]
    assert differences(Tokenizer(tokenizers.Tokenizer(models.Unigram(tokens, 0))), ["t5t7", "t249999 t"]) == []


CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+"
)
PATTERNS = (
    CL100K, r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+", r"[^\s\p{L}\p{N}]++[\r\n]*+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t)?|\p{N}{1,3}",
    r"\b", r"\B\w", r"^a|a$", r"\Aa|a\z|\s\Z", r"(?<=a)b|(?<!a)e", r"(?>a|ab)b", r"[[:alpha:]&&[^a-m]]+",
    r"\x61|\u0062",
    r"[\p{Han}\p{Hiragana}]+", r".", r"[\s\S]", r"a*", r"a{,2}b?", r"(?:ab){1,2}+",
    r"[]a\-^]", "\\p{^L}", r"\h+|\W\D",
)  # fmt: skip


@pytest.mark.parametrize("pattern", mostly_full(PATTERNS))
def test_a_pattern_splits_as_in_the_library(pattern: str) -> None:
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    assert differences(letters(pre_tokenizer=split), [*SOME, "ab\nab\n", "aab ab", "a\n"]) == []


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", "(?i:ss)", r"\Ga", "(?<name>a)", "a++?", "a{2}?", "(?i)a", "a)", "[a", "(a", "a{,}"]
)
def test_a_pattern_that_is_not_understood_is_refused(pattern: str) -> None:
    with pytest.raises(CheckpointError, match="a page without a server does not know"):
        javascript_pattern(pattern)


NORMALIZERS: tuple[normalizers.Normalizer, ...] = (
    normalizers.BertNormalizer(), normalizers.NFKC(), normalizers.Replace(Regex("a*"), "-"), normalizers.Strip(),
    *(getattr(normalizers, name)() for name in ("NFC", "NFD", "NFKD", "Lowercase", "StripAccents", "Nmt")),
    normalizers.Strip(left=True, right=False), normalizers.Strip(left=False, right=True), normalizers.Prepend("<<"),
    normalizers.Replace("the", ""), normalizers.Replace(Regex(r"\s{2,}"), "ab"),
    normalizers.ByteLevel(), normalizers.BertNormalizer(clean_text=False, strip_accents=False),
    normalizers.Sequence([normalizers.Strip(), normalizers.Prepend("▁"), normalizers.NFKC(), normalizers.Lowercase()]),
    normalizers.Sequence([normalizers.Replace("a", ""), normalizers.Lowercase(), normalizers.Replace("b", "bb")]),
)  # fmt: skip
EVERY_LETTER = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")


@pytest.mark.parametrize("step", mostly_full(NORMALIZERS), ids=str)
def test_a_normalizer_keeps_the_places_of_characters(step: normalizers.Normalizer) -> None:
    assert differences(letters(normalizer=step, pre_tokenizer=EVERY_LETTER), SOME) == []


BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
PRE_TOKENIZERS: tuple[pre_tokenizers.PreTokenizer, ...] = (
    pre_tokenizers.Whitespace(), pre_tokenizers.WhitespaceSplit(), pre_tokenizers.BertPreTokenizer(),
    *(pre_tokenizers.Punctuation(behavior) for behavior in BEHAVIORS),
    *(pre_tokenizers.Split("a", behavior, invert) for behavior in BEHAVIORS for invert in (False, True)),
    *(pre_tokenizers.Digits(individual) for individual in (False, True)),
    *(pre_tokenizers.Metaspace("▁", scheme) for scheme in ("always", "first", "never")),
    pre_tokenizers.Metaspace("▁", split=False),
    *(pre_tokenizers.ByteLevel(prefix, use_regex=cut) for prefix in (False, True) for cut in (False, True)),
    pre_tokenizers.CharDelimiterSplit("-"),
    pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace("▁", "first")]),
)  # fmt: skip


@pytest.mark.parametrize("step", mostly_full(PRE_TOKENIZERS), ids=str)
def test_a_pre_tokenizer_cuts_in_the_same_places(step: pre_tokenizers.PreTokenizer) -> None:
    assert differences(letters(pre_tokenizer=step), SOME) == []


DECODERS: tuple[decoders.Decoder, ...] = (
    decoders.BPEDecoder("e"), decoders.WordPiece("a"), decoders.WordPiece("a", cleanup=False), decoders.Metaspace("▁"),
    decoders.ByteLevel(), decoders.Metaspace("▁", prepend_scheme="never"), decoders.Strip("a", 1, 0),
    decoders.Strip("a", 0, 1),
    decoders.ByteFallback(),
    decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    ),
    decoders.Replace(Regex("a|b"), "x$&"),
)  # fmt: skip


@pytest.mark.parametrize("step", mostly_full(DECODERS), ids=str)
def test_a_decoder_makes_the_same_text(step: decoders.Decoder) -> None:
    assert differences(letters(decoder=step, pre_tokenizer=EVERY_LETTER), SOME) == []


POST_PROCESSORS: tuple[Callable[[], Any], ...] = (
    lambda: processors.ByteLevel(trim_offsets=True),
    lambda: processors.RobertaProcessing(("ab", 3), ("<s>", 12)),
    lambda: processors.BertProcessing(("ab", 3), ("<s>", 12)),
    lambda: processors.Sequence(
        [
            processors.ByteLevel(add_prefix_space=False),
            processors.TemplateProcessing(single="<s> <s> $A ab", special_tokens=[("<s>", 12), ("ab", 3)]),
        ]
    ),
)  # fmt: skip


@pytest.mark.parametrize("make", POST_PROCESSORS)
def test_tokens_are_added_and_ends_trimmed_as_in_the_library(make: Callable[[], Any]) -> None:
    cut = pre_tokenizers.Split(Regex(r"\s*\S+\s*"), "isolated")
    assert differences(letters(pre_tokenizer=cut, post_processor=make()), SOME) == []


HOSTILE = ("</script>", "__proto__", "constructor", "toString", "<img src=x onerror=alert(1)>", "$&", "[", "\\", "a.*")


def test_tokens_with_the_names_of_programs_are_text() -> None:
    backend = tokenizers.Tokenizer(models.WordLevel({name: at for at, name in enumerate(("<unk>", *HOSTILE))}, "<unk>"))
    backend.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    backend.add_tokens([AddedToken(name, single_word=True, lstrip=True) for name in HOSTILE[::2]])
    texts = [" ".join(HOSTILE), *HOSTILE, "hasOwnProperty x", "".join(HOSTILE)]
    assert differences(Tokenizer(backend), texts) == []


DAMAGED: tuple[tuple[str, Any], ...] = (
    ("model", {"kind": "constructor"}), ("normalizer", [{"kind": "toString"}]), ("tokens", 5), ("added", None),
    ("model", None),
)  # fmt: skip


@pytest.mark.parametrize(("field", "value"), DAMAGED)
def test_a_damaged_file_is_an_error(field: str, value: Any) -> None:
    file = tokenizer_file(Tokenizer.load(MODELS / "sort")) | {field: value}
    (answer,) = read_by_file(file, [])
    assert set(answer) == {"error"}


def test_a_text_that_the_model_cannot_read_has_the_servers_sentence() -> None:
    backend = tokenizers.Tokenizer(models.WordLevel({"a": 0, "b": 1}, "<none>"))
    backend.pre_tokenizer = EVERY_LETTER
    assert differences(Tokenizer(backend), ["ab", "abc", "a\nxyzäüö"]) == []
    sized = Tokenizer.load(MODELS / "stories-causal")
    sized.fit_to(300)
    assert differences(sized, ["a", "Once upon a time"]) == []
    counted = Tokenizer.load(MODELS / "stories-masked")
    counted.uncounted_ids = frozenset({0})
    assert differences(counted, ["a[PAD]b", "ab"]) == []
