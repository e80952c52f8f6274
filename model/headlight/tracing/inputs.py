"""Encodes inputs: a text, an image or a sound becomes tokens, patches or frames, and these become tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from headlight.config import Config
from headlight.errors import EditError, ImageError, SoundError, TextError
from headlight.nn.hooks import Hook, no_hook
from headlight.nn.transformer import Transformer
from headlight.sound.frames import ProcessedSound, encode_sound
from headlight.tasks import task_of
from headlight.text.chat import Chat
from headlight.text.tokenizer import Encoded, TextPair, Tokenizer
from headlight.vision.image import ProcessedImage
from headlight.vision.patches import class_token_tokenizer, encode_image

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
ModelInput = str | TextPair | Chat | ProcessedImage | ProcessedSound


def encode_input(model: Transformer, tokenizer: Tokenizer, text: ModelInput) -> Encoded:
    """The text, pair of texts, chat, image or sound as the predicting stack reads it.

    Raises TextError if a text is empty or too long or the model reads no text, ImageError or SoundError if it reads no
    images or sounds.
    """
    if isinstance(text, SIGNALS) or not model.config.reads_text:
        return _encode_signal(model, tokenizer, text, of_source=False)
    if isinstance(text, Chat):
        return _encode_chat(model, tokenizer, text)
    _check_text("text", text, model.config, tokenizer.target_tokenizer, may_be_empty=model.config.has_cross_attention)
    if not model.config.has_cross_attention:
        return _fitting_pair(tokenizer.encode(text), model.config)
    start = tokenizer.from_ids((model.config.decoder.start_token_id,), "")
    if task_of(model.config).whole_text:  # its decoder reads the encoder's text, shifted by one position
        encoded = tokenizer.encode(text)
        if model.config.decoder.starts_with_last and encoded.ids:
            start = tokenizer.from_ids(encoded.ids[-1:], "")
        return _concatenate(start, _without_last_token(encoded))
    if isinstance(text, TextPair):
        raise TextError("The decoder of this model writes one text; a pair of texts can only be its source.")
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
    if isinstance(source, Chat):
        return _encode_chat(model, tokenizer, source)
    source, encoder, tokenizer = "" if source is None else source, _source_config(model), tokenizer.source_tokenizer
    _check_text("source", source, encoder, tokenizer)
    encoded = _fitting_pair(tokenizer.encode(source), encoder)
    if encoder.embedding.segments and any(encoded.segment_ids):
        raise TextError("The encoder of this model reads one text: segments are read by models of one stack.")
    if len(encoded.ids) > encoder.context_length:
        raise TextError(
            f"The source has {len(encoded.ids)} tokens; this model reads at most {encoder.context_length}. Shorten it."
        )
    return encoded


def _source_config(model: Transformer) -> Config:
    """The config of the encoder of an encoder-decoder."""
    return model.stack("encoder").config


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
    return tokenizer.with_ids(encoded, ids)


def token_tensor(encoded: Encoded, model: Transformer, *, source: bool = False) -> Tensor:
    """The token ids of a text, or of an encoder's `source`, as a batch of one on the model's device.

    Raises TextError for ids outside the vocabulary.
    """
    ids, size = encoded.input_ids, (_source_config(model) if source else model.config).vocabulary_size
    if not ids and encoded.signal is None:
        raise TextError(
            "This text has no tokens: the model's tokenizer drops all of it. Type a text like those that the model was "
            "trained on."
        )
    if max(ids, default=0) >= size:
        raise TextError(f"The tokenizer gave the token id {max(ids)}, but the model knows {size} tokens.")
    return torch.tensor([ids], dtype=torch.long, device=model.device)


def segment_tensor(encoded: Encoded, model: Transformer) -> Tensor | None:
    """The segment of each token of a pair as a batch of one; None for a model without segments, or a single text.

    Raises TextError for a segment that the model does not have.
    """
    count, last = model.config.embedding.segments, max(encoded.segment_ids, default=0)
    if not (count and last):
        return None
    if last >= count:
        raise TextError(
            f"The tokenizer puts tokens of the second text in segment {last}, but the model has only {count} "
            f"segment{'s' if count > 1 else ''}, counted from 0. Give it one text."
        )
    return torch.tensor([encoded.segment_ids], dtype=torch.long, device=model.device)


def typed_separator(text: Encoded, config: Config, tokenizer: Tokenizer) -> str:
    """A separator that is typed into a single text, where it does not begin a second segment; empty if none."""
    reads_pair = config.embedding.segments > 1 and not config.has_cross_attention
    gives_segments = reads_pair and tokenizer.gives_segments and not (text.text_pair or text.chat)
    is_inside = gives_segments and tokenizer.end_id in text.ids[:-1]
    return text.tokens[text.ids.index(tokenizer.end_id)] if is_inside and tokenizer.end_id is not None else ""


def signal_tensor(encoded: Encoded, model: Transformer) -> Tensor | None:
    """The pixels of an image or the signal of a sound, as a batch of one on the model's device; None for a text."""
    return None if encoded.signal is None else torch.tensor(encoded.signal, device=model.device)[None]


def encode_memory(model: Transformer, source: Encoded | None, hook: Hook = no_hook) -> Tensor | None:
    """The encoder's output for a source, [1 key memory_dim]; None without a source."""
    if source is None:
        return None
    return model.encode(token_tensor(source, model, source=True), hook=hook, signal=signal_tensor(source, model))


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
    count = config.first_source_tokens if of_source else config.image.first_tokens
    names = class_token_tokenizer(config.image.extra_tokens) if of_source else tokenizer
    return encode_image(given, config.image, names.from_ids(tuple(range(count)), ""))


def _encode_chat(model: Transformer, tokenizer: Tokenizer, chat: Chat) -> Encoded:
    """The text that the model's template makes of a chat. Raises TextError for a model that reads none."""
    if model.config.has_cross_attention:
        raise TextError("This encoder-decoder reads a text and writes another; it reads no chat.")
    for message in chat.messages:
        _check_text("chat", message.content, model.config, tokenizer)
    return tokenizer.encode_chat(chat)


def _fitting_pair(encoded: Encoded, config: Config) -> Encoded:
    """The text or pair. Raises TextError for a pair that is too long: neither text is shortened for the other."""
    count, limit = len(encoded.ids), config.context_length
    if encoded.text_pair and count > limit:
        raise TextError(f"The two texts have {count} tokens together; this model reads at most {limit}. Shorten one.")
    return encoded


def _check_text(what: str, given: object, config: Config, tokenizer: Tokenizer, may_be_empty: bool = False) -> None:
    """Raise TextError for a text, or one of a pair, that is no str, is too long, or is empty where one is needed."""
    first, *others = given if isinstance(given, TextPair) else (given,)
    for text in (first, *others):
        if not isinstance(text, str):
            raise TextError(
                f"The {what} is a {type(text).__name__}; one text is read at a time, as a str. Two are a TextPair."
            )
        if text is first and not may_be_empty and not text:
            raise TextError("The text is empty; type a sentence.")
        if len(text) > MAX_CHARACTERS:
            raise TextError(f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read. Shorten it.")
        _check_prefix(what, text, config, tokenizer)


def _check_prefix(what: str, text: str, config: Config, tokenizer: Tokenizer) -> None:
    """Raise TextError if a prefix of a text has far more tokens than fit, before the whole text is tokenized.

    Prefixes are tokenized, each twice as long as the one before. A limit on characters would not work: a tokenizer may
    drop characters, or turn thousands into one token. The tokens at the end of a prefix are not counted, and a quarter
    more than fit is allowed, because a few tokens may change with the text that follows.
    """
    limit = config.context_length
    size = max(PREFIX_CHARACTERS, CHARACTERS_PER_TOKEN * limit)
    while size < len(text):
        end = size - max(tokenizer.longest_token, CUT_CHARACTERS)
        count = sum(last <= end for _, last in tokenizer.encode(text[:size], add_special_tokens=False).offsets)
        if count > limit + limit // 4:
            raise TextError(f"The {what} has more than {count} tokens; this model reads at most {limit}. Shorten it.")
        size *= 2


def _without_last_token(encoded: Encoded) -> Encoded:
    """An encoded text without its last token; its `text` field is unchanged."""
    return replace(
        encoded,
        **{name: getattr(encoded, name)[:-1] for name in (*_PER_TOKEN, "segment_ids")},
    )


def _concatenate(first: Encoded, second: Encoded) -> Encoded:
    """Two encoded texts in a row; the `text` field is the second's."""
    return replace(second, **{name: getattr(first, name) + getattr(second, name) for name in _PER_TOKEN})


_PER_TOKEN = ("ids", "tokens", "token_texts", "offsets", "special_mask")
