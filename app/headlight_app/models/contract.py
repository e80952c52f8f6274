"""Requests of the Models page: the card and weights of a model; open, unpack or download a checkpoint."""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, TypeVar

from msgspec import Meta

from headlight_app.contract.question import Device, Name
from headlight_app.contract.request import Answer, PageRequest
from headlight_app.engine.contract import Done

A_co = TypeVar("A_co", bound=Answer, covariant=True)

MAX_FILES = 1_000_000  # of an upload; archives have lower limits, with their own errors


class ModelRequest(PageRequest[A_co], Generic[A_co], frozen=True, kw_only=True):
    """A request about a model itself, by its name."""

    is_http: ClassVar[bool] = False

    model: Name

    def models(self) -> tuple[str, ...]:
        """The one model."""
        return (self.model,)


class ModelCardAnswer(Answer, frozen=True, kw_only=True):
    """A model card as its author wrote it; empty if there is none."""

    text: str


class ModelCardRequest(ModelRequest[ModelCardAnswer], frozen=True, kw_only=True):
    """The model card of a model."""

    route: ClassVar[str] = "model_card"


class WeightReportAnswer(Answer, frozen=True, kw_only=True):
    """Notes on how a model's weights were loaded, and a warning if some are not finite, else empty."""

    notes: tuple[str, ...]
    warning: str


class WeightReportRequest(ModelRequest[WeightReportAnswer], frozen=True, kw_only=True):
    """How a model's weights were loaded. Checks every weight."""

    route: ClassVar[str] = "weight_report"
    seconds: ClassVar[float] = 60.0

    device: Device = "auto"


class OpenCheckpointRequest(ModelRequest[Done], frozen=True, kw_only=True):
    """Open a model ahead of the next question."""

    route: ClassVar[str] = "open_checkpoint"
    seconds: ClassVar[float] = 60.0


class FolderAnswer(Answer, frozen=True, kw_only=True):
    """The folder of a checkpoint."""

    folder: str


class ExtractUploadRequest(PageRequest[FolderAnswer], frozen=True, kw_only=True):
    """Check the files in `sent`, whose names there are numbers, and write them to `folder` under their `names`.

    A single file with an empty name is a .zip.
    """

    route: ClassVar[str] = "extract_upload"
    seconds: ClassVar[float] = 60.0
    is_http: ClassVar[bool] = False
    is_local: ClassVar[bool] = True
    is_private: ClassVar[bool] = True

    sent: Name
    folder: Name
    names: Annotated[tuple[Name, ...], Meta(max_length=MAX_FILES)]
    max_bytes: Annotated[int, Meta(ge=0, lt=2**53)]


class DownloadRequest(PageRequest[FolderAnswer], frozen=True, kw_only=True):
    """Download a model of the Hugging Face Hub by its id into the cache of the server's machine."""

    route: ClassVar[str] = "download"
    seconds: ClassVar[float] = 3600.0
    is_http: ClassVar[bool] = False
    is_local: ClassVar[bool] = True
    is_private: ClassVar[bool] = True

    hub_id: Name
