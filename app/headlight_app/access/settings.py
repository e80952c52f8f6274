"""The operator's settings, handed from the command to the page through the environment."""

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
SCENES_VARIABLE = "HEADLIGHT_SCENES"
LOCAL_ENGINE = "local"  # workers are processes of this machine
MAX_DEFAULT_WORKERS = 4
DEFAULT_UPLOAD_LIMIT = 500  # MB; a model of 125 M parameters in float32


@dataclass(frozen=True)
class Settings:
    """The settings of a server; the defaults are careful: shared, without the Hugging Face cache.

    A `shared` server opens no path. `cache` lists the Hugging Face cache. `upload_limit` is in MB, 0 for no
    uploads; `memory_limit` in MB for the open models of a worker, 0 for a share of what is free. `workers` are the
    processes that answer what people type, `hosts` the names that browsers may know the server by, `engine` the
    address of the Ray cluster that has the workers, `scenes` a file of scenes for the person at the machine.
    """

    shared: bool = True
    hub_cache: bool = False
    upload_limit: int = DEFAULT_UPLOAD_LIMIT
    memory_limit: int = 0
    workers: int = 1
    hosts: tuple[str, ...] = ()
    engine: str = LOCAL_ENGINE
    scenes: str = ""

    def to_environment(self) -> dict[str, str]:
        """As variables; `settings` reads them."""
        return {
            SHARED_VARIABLE: str(int(self.shared)),
            CACHE_VARIABLE: str(int(self.hub_cache)),
            UPLOAD_LIMIT_VARIABLE: str(self.upload_limit),
            MEMORY_LIMIT_VARIABLE: str(self.memory_limit),
            WORKERS_VARIABLE: str(self.workers),
            HOSTS_VARIABLE: " ".join(self.hosts),
            ENGINE_VARIABLE: self.engine,
            SCENES_VARIABLE: self.scenes,
        }


def default_workers(cores: int, has_gpu: bool) -> int:
    """How many processes answer what people type: one for every two cores, at most MAX_DEFAULT_WORKERS; on a GPU one.

    The server needs a core beside them. A worker answers the letters of many in one forward pass, so that a second one
    helps only where it finds a core that is free; each takes half a gigabyte, and on a GPU its own copy of a model.
    """
    return 1 if has_gpu else min(max(1, cores // 2), MAX_DEFAULT_WORKERS)


def settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in force; what is no number counts as not set."""

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
    )
