"""Counting models of training texts, made once for a tokenizer and its texts and kept in a folder."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.data.corpus import Log, TextSource, TokenizedText, tokenize_cached
from model.evaluation import kneser_ney, sides
from model.evaluation.kneser_ney import KneserNey
from model.evaluation.sides import TwoSidedNgram
from model.text.tokenizer import Tokenizer

ORDER = 5
FORMAT_VERSION = 1  # of how the tables are made; another one is another folder
SOURCES_FILE = "sources.json"


@dataclass(frozen=True)
class NgramStore:
    """Where the counting models of one tokenizer over some texts lie; a text counts as often as its weight says."""

    folder: Path
    tokenizer: Tokenizer
    sources: Sequence[TextSource]
    log: Log

    def kneser_ney(self) -> KneserNey:
        """A Kneser-Ney 5-gram of all texts; each document begins with the token that begins a text."""
        place = self._table_folder("kneser-ney")
        if not (place / SOURCES_FILE).is_file():
            texts = self._tokenized_texts(self.tokenizer.start_id)
            self.log(f"Counting runs of {ORDER} in {sum(len(text.ids) for text in texts) / 1e6:.1f} M tokens ...")
            ids = np.concatenate([text.ids for text in texts]).astype(np.int64)
            masses = np.concatenate([np.full(len(text.ids), text.epochs) for text in texts])
            kneser_ney.count_kneser_ney(ids, masses, self.tokenizer.vocabulary_size, ORDER).save(place)
            self._mark_complete(place)
        return KneserNey.load(place, self.tokenizer.vocabulary_size, ORDER)

    def two_sided(self) -> TwoSidedNgram:
        """A 5-gram of all texts around its middle; sequences as in the questions."""
        place = self._table_folder("two-sided")
        if not (place / SOURCES_FILE).is_file():
            texts = self._tokenized_texts(None)
            self.log(f"Counting both sides in {sum(len(text.ids) for text in texts) / 1e6:.1f} M tokens ...")
            sides.count_two_sided(texts, self.tokenizer.vocabulary_size).save(place)
            self._mark_complete(place)
        return TwoSidedNgram.load(place, self.tokenizer.vocabulary_size)

    @property
    def _tokenizer_folder(self) -> Path:
        """A folder for what hangs on the tokenizer alone."""
        return self.folder / f"{zlib.crc32(self.tokenizer.backend.to_str().encode()):08x}"

    def _tokenized_texts(self, separator: int | None) -> list[TokenizedText]:
        folder = self._tokenizer_folder / ("lines" if separator is None else "documents")
        return [tokenize_cached(source, self.tokenizer, separator, folder, self.log) for source in self.sources]

    def _table_folder(self, kind: str) -> Path:
        place = self._tokenizer_folder / f"{kind}-{zlib.crc32(json.dumps(self._stamp()).encode()):08x}"
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _stamp(self) -> list[object]:
        about = [(each, each.path.stat()) for each in self.sources]
        files = [[str(each.path.resolve()), of.st_size, of.st_mtime_ns, each.epochs] for each, of in about]
        return [FORMAT_VERSION, ORDER, *files]

    def _mark_complete(self, place: Path) -> None:
        """Marks the tables as whole: written last."""
        (place / SOURCES_FILE).write_text(json.dumps(self._stamp(), indent=2) + "\n", encoding="utf-8")
