"""N-gram models of training texts, counted once for a tokenizer and its texts and kept in a folder."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from headlight.data.corpus import Log, TextSource, TokenizedText, tokenize_cached
from headlight.text.tokenizer import Tokenizer
from tests.bench.ngrams.kneser_ney import KneserNey, count_kneser_ney
from tests.bench.ngrams.two_sided import TwoSidedNgram, count_two_sided

ORDER = 5
FORMAT_VERSION = 2  # of the saved tables; tables of another version are recounted
SOURCES_FILE = "sources.json"


@dataclass(frozen=True)
class NgramStore:
    """The folder of the n-gram models of one tokenizer over some texts; a text counts `epochs` times."""

    folder: Path
    tokenizer: Tokenizer
    sources: Sequence[TextSource]
    log: Log

    def kneser_ney(self) -> KneserNey:
        """A Kneser-Ney 5-gram of all texts; each document begins with the start token."""
        folder = self._table_folder("kneser-ney")
        if not (folder / SOURCES_FILE).is_file():
            texts = self._tokenized_texts(self.tokenizer.start_id)
            self.log(f"Counting {ORDER}-grams in {sum(len(text.ids) for text in texts) / 1e6:.1f} M tokens ...")
            ids = np.concatenate([text.ids for text in texts]).astype(np.int64)
            weights = np.concatenate([np.full(len(text.ids), text.epochs) for text in texts])
            count_kneser_ney(ids, weights, self.tokenizer.vocabulary_size, ORDER).save(folder)
            self._mark_complete(folder)
        return KneserNey.load(folder, self.tokenizer.vocabulary_size, ORDER)

    def two_sided(self) -> TwoSidedNgram:
        """A two-sided 5-gram of all texts."""
        folder = self._table_folder("two-sided")
        if not (folder / SOURCES_FILE).is_file():
            texts = self._tokenized_texts(None)
            self.log(f"Counting both sides in {sum(len(text.ids) for text in texts) / 1e6:.1f} M tokens ...")
            count_two_sided(texts, self.tokenizer.vocabulary_size).save(folder)
            self._mark_complete(folder)
        return TwoSidedNgram.load(folder, self.tokenizer.vocabulary_size)

    @property
    def _tokenizer_folder(self) -> Path:
        return self.folder / f"{zlib.crc32(self.tokenizer.backend.to_str().encode()):08x}"

    def _tokenized_texts(self, separator: int | None) -> list[TokenizedText]:
        folder = self._tokenizer_folder / ("lines" if separator is None else "documents")
        return [tokenize_cached(source, self.tokenizer, separator, folder, self.log) for source in self.sources]

    def _table_folder(self, kind: str) -> Path:
        folder = self._tokenizer_folder / f"{kind}-{zlib.crc32(json.dumps(self._fingerprint()).encode()):08x}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _fingerprint(self) -> list[object]:
        """The inputs of the tables other than the tokenizer."""
        stats = [(source, source.path.stat()) for source in self.sources]
        files = [[str(source.path.resolve()), stat.st_size, stat.st_mtime_ns, source.epochs] for source, stat in stats]
        return [FORMAT_VERSION, ORDER, *files]

    def _mark_complete(self, folder: Path) -> None:
        """Write the file that marks the tables as complete."""
        (folder / SOURCES_FILE).write_text(json.dumps(self._fingerprint(), indent=2) + "\n", encoding="utf-8")
