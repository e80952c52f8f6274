"""The script of the page, and the font, as the browser fetches them."""

import re

from headlight_app.explore.tabs import TABS
from headlight_app.tasks.answers.table import TASK_ANALYSES
from headlight_app.tasks.views import TASK_VIEWS
from headlight_app.ui import modules

FRONTEND = modules.ROOT / "explore" / "frontend"


def test_a_browser_is_told_of_the_script_before_it_asks() -> None:
    told = re.findall(r'<link rel="modulepreload" href="(.+?)" fetchpriority="low">', modules.preload())
    assert told == [f"{modules.folder()}/{modules.SCRIPT}"]


def test_every_panel_and_task_is_drawn() -> None:
    by_hand = {name for name, view in TASK_VIEWS.items() if view.html}
    assert {*TASK_VIEWS} == by_hand | {*TASK_ANALYSES}
    for table, rows in (
        (FRONTEND / "panels.js", {*TABS}),
        (modules.ROOT / "tasks" / "frontend" / "main.js", by_hand),
    ):
        drawn = re.findall(r"^(?:import|export { default as) (\w+)", table.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(drawn) == rows, table.name
