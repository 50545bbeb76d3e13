"""The model of the history of clicks of `offrank.clicks.history`, learnt faster from counts of sessions.

It is the same model and the same optimum: Newton's method with Fisher's information written out, begun at the model of
another log of the same world, takes a fiftieth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from offrank.clicks import _kernels_history
from offrank.clicks.history import ClickedLists, ClickHistory, HistoryShape, click_history
from offrank.estimators.history import LEAST_JUDGED, SHOWN, WIDER

Floats = NDArray[np.float64]
CLOSE, ENOUGH = 1e-5, 1e-3
"""In standard errors of what is learnt: where steps end, and what may be left. One step of Newton's method follows."""
AGAIN = 0.5
MOST, FAR = 60, 2.0
"""Steps, and how far any number moves in one."""


@dataclass(frozen=True, eq=False)
class Seen:
    """Different sessions: what each arm shows [2, q, k], query [t], who served [t], clicks [t, k], how many [t].

    Items are numbered over all queries.
    """

    lists: NDArray[np.int64]
    query: NDArray[np.int64]
    arm: NDArray[np.int64]
    clicks: NDArray[np.int64]
    count: Floats

    @property
    def shown(self) -> NDArray[np.int64]:
        """[t, k] what was shown."""
        return np.asarray(self.lists[self.arm, self.query])


@numba.njit(cache=True)
def _curvatures(  # noqa: C901, PLR0912
    theta: Any, attraction: Any, shape: Any, lists: Any, clicks: Any, weight: Any, found: Any, observed: Any
) -> None:
    """Add Fisher's information, given the clicks above, [p, p]; observed: what these clicks tell of it.

    The second derivatives are those of e (a + t), where it is not bent.
    """
    n, k = lists.shape
    at, by = np.empty(k + 6, np.int64), np.empty(k + 6)
    for row in range(n):
        last = -1
        for rank in range(k):
            chance, count = _kernels_history._chance(theta, attraction, shape, lists[row], rank, last, at, by)
            clicked = clicks[row, rank] > 0
            if not observed:
                each = weight[row] / (chance * (1 - chance))
                for one in range(count):
                    for other in range(count):
                        found[at[one], at[other]] += each * by[one] * by[other]
                if clicked:
                    last = rank
                continue
            square = weight[row] * (1 / chance**2 if clicked else 1 / (1 - chance) ** 2)
            step = weight[row] * (1 / chance if clicked else -1 / (1 - chance))
            for one in range(count):
                for other in range(count):
                    product = by[one] * by[other]
                    found[at[one], at[other]] += square * product
                    if other >= 2 or one >= 2:  # of e, or of both
                        found[at[one], at[other]] -= step * product / chance
            found[at[0], at[0]] -= step * by[0] * (1 - 2 * attraction[at[0]])
            found[at[1], at[1]] -= step * by[1]
            for one in range(4, count):
                if last >= 0 and one == count - 2:
                    continue
                of = at[3] if one < count - 2 or last < 0 else at[count - 2]
                slope = step * by[one]  # -step x e (a + t) x theta[of] x a (1 - a)
                found[at[one], at[one]] -= slope * (1 - 2 * attraction[at[one]])
                if theta[of] != 0:
                    found[at[one], of] -= slope / theta[of]
                    found[of, at[one]] -= slope / theta[of]
            if clicked:
                last = rank


class Learner:
    """Learns one log after another of the same world.

    documents: of all queries. slowly: as the package does, which matters where the density has several maxima.
    """

    def __init__(self, documents: int, slots: int, *, slowly: bool = False) -> None:
        """Begin with the prior."""
        self.slowly = slowly
        self.documents, self.before = documents, HistoryShape.of(documents, slots).before
        self.theta: Floats | None = None
        self.logs = 0

    def terms(self, seen: Seen, rewards: Floats) -> Floats | None:
        """[t, 2] the terms of sessions for each arm, as of `ArmsHistory`; None where too few can be judged."""
        shown = seen.shown
        times = np.bincount(shown.ravel(), np.repeat(seen.count, shown.shape[1]), self.documents)
        keys = np.flatnonzero(times >= SHOWN)
        number = np.full(self.documents, -1)
        number[keys] = np.arange(len(keys))
        lists = number[seen.lists]
        known = (lists >= 0).all(axis=(0, 2))
        judged = known[seen.query]
        if seen.count[judged].sum() < LEAST_JUDGED * seen.count.sum():
            return None
        weight, query = seen.count[judged], seen.query[judged]
        own = np.ascontiguousarray(lists[seen.arm[judged], query])
        sessions = ClickedLists(own, np.ascontiguousarray(seen.clicks[judged]), weight)
        every = [np.ascontiguousarray(one[known]) for one in lists]
        often = np.bincount(query, weight, len(known))[known]
        model, factor = self._learnt(sessions, keys)
        slopes = np.stack([model.expected(one, often)[1] for one in every])
        directions = np.zeros_like(slopes)
        directions[:, model.free] = cho_solve(factor, slopes[:, model.free].T).T
        away, moved = slopes - slopes[0], directions - directions[0]
        spread = float((weight * model.scores(sessions.lists, sessions.clicks, moved)[:, 1] ** 2).sum())
        ratio = float((away[1] * moved[1]).sum()) / spread if spread > 0 else 1.0
        directions *= WIDER * np.sqrt(max(ratio, 1.0))
        moves = directions[:, model.free] @ model.prior[1][model.free] / weight.sum()
        found = _by_means(seen, rewards, judged)
        expected = np.zeros((len(known), 2))
        expected[known] = np.stack([model.expected(one)[0] for one in every], axis=1) + moves
        found[judged] = expected[query]
        found[judged] += model.scores(sessions.lists, sessions.clicks, directions)
        return found

    def _learnt(self, one: ClickedLists, keys: NDArray[np.int64]) -> tuple[ClickHistory, Any]:
        """The model of greatest posterior density, and the factors of its information."""
        documents, rate = len(keys), 1.5 * float((one.weight * one.clicks.mean(axis=1)).sum() / one.weight.sum())
        rate, shape = float(np.clip(rate, 0.05, 0.6)), HistoryShape.of(len(keys), one.lists.shape[1])
        free = np.concatenate([np.bincount(one.lists.ravel(), minlength=documents) > 0, shape.learnt])
        known = self.theta
        if known is None:
            known = np.concatenate([np.full(self.documents, np.log(rate / (1 - rate))), self.before])
        theta = np.concatenate([known[keys], known[self.documents :]])
        theta = np.where(free | (np.arange(len(theta)) >= documents), theta, np.log(rate / (1 - rate)))
        model = ClickHistory(shape, theta, free, rate)
        if self.slowly or not _climbed(model, one):
            model = click_history(one, documents)
            theta = model.theta
        kept = known.copy()
        kept[keys[free[:documents]]] = theta[:documents][free[:documents]]
        kept[self.documents :] = theta[documents:]
        self.logs += 1
        self.theta = known + (kept - known) / self.logs
        return model, _factors(model, one)


def _factors(model: ClickHistory, one: ClickedLists, *, observed: bool = False) -> Any:
    """Of the information and the curvature of the prior, of what is learnt: Fisher's, or what is observed."""
    free, prior = model.free, model.prior[2]
    known = model.theta, model.attraction, tuple(model.shape), one.lists, one.clicks, one.weight
    found = np.diag(prior)
    if observed:
        _curvatures(*known, found, True)
        try:
            return cho_factor(found[np.ix_(free, free)], overwrite_a=True, check_finite=False)
        except LinAlgError:  # far from the optimum
            more, found = np.diag(found).copy(), np.diag(prior)
    _curvatures(*known, found, False)
    if observed:
        found += np.diag(np.maximum(more - np.diag(found), 0.0))
    return cho_factor(found[np.ix_(free, free)], overwrite_a=True, check_finite=False)


def _climbed(model: ClickHistory, one: ClickedLists) -> bool:
    """Move the numbers of a model to the greatest posterior density; whether that is found."""
    theta, free = model.theta, model.free
    value, slope = model.posterior(one)
    factor, before, left = None, np.inf, np.inf
    for _ in range(MOST):
        if factor is None:
            factor = _factors(model, one, observed=True)
        step = np.zeros(len(theta))
        step[free] = cho_solve(factor, slope[free], check_finite=False)
        left = float(np.sqrt(step @ slope))
        if left < CLOSE:
            return True
        if left > AGAIN * before:
            factor = None  # the information of the place where it was made says too little of this one
        before = left
        np.clip(step, -FAR, FAR, out=step)
        held = theta.copy()
        for _ in range(40):
            theta[:] = held + step
            found, turned = model.posterior(one)
            if found >= value - 1e-11 * abs(value):
                break
            step /= 2
        else:
            theta[:] = held
            break
        value, slope = found, turned
    return left < ENOUGH


def _by_means(seen: Seen, rewards: Floats, judged: NDArray[np.bool_]) -> Floats:
    """[t, 2] the terms of sessions that are judged by the means of the arms."""
    found, weight = np.zeros((len(rewards), 2)), seen.count
    for arm in (0, 1):
        served = seen.arm == arm
        here = served & ~judged
        some = here if here.any() else served
        among = ~judged if here.any() else np.ones(len(rewards), np.bool_)
        mean, share = np.average(rewards[some], weights=weight[some]), weight[some].sum() / weight[among].sum()
        found[:, arm] = mean + np.where(served, rewards - mean, 0.0) / share
    return found
