"""Learning from grades of the candidates, if a log has them: regression (SUP) and LambdaMART."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, get_args

import numpy as np

from ..errors import UsageError
from .boosting import Boosting, Grower
from .examples import Data
from .trees import HIGHEST_GRADE, ranking_rounds, rounds

Target = Literal["gains", "relevance"]


@dataclass(frozen=True)
class Supervised(Boosting):
    """SUP: regression of the grades on the features (paper slate-pseudoinverse, section 4.2); queries count equally.

    target: `gains` (2^grade - 1), or `relevance`, the grade itself (SUP-rel). Slates, rewards and propensities are not
    used. The slate is sorted by the prediction.

    Raises:
        UsageError: another target.
    """

    graded: ClassVar[bool] = True
    target: Target = "gains"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target not in get_args(Target):
            raise UsageError(f"target is {self.target!r}", "use " + " or ".join(get_args(Target)))

    def grower(self, data: Data) -> Grower:
        contexts = data.contexts
        assert contexts is not None
        grade, size = contexts.grades, contexts.contexts.size
        if self.target == "gains" and grade.max(initial=0.0) > HIGHEST_GRADE:
            raise UsageError(
                f"a grade is {grade.max():g}, so its gain 2^grade - 1 exceeds all others",
                "learn the grade itself: sup(target=relevance)",
            )
        target = np.exp2(grade) - 1 if self.target == "gains" else grade
        return partial(rounds, targets=target, weights=np.repeat(contexts.share / size, size))


@dataclass(frozen=True)
class LambdaMart(Boosting):
    """LambdaMART on the grades, by LightGBM: the list-wise baseline of paper slate-pseudoinverse, Table 1."""

    graded: ClassVar[bool] = True

    def grower(self, data: Data) -> Grower:
        contexts = data.contexts
        assert contexts is not None
        size = contexts.contexts.size
        return partial(ranking_rounds, grades=contexts.grades, sizes=size, weights=np.repeat(contexts.share, size))
