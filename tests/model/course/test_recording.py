"""WAV files of every kind, and damaged, inconsistent or other files."""

import io
import wave

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from headlight.course.modalities.melody_screen import describe, train_writer
from headlight.course.modalities.sound_screen import (
    LONGEST,
    LOUDNESS,
    SAMPLE_RATE,
    SOUND,
    SOUND_SAMPLES,
    hear_recording,
    pieces_of,
    show_sound,
)
from headlight.errors import HeadlightError, InputError
from tests.model.sound.wav_files import encoded, tone, wav_file
from tests.sampling import combinations


@pytest.mark.parametrize(
    ("format", "rate", "channels"),
    combinations([(1, 8), (1, 16), (1, 24), (1, 32), (3, 32)], [8_000, 11_025, 48_000], [1, 2]),
)
def test_every_encoding_rate_and_count_of_channels_is_the_same_sound(
    format: tuple[int, int], rate: int, channels: int
) -> None:
    encoding, bits = format
    heard = hear_recording(
        wav_file(encoding, bits, channels, rate, encoded(np.repeat(tone(rate), channels), encoding, bits))
    )
    assert len(heard) % SOUND_SAMPLES == 0
    spectrum = torch.fft.rfft(heard[:SAMPLE_RATE]).abs()
    assert int(spectrum.argmax()) == 440, "the loudest of 8,000 samples a second is 440 Hz"
    assert float(heard.abs().max()) == pytest.approx(LOUDNESS)


def test_what_the_standard_library_writes_is_read() -> None:
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setparams((2, 2, 44_100, 0, "NONE", ""))
        written.writeframes(encoded(np.repeat(tone(44_100), 2), 1, 16))
    assert len(hear_recording(file.getvalue())) == 4 * SOUND_SAMPLES


@given(said=st.integers(0, 2**32 - 1), cut=st.integers(0, 16_044))
def test_a_length_that_is_not_true_is_not_believed(said: int, cut: int) -> None:
    file = wav_file(1, 16, 1, 8_000, encoded(tone(8_000), 1, 16), said)
    try:
        heard = hear_recording(file[: len(file) - cut])
    except HeadlightError:
        return
    assert len(heard) <= 8_000 + SOUND_SAMPLES and bool(heard.isfinite().all())


@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_a_sound_or_a_sentence(data: bytes, starts_well: bool) -> None:
    try:
        hear_recording(b"RIFF\0\0\0\0WAVE" + data if starts_well else data)
    except HeadlightError as error:
        assert str(error).endswith(".")


@given(st.sampled_from([(1, 8), (1, 16), (1, 24), (3, 32)]), st.integers(1, 2), st.data())
def test_any_samples_are_finite_or_a_sentence(kind: tuple[int, int], channels: int, data: st.DataObject) -> None:
    body = data.draw(st.binary(min_size=64, max_size=64)) * 600
    try:
        heard = hear_recording(wav_file(*kind, channels, 8_000, body))
    except HeadlightError:
        return
    assert bool(heard.isfinite().all()) and float(heard.abs().max()) <= LOUDNESS + 1e-6


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (b"ID3 an mp3", "This is not a WAV file."),
        (b"RIFF\0\0\0\0WAVE", "does not say how its samples are written"),
        (wav_file(1, 16, 1, 8_000, b""), "takes 0.00 seconds; 0.51 to 3.07 are allowed. Choose a longer one."),
        (wav_file(1, 8, 1, 8_000, b"\x80" * 40_000), "takes 5.00 seconds; 0.51 to 3.07 are allowed. Cut out"),
        (wav_file(1, 8, 1, 8_000, b"\x80" * 8_000), "This sound is silent."),
        (wav_file(1, 16, 6, 8_000, b"\0" * 96_000), "has 6 channels; 1 or 2 are possible."),
        (wav_file(1, 16, 1, 1, b"\0" * 4), "has 1 samples per second; from 4,000 to 192,000"),
        (wav_file(6, 8, 1, 8_000, b"\0" * 8_000), "8 bits in encoding 6. PCM of 8, 16, 24 or 32 bits"),
        (wav_file(3, 32, 1, 8_000, b"\xff" * 32_000), "samples that are not numbers"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_heard_gets_a_sentence(file: bytes, sentence: str) -> None:
    with pytest.raises(HeadlightError) as raised:
        hear_recording(file)
    assert sentence in str(raised.value)


def test_a_recording_takes_the_place_of_the_tones() -> None:
    body = encoded(tone(8_000, seconds=LONGEST - 0.01), 1, 16)
    rows = show_sound("C4, E4", 12, 2.0, hear_recording(wav_file(1, 16, 1, 8_000, body)))
    assert len(rows) == 4
    assert show_sound("C4, E4", 9, 2.0, hear_recording(wav_file(1, 16, 1, 8_000, encoded(tone(8_000), 1, 16))))


def test_the_decoder_writes_about_a_recording() -> None:
    heard = hear_recording(wav_file(1, 16, 1, 8_000, encoded(tone(8_000), 1, 16)))
    writer, _ = train_writer(1, 1)
    written, weights = describe(writer, heard)
    assert len(written) == len(weights) and bool(weights.isfinite().all())
    assert [piece.name for piece in pieces_of(heard)] == ["0.00 s", "0.26 s", "0.51 s", "0.77 s"]


def test_a_link_to_somebody_elses_recording_says_so() -> None:
    with pytest.raises(InputError, match="made with a recording, which it does not include"):
        SOUND.parse({"recording": "own"})
    assert SOUND.parse({})["recording"] is None
