"""Encodes inputs: a text, an image or a sound becomes tokens, patches or frames, and these become tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from headlight.errors import EditError, ImageError, SoundError, TextError
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.transformer import Transformer
from headlight.sound.frames import ProcessedSound, encode_sound
from headlight.tasks import task_of
from headlight.text.tokenizer import Encoded, Tokenizer
from headlight.vision.image import ProcessedImage
from headlight.vision.patches import encode_image

MAX_CHARACTERS = 200_000  # the tokenizer is too slow for longer texts
# Of a longer text a prefix is tokenized first: at least PREFIX_CHARACTERS, and CHARACTERS_PER_TOKEN for each token that
# the model can read.
PREFIX_CHARACTERS, CHARACTERS_PER_TOKEN = 8_000, 8
# Tokens in the last characters of a prefix are not counted: a word that is cut may have more tokens than a whole word.
CUT_CHARACTERS = 100
# Errors for a text if the model reads another kind of input.
_WANTED = {
    "image": "This model reads images, not texts; give it one (on the command line: --image FILE).",
    "sound": "This model hears sounds, not texts; give it a recording (on the command line: --audio FILE).",
}
SIGNALS = (ProcessedImage, ProcessedSound)
ModelInput = str | ProcessedImage | ProcessedSound


def encode_input(model: Transformer, tokenizer: Tokenizer, text: ModelInput) -> Encoded:
    """The text, image or sound as the predicting stack reads it.

    Raises TextError if a text is empty or too long or the model reads no text, ImageError or SoundError if it reads no
    images or sounds.
    """
    if isinstance(text, SIGNALS) or not model.config.reads_text:
        return _encode_signal(model, tokenizer, text, of_source=False)
    _check_text("text", text, may_be_empty=model.config.has_cross_attention)
    _check_prefix("text", text, model, tokenizer.target_tokenizer)
    if not model.config.has_cross_attention:
        return tokenizer.encode(text)
    start = tokenizer.from_ids((model.config.decoder.start_token_id,), "")
    if task_of(model.config).whole_text:  # its decoder reads the encoder's text, shifted by one position
        return _concatenate(start, _without_last_token(tokenizer.encode(text)))
    target = tokenizer.target_tokenizer.encode(text, add_special_tokens=False)
    if {*start.ids, *target.ids[:1]} <= set(
        tokenizer.languages.values()
    ) and target.ids:  # mBART starts with a language
        return target
    if model.config.decoder.prompt_token_ids and not set(target.ids[:1]) & tokenizer.special_ids:
        start = _concatenate(start, tokenizer.from_ids(model.config.decoder.prompt_token_ids, ""))
    return _concatenate(start, target)


def encode_source(model: Transformer, tokenizer: Tokenizer, source: ModelInput | None) -> Encoded | None:
    """The source as the encoder reads it: a text, the patches of an image or the frames of a sound.

    None for a model of one stack, for which `source` must be None. Raises TextError, ImageError or SoundError for any
    other source.
    """
    if not model.config.has_cross_attention:
        if source is not None:
            raise TextError("This model has one stack and reads one text; it takes no source.")
        return None
    if isinstance(source, SIGNALS) or not model.config.reads_source_text:
        return _encode_signal(model, tokenizer, source or "", of_source=True)
    source = "" if source is None else source
    _check_text("source", source)
    _check_prefix("source", source, model, tokenizer)
    encoded = tokenizer.encode(source)
    if len(encoded.ids) > model.config.context_length:
        raise TextError(
            f"The source has {len(encoded.ids)} tokens; this model reads at most "
            f"{model.config.context_length}. Shorten it."
        )
    return encoded


def apply_mask_tokens(encoded: Encoded, positions: Sequence[int], tokenizer: Tokenizer) -> Encoded:
    """The text with mask tokens at some positions. Raises TextError, ImageError or EditError if that is impossible."""
    if not positions:
        return encoded
    if encoded.signal is not None:
        raise ImageError("Patches and frames cannot be masked: there is no mask token for them.")
    if tokenizer.mask_id is None:
        raise TextError("This model has no mask token, so no word of the text can be masked.")
    ids = list(encoded.ids)
    for position in positions:
        if not 0 <= position < len(ids):
            raise EditError(f"There is no token {position} to mask: the text has {len(ids)}, counted from 0.")
        ids[position] = tokenizer.mask_id
    return tokenizer.from_ids(ids, encoded.text, encoded.offsets)


def token_tensor(encoded: Encoded, model: Transformer) -> Tensor:
    """The token ids as a batch of one on the model's device. Raises TextError for ids outside its vocabulary."""
    ids, size = encoded.input_ids, model.config.vocabulary_size
    if not ids and encoded.signal is None:
        raise TextError(
            "This text has no tokens: the model's tokenizer drops all of it. Type a text like those that the model was "
            "trained on."
        )
    if max(ids, default=0) >= size:
        raise TextError(f"The tokenizer gave the token id {max(ids)}, but the model knows {size} tokens.")
    return torch.tensor([ids], dtype=torch.long, device=model.device)


def signal_tensor(encoded: Encoded, model: Transformer) -> Tensor | None:
    """The pixels of an image or the signal of a sound, as a batch of one on the model's device; None for a text."""
    return None if encoded.signal is None else torch.tensor(encoded.signal, device=model.device)[None]


def encode_memory(model: Transformer, source: Encoded | None, hook: Hook = no_hook) -> Tensor | None:
    """The encoder's output for a source, [1 key d_model]; None without a source."""
    if source is None:
        return None
    return model.encode(token_tensor(source, model), hook=hook, signal=signal_tensor(source, model))


def _encode_signal(model: Transformer, tokenizer: Tokenizer, given: ModelInput, of_source: bool) -> Encoded:
    """An image's patches, after the tokens of the only stack, or a sound's frames.

    Raises TextError, ImageError or SoundError if the model reads another kind of input there.
    """
    config = model.config
    if not isinstance(given, SIGNALS):
        raise TextError(_WANTED[config.modalities[-1]])
    is_image = isinstance(given, ProcessedImage)
    kind, error = ("image", ImageError) if is_image else ("sound", SoundError)
    if kind not in config.modalities:
        read = " and ".join(f"{each}s" for each in config.modalities)
        raise error(f"This model reads {read}, not {kind}s.")
    if config.has_cross_attention != of_source:
        raise error(f"This model's decoder reads a text; give its encoder the {kind}, as the source.")
    if isinstance(given, ProcessedSound):
        return encode_sound(given, config.sound)
    first = () if of_source else tuple(range(config.image.first_tokens))
    return encode_image(given, config.image, tokenizer.from_ids(first, ""))


def _check_text(what: str, text: object, may_be_empty: bool = False) -> None:
    if not isinstance(text, str):
        raise TextError(f"The {what} is a {type(text).__name__}; one text is read at a time, as a str.")
    if not may_be_empty and not text.strip():
        raise TextError("The text is empty; type a sentence.")
    if len(text) > MAX_CHARACTERS:
        raise TextError(f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read. Shorten it.")


def _check_prefix(what: str, text: str, model: Transformer, tokenizer: Tokenizer) -> None:
    """Raise TextError if a prefix of a text has far more tokens than fit, before the whole text is tokenized.

    Prefixes are tokenized, each twice as long as the one before. A limit on characters would not work: a tokenizer may
    drop characters, or turn thousands into one token. The tokens at the end of a prefix are not counted, and a quarter
    more than fit is allowed, because a few tokens may change with the text that follows.
    """
    limit = model.config.context_length
    size = max(PREFIX_CHARACTERS, CHARACTERS_PER_TOKEN * limit)
    while size < len(text):
        end = size - max(tokenizer.longest_token, CUT_CHARACTERS)
        count = sum(last <= end for _, last in tokenizer.encode(text[:size], add_special_tokens=False).offsets)
        if count > limit + limit // 4:
            raise TextError(f"The {what} has more than {count} tokens; this model reads at most {limit}. Shorten it.")
        size *= 2


def _without_last_token(encoded: Encoded) -> Encoded:
    """An encoded text without its last token; its `text` field is unchanged."""
    ids, tokens, pieces = encoded.ids[:-1], encoded.tokens[:-1], encoded.token_texts[:-1]
    return Encoded(encoded.text, ids, tokens, pieces, encoded.offsets[:-1], encoded.special_mask[:-1])


def _concatenate(first: Encoded, second: Encoded) -> Encoded:
    """Two encoded texts in a row; the `text` field is the second's."""
    return Encoded(
        second.text,
        first.ids + second.ids,
        first.tokens + second.tokens,
        first.token_texts + second.token_texts,
        first.offsets + second.offsets,
        first.special_mask + second.special_mask,
    )
