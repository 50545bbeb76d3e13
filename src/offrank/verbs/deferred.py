"""The modules by which verbs answer, each imported when it is first used: options are made of signatures alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..language.registry import Later

__all__ = [
    "answer",
    "arguments",
    "check_pass",
    "choose_estimators",
    "clusters_and_level",
    "measurements",
    "page",
    "policies",
    "question",
    "reproducibility",
    "selected_estimators",
    "simulated_selection",
]

if TYPE_CHECKING:
    from .. import policies
    from ..evaluation import answer, arguments, check_pass, question, reproducibility
    from ..inference import clusters_and_level
    from ..metrics import measurements, page
    from ..selection import selected_estimators, selector, simulated_selection
else:
    answer = Later("..evaluation.answer", __package__)
    arguments = Later("..evaluation.arguments", __package__)
    check_pass = Later("..evaluation.check_pass", __package__)
    clusters_and_level = Later("..inference.clusters_and_level", __package__)
    measurements = Later("..metrics.measurements", __package__)
    page = Later("..metrics.page", __package__)
    policies = Later("..policies", __package__)
    question = Later("..evaluation.question", __package__)
    reproducibility = Later("..evaluation.reproducibility", __package__)
    selected_estimators = Later("..selection.selected_estimators", __package__)
    selector = Later("..selection.selector", __package__)
    simulated_selection = Later("..selection.simulated_selection", __package__)


def choose_estimators(*given: Any) -> Any:
    """Choose the estimator of each target where `auto` is asked for; see `selection.selector.chosen_estimators`."""
    return selector.chosen_estimators(*given)
