"""Ranking metrics of ranked lists, of models on logged clicks, and of a model's dependence on the logging policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..language import lazy as _lazy

if TYPE_CHECKING:  # for type checkers; `_HOMES` says the same at run time
    from .cmip_models import cmip_of as cmip_of
    from .comparisons import Comparison as Comparison
    from .conditional_information import Cmip as Cmip
    from .conditional_information import cmip as cmip
    from .measured import Measured as Measured
    from .measured import Measurements as Measurements
    from .measurements import banner_disagreement as banner_disagreement
    from .measurements import counterfactual_disagreement as counterfactual_disagreement
    from .measurements import counterfactual_loss as counterfactual_loss
    from .measurements import counterfactual_ndcg as counterfactual_ndcg
    from .measurements import pairwise_disagreement as pairwise_disagreement
    from .ranking import average_precision as average_precision
    from .ranking import dcg as dcg
    from .ranking import discount as discount
    from .ranking import err as err
    from .ranking import mean as mean
    from .ranking import mrr as mrr
    from .ranking import ndcg as ndcg
    from .ranking import ranked as ranked

_HOMES = _lazy.homes(__file__)

__all__ = [*_HOMES]  # noqa: PLE0604


if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
