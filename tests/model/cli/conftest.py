"""One checkpoint of each architecture for the tests of the commands."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from headlight import Tokenizer, Transformer, save
from headlight.config import EmbeddingConfig
from headlight.vision.patches import class_token_tokenizer
from tests.model import toys
from tests.model.sound.wav_files import wav

MODELS: dict[str, Callable[[], Transformer]] = {
    "decoder": lambda: toys.decoder(key_value_heads=2, value_head_dim=3),
    "plain": toys.decoder,
    "alibi": lambda: toys.decoder(positional_encoding="alibi"),
    "encoder": toys.encoder,
    "both": toys.both,
    "captioner": toys.captioner,
    "listener": toys.listener,
    "bare": lambda: toys.encoder(output_head="none"),
    "judge": lambda: toys.encoder(
        output_head="sequence-classifier", labels=("good", "bad"), embedding=EmbeddingConfig(tied=False)
    ),
    "seer": toys.seer,
    "tagger": lambda: toys.encoder(
        output_head="token-classifier", labels=("noun", "verb"), embedding=EmbeddingConfig(tied=False)
    ),
}
TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    **dict.fromkeys(("decoder", "plain", "alibi"), toys.causal),
    "seer": class_token_tokenizer,
}


@pytest.fixture(scope="package")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with these models, a picture and a recording."""
    folder = tmp_path_factory.mktemp("models")
    for name, make in MODELS.items():
        save(folder / name, make(), TOKENIZERS.get(name, toys.masked)(), dtype="float32")
    Image.fromarray(toys.photo()).save(folder / "photo.png")
    (folder / "noise.wav").write_bytes(wav(toys.noise()))
    return folder
