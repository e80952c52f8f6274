"""The program of the process that renders chat templates (see `template_process`).

A template is a stranger's program in the language of Jinja2. It runs in Jinja2's sandbox, and this process has a limit
on its memory and, for each request, one on its time. A request and its reply are a line of JSON each.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from datetime import datetime
from functools import lru_cache
from typing import Any, NoReturn

import jinja2
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from headlight.errors import shortened
from headlight.text.template_process import MAX_CHARACTERS, MAX_MEGABYTES, MAX_SECONDS, MEMORY_STATUS

KNOWN_TEMPLATES = 4  # compiled ones


def main() -> None:
    """Answer requests until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the process that asks
    _limit_memory()
    for line in sys.stdin:
        print(json.dumps(_reply(json.loads(line))), flush=True)


def _reply(request: dict[str, Any]) -> dict[str, Any]:
    """The texts of a template for several values of `messages`, or why it fails."""
    _set_alarm(MAX_SECONDS)
    try:
        template = _compiled(request["source"])
        texts = [template.render(**request["variables"], messages=messages) for messages in request["chats"]]
        if (longest := max(map(len, texts))) > MAX_CHARACTERS:
            return {"failure": f"writes {longest:,} characters; at most {MAX_CHARACTERS:,} are read."}
        return {"texts": texts}
    except MemoryError:
        os._exit(MEMORY_STATUS)  # what is left of the memory may not suffice for the next request
    except Exception as error:  # whatever a stranger's program raises
        return {"failure": f"fails at this chat: {shortened(str(error), 200)}"}
    finally:
        _set_alarm(0)


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        limit, (_, most) = MAX_MEGABYTES << 20, resource.getrlimit(resource.RLIMIT_DATA)
        limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _set_alarm(seconds: float) -> None:
    """End this process (SIGPROF) when it has computed for so long; 0: never."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


@lru_cache(maxsize=KNOWN_TEMPLATES)
def _compiled(source: str) -> jinja2.Template:
    """The template as a program, made once: a page renders it at each letter."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals |= {"raise_exception": _refuse, "strftime_now": _format_today, "namespace": _Namespace}
    return environment.from_string(source)


class _Generation(Extension):
    """The block `generation`, by which a template marks what the model writes; it only stands for its contents."""

    def __init__(self, environment: jinja2.Environment) -> None:
        super().__init__(environment)
        self.tags = {"generation"}

    def parse(self, parser: Parser) -> Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_contents"), [], [], body).set_lineno(line)

    def _contents(self, caller: Any) -> str:
        return str(caller())


class _Namespace(Namespace):
    """Jinja2's namespace, without the names that `transformers` refuses."""

    def __setitem__(self, name: str, value: Any) -> None:
        if name.startswith("_"):
            _refuse(f"a namespace has no attribute {name!r}.")
        super().__setitem__(name, value)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _refuse(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _format_today(wanted: str) -> str:
    return datetime.now().strftime(wanted)


if __name__ == "__main__":
    main()
