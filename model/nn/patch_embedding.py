"""Patch embedding: an image cut into patches, each mapped to a vector."""

from __future__ import annotations

from torch import Tensor, nn

from model.array_types import Float
from model.config import Config
from model.errors import PictureError


class Patches(nn.Module):
    """A picture cut into patches, each mapped to a vector (Dosovitskiy et al. 2021, section 3.1)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        picture = config.picture
        self.shape = (picture.channels, picture.height, picture.width)
        self.count = picture.rows * picture.columns
        size = (picture.patch_height, picture.patch_width)
        self.project = nn.Conv2d(picture.channels, config.token_width, size, stride=size)

    def forward(
        self, pixels: Float[Tensor, "batch colour pixel_row pixel_column"]
    ) -> Float[Tensor, "batch patch token_width"]:
        """patch E, row after row; each pixel takes part in one patch."""
        if pixels.shape[1:] != self.shape:
            given, wanted = (" x ".join(map(str, shape)) for shape in (pixels.shape[1:], self.shape))
            raise PictureError(f"The picture is {given} (colours, height, width); this model reads {wanted}.")
        vectors: Tensor = self.project(pixels.to(self.project.weight.dtype))
        return vectors.flatten(2).transpose(1, 2)
