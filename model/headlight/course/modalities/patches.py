"""An image cut into patches, each a vector, and attention by content among them, without a model."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import fold, unfold

from headlight.array_types import Float, Shaped
from headlight.config import ImageConfig, ImageProcessorConfig
from headlight.course.attention import NO_WEIGHTS, SHARPNESS, attend_by_similarity
from headlight.course.controls import ChoiceControl, CountControl
from headlight.course.requirements import require_index
from headlight.course.screen import Screen, ScreenRows
from headlight.questions.asking import ask_cell
from headlight.questions.kinds import Question
from headlight.views.forms import shape_text
from headlight.views.kinds import HeatMapView, ImageView, TableView
from headlight.views.rows import row
from headlight.views.words import percent
from headlight.vision.image import decode_image, process_image
from headlight.vision.shipped_images import all_shipped_image_names, shipped_image
from headlight.vision.urls import png_url


def _title(name: str) -> str:
    """The title of a picture: "Yellow square right of red triangle"."""
    words = name.replace("-right-", "-right-of-").replace("-left-", "-left-of-")
    return words.replace("-", " ").capitalize()


PICTURE = ChoiceControl(
    "Picture", "yellow-square-right-red-triangle", {name: _title(name) for name in all_shipped_image_names()}
)


IMAGE_SIDE = 96  # pixels of each resized image: divisible by many grids
FROM_ZERO_TO_ONE = ImageProcessorConfig(mean=(0.0,), std=(1.0,))
GRIDS = (4, 6, 8, 12, 16)  # patches along each side


def read_pixels(picture: str) -> Float[Tensor, "channel pixel_row pixel_column"]:
    """A shipped image in red, green and blue from 0 to 1."""
    config = ImageConfig(
        channels=3, height=IMAGE_SIDE, width=IMAGE_SIDE, patch_height=1, patch_width=1, processor=FROM_ZERO_TO_ONE
    )
    return torch.tensor(process_image(decode_image(shipped_image(picture)), config).pixel_values)


def cut_into_patches(
    pixels: Float[Tensor, "channel pixel_row pixel_column"], size: tuple[int, int]
) -> Float[Tensor, "patch patch_value"]:
    """Patches of `size` (height, width) row by row, each as one vector: all red values, then green, then blue."""
    return unfold(pixels[None], size, stride=size)[0].T


def join_patches(
    patches: Float[Tensor, "patch patch_value"], size: tuple[int, int]
) -> Float[Tensor, "channel pixel_row pixel_column"]:
    """The image of IMAGE_SIDE that has these patches."""
    return fold(patches.T[None], (IMAGE_SIDE, IMAGE_SIDE), size, stride=size)[0]


def to_rgb(pixels: Float[Tensor, "channel pixel_row pixel_column"]) -> Shaped[Tensor, "pixel_row pixel_column channel"]:
    """The pixels as bytes, in the layout of files."""
    return (pixels.clamp(0, 1) * 255).round().byte().permute(1, 2, 0)


def show_patches(picture: str, grid: str, patch: int, sharpness: float) -> ScreenRows:
    """The image in patches, one patch as a vector, and attention by content among all patches."""
    count = int(grid)
    side = IMAGE_SIDE // count
    pixels = read_pixels(picture)
    patches = cut_into_patches(pixels, (side, side))
    require_index(patch, count * count, "patch", "the image")
    head = attend_by_similarity(patches, sharpness)
    source = png_url(to_rgb(pixels).numpy())
    name = f"patch {patch}: row {patch // count}, column {patch % count}"
    best = int(head.weights[patch].argmax())
    return (
        row(
            ImageView(f"{count} × {count} patches of {side} × {side} pixels", source, count, count, marked=(patch,)),
            ImageView(
                name.capitalize(), png_url(to_rgb(patches[patch].view(3, side, side)).numpy()), side, side, before="→"
            ),
            question=_ask_of_place(patch, count),
        ),
        HeatMapView(
            f"The same patch as a vector of 3 · {side} · {side} = {patches.shape[1]} numbers",
            patches[patch].view(3, -1),
            rows=("red", "green", "blue"),
            columns=tuple(map(str, range(side * side))),
            column_axis="pixel of the patch",
            colours="sequential",
            column_groups=side,
        ),
        TableView(
            ("value", "shape", "axes"),
            (
                ("image", shape_text(pixels.shape), "channels × pixel rows × pixel columns"),
                ("sequence", shape_text(patches.shape), "patches × numbers of a patch"),
                ("attention weights", shape_text(head.weights.shape), "queries × keys"),
            ),
            title="Shapes",
        ),
        row(
            ImageView(
                "Where the framed patch looks",
                source,
                count,
                count,
                shades=((name, head.weights[patch]),),
                marked=(patch,),
            ),
            ImageView(
                "Output: each patch is the weighted mean of all patches",
                png_url(to_rgb(join_patches(head.output, (side, side))).numpy()),
                count,
                count,
                before="→",
            ),
            title="Attention among the patches",
            text=NO_WEIGHTS,
        ),
        f"The patch gives {percent(head.weights[patch, best])} to patch {best}{', itself,' if best == patch else ''} "
        f"while an even share would be {percent(1 / len(patches))}. {len(patches)} patches make {len(patches) ** 2:,} "
        f"weights; patches of half the side would make {16 * len(patches) ** 2:,}.",
    )


def _ask_of_place(patch: int, count: int) -> Question:
    lines = tuple(f"row {at}" for at in range(count))
    return ask_cell(
        f"{count} × {count} patches become a sequence, counted from 0. Where in the image is patch {patch}?",
        lines,
        tuple(map(str, range(count))),
        (patch // count, patch % count),
        (
            (patch % count, patch // count),
            "You have counted column by column; an image is read row by row, like a text.",
        ),
        (divmod(patch - 1, count), "You have counted from 1: the patch at the top left is patch 0."),
        hints=(f"A row has {count} patches.", f"{patch} is {patch // count} · {count} + {patch % count}."),
    )


PATCH = CountControl("Query patch (0 is the top left)", "13", 0, 255)
PATCHES = Screen(
    title="An image is a sequence of patches",
    lesson="Attention takes a sequence of vectors, whatever they mean. Cut an image into squares, and write the "
    "numbers of each square as one vector: this gives such a sequence. The first vision transformer (ViT, Dosovitskiy "
    "and others 2021) did this with squares of 16 × 16 pixels.",
    controls={
        "picture": PICTURE,
        "grid": ChoiceControl("Patches", "6", {str(each): f"{each} × {each}" for each in GRIDS}),
        "patch": PATCH,
        "sharpness": SHARPNESS,
    },
    compute=show_patches,
    formulas=(r"n = \frac{H \cdot W}{p^2}", r"x_i \in \mathbf{R}^{3 p^2}"),
    code=(cut_into_patches, attend_by_similarity),
)
