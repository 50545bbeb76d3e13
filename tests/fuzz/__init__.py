"""Fuzzing: logs drawn at random, bent in every way, written in every form, through every verb, beside an oracle.

Whatever a log holds, the answer is that of the oracle, plain sums over its rows, or one error that says what to do:
never another exception, a warning, or an answer to what is not in the log. A seed makes the same case again.

    python -m tests.fuzz --cases 5000 --seed 1
"""

from .cases import LogCase
from .judging import draw_case, judge_case

__all__ = ["LogCase", "draw_case", "judge_case"]
