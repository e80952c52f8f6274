"""The one-line summary of a model."""

from headlight.config import Config
from headlight_app.ui.model_summary import describe_heads

DECODER = Config(vocabulary_size=9, context_length=8, d_model=24, layers=3, heads=6)


def test_the_heads_of_encoder_and_decoder_are_told_apart() -> None:
    config = DECODER.replace(
        architecture="encoder-decoder",
        **{"encoder.layers": 2, "encoder.heads": 4},
    )
    assert describe_heads(config) == "encoder 2 layers × 4 heads, decoder 3 layers × 6 heads"
    assert describe_heads(DECODER) == "3 layers × 6 heads"
