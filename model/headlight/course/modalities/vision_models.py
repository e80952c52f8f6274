"""An image in a trained model: patches become vectors, heads attend among them, and words are written about them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headlight.array_types import Float
from headlight.checkpoints.load import Checkpoint
from headlight.course.controls import ModelControl
from headlight.course.modalities.patches import PATCH, PICTURE, cut_into_patches
from headlight.course.requirements import require_index, require_part
from headlight.course.screen import Screen, ScreenRows, link
from headlight.course.sentences import HEAD, LAYER
from headlight.generation.generate import generate
from headlight.nn.attention import Attention
from headlight.nn.layers import PatchEmbedding
from headlight.questions.asking import ask_largest, ask_number
from headlight.tracing.run import run
from headlight.tracing.trace import Trace
from headlight.views.forms import agreement, shape_text
from headlight.views.kinds import HeatMapView, ImageView, TableView, TokensView
from headlight.views.rows import Row, row
from headlight.views.words import percent
from headlight.vision.image import decode_image, process_image
from headlight.vision.patches import EncodedImage
from headlight.vision.shipped_images import shipped_image
from headlight.vision.urls import png_url

MOST_WORDS = 12  # words of a caption
SHOWN_PATCHES, SHOWN_CHANNELS = 64, 128
LARGEST_ERROR = 1e-2  # for bfloat16, the format of most saved models
BRIGHTNESS = "Bright where weights are large, on a square-root scale; in each picture the largest is fully bright."


@dataclass(frozen=True)
class ReadImage:
    """An image read by a model's encoder: its patches, and the recorded values."""

    patches: EncodedImage
    trace: Trace

    @property
    def url(self) -> str:
        """The URL of the pixels covered by patches, as the model read them."""
        return png_url(self.patches.covered_pixels())


def read_with(model: Checkpoint, picture: str, keep: tuple[str, ...]) -> ReadImage:
    """A shipped image read by a model, with the recorded values named by `keep`."""
    image = process_image(decode_image(shipped_image(picture)), model.model.config.image)
    if model.model.config.has_cross_attention:
        trace = run(model.model, model.tokenizer, "", source=image, keep=keep)
    else:
        trace = run(model.model, model.tokenizer, image, keep=keep)
    patches = trace.text_of_stack("encoder")
    assert isinstance(patches, EncodedImage)
    return ReadImage(patches, trace)


def embed_by_hand(
    model: Checkpoint, patches: EncodedImage
) -> tuple[Float[Tensor, "patch patch_value"], Float[Tensor, "patch d_model"], float]:
    """The patches as rows, these rows times W plus b, and the largest difference to the model's own embeddings."""
    embedding = next(part for part in model.model.modules() if isinstance(part, PatchEmbedding))
    weight, bias = embedding.projection.weight, embedding.projection.bias
    pixels = torch.tensor(patches.image.pixel_values, dtype=weight.dtype, device=weight.device)
    rows = cut_into_patches(pixels, patches.patch_size)
    vectors = rows @ weight.flatten(1).T + (0 if bias is None else bias)
    return rows, vectors, float((vectors - embedding(pixels[None])[0]).abs().max())


@torch.inference_mode()
def show_vision_model(model: Checkpoint, picture: str, layer: int, patch: int) -> ScreenRows:
    """Pixels, patches, vectors, and where every head of a layer looks from one patch."""
    path = f"encoder.{require_part(model.model.config, 'encoder-layer', layer)}.self.weights"
    read = read_with(model, picture, ("encoder.embedding", path))
    grid = read.patches
    require_index(patch, grid.patch_rows * grid.patch_columns, "patch", "the image")
    looks = torch.tensor(read.trace[path])[:, grid.first_patch + patch, grid.first_patch :]
    return (
        _show_cutting(read, patch),
        *_show_embedding(model, grid),
        row(
            ImageView(
                f"Layer {layer}: where each head looks from patch {patch}",
                read.url,
                grid.patch_rows,
                grid.patch_columns,
                note=BRIGHTNESS,
                shades=tuple((f"head {head}", each) for head, each in enumerate(looks)),
                marked=(patch,),
            ),
            title="Patches look at patches",
        ),
        _describe_looks(looks, grid),
    )


def _show_cutting(read: ReadImage, patch: int) -> Row:
    grid, (height, width) = read.patches, read.patches.patch_size
    pixels, count = grid.image.pixel_values, grid.patch_rows * grid.patch_columns
    return row(
        ImageView(
            f"{grid.patch_rows} × {grid.patch_columns} patches of {height} × {width} pixels",
            read.url,
            grid.patch_rows,
            grid.patch_columns,
            marked=(patch,),
        ),
        TableView(
            ("value", "shape", "axes"),
            (
                ("pixels", shape_text(pixels.shape), "channels × pixel rows × pixel columns"),
                ("patches", shape_text((count, len(pixels) * height * width)), "patches × numbers of a patch"),
                ("tokens", shape_text(read.trace["encoder.embedding"].shape), "tokens × channels of the model"),
            ),
            title="From pixels to tokens",
            note="" if count == len(grid.ids) else f"The patches follow {' '.join(grid.tokens[:-count])}.",
        ),
    )


def _show_embedding(model: Checkpoint, grid: EncodedImage) -> ScreenRows:
    rows, vectors, error = embed_by_hand(model, grid)
    shown = slice(SHOWN_PATCHES), slice(SHOWN_CHANNELS)
    return (
        row(
            HeatMapView(
                f"Patches: {shape_text(rows.shape)}",
                rows[shown],
                row_axis="patch",
                column_axis="number",
                is_small=True,
                note=_first_of(rows),
            ),
            HeatMapView(
                f"Their vectors: {shape_text(vectors.shape)}",
                vectors[shown],
                before="· W + b =",
                row_axis="patch",
                column_axis="channel",
                is_small=True,
                note=_first_of(vectors),
            ),
            title="One matrix turns every patch into a vector",
            question=ask_number(
                f"A patch has {rows.shape[1]} numbers, a vector {vectors.shape[1]}. How many numbers does the matrix W "
                "have?",
                rows.shape[1] * vectors.shape[1],
                (rows.numel(), "That is the size of all patches of this image; W does not depend on their number."),
                (rows.shape[1] + vectors.shape[1], "Its rows and columns are multiplied, not added."),
                hints=("W has a row for each number of a patch.", "It has a column for each channel of a vector."),
            ),
        ),
        agreement(
            "The program does this with a convolution. As a matrix product, as here, the vectors are the same up to "
            "rounding. From here on nothing depends on images: positions are added, and the layers are those of a text "
            "model.",
            error,
            vectors.abs().max(),
            bound=LARGEST_ERROR,
        ),
    )


def _first_of(values: Tensor) -> str:
    rows, columns = values.shape
    if rows <= SHOWN_PATCHES and columns <= SHOWN_CHANNELS:
        return ""
    return f"Only the first {min(rows, SHOWN_PATCHES)} × {min(columns, SHOWN_CHANNELS)} are shown."


def _describe_looks(looks: Float[Tensor, "head patch"], grid: EncodedImage) -> str:
    head, best = divmod(int(looks.argmax()), looks.shape[1])
    return (
        f"The largest weight is that of head {head}: {percent(looks[head, best], 0)} go to patch {best} (row "
        f"{best // grid.patch_columns}, column {best % grid.patch_columns}), while an even share would be "
        f"{percent(1 / looks.shape[1])}. Each head looks at different patches."
    )


def show_caption(model: Checkpoint, picture: str, layer: int, head: int) -> ScreenRows:
    """A caption, word by word, and where a head of the decoder looked in the image for each word."""
    config = model.model.config
    path = f"decoder.{require_part(config, 'layer', layer)}.cross.weights"
    require_part(config, "head", head)
    image = process_image(decode_image(shipped_image(picture)), config.image)
    steps = generate(
        model.model, model.tokenizer, "", source=image, steps=MOST_WORDS, top_k=1, seed=0, keep=(path, "logits")
    )
    words, looks = [], []
    for step in steps:
        words.append(model.tokenizer.stripped_token_text(step.chosen_token))
        looks.append(torch.tensor(step[path][head, -1]))
    source = step.source
    assert isinstance(source, EncodedImage)
    names = [f"{number}. {word}" for number, word in enumerate(words, 1)]
    return (
        TokensView("What the decoder wrote", tuple(words)),
        row(
            ImageView(
                f"Where head {head} of layer {layer} looked to write each word",
                png_url(source.covered_pixels()),
                source.patch_rows,
                source.patch_columns,
                note=BRIGHTNESS,
                shades=tuple((name, look[source.first_patch :]) for name, look in zip(names, looks, strict=True)),
            ),
            question=ask_largest(
                "For which word does this head give the largest weight to a single patch?",
                {name: float(look.max()) for name, look in zip(names, looks, strict=True)},
            ),
        ),
        f"Queries come from {len(words)} words, keys and values from {source.patch_rows} × {source.patch_columns} "
        "patches: cross-attention does not need both to be of one kind. A model that transcribes a sound reads it in "
        "the same way.",
    )


VISION_MODEL = Screen(
    title="Patches in a trained model",
    lesson="A trained model multiplies each patch by one learned matrix, adds a position, and continues as with words. "
    "Choose an image, a layer and a patch, and see what each head looks at from there. The shipped model has learned "
    "only from drawings; a vision transformer (ViT) that you open on the page Models appears in the list.",
    controls={
        "model": ModelControl(default="caption", needs="image"),
        "picture": PICTURE,
        "layer": replace(LAYER, default="1", part="encoder-layer"),
        "patch": PATCH,
    },
    compute=show_vision_model,
    formulas=(r"z_i = x_i W + b + p_i",),
    code=(embed_by_hand, PatchEmbedding, Attention.forward),
    explore=link("model", "layer", image="picture", fixed={"attention": "encoder.self", "head": "0"}),
)


CAPTION = Screen(
    title="Words read from patches",
    lesson="An encoder reads the image, a decoder writes words, and cross-attention connects them: each word looks at "
    "the patches. This small model knows only drawings of two figures, and describes two figures for any other "
    "picture.",
    controls={
        "model": ModelControl(default="caption", needs="image-to-text"),
        "picture": PICTURE,
        "layer": LAYER,
        "head": HEAD,
    },
    compute=show_caption,
    formulas=(r"M = \mathrm{encoder}(X),\quad Q = Y W_Q,\quad K = M W_K,\quad V = M W_V",),
    code=(show_caption, Attention.forward),
    explore=link("model", "layer", "head", image="picture", fixed={"attention": "decoder.cross"}),
)
