"""Writes the contracts' TypeScript types and constants beside the browser's modules: `python app/contract_types.py`.

This file is for developers: it is outside the packages, so that it is not installed.
"""

import inspect
import json
import os
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import NODEFAULT, Struct, to_builtins
from msgspec import inspect as kinds

import headlight_app
from headlight_app.contract.reply import answer_type
from headlight_app.contract.request import Answer, Request

PACKAGE = Path(headlight_app.__file__).parent
SHARED = (
    "question",
    "request",
    "state",
    "sampling",
    "difference",
    "parts",
    "diagram",
    "arrays",
    "reply",
    "views",
)
PAGES = sorted(file.parent.name for file in PACKAGE.glob("*/contract.py") if (file.parent / "frontend").is_dir())
FILES = {
    "ui/frontend/contract.ts": tuple(f"headlight_app.contract.{name}" for name in SHARED),
    "ui/frontend/export/contract.ts": ("headlight_app.export.contract",),
    **{f"{page}/frontend/contract.ts": (f"headlight_app.{page}.contract",) for page in PAGES},
}
CONSTANTS = {  # that the browser needs, by their paths in Python
    "ui/frontend/contract.ts": (
        "headlight_app.contract.question.AS_TRAINED",
        "headlight_app.contract.question.QUESTION_FIELDS",
        "headlight_app.contract.question.OWN_IMAGE_PREFIX",
        "headlight_app.access.images.MAX_IMAGE_BYTES",
        "headlight_app.access.images.IMAGE_TOO_LARGE",
        "headlight_app.contract.state.DEFAULT_STATE",
        "headlight_app.contract.state.STATE_TEXTS",
        "headlight_app.contract.state.MAX_ADDRESS_LENGTH",
        "headlight_app.contract.views.MAX_KNOWN",
        "headlight.questions.marking.HINT",
        "headlight.questions.marking.GIVE_UP",
        "headlight.questions.kinds.CHECK",
    ),
    "ui/frontend/export/contract.ts": ("headlight_app.export.contract.MAX_TABLE_NUMBERS",),
    "room/frontend/contract.ts": (
        "headlight_app.room.contract.MAX_QUERY",
        "headlight_app.room.scenes.MAX_SCENES_BYTES",
    ),
}
FILE_OF = {module: file for file, modules in FILES.items() for module in modules}
WIDTH = 120
PLAIN: dict[type, str] = {
    kinds.IntType: "number",
    kinds.FloatType: "number",
    kinds.StrType: "string",
    kinds.BoolType: "boolean",
    kinds.NoneType: "null",
    kinds.BytesType: "string",
    kinds.AnyType: "unknown",
}


def main() -> None:
    """Write every file."""
    for path in FILES:
        (PACKAGE / path).write_text(declarations(path), encoding="utf-8")


def declarations(path: str) -> str:
    """The text of one file."""
    found = [kind for name in FILES[path] for kind in _structs(import_module(name))]
    uses: set[type[Struct]] = set()
    interfaces = [*(_interface(kind, uses) for kind in found), *_routes(found, uses)]
    constants = "".join(map(_constant, CONSTANTS.get(path, ())))
    sources = "headlight_app/contract" if len(FILES[path]) > 1 else FILES[path][0].replace(".", "/") + ".py"
    heading = f"// Written from {sources} by app/contract_types.py.\n"
    imports = "".join(_imports(path, uses))
    return "\n".join([heading, *filter(None, [imports]), *interfaces, *filter(None, [constants])])


def _structs(module: ModuleType) -> list[type[Struct]]:
    """The structs that are sent, and their bases with fields, in the order of a module."""
    found = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Struct)]
    return [kind for kind in found if kind.__module__ == module.__name__ and _is_sent(kind)]


def _is_sent(kind: type[Struct]) -> bool:
    """Whether the browser needs the struct: it is sent, or it is a base that adds fields."""
    is_page_question = issubclass(kind, Request) and not kind.is_http
    return kind is not Answer and not is_page_question and (not _is_base(kind) or _adds_fields(kind))


def _is_base(kind: type[Struct]) -> bool:
    """Whether the struct is only a base, never sent itself: it has type parameters, or no explicit tag."""
    return bool(getattr(kind, "__parameters__", ())) or kind.__struct_config__.tag == kind.__name__


def _adds_fields(kind: type[Struct]) -> bool:
    return not set(kind.__struct_fields__) <= {name for base in _bases(kind) for name in base.__struct_fields__}


def _bases(kind: type[Struct]) -> list[type[Struct]]:
    """The bases of a struct: for each, the nearest one with fields that the browser needs and that has no tag."""
    found: list[type[Struct]] = []
    for base in kind.__bases__:
        if issubclass(base, Struct) and base.__module__ in FILE_OF:
            is_tagged = base.__struct_config__.tag not in (None, base.__name__)
            found += _bases(base) if is_tagged or not (_is_sent(base) and _adds_fields(base)) else [base]
    return found


def _imports(path: str, uses: set[type[Struct]]) -> Iterator[str]:
    by_file: dict[str, set[str]] = {}
    for kind in uses:
        target = FILE_OF[kind.__module__]
        if target != path:
            by_file.setdefault(target, set()).add(kind.__name__)
    for target, names in sorted(by_file.items()):
        where = os.path.relpath(target, os.path.dirname(path)).removesuffix(".ts")
        where = where if where.startswith(".") else f"./{where}"
        line = f'import type {{ {", ".join(sorted(names))} }} from "{where}.ts";\n'
        if len(line.rstrip()) > WIDTH:
            listed = "".join(f"  {name},\n" for name in sorted(names))
            line = f'import type {{\n{listed}}} from "{where}.ts";\n'
        yield line


def _interface(kind: type[Struct], uses: set[type[Struct]]) -> str:
    described = kinds.type_info(kind)
    assert isinstance(described, kinds.StructType)
    asks = issubclass(kind, Request)
    fields = [f'  {described.tag_field}: "{described.tag}";\n'] if described.tag not in (None, kind.__name__) else []
    bases = _bases(kind)
    uses.update(bases)
    inherited_fields = {name for base in bases for name in base.__struct_fields__}
    for field in described.fields:
        if field.name in inherited_fields:
            continue
        type_name = _type(field.type, uses)
        if asks and isinstance(field.type, kinds.StructType) and not any(f.required for f in field.type.fields):
            type_name = f"Partial<{type_name}>"
        optional = "?" if _may_be_left_out(field, asks or kind.__struct_config__.omit_defaults) else ""
        line = f"  {field.encode_name}{optional}: {type_name};\n"
        fields.append(line if len(line) <= WIDTH + 1 else _broken(line))
    inherited = ", ".join(base.__name__ for base in bases)
    if not fields:
        return f"{_comment(kind)}export type {kind.__name__} = {inherited or 'object'};\n"
    extends = f" extends {inherited}" if inherited else ""
    return f"{_comment(kind)}export interface {kind.__name__}{extends} {{\n{''.join(fields)}}}\n"


def _may_be_left_out(field: kinds.Field, omits_defaults: bool) -> bool:
    """Fields with a default are optional where defaults may be omitted; elsewhere, only fields that can be unset."""
    unset = field.default is field.default_factory is NODEFAULT
    return not field.required and (omits_defaults or unset)


def _broken(line: str) -> str:
    """Splits a field whose union is too long for one line into a line for each part."""
    name, union, end = re.fullmatch(r"(.*?: \()(.*)(\).*\n)", line).groups()  # type: ignore[union-attr]
    return "".join([name, "\n", *(f"    | {part}\n" for part in union.split(" | ")), "  ", end])


def _routes(found: list[type[Struct]], uses: set[type[Struct]]) -> Iterator[str]:
    """A map of all requests of components: from a route's name to its request and its answer."""
    asked = [kind for kind in found if issubclass(kind, Request) and kind.is_http and hasattr(kind, "route")]
    if not asked:
        return
    uses.update(answer_type(kind) for kind in asked)
    rows = (
        f"  {kind.route}: {{ request: {kind.__name__}; answer: {answer_type(kind).__name__} }};\n" for kind in asked
    )
    name = f"{asked[0].__module__.split('.')[-2].title()}Routes"
    yield f"/** The request and the answer of each route. */\nexport interface {name} {{\n{''.join(rows)}}}\n"


def _constant(path: str) -> str:
    """A constant of Python, by its dotted path."""
    module, _, name = path.rpartition(".")
    value = getattr(import_module(module), name)
    if not isinstance(value, Struct | tuple):
        return f"export const {name} = {_literal(value)};\n"
    if isinstance(value, Struct):
        begin, gap, end = f"export const {name}: {type(value).__name__} = {{", " ", "};\n"
        parts = [f"{field}: {_literal(each)}" for field, each in to_builtins(value).items()]
    else:
        begin, gap, end = f"export const {name} = [", "", "] as const;\n"
        parts = list(map(_literal, value))
    line = f"{begin}{gap}{', '.join(parts)}{gap}{end}"
    return line if len(line) <= WIDTH + 1 else "".join([begin, "\n", *(f"  {part},\n" for part in parts), end])


def _literal(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name}: {_literal(each)}' for name, each in value.items())} }}"
    return json.dumps(value, ensure_ascii=False)


def _comment(kind: type[Struct]) -> str:
    """The first line of the struct's docstring, as a JSDoc comment."""
    return f"/** {(inspect.getdoc(kind) or '').partition(chr(10))[0]} */\n"


def _type(kind: kinds.Type, uses: set[type[Struct]]) -> str:
    """A msgspec type in TypeScript; its structs are added to `uses`."""
    while isinstance(kind, kinds.Metadata):
        kind = kind.type
    if isinstance(kind, kinds.StructType):
        uses.add(kind.cls)
        return kind.cls.__name__
    if isinstance(kind, kinds.UnionType):
        return " | ".join(_type(each, uses) for each in kind.types)
    if isinstance(kind, kinds.LiteralType):
        return " | ".join(f'"{value}"' if isinstance(value, str) else str(value) for value in kind.values)
    if isinstance(kind, kinds.EnumType):
        return " | ".join(f'"{value.value}"' for value in kind.cls)
    if isinstance(kind, kinds.TupleType):
        return f"[{', '.join(_type(each, uses) for each in kind.item_types)}]"
    if isinstance(kind, kinds.VarTupleType | kinds.ListType):
        item, is_list = _type(kind.item_type, uses), isinstance(kind.item_type, kinds.VarTupleType | kinds.ListType)
        return f"({item})[]" if " | " in item and not is_list else f"{item}[]"
    if isinstance(kind, kinds.DictType):
        return f"Record<{_type(kind.key_type, uses)}, {_type(kind.value_type, uses)}>"
    found: Any = PLAIN[type(kind)]
    return str(found)


if __name__ == "__main__":
    main()
