"""Well-known models that Headlight does not ship: what they are, and what opening one needs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec

from headlight_app.access.settings import Settings
from headlight_app.engine.contract import ListedModel

FILES = "config.json, model.safetensors and tokenizer.json"
OFFLINE = {"1", "ON", "YES", "TRUE"}  # what huggingface_hub reads as such


@dataclass(frozen=True)
class WellKnown:
    """A model of the Hugging Face Hub, and the megabytes of its weights."""

    hub_id: str
    title: str
    kind: str
    size: str
    heads: str
    megabytes: int

    @property
    def name(self) -> str:
        """Its id without the owner, which a folder of its files usually has as its name."""
        return self.hub_id.rpartition("/")[2]

    def listed(self, limits: Settings) -> ListedModel:
        """Its card, with what opening it needs on this server."""
        details = {"Id": self.hub_id, "Size": self.size, "Heads": self.heads, "Needs": self.needs(limits)}
        return ListedModel(
            name=self.hub_id,
            title=self.title,
            kind=self.kind,
            purpose="",
            family="",
            licence="",
            details=details,
            problem="",
            config=None,
        )

    def needs(self, limits: Settings) -> str:
        """What opening it needs, in a sentence."""
        download = f"{self.megabytes:,} MB from the Hugging Face Hub"
        folder = f"a folder with its {FILES}"
        if may_download(limits):
            return f"a download of {download}, or the path of {folder}"
        if not limits.shared:
            return f"the path of {folder}: the Hugging Face Hub is disabled or not installed here"
        if self.megabytes <= limits.upload_limit:
            return f"an upload of {folder}, {self.megabytes:,} MB: this server fetches nothing"
        return f"Headlight on your own machine, which fetches {download}: this server takes no upload of that size"


def may_download(limits: Settings) -> bool:
    """Whether this server fetches models: it opens paths and ids, and the Hub is installed and not disabled."""
    is_disabled = os.environ.get("HF_HUB_OFFLINE", "").upper() in OFFLINE
    return not limits.shared and not is_disabled and find_spec("huggingface_hub") is not None


WELL_KNOWN = (
    WellKnown("openai-community/gpt2", "GPT-2", "Continues texts", "124 M parameters", "12 layers × 12 heads", 548),
    WellKnown("google-bert/bert-base-uncased", "BERT", "Fills masks", "110 M parameters", "12 layers × 12 heads", 440),
)


def missing(listed: Iterable[ListedModel]) -> tuple[WellKnown, ...]:
    """Those that are not among these models; one that cannot be opened is missing."""
    here = {card.title.rpartition("/")[2].lower() for card in listed if not card.problem}
    return tuple(one for one in WELL_KNOWN if one.name not in here)
