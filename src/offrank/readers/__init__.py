"""Readers: from files and tables to a `Source`."""

from .criteo import criteo
from .criteo_paper import criteo_paper
from .log import read_log
from .open_bandit import open_bandit
from .svmlight import read_svmlight, write_svmlight
from .yandex import yandex

__all__ = ["criteo", "criteo_paper", "open_bandit", "read_log", "read_svmlight", "write_svmlight", "yandex"]
