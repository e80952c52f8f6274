"""The engine of a live page, compared with `run`: every value of shipped models, unedited and edited."""

from pathlib import Path

import pytest

from headlight import Tokenizer, Transformer, find_checkpoint, load
from headlight.live.plan import ENCODINGS, plan_of
from headlight.paths import assets_dir
from tests.model.live.engine import Request, assert_engine_agrees

ONE_STACK = sorted(
    folder.name
    for folder in (assets_dir() / "models").iterdir()
    if (folder / "config.json").is_file() and folder.name not in ("caption", "dates", "summary", "translate")
)
QUICK = ("ladder-3-heads", "sentiment")
ALL_ENCODINGS = ("ladder-3-heads", "stories-causal", "stories-masked")  # the others with their own: each takes seconds
TEXTS = ("12 3", "7 once upon a time 45 there was 3 a dog.", "5", "9 8 7 6 5 4 3 2 1 " * 4)
EDITS = (
    ("{stack}.0.self.weights[0]=set:0",),
    ("{stack}.*.self.weights[0]=uniform",),
    ("{stack}.0.self.mask=set:1",),
    ("{stack}.0.self.mask[0,:,0]=set:0", "{stack}.0.self.scores=scale:0.5"),
    ("{stack}.position_ids[1]=set:0",),
    ("{stack}.0.self.scale[0]=scale:2", "{stack}.0.residual[1]=add:0.5", "logits[0]=add:0.25"),
)
pytestmark = pytest.mark.usefixtures("unchecked_shapes")  # comparing symbolic sizes would fix them


def requests(model: Transformer, tokenizer: Tokenizer, encodings: tuple[str, ...]) -> list[Request]:
    """All texts that fit as they are, and one with each edit and each positional encoding."""
    stack, limit = model.config.stacks[-1], model.config.context_length
    texts = [text for text in TEXTS if len(tokenizer.encode(text).ids) <= limit]
    edits = [tuple(edit.format(stack=stack) for edit in several) for several in EDITS]
    return [
        *(Request(text) for text in texts),
        *(Request(TEXTS[1], each) for each in edits),
        *(Request(TEXTS[1], encoding=encoding) for encoding in encodings),
        *(Request(TEXTS[1], edits[4], encoding) for encoding in encodings),
    ]


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.full) for name in ONE_STACK]
)
def test_the_engine_computes_what_run_computes(name: str, tmp_path: Path) -> None:
    checkpoint = load(find_checkpoint(name))
    model, encodings = checkpoint.model, ENCODINGS if name in ALL_ENCODINGS else ()
    plan = plan_of(model, encodings)
    asked = requests(model, checkpoint.tokenizer, tuple(plan.hidden))
    assert_engine_agrees(plan, model, checkpoint.tokenizer, asked, tmp_path)
