"""What speaks against a number: one file a finding, registered by being there.

A finding is found by a pure function of evidence (plain numbers about an estimate, a log, a click model). Its first
line says of what evidence it speaks; it says how severe it is, what was measured and what to do. Its code never
changes, and docs/trust.md explains it.
"""

from .registry import Kind, Said, about, finding, kinds, title_of

__all__ = ["Kind", "Said", "about", "finding", "kinds", "title_of"]
