"""Findings, the reasons not to trust a number: a file for each kind of evidence, which registers them.

A finding comes from a pure function of evidence (plain numbers about an estimate, a log, a click model). Its first
line names the type of evidence; it returns how severe it is, what was measured and what to do. Its code never
changes, and docs/concepts/trust.md explains it.
"""

from .registry import FINDINGS as FINDINGS
from .registry import Cause as Cause
from .registry import Kind as Kind
from .registry import Statement as Statement
from .registry import all_findings as all_findings
from .registry import causes_of as causes_of
from .registry import cautions_for as cautions_for
from .registry import convicting as convicting
from .registry import explained as explained
from .registry import finding as finding
from .registry import has_cause as has_cause
from .registry import title_of as title_of

_NAMES = """
    FINDINGS Cause Kind Statement all_findings causes_of cautions_for convicting explained finding has_cause
    title_of
"""
__all__ = [*_NAMES.split()]  # noqa: PLE0604
