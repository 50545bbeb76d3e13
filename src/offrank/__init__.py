"""What would a new ranking have earned, judged from the logs you already have?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .language import lazy as _lazy

if TYPE_CHECKING:  # for type checkers; `_HOMES` has the same at run time
    from . import clicks as clicks
    from . import errors as errors
    from . import estimators as estimators
    from . import evaluation as evaluation
    from . import frames as frames
    from . import learning as learning
    from . import log as log
    from . import metrics as metrics
    from . import policies as policies
    from . import propensities as propensities
    from . import readers as readers
    from . import reward_models as reward_models
    from . import selection as selection
    from . import simulation as simulation
    from . import sums as sums
    from . import verbs as verbs
    from .errors import OffrankError as OffrankError
    from .evaluation.result import Result as Result
    from .findings.verdict import Verdict as Verdict
    from .inspection.result import Inspection as Inspection
    from .inspection.unread_table import UnreadTable as UnreadTable
    from .policies.balanced import Balanced as Balanced
    from .policies.boosted import Boosted as Boosted
    from .policies.by import By as By
    from .policies.counted import Counted as Counted
    from .policies.distinct import Distinct as Distinct
    from .policies.epsilon import EpsilonUniform as EpsilonUniform
    from .policies.filtered import Filtered as Filtered
    from .policies.interleaved import Interleaved as Interleaved
    from .policies.linear import Linear as Linear
    from .policies.logged_probabilities import Logged as Logged
    from .policies.logged_probabilities import Written as Written
    from .policies.noisy import Noisy as Noisy
    from .policies.pinned import Pinned as Pinned
    from .policies.plackett_luce import PlackettLuce as PlackettLuce
    from .policies.policy_mixture import PolicyMixture as PolicyMixture
    from .policies.ranking import Ranking as Ranking
    from .policies.shuffled import Shuffled as Shuffled
    from .policies.swaps import Swaps as Swaps
    from .policies.thompson import Thompson as Thompson
    from .policies.top import Top as Top
    from .policies.unconfirmed import Unconfirmed as Unconfirmed
    from .policies.uniform import Uniform as Uniform
    from .readers.convert import convert as convert
    from .readers.log import read_log as read_log
    from .running.checkpoint import CheckpointFolder as CheckpointFolder
    from .sums.estimate import Caution as Caution
    from .sums.estimate import Estimate as Estimate
    from .verbs.check import check as check
    from .verbs.clicks.evaluate import evaluate_clicks as evaluate_clicks
    from .verbs.clicks.fit import fit_clicks as fit_clicks
    from .verbs.clicks.harvest import harvest_clicks as harvest_clicks
    from .verbs.clicks.judge import judge_clicks as judge_clicks
    from .verbs.clicks.predict import predict_clicks as predict_clicks
    from .verbs.clicks.select import select_clicks as select_clicks
    from .verbs.compare import compare as compare
    from .verbs.demo import demo as demo
    from .verbs.estimate import estimate as estimate
    from .verbs.evaluate import evaluate as evaluate
    from .verbs.inspect import inspect as inspect
    from .verbs.learn import learn as learn
    from .verbs.measure import measure as measure
    from .verbs.merge import merge as merge
    from .verbs.reproduce import reproduce as reproduce
    from .verbs.select import select_estimators as select_estimators
    from .verbs.simulate import simulate as simulate
    from .verbs.sql import sql as sql

__version__ = "0.3.0"

# Loaded on first use, so that `import offrank` and `offrank --help` stay instant.
_HOMES = _lazy.homes(__file__)
# Modules with public names of their own, such as `offrank.metrics.ndcg`.
_MODULES = {name for name, (home, _) in _HOMES.items() if home == "."}

__all__ = sorted({*_HOMES} - _MODULES)  # noqa: PLE0605

if not TYPE_CHECKING:  # otherwise a type checker would accept any name
    __getattr__ = _lazy.later(__name__, _HOMES, told=".language.argument")


def __dir__() -> list[str]:
    return sorted({*_HOMES, "__version__"})
