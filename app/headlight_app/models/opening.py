"""Checks and opens a checkpoint in the background: once, however often the page runs meanwhile."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from threading import Thread

from streamlit.runtime.uploaded_file_manager import UploadedFile

from headlight.errors import HeadlightError, unforeseen
from headlight_app.access.uploads import VisitorCheckpoint
from headlight_app.access.visitor import CURRENT_VISITOR, current_visitor


class Opening:
    """Opens a checkpoint in a separate thread.

    Once it `is_done`, `name` is the name of the opened checkpoint, or `problem` the reason why it cannot be opened.
    """

    def __init__(self, files: Sequence[UploadedFile], open_checkpoint: Callable[[], VisitorCheckpoint]) -> None:
        self.files = files
        self.name = self.problem = ""
        self.thread = Thread(target=self._open, args=(current_visitor(), open_checkpoint), name="opening", daemon=True)
        self.thread.start()

    @property
    def is_done(self) -> bool:
        """Whether it has ended, with a checkpoint or with a problem."""
        return not self.thread.is_alive()

    def _open(self, visitor: str, open_checkpoint: Callable[[], VisitorCheckpoint]) -> None:
        CURRENT_VISITOR.set(visitor)
        try:
            self.name = open_checkpoint().name
        except HeadlightError as error:
            self.problem = str(error)
        except Exception as error:  # a file may cause any error; the page continues
            logging.getLogger(__name__).error("".join(traceback.format_tb(error.__traceback__)))
            self.problem = unforeseen(error, "The checkpoint is not open.")
