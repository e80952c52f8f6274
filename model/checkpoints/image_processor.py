"""How a checkpoint wants pictures prepared: its preprocessor_config.json, as old and new versions write it."""

from __future__ import annotations

from pathlib import Path

from model.checkpoints.config_reader import Fields, read_json
from model.config_groups import RESAMPLES, Picture, Preparation
from model.errors import CheckpointError

FILE = "preprocessor_config.json"
_STEPS = ("do_resize", "do_center_crop", "do_rescale", "do_normalize", "do_convert_rgb")


def preparation(folder: Path, reads: Picture, name: str) -> Preparation:
    """What the file of the checkpoint `name` says, the reference's defaults where it is silent or not there.

    Raises CheckpointError for a step that is not known, and for what is no such step.
    """
    path = folder / FILE
    fields = Fields(read_json(path, name) if path.is_file() else {}, name)
    for step, value in fields.values.items():
        if step.startswith("do_") and step not in _STEPS and value:
            raise CheckpointError(
                f"{fields.name}: its {FILE} says {step}, which acts on pictures and is not supported."
            )
    height, width, shortest = _size(fields, "size", reads)
    crop = _does(fields, "do_center_crop", False)
    crop_height, crop_width, _ = _size(fields, "crop_size", reads) if crop else (0, 0, 0)
    normalised = _does(fields, "do_normalize")
    return Preparation(
        resize=_does(fields, "do_resize"),
        height=height,
        width=width,
        shortest=shortest,
        resample=_resample(fields),
        crop_height=crop_height,
        crop_width=crop_width,
        factor=fields.number("rescale_factor", 1 / 255) if _does(fields, "do_rescale") else 1.0,
        mean=_colours(fields, "image_mean") if normalised else (0.0,),
        deviation=_colours(fields, "image_std") if normalised else (1.0,),
    )


def _does(fields: Fields, name: str, usual: bool = True) -> bool:
    """Whether a step is taken; a null in the file means no."""
    return fields.flag(name, usual and name not in fields.values)


def _size(fields: Fields, name: str, reads: Picture) -> tuple[int, int, int]:
    """Height, width and shortest side, 0 where the file names none; old files have one number for a square."""
    if not isinstance(fields.values.get(name), dict):
        height, width = fields.sizes(name, 2, 0)
        return height or reads.height, width or reads.width, 0
    group = fields.group(name)
    assert group is not None
    unknown = sorted(set(group.values) - {"height", "width", "shortest_edge"})
    if unknown or group.has("shortest_edge") == (group.has("height") and group.has("width")):
        told = ", ".join(group.values) or "nothing"
        raise CheckpointError(f"{group.name}: it names {told}; known are height with width, or shortest_edge alone.")
    if group.has("shortest_edge"):
        return 0, 0, group.size("shortest_edge")
    return group.size("height"), group.size("width"), 0


def _resample(fields: Fields) -> str:
    number = fields.size("resample", RESAMPLES.index("bilinear"))
    if number >= len(RESAMPLES):
        known = ", ".join(f"{place} ({name})" for place, name in enumerate(RESAMPLES))
        raise CheckpointError(f"{fields.name}: its resample is {number}; known are {known}.")
    return RESAMPLES[number]


def _colours(fields: Fields, name: str) -> tuple[float, ...]:
    """One number for each colour; old files may have one for all."""
    if not isinstance(fields.values.get(name), list):
        return (fields.number(name, 0.5),)
    numbers = fields.listing(name, (int, float))
    return tuple(Fields({name: number}, fields.name).number(name) for number in numbers)
