"""What a live page knows before its first answer."""

import shutil
from pathlib import Path

from headlight.checkpoints.catalog import read_examples
from headlight.paths import assets_dir
from headlight_app.engine.job import EngineRequest, VisitorFolder
from headlight_app.inference.context import answering
from headlight_app.inference.open_models import find_model, open_checkpoint
from headlight_app.live.page_data import live_page

NAME = "induction"  # of a model that every server has


def test_a_folder_named_as_a_model_of_the_server_has_its_own_examples(tmp_path: Path) -> None:
    own, server = (assets_dir() / "models" / name for name in ("sort", NAME))
    folder = shutil.copytree(own, tmp_path / NAME)
    with answering(EngineRequest("", b"", checkpoints=(VisitorFolder(NAME, NAME, str(folder)),))):
        found = [example["text"] for example in live_page(find_model(NAME), ())["data"]["examples"]]
        context = open_checkpoint(NAME).model.config.context_length
    texts, others = ([example.text for example in read_examples(each)] for each in (own, server))
    assert found == texts != others and context == 16
