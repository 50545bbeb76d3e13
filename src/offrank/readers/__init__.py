"""Readers: from files and tables to a `Source`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .formats.clax import clax
    from .formats.criteo import criteo
    from .formats.criteo_paper import criteo_paper
    from .formats.open_bandit import open_bandit
    from .formats.registry import READERS, Reader
    from .formats.sogou import sogou
    from .formats.tiangong import tiangong
    from .formats.yandex import yandex
    from .log import read_log
    from .svmlight import read_svmlight, write_svmlight
    from .trec import read_trec, write_trec

__all__ = [
    "READERS",
    "Reader",
    "clax",
    "criteo",
    "criteo_paper",
    "open_bandit",
    "read_log",
    "read_svmlight",
    "read_trec",
    "sogou",
    "tiangong",
    "write_svmlight",
    "write_trec",
    "yandex",
]

_FORMATS = ("clax", "criteo", "criteo_paper", "open_bandit", "sogou", "tiangong", "yandex")
_HOMES = {name: f"formats.{name}" for name in _FORMATS}
_HOMES |= {"READERS": "formats.registry", "Reader": "formats.registry", "read_log": "log"}
_HOMES |= {f"{job}_{kind}": kind for job in ("read", "write") for kind in ("svmlight", "trec")}

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
