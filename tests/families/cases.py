"""The families and their tiny models, with deliberately unusual configs. A new family is a new row."""

from dataclasses import replace

from tests.families.decoders import DECODERS
from tests.families.encoders import ENCODERS
from tests.families.image_models import IMAGE_MODELS
from tests.families.llama_like import LLAMA_LIKE
from tests.families.reference import Case
from tests.families.sound_models import SOUND_MODELS
from tests.families.text_stacks import TEXT_STACKS

DTYPES = ("float32", "bfloat16", "float16")


def _vary_storage(cases: list[Case]) -> list[Case]:
    """The same cases, some stored in half precision, the last one sharded."""
    whole = [case if case.dtype != "float32" else replace(case, dtype=DTYPES[i % 3]) for i, case in enumerate(cases)]
    return [*whole[:-1], replace(whole[-1], shards=True)]


CASES: dict[str, list[Case]] = {
    family: _vary_storage(cases)
    for family, cases in (DECODERS | LLAMA_LIKE | TEXT_STACKS | ENCODERS | IMAGE_MODELS | SOUND_MODELS).items()
}
