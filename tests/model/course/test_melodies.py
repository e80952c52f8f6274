"""Melodies are what their labels say, and an encoder answers to any sound."""

import pytest
import torch

from headlight.cancellation import Cancelled, cancellable
from headlight.course.modalities import melody_screen
from headlight.course.modalities.melody_screen import (
    BANDS,
    HEADS,
    LABELS,
    accuracies,
    answer,
    band_filters,
    draw_melodies,
    melody_frames,
    train_encoder,
)
from headlight.course.modalities.sound import SOUND_SAMPLES, parse_sounds, synthesize


@pytest.fixture(autouse=True)
def few_melodies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A training that takes less than a second."""
    monkeypatch.setattr(melody_screen, "MELODIES", 60)


def sign(difference: torch.Tensor) -> int:
    """Whether a tone is higher (1) or lower (-1): a step of the Fourier transform is noise."""
    return int(difference > 1) - int(difference < -1)


def test_a_melody_goes_as_its_label_says() -> None:
    samples, labels = draw_melodies(40, 5, torch.Generator().manual_seed(0))
    assert set(labels.tolist()) == set(range(len(LABELS)))
    middles = samples.view(40, 5, SOUND_SAMPLES)[:, :, SOUND_SAMPLES // 4 : -SOUND_SAMPLES // 4]
    strengths = torch.fft.rfft(middles).abs()
    tones = (strengths > strengths.amax(-1, keepdim=True) / 2).long().argmax(-1)  # overtones are higher
    first, middle, last = tones[:, [0, 2, 4]].T
    for at, label in enumerate(labels):
        goes = (sign(middle[at] - first[at]), sign(last[at] - middle[at]))
        wanted = {
            "rising": (1, 1), "falling": (-1, -1), "steady": (0, 0), "up and down": (1, -1),
        }  # fmt: skip
        assert goes == wanted[LABELS[int(label)]], (at, label)


def test_frames_do_not_tell_how_loud_a_sound_is() -> None:
    samples, _ = draw_melodies(3, 3, torch.Generator().manual_seed(1))
    torch.testing.assert_close(melody_frames(0.1 * samples), melody_frames(samples), atol=1e-4, rtol=1e-4)
    assert torch.isfinite(melody_frames(torch.zeros(1, SOUND_SAMPLES))).all(), "silence is a sound, too"
    filters = band_filters()
    assert filters.shape[1] == BANDS and (filters.sum(0) > 0).all() and filters.sum(1).max() <= 1 + 1e-5


def test_an_encoder_learns_and_answers_to_sounds_of_any_length() -> None:
    encoder, losses = train_encoder(80, 1)
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])
    assert sum(accuracies(encoder, 1).values()) / len(LABELS) > 0.4
    for sounds in ("C4, E4", "C4, E4, G4, C4+E4+G4, 440, 450, 460"):
        samples = synthesize(parse_sounds(sounds))
        chances, weights = answer(encoder, samples)
        assert float(chances.sum()) == pytest.approx(1, abs=1e-5)
        assert weights.shape == (HEADS, melody_frames(samples[None]).shape[1])
        assert (weights >= 0).all() and (weights.sum(1) < 1).all(), "the rest is on the class token itself"


def test_a_seed_gives_the_same_training_which_stops_where_nobody_waits() -> None:
    assert train_encoder(3, 1)[1] == train_encoder(3, 1)[1] != train_encoder(3, 2)[1]
    with cancellable(lambda: True), pytest.raises(Cancelled):
        train_encoder(3, 1)
