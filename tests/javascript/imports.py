"""The imports of the page's TypeScript, for the contracts in pyproject.toml: `lint-imports` reads both.

An imported type does not count, as in Python: a name used in a signature alone ties nothing together when
it runs.
"""

import json
from functools import cache

import grimp
from importlinter import ContractCheck, output
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.layers import LayersContract

from tests.javascript import node

ROOT = node.FOLDER.parent.parent


@cache  # for all contracts of a run
def metafile() -> str:
    """The modules and the imports of each, as JSON of esbuild, which resolves them for the bundles."""
    if not node.installed():
        raise ValueError("The contracts of the TypeScript need its packages: python -m tests.javascript.node")
    done = node.npm("run", "--silent", "imports")
    if done.returncode:
        raise ValueError(f"esbuild cannot read the imports of the TypeScript.\n{done.stdout}")
    return done.stdout.splitlines()[-1]  # warnings stand before it


def module_name(path: str) -> str:
    """The name in contracts and messages: `app/headlight_app/ui/frontend/wire.ts` is headlight_app.ui.frontend.wire."""
    return path.removeprefix("app/").removesuffix(".ts").replace("/", ".")


def import_graph() -> grimp.ImportGraph:
    """Which module imports which, with their folders as packages."""
    graph = grimp.ImportGraph()
    for path, module in json.loads(metafile()).items():
        if not path.endswith(".ts"):
            continue
        name = module_name(path)
        for end in range(1, name.count(".") + 2):
            graph.add_module(".".join(name.split(".")[:end]))
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
        for found in module["imports"]:
            if found["path"].endswith(".ts"):
                places = ((at, line) for at, line in enumerate(lines, 1) if f'"{found["original"]}"' in line)
                number, line = next(places, (1, ""))
                imported = module_name(found["path"])
                graph.add_import(importer=name, imported=imported, line_number=number, line_contents=line)
    return graph


class Layers(LayersContract):
    """As `layers` of import-linter, for the TypeScript."""

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        return super().check(import_graph(), verbose)


class NoCircle(AcyclicSiblingsContract):
    """As `acyclic_siblings` of import-linter, for the TypeScript; its message names modules, not folders alone."""

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        return super().check(import_graph(), verbose)

    def render_broken_contract(self, check: ContractCheck) -> None:
        for package, imports in sorted(check.metadata["cycle_breakers_by_package"].items()):
            for importer, imported in sorted(imports):
                output.print_error(f"There is a circle in {package}; part of it is: {importer} -> {imported}")
