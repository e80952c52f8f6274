"""The shipped files are found from the source tree; `pip install .` keeps the same layout."""

from headlight.paths import assets_dir


def test_the_folder_is_there() -> None:
    assert (assets_dir() / "README.md").is_file()
