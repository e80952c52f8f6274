"""The operator's settings, passed from the command to the server in environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

SHARED_VARIABLE, CACHE_VARIABLE, UPLOAD_LIMIT_VARIABLE, MEMORY_LIMIT_VARIABLE = (
    "HEADLIGHT_SHARED",
    "HEADLIGHT_CACHE",
    "HEADLIGHT_UPLOAD_LIMIT",
    "HEADLIGHT_MEMORY_LIMIT",
)
WORKERS_VARIABLE, HOSTS_VARIABLE, ENGINE_VARIABLE = "HEADLIGHT_WORKERS", "HEADLIGHT_HOSTS", "HEADLIGHT_ENGINE"
SCENES_VARIABLE, BASE_PATH_VARIABLE = "HEADLIGHT_SCENES", "HEADLIGHT_BASE_PATH"
LOCAL_ENGINE = "local"  # workers are processes of this machine
MAX_DEFAULT_WORKERS = 4
DEFAULT_UPLOAD_LIMIT = 500  # MB; a model of 125 M parameters in float32


@dataclass(frozen=True)
class Settings:
    """The settings of a server; the defaults are the safe ones: shared, without the Hugging Face cache.

    A `shared` server opens no path. `hub_cache` lists the Hugging Face cache. `upload_limit` is in MB, 0 for no
    uploads; `memory_limit` in MB for the open models of a worker, 0 for a share of the free memory. `workers` is the
    number of processes of the short lane, `hosts` are the names by which browsers may reach the server, `engine` is
    LOCAL_ENGINE or the address of a Ray cluster, `scenes` a file of scenes for browsers on the server's machine,
    `base_path` the prefix of all paths, such as "/lab", or empty.
    """

    shared: bool = True
    hub_cache: bool = False
    upload_limit: int = DEFAULT_UPLOAD_LIMIT
    memory_limit: int = 0
    workers: int = 1
    hosts: tuple[str, ...] = ()
    engine: str = LOCAL_ENGINE
    scenes: str = ""
    base_path: str = ""

    def to_environment(self) -> dict[str, str]:
        """The settings as environment variables, which `settings` reads."""
        return {
            SHARED_VARIABLE: str(int(self.shared)),
            CACHE_VARIABLE: str(int(self.hub_cache)),
            UPLOAD_LIMIT_VARIABLE: str(self.upload_limit),
            MEMORY_LIMIT_VARIABLE: str(self.memory_limit),
            WORKERS_VARIABLE: str(self.workers),
            HOSTS_VARIABLE: " ".join(self.hosts),
            ENGINE_VARIABLE: self.engine,
            SCENES_VARIABLE: self.scenes,
            BASE_PATH_VARIABLE: self.base_path,
        }


def default_workers(cores: int, has_gpu: bool) -> int:
    """How many workers the short lane has: one per two cores, at most MAX_DEFAULT_WORKERS; on a GPU one.

    The server needs a core too. A worker answers many visitors' keystrokes in one forward pass, so a second one helps
    only on a free core; each takes half a gigabyte, and on a GPU its own copy of a model.
    """
    return 1 if has_gpu else min(max(1, cores // 2), MAX_DEFAULT_WORKERS)


def settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The current settings; a variable that is not a number counts as unset."""

    def number(name: str, default: int) -> int:
        text = environment.get(name, "")
        return int(text) if text.isascii() and text.isdecimal() else default

    return Settings(
        shared=number(SHARED_VARIABLE, 1) != 0,
        hub_cache=number(CACHE_VARIABLE, 0) != 0,
        upload_limit=number(UPLOAD_LIMIT_VARIABLE, DEFAULT_UPLOAD_LIMIT),
        memory_limit=number(MEMORY_LIMIT_VARIABLE, 0),
        workers=max(1, number(WORKERS_VARIABLE, 1)),
        hosts=tuple(environment.get(HOSTS_VARIABLE, "").split()),
        engine=environment.get(ENGINE_VARIABLE) or LOCAL_ENGINE,
        scenes=environment.get(SCENES_VARIABLE, ""),
        base_path=environment.get(BASE_PATH_VARIABLE, ""),
    )
