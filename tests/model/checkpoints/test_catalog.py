"""Checkpoints listed and found by name or path."""

from importlib import import_module
from pathlib import Path

import pytest

from headlight import CheckpointError, catalog, find_checkpoint, save
from headlight.checkpoints.catalog import DEFAULT_MODEL, checkpoint_locations
from headlight.paths import assets_dir
from tests.model import toys


def put(folder: Path) -> Path:
    """Save a checkpoint."""
    save(folder, toys.decoder(), toys.causal())
    return folder


def test_folders_are_searched_for_checkpoints_at_any_depth(tmp_path: Path) -> None:
    for name in ("one", "group/two", "group/deep/three"):
        put(tmp_path / name)
    (tmp_path / "empty").mkdir()
    entries = {entry.name: entry for entry in catalog([tmp_path]) if not entry.shipped}
    assert set(entries) == {"one", "group/two", "group/deep/three"}
    assert entries["one"].config == toys.decoder().config
    assert entries["one"].size_bytes > 0


def test_a_folder_that_is_a_checkpoint_itself_has_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "mine")
    assert "mine" in {entry.name for entry in catalog([folder])}
    monkeypatch.chdir(folder)
    assert "mine" in {entry.name for entry in catalog(["."])}


def test_the_variable_names_folders_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a" / "one")
    put(tmp_path / "b" / "two")
    monkeypatch.setenv("HEADLIGHT_MODELS", f"{tmp_path / 'a'}:{tmp_path / 'b'}")
    assert {"one", "two"} <= {entry.name for entry in catalog()}


def test_the_first_of_a_name_wins_and_shipped_ones_come_first(tmp_path: Path) -> None:
    one, _ = put(tmp_path / "a" / "same"), put(tmp_path / "b" / "same")
    assert find_checkpoint("same", [tmp_path / "a", tmp_path / "b"]) == one
    shipped = sorted(path.name for path in (assets_dir() / "models").iterdir() if (path / "config.json").is_file())
    listed = [entry.name for entry in catalog([tmp_path])][: len(shipped)]
    assert sorted(listed) == shipped and listed[0] == DEFAULT_MODEL


def test_what_is_broken_is_not_listed_but_says_why_when_asked_for(tmp_path: Path) -> None:
    folder = put(tmp_path / "broken")
    (folder / "config.json").write_text('{"model_type": "headlight"}')
    assert "broken" not in {entry.name for entry in catalog([tmp_path])}
    assert find_checkpoint(str(folder)) == folder


def test_any_path_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "a folder with spaces ünd 😀")
    monkeypatch.chdir(tmp_path)
    for name in (str(folder), folder.name, f"./{folder.name}", f"{folder}/"):
        assert find_checkpoint(name).resolve() == folder
    with pytest.raises(CheckpointError):
        find_checkpoint(str(folder), allow_paths=False)


@pytest.mark.parametrize("name", ["nothing", "", "../nothing", "x" * 5_000, "a\0b"])
def test_an_unknown_name_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    put(tmp_path / "one")
    with pytest.raises(CheckpointError, match=r"There is no model .* Known: .*one"):
        find_checkpoint(name, [tmp_path, "y" * 5_000])


def test_a_link_that_leads_out_or_in_a_circle_is_left_out_where_that_is_asked(tmp_path: Path) -> None:
    for name in ("good", "out", "circle"):
        put(tmp_path / "root" / name)
    (tmp_path / "secret").write_text("x")
    (tmp_path / "root" / "out" / "more.json").symlink_to(tmp_path / "secret")
    (tmp_path / "root" / "circle" / "more.json").symlink_to(tmp_path / "root" / "circle" / "more.json")
    (tmp_path / "root" / "good" / "more.json").symlink_to(tmp_path / "root" / "out" / "config.json")

    def found(inside: bool) -> set[str]:
        return {
            place.name for place in checkpoint_locations([tmp_path / "root"], within_root=inside) if not place.shipped
        }

    assert found(inside=True) == {"good"}
    assert found(inside=False) == {"good", "out", "circle"}


def test_a_search_ends_in_any_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "/".join("abcdefghijklmnop")
    put(deep)
    put(tmp_path / "a" / "near")
    put(tmp_path / ".hidden" / "model")
    assert {place.name for place in checkpoint_locations([tmp_path]) if not place.shipped} == {"a/near"}
    monkeypatch.setattr(import_module("headlight.checkpoints.catalog"), "MAX_FOLDERS", 1)
    assert not [place for place in checkpoint_locations([tmp_path]) if not place.shipped]
