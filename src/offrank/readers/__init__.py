"""Readers: from files and tables to a `Source`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

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
    from .judgement_tables import judgement_table as judgement_table
    from .log import read_log as read_log
    from .svmlight import read_svmlight as read_svmlight
    from .svmlight import write_svmlight as write_svmlight
    from .trec import read_trec as read_trec
    from .trec import write_trec as write_trec


_HOMES = _lazy.homes(__file__)
__all__ = [*_HOMES]  # noqa: PLE0604

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _HOMES)
