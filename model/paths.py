"""The path of the shipped models, sample texts and images."""

from pathlib import Path


def assets_dir() -> Path:
    """The folder `assets`: beside the package `model`, in the source tree as in an installed copy."""
    return Path(__file__).resolve().parent.parent / "assets"
