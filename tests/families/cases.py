"""The families and their tiny models, odd ones on purpose. A new family is a new row."""

from dataclasses import replace

from tests.families.decoders import DECODERS
from tests.families.encoders import ENCODERS
from tests.families.odd import ODD
from tests.families.reference import Case
from tests.families.seers import SEERS

DTYPES = ("float32", "bfloat16", "float16")


def _kept(cases: list[Case]) -> list[Case]:
    """The same, of which some lie on disk in half precision, and the last in shards."""
    whole = [case if case.dtype != "float32" else replace(case, dtype=DTYPES[i % 3]) for i, case in enumerate(cases)]
    return [*whole[:-1], replace(whole[-1], shards=True)]


CASES: dict[str, list[Case]] = {
    family: _kept([*cases, *ODD.get(family, [])]) for family, cases in (DECODERS | ENCODERS | SEERS).items()
}
