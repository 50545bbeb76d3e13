"""Sensible arguments for everything that is registered: a new name without any fails the tests."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from offrank.clicks import Fitted, click_model
from offrank.estimators import ESTIMATORS, estimator
from offrank.policies.linear import Encoding, Model
from offrank.policies.registry import POLICIES
from tests.metamorphic.logs import FEATURES
from tests.policies.stumps import saved

EXAMINATION = (1.0, 0.7, 0.5, 0.4)

#: name -> spellings; {linear}, {boosted} are files of scorers, columns are those of tests/metamorphic/logs.py
POLICY_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "balanced": ("balanced(by(device, {phone: plackett_luce(old), desk: epsilon(top(tied), 0.5)}))",),
    "boosted": ("boosted('{boosted}')",),
    "by": ("by(device, {phone: plackett_luce(old), desk: mixture({plackett_luce(old): 0.9, top(tied): 0.1})})",),
    "counted": ("counted",),
    "distinct": ("mixture({distinct(plackett_luce(old), grades): 0.3, uniform: 0.7})",),
    "epsilon": ("epsilon(top(old), 0.3)", "epsilon(top(tied), 0.3)", "epsilon(logged, 0.2)"),
    "filtered": ("mixture({filtered(plackett_luce(old), grades): 0.5, uniform: 0.5})",),
    "interleaved": ("epsilon(interleaved(top(new), top(tied)), 0.2)",),
    "linear": ("linear('{linear}')",),
    "logged": ("logged",),
    "mixture": ("mixture({plackett_luce(old): 0.9, top(tied): 0.1})", "mixture({logged: 0.5, top(new): 0.5})"),
    "noisy": ("noisy(tied, sd=0.5, noise=gumbel)",),
    "plackett_luce": ("plackett_luce(old)", "plackett_luce(tied, temperature=0.5)"),
    "pinned": ("mixture({pinned(top(tied), ad): 0.3, plackett_luce(old): 0.7})",),
    "ranking": ("ranking(written)",),
    "shuffled": ("shuffled(top(tied), 2, method=fair_pairs)",),
    "swaps": ("swaps(top(new), 0.7)",),
    "thompson": ("mixture({thompson(mean=old, sd=new): 0.5, uniform: 0.5})",),
    "top": ("top(new)", "top(tied)"),
    "unconfirmed": ("unconfirmed(plackett_luce(old), departure=0.1)",),
    "uniform": ("uniform",),
    "written": ("written(slate=propensity, slots=slot_propensity, ranks=rank_propensity)",),
}
#: name -> spellings; models are learnt from the log that is asked
ESTIMATOR_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "clip": ("clip(ips, 3)",),
    "controlled": ("controlled(ips)",),
    "direct": (),
    "dr": (),
    "interpol": ("interpol(window=1)", "interpol(window=slope)"),
    "ipm": ("ipm",),
    "ips": ("ips",),
    "judged": (),  # its grades are a file, of items as they are called: see tests/estimators/test_judged.py
    "logged": ("logged",),
    "pbm": ("pbm",),
    "pi": ("pi", "pi(slots=independent)", "pi(samples=15)"),
    "rips": ("rips",),
    "sninterpol": ("sninterpol(window=2)",),
    "shrink": ("shrink(snips, 20)",),
    "snipm": ("snipm",),
    "snips": ("snips",),
    "snrips": ("snrips",),
    "switch": ("switch(snipm, 3)",),
    "weights": (),
    "wpi": ("wpi",),
}
#: estimators that ask a click model: of clicks by document, and of reading from the top
MODELS: Mapping[str, tuple[str, ...]] = {
    "direct": ("rdctr", "cascade"),
    "dr": ("rdctr",),
    "weights": ("rdctr", "cascade"),
}


def policies() -> list[str]:
    """Every registered policy, spelled; see `written_out`."""
    return [spelling for name in given(POLICIES, POLICY_SPELLINGS) for spelling in POLICY_SPELLINGS[name]]


#: few policies that read different things, and tie
SOME_POLICIES = ("top(tied)", "plackett_luce(tied, temperature=0.5)", "linear('{linear}')")


def written_out(spelling: str) -> str:
    """A spelling with the files of the scorers."""
    return spelling.replace("{linear}", linear_file()).replace("{boosted}", boosted_file())


@cache
def folder() -> Path:
    """Where files stand that the whole run shares."""
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    return Path(made.name)


@cache
def linear_file() -> str:
    """The file of a linear scorer with weights at random, some of them alike."""
    path = folder() / "linear.npz"
    encoding = Encoding.plain(5)
    weights = np.zeros(encoding.size)
    weights[:FEATURES] = np.random.default_rng(4).choice([-1.0, 0.0, 0.5, 1.5], FEATURES)
    Model(encoding, weights).save(path)
    return str(path)


@cache
def boosted_file() -> str:
    """The file of boosted trees of candidates in slots, with weights at random, some of them alike."""
    weights = np.random.default_rng(6).choice([-1.0, 0.0, 0.5, 1.5], (FEATURES, 4))
    return saved(folder() / "boosted.npz", weights)


def estimators(models: Mapping[str, Fitted]) -> list[Any]:
    """Every registered estimator; models: by spelling, for those that ask one."""
    names = given(ESTIMATORS, ESTIMATOR_SPELLINGS)
    spelled = [estimator(spelling) for name in names for spelling in ESTIMATOR_SPELLINGS[name]]
    return spelled + [ESTIMATORS[name](models[model]) for name in names for model in MODELS.get(name, ())]


def estimator_names() -> list[str]:
    """The spellings of all of them."""
    names = given(ESTIMATORS, ESTIMATOR_SPELLINGS)
    asking = [f"{name}({model})" for name in names for model in MODELS.get(name, ())]
    return [spelling for name in names for spelling in ESTIMATOR_SPELLINGS[name]] + asking


def fitted(log: Any) -> dict[str, Fitted]:
    """The models that estimators ask, learnt from the clicks that no relation changes."""
    names = {name for several in MODELS.values() for name in several}
    return {name: click_model(name).fit(log) for name in sorted(names)}


def given(registry: Iterable[str], arguments: Mapping[str, Any]) -> list[str]:
    """The registered names, all of which have arguments.

    Raises:
        AssertionError: one that has none.
    """
    missing = sorted(set(registry) - set(arguments))
    assert not missing, f"give arguments for {missing}, so that they are tested like the others"
    return sorted(registry)
