"""The command line: the same words as in Python.

Exit codes: 0 fine, 1 error, 2 usage, 3 not to be trusted (with --strict).
"""

from .command import main

__all__ = ["main"]
