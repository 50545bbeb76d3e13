"""Findings, the reasons not to trust a number: a file for each kind of evidence, which registers them.

A finding comes from a pure function of evidence (plain numbers about an estimate, a log, a click model). Its first
line names the type of evidence; it returns how severe it is, what was measured and what to do. Its code never
changes, and docs/reference/findings.md, written by scripts/findings, explains it.
"""

from .registry import (
    FINDINGS,
    Cause,
    Kind,
    Statement,
    all_findings,
    causes_of,
    cautions_for,
    convicting,
    explained,
    finding,
    has_cause,
    title_of,
)

__all__ = [
    "FINDINGS", "Cause", "Kind", "Statement", "all_findings", "causes_of", "cautions_for", "convicting", "explained",
    "finding", "has_cause", "title_of",
]  # fmt: skip
