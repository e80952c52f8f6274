"""The families and their tiny models, odd ones on purpose. A new family is a new row."""

from tests.families.decoders import DECODERS
from tests.families.encoders import ENCODERS
from tests.families.reference import Case

CASES: dict[str, list[Case]] = DECODERS | ENCODERS
