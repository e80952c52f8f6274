"""Image preprocessing settings (preprocessor_config.json), as old and new versions write them."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from headlight.checkpoints.config_reader import ConfigReader, read_json
from headlight.checkpoints.files.file_rules import IMAGE_PROCESSOR
from headlight.config_groups import ImageConfig, ImageProcessorConfig, ResamplingFilter
from headlight.errors import CheckpointError

_SUPPORTED_STEPS = ("do_resize", "do_center_crop", "do_rescale", "do_normalize", "do_convert_rgb")


def read_image_processor(folder: Path, image: ImageConfig, name: str) -> ImageProcessorConfig:
    """The settings of the checkpoint `name`; what the file does not say has the default of transformers.

    Raises CheckpointError for unknown steps and for values of the wrong type.
    """
    path = folder / IMAGE_PROCESSOR
    fields = ConfigReader(read_json(path, name) if path.is_file() else {}, name)
    for step, value in fields.values.items():
        if step.startswith("do_") and step not in _SUPPORTED_STEPS and value:
            raise CheckpointError(
                f"{fields.name}: its {IMAGE_PROCESSOR} says {step}, which changes images and is not supported."
            )
    height, width, shortest = _size(fields, "size", image)
    crop = _is_enabled(fields, "do_center_crop", False)
    crop_height, crop_width, _ = _size(fields, "crop_size", image) if crop else (0, 0, 0)
    normalize = _is_enabled(fields, "do_normalize")
    return ImageProcessorConfig(
        resize=_is_enabled(fields, "do_resize"),
        height=height,
        width=width,
        shortest_edge=shortest,
        resample=_resample(fields),
        crop_height=crop_height,
        crop_width=crop_width,
        rescale_factor=fields.number("rescale_factor", 1 / 255) if _is_enabled(fields, "do_rescale") else 1.0,
        mean=_per_channel(fields, "image_mean") if normalize else (0.0,),
        std=_per_channel(fields, "image_std") if normalize else (1.0,),
    )


def _is_enabled(fields: ConfigReader, name: str, default: bool = True) -> bool:
    """Whether a step is enabled; null means no."""
    return fields.boolean(name, default and name not in fields.values)


def _size(fields: ConfigReader, name: str, image: ImageConfig) -> tuple[int, int, int]:
    """Height, width and shortest edge, 0 where the file names none; old files have one number for a square."""
    if not isinstance(fields.values.get(name), dict):
        height, width = fields.integers(name, 2, 0)
        return height or image.height, width or image.width, 0
    group = fields.nested(name)
    assert group is not None
    unknown = sorted(set(group.values) - {"height", "width", "shortest_edge"})
    if unknown or group.has("shortest_edge") == (group.has("height") and group.has("width")):
        told = ", ".join(group.values) or "nothing"
        raise CheckpointError(f"{group.name}: it names {told}; known are height with width, or shortest_edge alone.")
    if group.has("shortest_edge"):
        return 0, 0, group.integer("shortest_edge")
    return group.integer("height"), group.integer("width"), 0


def _resample(fields: ConfigReader) -> ResamplingFilter:
    filters: tuple[ResamplingFilter, ...] = get_args(ResamplingFilter)
    number = fields.integer("resample", filters.index("bilinear"))
    if number >= len(filters):
        known = ", ".join(f"{place} ({name})" for place, name in enumerate(filters))
        raise CheckpointError(f"{fields.name}: its resample is {number}; known are {known}.")
    return filters[number]


def _per_channel(fields: ConfigReader, name: str) -> tuple[float, ...]:
    """One number per channel; old files may have one for all."""
    if not isinstance(fields.values.get(name), list):
        return (fields.number(name, 0.5),)
    numbers = fields.list_of(name, (int, float))
    return tuple(ConfigReader({name: number}, fields.name).number(name) for number in numbers)
