"""Counting models of training texts, made once for a tokenizer and its texts and kept in a folder."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.data.corpus import Say, Source, Tokens, kept
from model.evaluation import kneser_ney, sides
from model.evaluation.kneser_ney import KneserNey
from model.evaluation.sides import TwoSided
from model.text.tokenizer import Tokenizer

ORDER = 5
VERSION = 1  # of how the tables are made; another one is another folder
DONE = "sources.json"


@dataclass(frozen=True)
class Shelf:
    """Where the counting models of one tokenizer over some texts lie; a text counts as often as its weight says."""

    folder: Path
    tokenizer: Tokenizer
    sources: Sequence[Source]
    say: Say

    def kneser_ney(self) -> KneserNey:
        """A Kneser-Ney 5-gram of all texts; each document begins with the token that begins a text."""
        place = self._place("kneser-ney")
        if not (place / DONE).is_file():
            texts = self._texts(self.tokenizer.start_id)
            self.say(f"Counting runs of {ORDER} in {sum(len(text.ids) for text in texts) / 1e6:.1f} M tokens ...")
            ids = np.concatenate([text.ids for text in texts]).astype(np.int64)
            masses = np.concatenate([np.full(len(text.ids), text.weight) for text in texts])
            kneser_ney.count(ids, masses, self.tokenizer.size, ORDER).save(place)
            self._finish(place)
        return KneserNey.load(place, self.tokenizer.size, ORDER)

    def two_sided(self) -> TwoSided:
        """A 5-gram of all texts around its middle; sequences as in the questions."""
        place = self._place("two-sided")
        if not (place / DONE).is_file():
            texts = self._texts(None)
            self.say(f"Counting both sides in {sum(len(text.ids) for text in texts) / 1e6:.1f} M tokens ...")
            sides.count(texts, self.tokenizer.size).save(place)
            self._finish(place)
        return TwoSided.load(place, self.tokenizer.size)

    @property
    def _vocabulary(self) -> Path:
        """A folder for what hangs on the tokenizer alone."""
        return self.folder / f"{zlib.crc32(self.tokenizer.backend.to_str().encode()):08x}"

    def _texts(self, separator: int | None) -> list[Tokens]:
        folder = self._vocabulary / ("lines" if separator is None else "documents")
        return [kept(source, self.tokenizer, separator, folder, self.say) for source in self.sources]

    def _place(self, kind: str) -> Path:
        place = self._vocabulary / f"{kind}-{zlib.crc32(json.dumps(self._stamp()).encode()):08x}"
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _stamp(self) -> list[object]:
        about = [(each, each.path.stat()) for each in self.sources]
        files = [[str(each.path.resolve()), of.st_size, of.st_mtime_ns, each.weight] for each, of in about]
        return [VERSION, ORDER, *files]

    def _finish(self, place: Path) -> None:
        """Marks the tables as whole: written last."""
        (place / DONE).write_text(json.dumps(self._stamp(), indent=2) + "\n", encoding="utf-8")
