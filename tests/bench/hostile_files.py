"""Hostile pictures, recordings, arrays, lessons and recipes, and checkpoints in an upload or on the command line."""

import io
import wave
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import lru_cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
from PIL import Image

from headlight import show
from headlight.checkpoints import load
from headlight.checkpoints.upload_archive import UploadLimits, write_files
from headlight.cli.main import main as command
from headlight.errors import HeadlightError
from headlight.lessons.check import check_text
from headlight.sound.recording import read_recording
from headlight.training.recipe import load_recipe
from headlight.vision.image import read_image
from headlight_app.engine.contract import CheckImageRequest
from headlight_app.engine.job import EngineRequest
from headlight_app.engine.worker_process import ANSWER
from headlight_app.worker.serve import outcome
from tests.bench.hostile_outcomes import WrongAnswer, require_sentence, sentences
from tests.model import toys
from tests.model.lessons.conftest import LESSON, open_shipped
from tests.model.lessons.test_hostile_lessons import made_up as made_up_lesson
from tests.model.rendering.test_show import TOKENS, weights
from tests.model.training.test_hostile_recipes import made_up as made_up_recipe

Mutation = Callable[[Random, Path], None]
MEDIA = ("attention.npz", "photo.png", "sound.wav")
UPLOAD = UploadLimits(max_bytes=64 << 20)
MEMORY = 10**9  # bytes that a model may take


def upload(folder: Path) -> bool:
    """Send the files of a checkpoint folder as the Models page does, and open it. Whether it opened."""
    files = {
        f"victim/{path.relative_to(folder)}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    opened = None
    with TemporaryDirectory() as root, sentences(root):
        opened = load(write_files(files, Path(root) / "stored", UPLOAD), memory_limit=MEMORY, device="cpu")
    return opened is not None


def run_command(*words: str) -> bool:
    """Run the command `headlight` in this process. Whether it succeeded; if not, it printed one sentence."""
    printed, told = io.StringIO(), io.StringIO()
    with redirect_stdout(printed), redirect_stderr(told):
        status = command(words)
    said = told.getvalue().rstrip("\n").rpartition("\n")[2]
    if status not in (0, 2) or (status and not said.startswith("headlight: ")):
        raise WrongAnswer(f"exit status {status}: {told.getvalue()[-300:]!r}")
    if status:
        require_sentence(said.removeprefix("headlight: "), "\0")
    return status == 0


def predict(folder: Path) -> bool:
    """`headlight predict` with a checkpoint folder."""
    return run_command("predict", "the cat sat on the mat", "--model", str(folder))


def open_medium(draw: Random, mutations: tuple[Mutation, ...]) -> bool:
    """Mutate a file of arrays, a picture or a recording, and open it as the server and the command do."""
    with TemporaryDirectory() as root:
        folder, name = Path(root) / "media", draw.choice(MEDIA)
        folder.mkdir()
        (folder / name).write_bytes(_medium(name))
        for _ in range(draw.choice((0, 1, 1, 2, 3))):
            draw.choice(mutations)(draw, folder)
        path = folder / name
        if path.suffix == ".npz":
            return run_command("open", str(path), "--out", f"{root}/page.html")
        if path.suffix == ".png" and draw.random() < 0.5:
            return run_command("predict", "--model", "caption", "--image", str(path))
        _check_in_worker(path)
        read, found = read_recording if path.suffix == ".wav" else read_image, None
        with sentences(root):
            found = read(path)
        return found is not None


def _check_in_worker(path: Path) -> None:
    asked = CheckImageRequest(recording=path.suffix == ".wav")
    request = EngineRequest(asked.route, msgspec.json.encode(asked), images={"": path.read_bytes()})
    kind, said = outcome(request)
    if kind != ANSWER:
        require_sentence(said.decode(), str(path.parent))


@lru_cache(maxsize=len(MEDIA))
def _medium(name: str) -> bytes:
    with TemporaryDirectory() as root:
        path = Path(root) / name
        if path.suffix == ".npz":
            show(weights(), TOKENS).save(path)
        elif path.suffix == ".png":
            Image.fromarray(toys.photo()).save(path)
        else:
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 2, 16_000, 0, "NONE", ""))
                file.writeframes(np.random.default_rng(0).integers(-9_999, 9_999, 3_000, np.int16).tobytes())
        return path.read_bytes()


def check_lesson(draw: Random, victims: Path) -> bool:
    """Check a made-up lesson. Whether it has no faults."""
    text = made_up_lesson(draw, LESSON.format(model="ladder-7-depth"))
    faults = check_text(
        "made-up", text, lambda name: open_shipped(name if name.startswith("ladder") else "ladder-7-depth")
    )
    for fault in faults:
        require_sentence(fault.sentence or "(an empty sentence)", str(victims))
    return not faults


def read_recipe(draw: Random, victims: Path) -> bool:
    """Read and check a made-up recipe. Whether it can be built."""
    with TemporaryDirectory() as root:
        file = Path(root) / "recipe.toml"
        file.write_text(made_up_recipe(draw))
        try:
            load_recipe(file).check()
        except HeadlightError as error:
            require_sentence(str(error) or "(an empty sentence)", str(victims))
            return False
    return True
