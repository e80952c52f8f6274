"""What questions call the pictures that visitors brought."""

from __future__ import annotations

OWN_IMAGE_PREFIX = "own-"  # begins their names
IMAGE_GONE = "This file is no longer here: what one brings is kept for a while only. Choose it again."
