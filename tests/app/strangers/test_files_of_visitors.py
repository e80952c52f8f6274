"""Uploads, pictures and recordings are their visitor's alone, whatever identity and route a stranger uses."""

import json
import re
import wave
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from itsdangerous import Signer

from headlight_app.contract.request import Request
from headlight_app.frame.main import TITLES
from headlight_app.server.routes import http_requests
from tests.app.server.test_every_route import WITHOUT_A_MODEL
from tests.app.strangers.conftest import Newcomer
from tests.app.strangers.leaves import Found, naming, with_text
from tests.app.strangers.visitor import HTML, JSON, Session, Stranger
from tests.bench.attacks import picture
from tests.browser.server import Server
from tests.zips import files_of, zipped

TITLE = "Zebra Xylophone"  # of the owner's upload
SCREEN = {"chapter": "training", "screen": "shifted-targets"}
A_FEW = 40  # questions of one visitor, so that none of them is delayed
LESSONS = {"lesson_step", "lesson_notes", "lesson_hand_in"}  # they name a model alone
PICTURE = picture()


def recording() -> bytes:
    """A tenth of a second of noise, at 16 kHz."""
    written = BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(Random(1).randbytes(3_200))
    return written.getvalue()


class Owner:
    """A visitor with an upload, a picture and a recording, whose page stays open."""

    def __init__(self, visitor: Stranger, page: Session, checkpoint: bytes) -> None:
        self.visitor, self.page = visitor, page
        self.upload = page.upload(f"{TITLE}.zip", checkpoint)
        self.picture, self.recording = visitor.store(PICTURE), visitor.store(recording(), "audio/wav")


@pytest.fixture(scope="module")
def owner(newcomer: Newcomer, toys: Path) -> Iterator[Owner]:
    """The owner."""
    visitor = newcomer()
    with visitor.open() as page:
        yield Owner(visitor, page, zipped(files_of(toys / "next"), top=""))


def invented(name: str) -> str:
    """A name like another one, which nobody has."""
    return f"{name[:-20]}{'A' * 20}"


def told(asker: Stranger, kind: type[Request[Any]], fields: Any, name: str) -> str:
    """An answer without its run time, and with NAME in place of a name."""
    answer = asker.send("POST", f"/api/{kind.route}", json.dumps(fields), **JSON)
    return re.sub(r'"milliseconds":[\d.e-]+', "", answer.content.decode("latin-1")).replace(name, "NAME")


def owns(asker: Stranger, owner: Owner) -> list[bool]:
    """Whether a client may use the upload, the picture and the recording."""
    files = [asker.send("GET", f"/api/image/{name}").status == 200 for name in (owner.picture, owner.recording)]
    return ["tokens" in asker.ask("trace", question={"model": owner.upload, "text": "the cat"}), *files]


def made_up(owner: str, own: str) -> list[str]:
    """Cookie headers of a stranger, who knows the owner's cookie in part, beside the stranger's own or without it.

    A value has random text, a dot and a signature; another server has another key.
    """
    (name, value), (_, mine) = owner.split("="), own.split("=")
    (text, signature), (my_text, my_signature) = value.rsplit(".", 1), mine.rsplit(".", 1)
    again = Signer("another key", digest_method=sha256).sign(text).decode()
    values = [
        "",
        "x",
        ".",
        text,
        f"{text}.",
        f".{signature}",
        f"{text}.{my_signature}",
        f"{my_text}.{signature}",
        again,
    ]
    values += [f"{value}x", f"x{value}", value[:-1], value.swapcase(), f"{text}.{signature}.{signature}", f"{value},"]
    values += [f"%22{value}%22", value.replace(".", "%2E"), f"{text[:-1]}.{signature}", "a" * 4_000]
    headers = [f"{name}={each}" for each in values]
    headers += [f"{name.replace('visitor_', 'visitor_1')}={value}", f"{name.upper()}={value}", f"${name}={value}"]
    return [*headers, *(f"{header}; {own}" for header in headers), *(f"{own}; {header}" for header in headers)]


def test_no_cookie_but_the_owners_opens_what_is_theirs(owner: Owner, newcomer: Newcomer) -> None:
    assert owns(owner.visitor, owner) == [True] * 3
    own = newcomer().cookie
    for cookie in made_up(owner.visitor.cookie, own):
        asker = replace(newcomer.nobody(), cookie=cookie)
        assert owns(asker, owner) == [False] * 3, cookie
        answer = asker.send("GET", "/", **HTML)
        assert own in cookie or "headlight_visitor" in answer.headers.get("set-cookie", ""), cookie
    for headers in ({"X_Forwarded_For": owner.visitor.address}, {"Forwarded": f"for={owner.visitor.address}"}):
        assert newcomer(owner.visitor.address).send("GET", f"/api/image/{owner.picture}", **headers).status == 404


def models(request: Request[Any]) -> tuple[str, ...]:
    """The models that a request names."""
    return request.models()


def files(request: Request[Any]) -> tuple[str, ...]:
    """The pictures and recordings that a request names."""
    return request.images()


def about_a_picture(kind: type[Request[Any]], fields: Any, by_model: Sequence[Found]) -> Any:
    """The JSON of a request about a model that reads pictures."""
    for other, _, where in by_model:
        fields = with_text("caption", where, fields) if other is kind else fields
    return fields


def test_on_every_route_a_file_of_another_is_like_one_that_nobody_has(owner: Owner, newcomer: Newcomer) -> None:
    by_model, by_file = naming(models), naming(files)
    routes = {kind.route for kind, *_ in by_model}
    assert routes == {kind.route for kind in http_requests()} - {*WITHOUT_A_MODEL}
    assert {kind.route for kind, *_ in by_file} == routes - LESSONS
    cases = [(owner.upload, found) for found in by_model]
    # A picture in place of a text (`patch_from`) is read once the other has been.
    by_image = [
        (kind, about_a_picture(kind, fields, by_model), where) for kind, fields, where in by_file if "image" in where
    ]
    by_sound = [found for found in by_file if "sound" in found[2]]
    cases += [
        (name, found) for name, named in ((owner.picture, by_image), (owner.recording, by_sound)) for found in named
    ]
    refused = 0
    for number, (name, (kind, fields, where)) in enumerate(cases):
        if number % A_FEW == 0:
            stranger = newcomer()
        theirs, nobodys = (
            told(stranger, kind, with_text(each, where, fields), each) for each in (name, invented(name))
        )
        assert theirs == nobodys, f"{kind.route}: {where}"
        refused += "error" in theirs
    assert refused > 0.8 * len(cases), "some read no picture"
    assert "error" not in owner.visitor.ask("trace", question={"model": "caption", "image": owner.picture})


def test_no_page_shows_the_upload_of_another(owner: Owner, newcomer: Newcomer) -> None:
    def shown(page: Session, path: str) -> bool:
        told = page.run(path, {"model": owner.upload, "image": owner.picture, **SCREEN})
        return TITLE.encode() in b"".join(each.SerializeToString() for each in told)

    assert all(shown(owner.page, path) for path in ("", "models", "compare"))
    for asker in (newcomer(), newcomer.nobody(), newcomer(owner.visitor.address)):
        with asker.open() as page:
            assert not any(shown(page, path) for path in ("", *TITLES))


def test_uploads_are_read_by_the_servers_user_alone_and_pictures_are_on_no_disk(
    owner: Owner, newcomer: Newcomer, disk: Path, server: Server
) -> None:
    uploads = [folder for folder in (disk / "temporary").rglob("*") if folder.is_dir()]
    assert uploads and all(folder.stat().st_mode & 0o077 == 0 for folder in uploads[:2])
    for model, fields in (("caption", {"image": owner.picture}), ("next", {"text": "the cat"})):
        owner.visitor.ask("trace", question={"model": model, **fields})
    files = [path for place in (disk, server.log_file.parent) for path in place.rglob("*") if path.is_file()]
    assert len(files) > len(uploads)
    for content in (PICTURE[50:], recording()[50:]):
        assert not any(content in path.read_bytes() for path in files)


def test_what_another_ran_is_computed_anew(newcomer: Newcomer) -> None:
    anna, ben = newcomer(), newcomer()
    rows = [ran(asker) for asker in (anna, anna, ben)]
    assert rows[0] == rows[1] != rows[2], "measured times differ from run to run"


def ran(asker: Stranger) -> Any:
    """The rows of a screen that measures run times."""
    inputs = {"longest": "512", "head_dim": "4"}
    fields = {"chapter": "variants", "screen": "cost", "inputs": inputs, "asks": True, "tries": ["!"]}
    return asker.ask("course_run", **fields)["rows"]
