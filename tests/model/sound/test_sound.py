"""Recordings at any rate, their spectrogram, and the input of a sound model."""

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.audio_utils import mel_filter_bank

from headlight import ConfigError, SoundError, TextError, run
from headlight.config import SoundConfig
from headlight.course.modalities.sound_screen import SAMPLE_RATE, parse_sounds, synthesize
from headlight.sound import recording
from headlight.sound.frames import EncodedSound, ProcessedSound, process_sound
from headlight.sound.recording import Recording, decode_recording, read_recording
from headlight.sound.spectrogram import mel_filters
from headlight.vision.shipped_images import find_image
from tests.model import toys
from tests.model.sound.wav_files import encoded, tone, wav_file

EDGE = 0.05  # seconds at both ends, where cutting distorts the tone


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("wanted", [8_000, 16_000])
def test_a_tone_is_the_same_tone_at_another_rate(rate: int, wanted: int) -> None:
    found = Recording(tone(rate), rate).at_rate(wanted)
    edge = round(EDGE * wanted)
    assert len(found) == wanted
    np.testing.assert_allclose(found[edge:-edge], tone(wanted)[edge:-edge], atol=1e-3)


def test_what_is_too_high_for_the_new_rate_is_gone_and_does_not_come_back_as_another_tone() -> None:
    found = Recording(tone(48_000, hertz=15_000), 48_000).at_rate(16_000)
    assert np.abs(found[800:-800]).max() < 1e-3


@given(rate=st.integers(4_000, 192_000), count=st.integers(1, 3_000))
def test_any_rate_and_length_keep_the_seconds(rate: int, count: int) -> None:
    found = Recording(np.ones(count, np.float32), rate).at_rate(16_000)
    assert abs(len(found) / 16_000 - count / rate) <= 1 / 16_000 and np.isfinite(found).all()


@pytest.mark.parametrize(("encoding", "bits", "error"), [(1, 8, 2e-2), (1, 24, 1e-6), (1, 32, 1e-6), (3, 64, 1e-6)])
def test_every_encoding_gives_the_same_samples(encoding: int, bits: int, error: float) -> None:
    body = tone(8_000).astype("<f8").tobytes() if bits == 64 else encoded(tone(8_000), encoding, bits)
    found = decode_recording(wav_file(encoding, bits, 1, 8_000, body))
    np.testing.assert_allclose(found.samples, tone(8_000), atol=error)


@pytest.mark.parametrize(("rate", "bins", "window"), [(16_000, 80, 400), (16_000, 128, 400), (22_050, 20, 512)])
def test_mel_bins_are_those_of_the_reference(rate: int, bins: int, window: int) -> None:
    expected = mel_filter_bank(window // 2 + 1, bins, 0.0, 8_000.0, rate, norm="slaney", mel_scale="slaney")
    np.testing.assert_allclose(mel_filters(rate, bins, window), expected, atol=1e-12)


def test_a_sound_is_cut_or_filled_with_silence_to_what_is_heard() -> None:
    short, long = (process_sound(toys.noise(seconds), toys.HEARS) for seconds in (0.1, 3.0))
    assert short.features.shape == long.features.shape == (20, 18)
    assert (short.seconds_read, long.seconds, long.seconds_read) == pytest.approx((0.1, 3.0, 0.18))
    heard = 0.5 * tone(48_000, seconds=100)
    whole = Recording(Recording(heard, 48_000).at_rate(16_000), 16_000)
    cut = process_sound(Recording(heard, 48_000), toys.HEARS)
    power, expected = (10 ** (4 * each.features) for each in (cut, process_sound(whole, toys.HEARS)))
    np.testing.assert_allclose(power, expected, atol=1e-5 * expected.max())
    silent = short.features[:, 12:]  # frames past the recording's end
    assert np.ptp(silent) == 0 and silent.max() == short.features.min()


def test_no_more_chunks_are_looked_at_than_a_file_has(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = wav_file(1, 16, 1, 8_000, bytes(100))
    junk = b"junk" + bytes(4)
    assert len(decode_recording(whole[:12] + junk * 900 + whole[12:]).samples) == 50
    with pytest.raises(SoundError, match="does not say how"):
        decode_recording(whole[:12] + junk * 1_000 + whole[12:])
    monkeypatch.setattr(recording, "BLOCK", 7)
    samples = tone(8_000, seconds=0.01)
    np.testing.assert_allclose(
        decode_recording(wav_file(3, 32, 1, 8_000, encoded(samples, 3, 32))).samples, samples, atol=1e-6
    )


@pytest.mark.parametrize("config", [toys.HEARS, replace(toys.HEARS, frames=0)])
def test_the_length_is_looked_at_before_the_rate_is_changed(
    config: SoundConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    resample, lengths = Recording.at_rate, [0]

    def counted(given: Recording, rate: int) -> np.ndarray:
        lengths.append(len(given.samples))
        return resample(given, rate)

    monkeypatch.setattr(Recording, "at_rate", counted)
    with suppress(SoundError):
        process_sound(Recording(np.zeros(8_000_000, np.float32), 4_000), config)
    assert lengths[-1] < 250_000


def test_frames_are_named_by_their_seconds_and_say_where_the_recording_ends() -> None:
    model = toys.listener()
    trace = run(model, toys.masked(), "the cat", source=toys.source(model, ""))
    assert isinstance(trace.source, EncodedSound) and not isinstance(trace.text, EncodedSound)
    assert trace.source.token_texts[:3] == ("0.00 s", "0.02 s", "0.04 s") and len(trace.source.ids) == 9
    assert trace.source.read_count == 5, "0.1 seconds in frames of 0.02"
    np.testing.assert_array_equal(trace["sound"], trace.source.signal)
    assert trace.attention("cross").shape == (2, 4, len(trace.text.ids), 9)


def test_a_recording_is_the_source_of_a_listener_and_a_text_or_an_image_that_of_others() -> None:
    listener, words = toys.listener(), toys.masked()
    sound = toys.source(listener, "")
    assert isinstance(sound, ProcessedSound)
    for given_source in ("a text", None):
        with pytest.raises(TextError, match="hears sounds"):
            run(listener, words, "the cat", source=given_source)
    with pytest.raises(SoundError, match="decoder reads a text; give its encoder the sound"):
        run(listener, words, sound)
    with pytest.raises(SoundError, match="reads texts, not sounds"):
        run(toys.both(), words, "the cat", source=sound)
    with pytest.raises(SoundError, match="reads texts and images, not sounds"):
        run(toys.captioner(), words, "the cat", source=sound)
    with pytest.raises(SoundError, match="reads no sound"):
        process_sound(toys.noise(), toys.both().config.sound)


def test_the_prompt_stands_behind_the_start_token_unless_the_text_begins_with_a_special_one() -> None:
    words = toys.masked()
    assert words.mask_id is not None and words.end_id is not None
    model = toys.listener(**{"decoder.prompt_token_ids": (words.mask_id, words.end_id)})
    sound = toys.source(model, "")
    start, cat = model.config.decoder.start_token_id, words.encode("cat", add_special_tokens=False).ids
    prompted = run(model, words, "cat", source=sound, keep=())
    assert prompted.text.ids == (start, words.mask_id, words.end_id, *cat)
    assert run(model, words, "[SEP] cat", source=sound, keep=()).text.ids == (start, words.end_id, *cat)
    assert run(model, words, "", source=sound, keep=()).text.ids == (start, words.mask_id, words.end_id)


@given(steps=st.integers(1, 2_000), data=st.data())
def test_as_many_frames_are_told_as_convolutions_make(steps: int, data: st.DataObject) -> None:
    kernels = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    strides = tuple(data.draw(st.integers(1, 4)) for _ in kernels)
    config = SoundConfig(
        rate=16_000, channels=(1,) * len(kernels), kernels=kernels, strides=strides, padded=data.draw(st.booleans())
    )
    x = torch.zeros(1, 1, steps)
    for kernel, stride in zip(kernels, strides, strict=True):
        padding = kernel // 2 if config.padded else 0
        if x.shape[-1] + 2 * padding < kernel:
            assert config.frame_count(steps) == 0
            return
        x = torch.nn.functional.conv1d(x, torch.zeros(1, 1, kernel), stride=stride, padding=padding)
    assert config.frame_count(steps) == x.shape[-1]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5)), min_size=1, max_size=3), st.integers(1, 50))
def test_fewer_steps_than_the_step_count_make_fewer_frames(layers: list[tuple[int, int]], frames: int) -> None:
    kernels, strides = (tuple(part) for part in zip(*layers, strict=True))
    config = SoundConfig(rate=16_000, channels=(1,) * len(layers), kernels=kernels, strides=strides)
    steps = config.step_count(frames)
    assert config.frame_count(steps) == frames
    assert config.frame_count(steps - 1) == frames - 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 10}, {"kernels": (3,)}, {"strides": (1, 0)}, {"channels": (16, 2**40)}, {"frames": 2**20}, {"hop": 0},
        {"window": 0}, {"mel_bins": 5_000}, {"kernels": (), "strides": (), "channels": ()}, {"position_groups": 0},
    ],
)  # fmt: skip
def test_sizes_that_no_model_has_are_refused(wrong: dict[str, Any]) -> None:
    plain = {"rate": 16_000, "mel_bins": 20, "window": 400, "hop": 160, "frames": 9}
    lists = {"channels": (16, 16), "kernels": (3, 3), "strides": (1, 2)}
    with pytest.raises(ConfigError, match=r"sound|convolutions"):
        toys.config(architecture="encoder-decoder", sound=SoundConfig(**{**plain, **lists, **wrong}))
    assert math.isclose(toys.HEARS.frame_seconds, 0.02)


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        ("melody", "C4, E4, G4, C5, A4, G4, E4, C4"),
        ("chords", "C4+E4+G4, F4+A4+C5, G4+B4+D5, C4+E4+G4+C5"),
    ],
)
def test_the_shipped_recordings_are_what_their_notes_sound_like(name: str, notes: str) -> None:
    shipped = read_recording(find_image(name))
    assert shipped.rate == SAMPLE_RATE
    np.testing.assert_allclose(shipped.samples, synthesize(parse_sounds(notes)), atol=1 / 2**14)
