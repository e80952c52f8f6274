"""The browser's types of views are those of Python, field by field, and each kind is drawn."""

import re
from dataclasses import fields

from headlight.views import kinds
from headlight.views.kinds import TitledView, View
from headlight_app.ui.modules import ROOT

FOLDER = ROOT / "ui" / "frontend" / "views"
TYPES = (FOLDER / "types.ts").read_text(encoding="utf-8")
KINDS = {
    kind.kind: kind
    for kind in vars(kinds).values()
    if isinstance(kind, type) and issubclass(kind, View) and kind not in (View, TitledView)
}


def typed(declared: str) -> set[str]:
    """The names of the fields in the text of an interface."""
    return set(re.findall(r"^  (\w+)\??: ", declared, re.MULTILINE))


def test_each_kind_has_the_same_fields_in_the_browser() -> None:
    common = re.search(r"interface CommonView \{(.*?)^\}", TYPES, re.DOTALL | re.MULTILINE)
    assert common
    declared = re.findall(r"interface \w+ extends CommonView \{(.*?)^\}", TYPES, re.DOTALL | re.MULTILINE)
    browser = {re.findall(r'kind: "(\w+)"', each)[0]: typed(each) - {"kind"} | typed(common[1]) for each in declared}
    assert browser == {name: {each.name for each in fields(kind)} for name, kind in KINDS.items()}


def test_each_kind_is_drawn() -> None:
    script = (FOLDER / "views.ts").read_text(encoding="utf-8")
    drawn = re.search(r"const DRAWINGS: .*? = table\(\{(.*?)^\}\)", script, re.DOTALL | re.MULTILINE)
    assert drawn and set(re.findall(r"^  (\w+): ", drawn[1], re.MULTILINE)) == set(KINDS)
