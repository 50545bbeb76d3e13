"""What drew a log, and how far that is known: the statement that `inspect` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..findings import has_cause
from ..findings.log import BLIND, LogEvidence
from ..language.formatting import percent, plural
from ..policies.uniform import Uniform
from ..sums.estimate import Caution
from .fitted_logging_policy import Drawn
from .log_problems import about_log
from .randomness import Randomness
from .sort_keys import SortKey
from .written_propensities import SURE, WrittenPropensities, testable, untested_in_words

Status = Literal[
    "written", "written, not tested", "agrees", "not contradicted", "refuted", "arms", "not random", "unknown"
]

CERTIFIED: frozenset[Status] = frozenset({"written", "agrees"})
"""Statements by which other rankings can be judged without anybody's word for it."""
CONTRADICTED: frozenset[Status] = frozenset({"not random", "refuted", "arms"})
"""Statements that no word of a person mends."""


@dataclass(frozen=True)
class LoggedBy:
    """What drew a log, and how far that is known.

    - policy: its spelling, None where there is none to name. status: `written` propensities that the log tests and does
      not refute; `written, not tested`: it cannot test them; `agrees`: a law without fitted numbers explains the log,
      which would have shown otherwise; `not contradicted`: it was fitted, or the log shows little; `refuted`: the
      written propensities; `arms`: rankers without randomness, told by a column; `not random`; `unknown`.
    - randomness: whether rows of one context differ (random, not random, unknown), by pairs and those that differ.
    - departure: the smallest share of slates in a fixed order, not drawn, that the log would have shown; None where
      that was not looked for. column, arms: the column that tells the rankers, and which each value has; shares: of the
      impressions; unit: the column whose values were randomised, empty if each impression was. bucket: the filter of
      rows that are those of uniform, where only others are open.
    - confirmed: whether a person has said that the policy drew it.
    - why: the evidence in words.
    """

    policy: str | None
    status: Status
    randomness: Randomness
    why: str = ""
    departure: float | None = None
    column: str | None = None
    arms: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    unit: str = ""
    bucket: str = ""
    confirmed: bool = False

    @property
    def known(self) -> bool:
        """Whether other rankings can be judged by it."""
        return self.status in CERTIFIED

    @property
    def named(self) -> str | None:
        """The logging policy to name in a command: as unconfirmed where somebody has to confirm it."""
        if self.policy is None or self.known or self.confirmed or self.status == "written, not tested":
            return self.policy
        if self.status not in ("not contradicted", "unknown") or self.departure is None:
            return None
        return f"unconfirmed({self.policy}, departure={self.departure:.2g})"

    @property
    def seen(self) -> bool:
        """Whether a log of this power may be used with care, once its policy is named."""
        said = self.known or self.confirmed or self.status == "written, not tested"
        return self.named is not None and (said or (self.departure or 0.0) <= BLIND)


def logged_by(
    random: Randomness,
    found: Sequence[Drawn],
    log: LogEvidence,
    written: WrittenPropensities | None,
    groups: Sequence[str] = (),
    order: Sequence[SortKey] = (),
) -> LoggedBy:
    """Return what drew a log. found: the tried laws, those that fit first; log: the checks of what was written.

    written: what was written, None if nothing was. groups: columns that tell which rows have one context. order: the
    columns that all slates are sorted by, if they are.
    """
    fitting = [one for one in found if one.fits]
    law = next((one for one in fitting if not one.policy.always_sorts), None)
    sure = fitting[0] if fitting and fitting[0].policy.always_sorts else None
    if sure is not None and random.state == "random":  # by its ties, which it breaks by chance
        law, sure = sure, None
    fixed = random.state == "not random" or sure is not None or bool(order)
    against = ""
    if written is not None:
        against, tested = _against(written, found, log), testable(log, written)
        certain = written.certain or _expected(random, log)
        if not against and not certain and (tested or not fixed):
            named = repr(law.policy) if written.agreed and law is not None else "logged"
            why = "the logged propensities match the slates" if tested else untested_in_words(log, groups)
            return LoggedBy(named, "written" if tested else "written, not tested", random, why, log.least_repeats)
        fixed = fixed or certain
    if fixed:
        return LoggedBy(None if sure is None else repr(sure.policy), "not random", random, _fixed(random, sure, order))
    if against:
        return LoggedBy("logged", "refuted", random, against)
    ties = next(
        (f"{one.policy!r}, if {one.ties} breaks its ties: write scores without" for one in found[:1] if one.ties), ""
    )
    return _unwritten(random, law, ties)


def _expected(random: Randomness, log: LogEvidence) -> bool:
    """Return whether rows of one context never differ, and the written propensities say so."""
    found = log.repeats
    return random.state == "not random" and found is not None and found.expected > SURE * found.pairs


def _against(written: WrittenPropensities, found: Sequence[Drawn], log: LogEvidence) -> str:
    """Return what refutes written propensities: a check of the log, or that they are uniform's and uniform is."""
    # What another policy explains and a warning doubts is refuted by both together.
    refuting = ("serious", "warning") if written.agreed is False else ("serious",)
    against = next((one.message for one in about_log(log) if _refutes(one, refuting)), "")
    uniform = next((one for one in found if one.policy == Uniform()), None)
    if against or not written.uniform or uniform is None or not uniform.against:
        return against
    return f"they are those of a uniform policy, but {uniform.against}"


def _refutes(one: Caution, severities: Sequence[str]) -> bool:
    return has_cause(one, "randomness") or (has_cause(one, "mean weight") and one.severity in severities)


def _unwritten(random: Randomness, law: Drawn | None, ties: str = "") -> LoggedBy:
    """Return what is known of a log without propensities. law: the likeliest policy that fits; ties: what else may."""
    repeat = [] if random.state == "random" else [_REPEATS]
    if law is None:
        differ = f"{random.differing:,} of {random.pairs:,} pairs of rows of {_context(random)} differ"
        none = "none of the policies that were tried fits this log" + (f" (but perhaps {ties})" if ties else "")
        why = [*([] if repeat else [differ]), none, *repeat]
        return LoggedBy(None, "unknown", random, ", and ".join(why))
    if repeat:
        return LoggedBy(repr(law.policy), "unknown", random, _REPEATS, 1.0)
    status: Status = "agrees" if not law.fitted and law.departure <= BLIND else "not contradicted"
    return LoggedBy(repr(law.policy), status, random, _shown(law), law.departure)


_REPEATS = "contexts hardly ever repeat, so random slates cannot be distinguished from fixed ones"


def _shown(law: Drawn) -> str:
    if law.departure >= 1:
        return "the log is too small to reveal fixed slates"
    return f"this test would notice if {percent(law.departure)} of the lists were fixed"


def _fixed(random: Randomness, sure: Drawn | None, order: Sequence[SortKey]) -> str:
    by = f"every slate is sorted by {', then by '.join(map(str, order))}" if order else ""
    by = f"every slate is that of {sure.policy!r}" if sure is not None else by
    if random.state != "not random":
        return by or "according to the logged propensities, every slate was certain"
    beside = f" and the same value of `{random.beside}`" if random.beside else ""
    said = f"in {plural(random.pairs, 'pair', 'pairs')} of rows of {_context(random)}{beside}, no two slates differ"
    return f"{said}; {by}" if by else said


def _context(random: Randomness) -> str:
    return {"query": "one query", "user": "one user and the same candidates"}.get(random.by, "the same candidates")
