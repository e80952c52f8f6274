"""Head metrics of image patches."""

import numpy as np
import pytest

from headlight import EncodedImage, run
from headlight.analysis.head_metrics import (
    HEAD_METRICS,
    IMAGE_HEAD_METRICS,
    head_metrics,
    head_metrics_for,
    mean_over_rows,
    neighbours,
    patch_distance,
    same_column,
    same_row,
)
from headlight.tracing.trace import Trace
from headlight.vision.image import process_image
from headlight.vision.patches import class_token_tokenizer
from tests.model import toys


def trace() -> Trace:
    """A picture of 2 x 3 patches behind a class token."""
    model = toys.seer()
    return run(model, class_token_tokenizer(), process_image(toys.photo(), model.config.image))


def patches() -> EncodedImage:
    text = trace().text
    assert isinstance(text, EncodedImage)
    return text


def test_neighbours_rows_and_columns() -> None:
    text = patches()
    names = dict(zip(text.token_texts, range(7), strict=True))

    def keys(cells: np.ndarray, query: str) -> set[str]:
        return {text.token_texts[key] for key in np.flatnonzero(cells[names[query]])}

    assert keys(neighbours(text), "0,0") == {"0,1", "1,0", "1,1"}
    assert keys(neighbours(text), "1,1") == {"0,0", "0,1", "0,2", "1,0", "1,2"}
    assert keys(same_row(text), "1,0") == {"1,1", "1,2"}
    assert keys(same_column(text), "1,2") == {"0,2"}
    for cells in (neighbours(text), same_row(text), same_column(text)):
        assert not cells[0].any()
        assert not cells[:, 0].any()


def test_distance_is_counted_in_patches_and_without_the_class_token() -> None:
    text = patches()
    weights = np.zeros((1, 7, 7), np.float32)
    weights[0, :, 0] = 1  # all look at the class token
    assert np.isnan(patch_distance(weights, text)).all()
    weights[0, 1, [0, 2, 6]] = 0.5, 0.25, 0.25  # from 0,0 to 0,1 and to 1,2
    assert mean_over_rows(patch_distance(weights, text), weights) == pytest.approx([(1 + 5**0.5) / 2])


def test_images_have_their_own_metrics() -> None:
    found = head_metrics(trace())
    assert set(found) == set(IMAGE_HEAD_METRICS)
    for metric, heads in found.items():
        assert heads.shape == (2, 4)
        if not IMAGE_HEAD_METRICS[metric].unit:
            assert ((heads >= 0) & (heads <= 1 + 1e-6)).all()
    assert head_metrics_for(True) is IMAGE_HEAD_METRICS
    assert head_metrics_for(False) is HEAD_METRICS


def test_the_row_metric_is_the_weight_on_the_row() -> None:
    whole = trace()
    weights = whole.attention()[1, 2]
    row = [weights[1, [2, 3]].sum(), weights[2, [1, 3]].sum(), weights[3, [1, 2]].sum()]
    row += [weights[4, [5, 6]].sum(), weights[5, [4, 6]].sum(), weights[6, [4, 5]].sum()]
    assert head_metrics(whole)["row"][1, 2] == pytest.approx(np.mean(row), rel=1e-5)
