"""The families and their tiny models, with deliberately unusual configs. A new family is a new row."""

from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Any

from tests.families.decoders import DECODERS
from tests.families.encoders import ENCODERS
from tests.families.image_models import IMAGE_MODELS
from tests.families.llama_like import LLAMA_LIKE
from tests.families.reference import Case
from tests.families.sound_models import SOUND_MODELS
from tests.families.text_stacks import TEXT_STACKS
from tests.families.two_models import TWO_MODELS
from tests.sampling import parameter_set, some

TABLES = (DECODERS, LLAMA_LIKE, TEXT_STACKS, ENCODERS, IMAGE_MODELS, SOUND_MODELS, TWO_MODELS)
DTYPES = ("float32", "bfloat16", "float16")


def _vary_storage(cases: list[Case]) -> list[Case]:
    """The same cases, some stored in half precision, the last one sharded."""
    whole = [case if case.dtype != "float32" else replace(case, dtype=DTYPES[i % 3]) for i, case in enumerate(cases)]
    return [*whole[:-1], replace(whole[-1], shards=True)]


CASES: dict[str, list[Case]] = {family: _vary_storage(cases) for family, cases in reduce(or_, TABLES).items()}


def _count_fields(config: dict[str, Any]) -> int:
    """The number of fields that differ from the family's defaults, including nested ones."""
    return sum(_count_fields(value) if isinstance(value, dict) else 1 for value in config.values())


def _is_oddest(case: Case, cases: list[Case]) -> bool:
    return case is max(cases, key=lambda each: _count_fields(each.config))


# For `parametrize`. `make test` runs the oddest case of each family ...
EACH_CASE = [
    parameter_set(family, case, full=not _is_oddest(case, cases), id=f"{family}-{case}")
    for family, cases in CASES.items()
    for case in cases
]
# ... and of the tests that open a family dozens of times the first family of each table.
_FIRST = [next(iter(table)) for table in TABLES]
EACH_FAMILY = some(CASES, lambda family: family in _FIRST)
