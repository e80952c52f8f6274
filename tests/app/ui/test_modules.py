"""The JavaScript modules that the browser fetches."""

import posixpath
import re

from headlight_app.explore.tabs import ANALYSES, TABS
from headlight_app.ui import modules

IMPORT = re.compile(r'^(?:import|export) .*?from "(.+?)";$', re.MULTILINE | re.DOTALL)
MAIN = "explore/frontend/main.js"


def test_every_import_is_served() -> None:
    served = modules.modules()
    texts = {path: content for path, content in served.items() if path.endswith(".js")}
    for path, text in texts.items():
        for name in IMPORT.findall(text.decode()):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) in served, f"{path} imports {name}"


def test_a_browser_is_told_of_a_module_and_all_that_it_imports_before_it_asks() -> None:
    told = re.findall(r'<link rel="modulepreload" href="(.+?)" fetchpriority="low">', modules.preloads([MAIN]))
    names = [name.removeprefix(f"{modules.folder()}/") for name in told]
    assert names[0] == MAIN and len(set(names)) == len(names) and set(names) <= set(modules.modules())
    for name in names:
        for path in IMPORT.findall(modules.modules()[name].decode()):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) in names


def test_the_module_of_every_tab_and_analysis_is_served() -> None:
    assert {tab.module for tab in (*TABS.values(), *ANALYSES.values())} <= set(modules.modules())
