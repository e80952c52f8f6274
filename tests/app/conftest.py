"""Small models with random weights for the page to open: page tests need no meaningful predictions."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from headlight.checkpoints import save
from headlight.config import Config, ExpertsConfig, OutputHeadConfig
from headlight.nn.transformer import Transformer
from headlight.text.tokenizer_training import CAUSAL_SPECIAL_TOKENS, MASKED_SPECIAL_TOKENS, train_tokenizer
from headlight_app.access.images import image_store
from headlight_app.access.uploads import UploadStore, upload_store
from headlight_app.access.visitor import CURRENT_VISITOR
from headlight_app.contract.parts import ProblemTypeName
from headlight_app.contract.request import Lane
from headlight_app.engine import client as engine_client
from headlight_app.engine.job import EngineError, EngineRequest, Job, Stream
from headlight_app.engine.worker_process import ANSWER
from headlight_app.frame import sidebar
from headlight_app.inference.open_models import model_pool
from headlight_app.inference.trace_cache import trace_cache
from headlight_app.room.rooms import Rooms
from headlight_app.server.routes import routes
from headlight_app.worker.serve import outcome

TEXTS = ["the cat sat on the mat and the dog lay on the rug", "she gave the ball to the boy because he asked"] * 5
CONTEXT = 48


@dataclass(frozen=True)
class Toy:
    """The properties in which the toy models differ."""

    tokenizer: str
    special: tuple[str, ...]
    architecture: Literal["decoder", "encoder", "encoder-decoder"] = "decoder"
    masks: tuple[str, ...] = ("causal",)
    position: str = "rope"
    top: str = "language-model"
    labels: tuple[str, ...] = ()
    problem_type: ProblemTypeName = "single-label"
    chat_template: str = ""


TOYS = {
    "next": Toy("bpe", CAUSAL_SPECIAL_TOKENS),
    "masked": Toy("wordpiece", MASKED_SPECIAL_TOKENS, "encoder", (), "learned", "masked-language-model"),
    "both": Toy("bpe", CAUSAL_SPECIAL_TOKENS, "encoder-decoder", position="relative"),
    "mood": Toy("wordpiece", MASKED_SPECIAL_TOKENS, "encoder", (), "alibi", "sequence-classifier", ("glad", "sad")),
    "tags": Toy(
        "wordpiece", MASKED_SPECIAL_TOKENS, "encoder", (), "alibi", "token-classifier", ("O", "B-PER", "I-PER")
    ),
}
CLASSIFIER = Toy("wordpiece", MASKED_SPECIAL_TOKENS, "encoder", (), "alibi", "sequence-classifier")
# What the logits of labels mean: one logit, labels that do not exclude each other, scores, one logit for each token.
PROBLEMS = {
    "reward": replace(CLASSIFIER, labels=("reward",)),
    "topics": replace(CLASSIFIER, labels=("sport", "music", "food"), problem_type="multi-label"),
    "stars": replace(CLASSIFIER, labels=("stars", "length"), problem_type="regression"),
    "rating": replace(CLASSIFIER, labels=("rating",), problem_type="regression"),
    "replaced": replace(CLASSIFIER, top="token-classifier", labels=("replaced",)),
}
# A model of chats, whose template refuses a system message. Its tokens hold no spaces.
CHATS = {
    "talk": Toy(
        "wordpiece",
        MASKED_SPECIAL_TOKENS,
        chat_template="{% for message in messages %}"
        "{% if message.role == 'system' %}{{ raise_exception('No system message here.') }}{% endif %}"
        "she gave {{ message.content }} to the boy\n{% endfor %}{% if add_generation_prompt %}he{% endif %}",
    )
}


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one model of each kind."""
    return save_toys(tmp_path_factory.mktemp("models"), TOYS)


def save_toys(folder: Path, toys: Mapping[str, Toy]) -> Path:
    """Write the models, the same each time; returns the folder."""
    for name, toy in toys.items():
        torch.manual_seed(1)
        tokenizer = train_tokenizer(toy.tokenizer, TEXTS, 320, special_tokens=toy.special)
        config = Config(
            vocabulary_size=tokenizer.vocabulary_size,
            context_length=CONTEXT,
            d_model=16,
            layers=2,
            heads=4,
            architecture=toy.architecture,
            masks=toy.masks,
            positional_encoding=toy.position,
            output_head=toy.top,
            labels=toy.labels,
            output_head_config=OutputHeadConfig(
                contact_end_id=1 if name == "masked" else None, problem_type=toy.problem_type
            ),
            experts=ExpertsConfig(count=3 if name == "tags" else 0),
        )
        save(folder / name, Transformer(config), tokenizer)
        if toy.chat_template:
            (folder / name / "chat_template.jinja").write_text(toy.chat_template)
    return folder


class LocalEngine:
    """An engine without processes: requests are answered immediately, in the calling thread."""

    def submit(
        self,
        visitor: str,
        request: EngineRequest,
        *,
        lane: Lane,
        seconds: float,
        stream: Stream | None = None,
        **of: object,
    ) -> Job:
        """A job that is already answered."""
        job = Job(visitor, request, seconds, stream)
        kind, answer = outcome(request)
        job.finish(answer if kind == ANSWER else EngineError(answer.decode()))
        return job


@pytest.fixture(autouse=True)
def local_engine(known: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages and routes use an engine in this process, with the models of this test."""
    monkeypatch.setattr(engine_client, "engine", LocalEngine)
    sidebar.offered.cache_clear()
    engine_client.forget_shared()


@pytest.fixture(autouse=True)
def known(toys: Path) -> Iterator[None]:
    """The page knows the toys, as after `headlight --models`; a test's environment settings are undone after it."""
    before = {name: value for name, value in os.environ.items() if name.startswith("HEADLIGHT_")}
    os.environ["HEADLIGHT_MODELS"] = str(toys)
    yield
    for name in [name for name in os.environ if name.startswith("HEADLIGHT_")]:
        del os.environ[name]
    os.environ.update(before)


@pytest.fixture
def anna(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[UploadStore]:
    """The visitor "anna" of a server without uploads; yields the upload store."""
    stores = (upload_store, image_store, model_pool, trace_cache)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for store in stores:
        store.cache_clear()
    token = CURRENT_VISITOR.set("anna")
    yield upload_store()
    CURRENT_VISITOR.reset(token)
    upload_store().close()
    for store in stores:
        store.cache_clear()


@pytest.fixture
def client() -> Iterator[TestClient]:
    """A test client for the routes."""
    with TestClient(Starlette(routes=routes(Rooms()))) as client:
        yield client
