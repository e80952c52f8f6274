"""Melodies agree with their descriptions, and a decoder describes any sound."""

import pytest
import torch

from headlight.cancellation import Cancelled, cancellable
from headlight.course.modalities import melody_screen
from headlight.course.modalities.melody_screen import (
    BANDS,
    MOVES,
    PLACES,
    WORDS,
    accuracies,
    band_filters,
    describe,
    draw_melodies,
    melody_frames,
    train_writer,
)
from headlight.course.modalities.sound_screen import SOUND_SAMPLES, parse_sounds, synthesize


@pytest.fixture(autouse=True)
def few_melodies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train for less than a second."""
    monkeypatch.setattr(melody_screen, "MELODIES", 60)


def sign(difference: torch.Tensor) -> int:
    """1 for a higher tone, -1 for a lower one, 0 for a few Fourier bins: noise or the end of a glide."""
    return int(difference > 3) - int(difference < -3)


def test_a_melody_goes_as_the_words_about_it_say() -> None:
    samples, words = draw_melodies(40, 5, torch.Generator().manual_seed(0))
    assert set(words[:, 1:-1].flatten().tolist()) == set(range(1, len(WORDS) - 1))
    middles = samples.view(40, 5, SOUND_SAMPLES)[:, :, SOUND_SAMPLES // 4 : -SOUND_SAMPLES // 4]
    strengths = torch.fft.rfft(middles).abs()
    tones = (strengths > strengths.amax(-1, keepdim=True) / 2).long().argmax(-1)  # overtones are higher
    first, middle, last = tones[:, [0, 2, 4]].T
    for at, (_, begins, *halves, ends, _) in enumerate(words.tolist()):
        goes = [MOVES[1 + sign(middle[at] - first[at])], MOVES[1 + sign(last[at] - middle[at])]]
        assert [WORDS[half] for half in halves] == goes, at
        assert sign(last[at] - first[at]) * (ends - begins) >= 0, "a higher tone is not in a lower register"


def test_frames_do_not_tell_how_loud_a_sound_is() -> None:
    samples, _ = draw_melodies(3, 3, torch.Generator().manual_seed(1))
    torch.testing.assert_close(melody_frames(0.1 * samples), melody_frames(samples), atol=1e-4, rtol=1e-4)
    assert torch.isfinite(melody_frames(torch.zeros(1, SOUND_SAMPLES))).all(), "silence has finite frames"
    filters = band_filters()
    assert filters.shape[1] == BANDS and (filters.sum(0) > 0).all() and filters.sum(1).max() <= 1 + 1e-5


@pytest.mark.full
def test_a_decoder_learns_to_write_about_sounds_of_any_length() -> None:
    writer, losses = train_writer(80, 1)
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])
    assert sum(accuracies(writer, 1).values()) / len(PLACES) > 0.4  # a third by chance
    for sounds in ("C4, E4", "C4, E4, G4, C4+E4+G4, 440, 450, 460"):
        samples = synthesize(parse_sounds(sounds))
        written, weights = describe(writer, samples)
        assert len(written) == len(PLACES) and set(written) <= set(WORDS)
        assert weights.shape == (len(PLACES), melody_frames(samples[None]).shape[1])
        torch.testing.assert_close(weights.sum(1), torch.ones(len(PLACES)))


def test_a_seed_gives_the_same_training_which_stops_where_nobody_waits() -> None:
    assert train_writer(3, 1)[1] == train_writer(3, 1)[1] != train_writer(3, 2)[1]
    with cancellable(lambda: True), pytest.raises(Cancelled):
        train_writer(3, 1)
