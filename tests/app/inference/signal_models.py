"""Models for pictures and sounds, and requests about them."""

from pathlib import Path
from typing import Any

import torch
from starlette.testclient import TestClient

from headlight.checkpoints import save
from headlight.config import Config, EmbeddingConfig, ImageConfig, OutputHeadConfig
from headlight.nn.transformer import Transformer
from headlight.vision.patches import class_token_tokenizer
from tests.app.asking import ask_route, unpack
from tests.model import toys

READS = ImageConfig(channels=3, height=32, width=32, patch_height=8, patch_width=8)
LABELS = ("cat", "house", "chess board")


def save_seers(folder: Path) -> Path:
    """A folder with models for pictures (a classifier, a bare encoder, a captioner, a reader) and for sounds (two)."""
    for name, top, labels in (("seer", "sequence-classifier", LABELS), ("bare", "none", ())):
        torch.manual_seed(1)
        config = Config(
            architecture="encoder",
            vocabulary_size=1,
            context_length=17,
            image=READS,
            d_model=16,
            layers=2,
            heads=4,
            masks=(),
            positional_encoding="learned",
            output_head=top,
            labels=labels,
            embedding=EmbeddingConfig(tied=False),
        )
        model = Transformer(config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.3 * torch.randn_like(parameter))
        save(folder / name, model, class_token_tokenizer(), dtype="float32")
    save(folder / "captioner", toys.captioner(context_length=40), toys.masked(), dtype="float32")
    save(folder / "reader", toys.reader(context_length=40), toys.masked(), dtype="float32")
    listener = toys.listener(sound=toys.longer(30), context_length=40, **{"decoder.alignment_heads": ((1, 2),)})
    save(folder / "listener", listener, toys.masked(), dtype="float32")
    answer = OutputHeadConfig(transform="dense", activation="linear", transform_dim=5)
    hearer = toys.encoder(
        sound=toys.longer(30), context_length=30, vocabulary_size=1, output_head="sequence-classifier", labels=LABELS,
        pooling="mean", output_head_config=answer, **{"embedding.tied": False},
    )  # fmt: skip
    save(folder / "hearer", hearer, class_token_tokenizer(), dtype="float32")
    return folder


def ask(client: TestClient, route: str = "trace", **fields: Any) -> tuple[dict[str, Any], bytes]:
    return ask_route(client, route, **{"model": "seer", **fields})


def bring(client: TestClient, raw: bytes, kind: str = "image/png") -> dict[str, Any]:
    answer = client.post("/api/image", content=raw, headers={"Content-Type": kind})
    assert answer.status_code == 200
    return unpack(answer.content)[0]
