"""Test tools for users: small enumerable worlds, laws of policies and folds, and invariances of answers."""

from .conformance import check_fold as check_fold
from .conformance import same as same
from .conformance import take as take
from .exact import MemorySource as MemorySource
from .exact import World as World
from .laws import Situation as Situation
from .laws import law as law
from .metamorphic import RELATIONS as RELATIONS
from .metamorphic import LogTable as LogTable
from .metamorphic import Relation as Relation
from .metamorphic import check_more_estimators as check_more_estimators
from .metamorphic import check_relation as check_relation

_NAMES = """
    RELATIONS LogTable MemorySource Relation Situation World check_fold check_more_estimators check_relation law
    same take
"""
__all__ = [*_NAMES.split()]  # noqa: PLE0604
