"""Where to read on: each source has an address that can be opened, and a name by which it is found without one."""

import re

from headlight.course.errors.claims import EXPLANATIONS, PAPERS, reading
from headlight.course.pictures import TablePicture
from tests.model.course.shown import pictures


def test_every_source_leads_out_of_the_page_by_a_safe_address() -> None:
    for source in (*PAPERS, *EXPLANATIONS):
        assert re.fullmatch(r"https://[\w.-]+/\S*", source.address) and source.place
        if source.place.startswith("arXiv"):
            assert re.fullmatch(r"arXiv \d{4}\.\d{4,5}", source.place)
            assert source.address.endswith(source.place.removeprefix("arXiv "))


def test_every_row_has_its_address() -> None:
    tables = pictures(reading(), TablePicture)
    assert [len(table.addresses) for table in tables] == [len(table.rows) for table in tables]
