"""The modules by which verbs answer, each imported when it is first used: options are made of signatures alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..language import lazy
from ..language.registry import Later

if TYPE_CHECKING:
    from .. import frames, policies
    from ..clicks import documents, given_models, harvesting, judgement_lists
    from ..clicks import evaluation as click_evaluation
    from ..clicks import model as click_model
    from ..estimators import outcomes as scorecards
    from ..evaluation import answer, arguments, check_pass, metadata, question
    from ..inference import clusters_and_level
    from ..learning import learnt_policy, training
    from ..metrics import click_pages, click_results, graded, measurements, page
    from ..policies import fit, splits
    from ..readers import convert as conversion
    from ..running import reproducibility
    from ..selection import selected_estimators, selected_models, selector
    from ..simulation import judged_queries, simulated, source, users, worlds
    from ..simulation import rankers as world_rankers
    from ..warehouse import question_sums, sums_table
else:
    for _name, (_home, _own) in lazy.homes(__file__).items():
        globals()[_name] = Later(f"{_home}{_own}" if _home == ".." else f"{_home}.{_own}", __package__)


def choose_estimators(*given: Any) -> Any:
    """Choose the estimator of each target where `auto` is asked for; see `selection.selector.chosen_estimators`."""
    return selector.chosen_estimators(*given)
