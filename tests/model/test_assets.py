"""The shipped files are found from the source tree; `pip install .` keeps the same layout."""

from model.paths import assets


def test_the_folder_is_there() -> None:
    assert (assets() / "README.md").is_file()
