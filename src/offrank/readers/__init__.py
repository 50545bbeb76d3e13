"""Readers: from files and tables to a `Source`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language.registry import later as _later

if TYPE_CHECKING:
    from .formats.bandit_logs import open_bandit as open_bandit
    from .formats.criteo import criteo as criteo
    from .formats.criteo import criteo_paper as criteo_paper
    from .formats.registry import READERS as READERS
    from .formats.registry import Reader as Reader
    from .formats.search_sessions import sogou as sogou
    from .formats.search_sessions import tiangong as tiangong
    from .formats.search_sessions import yandex as yandex
    from .formats.training_files import clax as clax
    from .log import read_log as read_log
    from .svmlight import read_svmlight as read_svmlight
    from .svmlight import write_svmlight as write_svmlight
    from .trec import read_trec as read_trec
    from .trec import write_trec as write_trec


_FORMATS = {"bandit_logs": "open_bandit", "criteo": "criteo criteo_paper", "registry": "READERS Reader"}
_FORMATS |= {"search_sessions": "sogou tiangong yandex", "training_files": "clax"}
_HOMES = {name: f"formats.{home}" for home, names in _FORMATS.items() for name in names.split()} | {"read_log": "log"}
_HOMES |= {f"{job}_{kind}": kind for job in ("read", "write") for kind in ("svmlight", "trec")}
__all__ = [*_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _later(__name__, _HOMES)
