"""The tokenizer of a checkpoint folder: its tokenizer.json as it stands, or what older files make of one.

Only without a tokenizer.json do the rules of `recipes` apply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors

from model.checkpoints.config_reader import Fields
from model.checkpoints.source import called
from model.checkpoints.tokenizers.marian import SOURCE, TARGET, paired
from model.checkpoints.tokenizers.presets import Recipe, recipe_for
from model.checkpoints.tokenizers.sentencepiece import read_c_pieces, read_pieces, to_backend
from model.checkpoints.tokenizers.special_tokens import Marks, mark, options, read_marks
from model.errors import CheckpointError, told
from model.text.tokenizer import FILE, Tokenizer

VOCABULARY, MERGES, WORDS = "vocab.json", "merges.txt", "vocab.txt"
PIECES = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "spm.model")
C_PIECES = "tokenizer.bin"  # what llama2.c makes of a tokenizer.model


@dataclass(frozen=True)
class Place:
    """A folder of vocabulary files, with everything that says how to read them."""

    folder: Path
    name: str
    fields: Fields
    recipe: Recipe
    marks: Marks


Reader = Callable[[Place], tokenizers.Tokenizer]


def open_tokenizer(folder: Path, kind: str, name: str = "") -> Tokenizer:
    """The tokenizer of a folder whose family is `kind`; sentences call it `name`.

    Raises CheckpointError where there is none that can be read.
    """
    name = name or called(folder)
    if (folder / FILE).is_file():
        return Tokenizer.load(folder, name)
    reader = _reader(folder, name)
    fields = options(folder, name)
    recipe = recipe_for(kind, fields.word("tokenizer_class", ""))
    if recipe is None:
        raise CheckpointError(f"{name} has no {FILE}, and how {kind} cuts its texts is not known without one.")
    place = Place(folder, name, fields, recipe, read_marks(folder, fields, recipe.marks))
    with told(CheckpointError, f"{name}: its vocabulary cannot be read"):
        if reader is None:
            return paired(folder, name, place.marks)
        backend = reader(place)
        mark(backend, place.marks, recipe.appended)
        backend.post_processor = _around(backend, place)
        return Tokenizer(backend)


def _reader(folder: Path, name: str) -> Reader | None:
    """What reads the files that are there: the first row of READERS whose files all are; None for a pair of models."""
    for files, reader in READERS.items():
        if all((folder / file).is_file() for file in files):
            return reader
    raise CheckpointError(
        f"{name} holds no tokenizer: no {FILE}, no {VOCABULARY} with {MERGES}, no {WORDS}, no .model file."
    )


def _around(backend: tokenizers.Tokenizer, place: Place) -> Any:
    """What puts the marks around a text."""
    recipe, fields = place.recipe, place.fields
    before = [*recipe.before, *(["bos"] if _asked(fields, "add_bos_token", recipe.adds_start) else [])]
    after = [*recipe.after, *(["eos"] if _asked(fields, "add_eos_token", recipe.adds_end) else [])]
    tokens = [place.marks.token(role) for role in (*before, *after)]
    numbers = {token: backend.token_to_id(token) for token in tokens if token}
    missing = sorted(token for token, number in numbers.items() if number is None)
    if missing:
        raise CheckpointError(
            f"{place.name}: its vocabulary lacks {', '.join(missing)}, which stand around every text."
        )
    single = [token for token in (*map(place.marks.token, before), "$A", *map(place.marks.token, after)) if token]
    template = processors.TemplateProcessing(single=single, special_tokens=list(numbers.items()))
    byte_level = isinstance(backend.decoder, decoders.ByteLevel)
    return processors.Sequence([*([processors.ByteLevel(trim_offsets=False)] if byte_level else []), template])


def _asked(fields: Fields, name: str, usual: bool | None) -> bool:
    return usual is not None and fields.flag(name, usual)


def _byte_pairs(place: Place) -> tokenizers.Tokenizer:
    """GPT-2's vocab.json and merges.txt."""
    folder, recipe = place.folder, place.recipe
    backend = tokenizers.Tokenizer(models.BPE.from_file(str(folder / VOCABULARY), str(folder / MERGES)))
    prefix = place.fields.flag("add_prefix_space", False)
    if recipe.composed:
        backend.normalizer = normalizers.NFC()
    bytewise = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=not recipe.pattern)
    cuts = [pre_tokenizers.Split(Regex(recipe.pattern), behavior="isolated")] if recipe.pattern else []
    backend.pre_tokenizer = pre_tokenizers.Sequence([*cuts, bytewise])
    backend.decoder = decoders.ByteLevel()
    return backend


def _word_pieces(place: Place) -> tokenizers.Tokenizer:
    """BERT's vocab.txt; tokenizer_config.json says whether case counts."""
    fields, unknown = place.fields, place.marks.token("unk") or "[UNK]"
    numbers = models.WordPiece.read_file(str(place.folder / WORDS))
    if unknown not in numbers:
        raise CheckpointError(f"{place.name}: its vocabulary lacks {unknown}, which stands for unknown words.")
    backend = tokenizers.Tokenizer(models.WordPiece(numbers, unk_token=unknown))
    lower = fields.flag("do_lower_case", True)
    backend.normalizer = normalizers.BertNormalizer(
        lowercase=lower,
        strip_accents=fields.flag("strip_accents", lower),
        handle_chinese_chars=fields.flag("tokenize_chinese_chars", True),
    )
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return backend


def _sentence_pieces(place: Place) -> tokenizers.Tokenizer:
    """A SentencePiece model; T5's has its sentinels after the pieces."""
    path = next(place.folder / name for name in PIECES if (place.folder / name).is_file())
    backend = to_backend(
        read_pieces(path.read_bytes(), f"{place.name}: its {path.name}"), place.name, place.recipe.pieces, place.fields
    )
    extra = min(place.fields.size("extra_ids", 100 if place.recipe.sentinels else 0), 1000)
    backend.add_special_tokens([f"<extra_id_{number}>" for number in reversed(range(extra))])
    return backend


def _c_pieces(place: Place) -> tokenizers.Tokenizer:
    path = place.folder / C_PIECES
    return to_backend(read_c_pieces(path.read_bytes(), f"{place.name}: its {path.name}"), place.name)


READERS: dict[tuple[str, ...], Reader | None] = {
    (SOURCE, TARGET, VOCABULARY): None,
    **{(name,): _sentence_pieces for name in PIECES},
    (C_PIECES,): _c_pieces,
    (VOCABULARY, MERGES): _byte_pairs,
    (WORDS,): _word_pieces,
}


def kind_of(folder: Path) -> str:
    """What kind of vocabulary lies in a folder without a tokenizer.json, in a word or two; empty without any."""
    known: dict[Reader | None, str] = {_byte_pairs: "byte pairs", _word_pieces: "WordPiece"}
    try:
        return known.get(_reader(folder, called(folder)), "SentencePiece")
    except CheckpointError:
        return ""
