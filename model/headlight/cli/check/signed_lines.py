"""Lines of JSON with a signature each, by which the results of a check are told from what a learner's file writes.

The key is known to the command and to the process that checks, not to programs that the file starts. The file itself is
run by the process that checks; its code could find the key there or change the checks.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Any

MAX_BYTES = 4 << 20  # of all lines; those of all exercises have about 20 kB


def signature(key: bytes, number: int, line: bytes) -> bytes:
    """The signature of the line with this number, so that no line can be written twice."""
    return hmac.new(key, b"%d %s" % (number, line), "sha256").hexdigest().encode()


@dataclass
class SignedLines:
    """Writes signed lines to a file."""

    file: BufferedIOBase
    key: bytes
    number: int = 0

    def write(self, event: dict[str, object]) -> None:
        """Write one line and flush it."""
        line = json.dumps(event).encode("ascii")
        self.file.write(b"\n%s %s\n" % (signature(self.key, self.number, line), line))
        self.file.flush()
        self.number += 1


def read_signed(file: BufferedIOBase, key: bytes) -> Iterator[dict[str, Any]]:
    """The lines with a right signature, in order; others, and all that follows the first MAX_BYTES, are left out."""
    number = 0
    for row in file.read(MAX_BYTES).split(b"\n"):
        signed, _, line = row.partition(b" ")
        if hmac.compare_digest(signed, signature(key, number, line)):
            number += 1
            yield json.loads(line)
