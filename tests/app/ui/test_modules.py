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


def test_every_panel_has_a_module_that_draws_it_and_every_task_its_views() -> None:
    table = FRONTEND / "panels.ts"
    drawn = re.findall(r"^(?:import|export { default as) (\w+)", table.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(drawn) == sorted(TABS)
    assert {*TASK_ANALYSES} == {*TASK_VIEWS}
