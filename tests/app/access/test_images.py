"""Pictures: shipped ones for every visitor, and each visitor's own."""

import pytest

from headlight.errors import ImageError
from headlight.vision.shipped_images import shipped_image, shipped_image_names
from headlight_app.access import images as subject
from headlight_app.access.images import (
    ARRIVAL_SECONDS,
    MAX_IMAGE_BYTES,
    MAX_PER_VISITOR,
    MAX_TOTAL_BYTES,
    ImageStore,
)
from headlight_app.access.uploads import GRACE_SECONDS
from headlight_app.contract.question import OWN_IMAGE_PREFIX
from headlight_app.contract.state import State
from headlight_app.state.url import decode_state, encode_state
from tests.app.inference.test_images import photo


def test_what_somebody_brings_is_theirs_alone() -> None:
    gallery = ImageStore()
    name = gallery.add("anna", photo())
    assert name.startswith(OWN_IMAGE_PREFIX)
    assert gallery.find("anna", name).data == photo()
    assert set(gallery.find_own("anna", (name, "own-other", "cat"))) == {name}
    for visitor in ("ben", ""):
        with pytest.raises(ImageError, match="no longer here"):
            gallery.find(visitor, name)
        assert gallery.find_own(visitor, (name,)) == {}


def test_no_visitor_keeps_more_than_a_few() -> None:
    gallery = ImageStore()
    brought = [gallery.add("anna", photo(seed=seed)) for seed in range(MAX_PER_VISITOR + 2)]
    other = gallery.add("ben", photo())
    for name in brought[:2]:
        with pytest.raises(ImageError, match="no longer here"):
            gallery.find("anna", name)
    assert all(gallery.find("anna", name) for name in brought[2:])
    assert gallery.find("ben", other)


def test_all_together_take_no_more_than_there_is_room() -> None:
    gallery = ImageStore(max_bytes=5 * len(photo()))
    brought = {f"visitor{number}": gallery.add(f"visitor{number}", photo()) for number in range(9)}
    assert sum(len(hung.data) for hung in gallery.uploaded.values()) <= gallery.max_bytes < MAX_TOTAL_BYTES
    kept = [visitor for visitor, name in brought.items() if (visitor, name) in gallery.uploaded]
    assert kept == [f"visitor{number}" for number in range(4, 9)]


def test_pictures_of_newcomers_leave_the_pictures_of_others() -> None:
    gallery = ImageStore(max_bytes=4 * len(photo()))
    kept = gallery.add("anna", photo())
    for number in range(20):
        gallery.add(f"newcomer {number // 2}", photo() + bytes(len(photo())))
    assert gallery.find("anna", kept).data == photo()


def test_pictures_of_a_visitor_who_has_left_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    now, gallery = 1_000.0, ImageStore()
    monkeypatch.setattr(subject, "monotonic", lambda: now)
    brought = {visitor: gallery.add(visitor, photo()) for visitor in ("leaves", "stays", "has no page")}
    gallery.sweep(lambda visitor: visitor != "has no page")
    for seconds, kept in (
        (ARRIVAL_SECONDS - 1, {"leaves", "stays", "has no page"}),
        (ARRIVAL_SECONDS + 1, {"leaves", "stays"}),
        (GRACE_SECONDS - 1, {"leaves", "stays"}),
        (GRACE_SECONDS + 1, {"stays"}),
    ):
        now = 1_000.0 + seconds
        gallery.sweep(lambda visitor: visitor == "stays")
        assert {visitor for visitor, _ in gallery.uploaded} == kept == set(gallery.last_seen)
    assert gallery.find("stays", brought["stays"])


def test_what_is_too_large_or_nobodys_is_not_kept() -> None:
    gallery = ImageStore()
    with pytest.raises(ImageError, match="may have at most 8 MB"):
        gallery.add("anna", bytes(MAX_IMAGE_BYTES + 1))
    with pytest.raises(ImageError, match="no cookie"):
        gallery.add("", photo())
    assert not gallery.uploaded


@pytest.mark.parametrize("name", ["dog", "../cat", "cat.png", "x" * 500])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(ImageError, match=r"Known: cat, chess, faces, house, .*, and your own"):
        ImageStore().find("anna", name)


def test_a_shipped_picture_is_there_for_everybody() -> None:
    for name in shipped_image_names():
        assert ImageStore().find("", name).data == shipped_image(name)
    assert shipped_image("") == shipped_image(shipped_image_names()[0])


def test_an_address_names_a_drawn_picture_and_never_a_visitors_own() -> None:
    assert encode_state(State(image="house")) == {"image": "house"}
    assert decode_state({"image": "house"}).image == "house"
    assert "image" not in encode_state(State(image=f"{OWN_IMAGE_PREFIX}secret"))
