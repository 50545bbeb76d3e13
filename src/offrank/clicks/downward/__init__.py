"""Users who read down a list and may leave after every result: what cascade, DCM, CCM, DBN and SDBN share."""

from __future__ import annotations

from .model import Downward
from .outcomes import Outcomes, Seen
from .satisfying import Satisfying
from .tails import Expected, Tails, cut

__all__ = ["Downward", "Expected", "Outcomes", "Satisfying", "Seen", "Tails", "cut"]
