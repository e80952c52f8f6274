"""Patch embedding: an image cut into patches, each mapped to a vector."""

from __future__ import annotations

from torch import Tensor, nn

from headlight.array_types import Float
from headlight.config import Config
from headlight.errors import ImageError


class PatchEmbedding(nn.Module):
    """An image cut into patches, each mapped to a vector (Dosovitskiy et al. 2021, section 3.1)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        image = config.image
        self.image_shape = (image.channels, image.height, image.width)
        self.num_patches = image.patch_rows * image.patch_columns
        size = (image.patch_height, image.patch_width)
        self.projection = nn.Conv2d(image.channels, config.embedding_dim, size, stride=size)

    def forward(
        self, pixels: Float[Tensor, "batch color_channel pixel_row pixel_column"]
    ) -> Float[Tensor, "batch patch embedding_dim"]:
        """The embedding of each patch, row by row. Raises ImageError for an image of another size."""
        if pixels.shape[1:] != self.image_shape:
            given, wanted = (" x ".join(map(str, shape)) for shape in (pixels.shape[1:], self.image_shape))
            raise ImageError(f"The image is {given} (channels, height, width); this model reads {wanted}.")
        vectors: Tensor = self.projection(pixels.to(self.projection.weight.dtype))
        return vectors.flatten(2).transpose(1, 2)
