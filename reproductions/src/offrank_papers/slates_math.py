"""Numerical checks of the mathematics of paper slate-pseudoinverse.

Swaminathan et al., Off-policy evaluation for slate recommendation (2017). Small spaces of slates are
enumerated, so that expectations are sums; the library's inverses and closed forms are compared
with the definitions and with a singular value decomposition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from offrank.estimators.pseudoinverse.gamma import Inverse, UniformInverse, pseudoinverse
from offrank.estimators.pseudoinverse.overlap import Overlap
from offrank.log.batch import Floats, Integers
from offrank.report.charts import Chart, Series
from offrank.report.document import Figures, Section

from .expectations import Expectations, Facts, Run, by_columns

PAPER = Expectations.of("slates-math")
RANKINGS = ((3, 1), (3, 2), (3, 3), (4, 2), (4, 3), (4, 4), (5, 3), (6, 2))
"""Items and slots."""


@dataclass(frozen=True)
class Law:
    """A policy in one context: slates [s, k] of items, and probabilities [s]. items: m."""

    slates: Integers
    chances: Floats
    items: int

    @property
    def indicators(self) -> Floats:
        """Return the indicator of each slate [s, m k]."""
        count, slots = self.slates.shape
        table = np.zeros((count, self.items, slots))
        table[np.arange(count)[:, None], self.slates, np.arange(slots)] = 1.0
        return table.reshape(count, -1)

    @property
    def expected(self) -> Floats:
        """Return the expected indicator q [m k]."""
        return self.chances @ self.indicators

    @property
    def gamma(self) -> Floats:
        """Return the second moments by their definition [m k, m k]."""
        return self.indicators.T @ (self.chances[:, None] * self.indicators)

    @property
    def norms(self) -> Floats:
        """Return 1_s' Gamma^+ 1_s of the possible slates [s]."""
        table = self.indicators[self.chances > 0]
        return np.asarray(((table @ self.inverse().matrix) * table).sum(axis=1))

    def inverse(self) -> Inverse:
        """Return the library's pseudoinverse of Gamma."""
        slots = self.slates.shape[1]
        return pseudoinverse(self.gamma.reshape(self.items, slots, self.items, slots))

    def weights(self, target: Law) -> Floats:
        """Return q_target' Gamma^+ 1_s of each slate [s]."""
        return self.indicators @ self.inverse().matrix @ target.expected

    def mixed(self, share: float) -> Law:
        """Return the mixture with this share of uniform slates."""
        return Law(self.slates, (1 - share) * self.chances + share / len(self.slates), self.items)


def plackett_luce(weights: Floats, slots: int) -> Law:
    """Return every ranking of `slots` items, with its Plackett-Luce probability."""
    slates = np.array(list(permutations(range(len(weights)), slots)))
    drawn = weights[slates]
    left = weights.sum() - np.cumsum(drawn, axis=1) + drawn
    return Law(slates, np.prod(drawn / left, axis=1), len(weights))


def independent(rng: np.random.Generator, slots: int, choices: int) -> Law:
    """Return a product of random laws: items of slot j are j * choices and the next."""
    each = rng.dirichlet(np.ones(choices), slots)
    picks = np.array(list(product(range(choices), repeat=slots)))
    chances = np.prod(each[np.arange(slots), picks], axis=1)
    return Law(picks + np.arange(slots) * choices, chances, slots * choices)


def rankings(rng: np.random.Generator) -> Iterator[tuple[Law, Law]]:
    """Yield logging (uniform, Plackett-Luce, mixed) and target policies over rankings; some targets are one slate."""
    for items, slots in RANKINGS:
        for weights in (np.ones(items), rng.lognormal(0, 1, items)):
            logging = plackett_luce(weights, slots)
            one = Law(logging.slates, np.eye(len(logging.slates))[rng.integers(len(logging.slates))], items)
            for target in (plackett_luce(rng.lognormal(0, 1, items), slots), one):
                yield logging, target
                yield one.mixed(0.2), target


@PAPER.page
def document(asked: Run) -> Iterator[Section]:
    """Return all statements of the paper that can be checked numerically; all but Theorem 1 exactly."""
    facts = dict[str, float]()
    for check in CHECKS:
        asked.say(str(check.__doc__).rstrip("."))
        facts |= check(np.random.default_rng(asked.seed))
    asked.say("The deviation bound, on simulated logs")
    logs = simulated(np.random.default_rng(asked.seed), asked.size(2000, 200))
    yield PAPER.section("statements", facts, tables=[weights_table()])
    yield PAPER.section("sample size", theorem_1(*logs), [theorem_chart(*logs), variance_chart()])


def claims_1_and_2(rng: np.random.Generator) -> Facts:
    """A policy judged by its own log."""
    laws = [logging for logging, _ in rankings(rng)] + [independent(rng, 3, 2)]
    each = [law.weights(law) for law in laws]
    spread = [float(law.expected @ law.inverse().matrix @ law.expected) - 1 for law in laws]
    gains = [(law.chances * w - law.chances) @ rng.normal(size=len(w)) for law, w in zip(laws, each, strict=True)]
    return {"claim 1": _largest(weights - 1 for weights in each), "claim 2": _largest([*spread, *gains])}


def proposition_1(rng: np.random.Generator) -> Facts:
    """Unbiased where rewards add up, and only there."""
    linear, beside, single = [], [], []
    for logging, target in rankings(rng):
        weights, slots = logging.weights(target), logging.slates.shape[1]
        gain = logging.chances * weights - target.chances
        linear.append(gain @ (logging.indicators @ rng.normal(size=logging.items * slots)))
        if slots > 1:
            beside.append(gain @ expected_reciprocal_rank(logging.slates, rng.uniform(size=logging.items)))
        else:
            single.append(gain)
    bias = float(np.mean(np.abs(beside)))
    return {"bias for sums": _largest(linear), "one slot": _largest(single), "bias for ERR": bias}


def expected_reciprocal_rank(slates: Integers, relevance: Floats) -> Floats:
    """Return the sum over slots of the probability that the reader stops there, over the rank [s]."""
    stop = relevance[slates]
    going = np.cumprod(1 - stop, axis=1) / (1 - stop)
    return (going * stop / np.arange(1, slates.shape[1] + 1)).sum(axis=1)


def proposition_2(rng: np.random.Generator) -> Facts:
    """Slots drawn on their own: Example 4."""
    off, mean = [], []
    for slots, choices in ((1, 3), (2, 2), (3, 2), (2, 4)):
        logging, target = independent(rng, slots, choices), independent(rng, slots, choices)
        possible = logging.expected > 0
        ratio = logging.indicators[:, possible] @ (target.expected / np.where(possible, logging.expected, 1))[possible]
        closed, found = ratio - slots + 1, logging.weights(target)
        off += [found - closed, found - logging.indicators @ _pinv(logging.gamma) @ target.expected]
        mean.append(logging.chances @ closed - 1)
    return {"product weights": _largest(off), "mean product weight": _largest(mean)}


def proposition_3(rng: np.random.Generator) -> Facts:
    """sigma^2 <= rho <= sup rho-bar."""
    beyond = []
    for logging, target in rankings(rng):
        weights = logging.weights(target)
        rho, sigma2 = float(np.abs(weights).max()), float(logging.chances @ weights**2)
        beyond += [sigma2 / rho - 1, rho / float(logging.norms.max()) - 1]
    return {"excess of proposition 3": max(beyond)}


def proposition_4(rng: np.random.Generator) -> Facts:
    """Uniform rankings in closed form: Example 5."""
    matrix, norms, weights, last = [], [], [], []
    for items, slots in RANKINGS:
        uniform, closed = plackett_luce(np.ones(items), slots), UniformInverse(items, slots)
        matrix.append(closed.solve(np.eye(items * slots)) - _pinv(uniform.gamma))
        norms.append(uniform.norms - (items * slots - slots + 1 if slots < items else items**2 - 2 * items + 2))
        target = plackett_luce(rng.lognormal(0, 1, items), slots)
        found, same = uniform.weights(target), uniform.indicators @ target.expected
        if slots == items:
            last.append(found - ((items - 1) * same - items + 2))
        else:
            shown = target.expected.reshape(items, slots).sum(axis=1)[uniform.slates].sum(axis=1)
            odds = (items - 1) / (items - slots)
            weights.append(found - (1 - odds * slots + (items - 1) * same + odds * shown))
    return {
        "closed form": _largest(matrix),
        "closed rho-bar": _largest(norms),
        "equation 26": _largest(weights),
        "equation 23": _largest(last),
    }


def claim_3(rng: np.random.Generator) -> Facts:
    """Quadratic forms of two matrices and of their pseudoinverses."""
    beyond = []
    for size in (2, 3, 5, 8):
        axes = np.linalg.qr(rng.normal(size=(size, size)))[0]
        for rank in range(1, size + 1):
            basis = axes[:, :rank]
            one, other = _form(rng, axes[:, : max(rank, size // 2)]), _form(rng, basis)
            bound = _largest_ratio(one, other, basis)
            beyond.append(_largest_ratio(_pinv(other), _pinv(one), basis) / bound - 1)
    return {"excess of claim 3": max(beyond)}


def corollary_1(rng: np.random.Generator) -> Facts:
    """Epsilon-uniform logging: order l m / epsilon."""
    laws = [(logging, float(logging.mixed(1.0).norms.max())) for logging, _ in rankings(rng)]
    laws += [(independent(rng, slots, choices), slots * choices - slots + 1.0) for slots, choices in ((2, 3), (3, 2))]
    shares = (0.01, 0.1, 0.5)
    beyond = [
        float(law.mixed(share).norms.max()) * share / uniform - 1 for (law, uniform), share in product(laws, shares)
    ]
    return {"excess of corollary 1": max(beyond)}


CHECKS: tuple[Callable[[np.random.Generator], Facts], ...] = (
    claims_1_and_2,
    proposition_1,
    proposition_2,
    proposition_3,
    proposition_4,
    claim_3,
    corollary_1,
)


def simulated(rng: np.random.Generator, count: int) -> tuple[Overlap, dict[int, Floats]]:
    """Return the overlap of the policies, and impressions -> absolute errors of PI on this many logs of each size.

    Rewards are -1 or 1, and their means are additive.
    """
    logging = plackett_luce(np.array([2.0, 1.5, 1.0, 1.0, 0.5]), 2)
    target = plackett_luce(np.array([0.2, 0.5, 1.0, 2.0, 4.0]), 2)
    weights = logging.weights(target)
    means = logging.indicators @ rng.uniform(-0.5, 0.5, 10)
    truth = float(target.chances @ means)
    overlap = Overlap(1, float(logging.chances @ weights**2), float(np.abs(weights).max()), 1.0, 0.0, 1.0)
    errors = {}
    for n in (10, 30, 100, 300, 1000):
        shown = rng.choice(len(weights), p=logging.chances, size=(count, n))
        reward = np.where(rng.random((count, n)) < (1 + means[shown]) / 2, 1.0, -1.0)
        errors[n] = np.abs((weights[shown] * reward).mean(axis=1) - truth)
    return overlap, errors


def theorem_1(overlap: Overlap, errors: Mapping[int, Floats]) -> Facts:
    """The deviation bound, on simulated logs."""
    beyond, ratio = [], []
    for (n, found), delta in product(errors.items(), (0.2, 0.05)):
        bound = overlap.half_width(1 - delta, n=n)
        beyond.append(float((found > bound).mean()) / delta)
        ratio.append(bound / float(np.quantile(found, 1 - delta)))
    return {
        "share beyond the bound over delta": max(beyond),
        "least ratio": min(ratio),
        "largest ratio": max(ratio),
    }


def variance_chart() -> Chart:
    """Plot the growth of the mean squared weight with the slots: one target slate, 10 items."""
    slots = list(range(1, 11))
    additive = [float(UniformInverse(10, k).norms(np.zeros((1, k), np.int64))[0]) for k in slots]
    whole = [float(math.perm(10, k)) for k in slots]
    series = (Series("IPS: m! / (m - l)!", slots, whole, line=True), Series("PI", slots, additive, line=True))
    title = "Mean squared weight under uniform logging of l among 10 items"
    return Chart(title, "slots l", "sigma^2", series, log_y=True)


def theorem_chart(overlap: Overlap, errors: Mapping[int, Floats]) -> Chart:
    """Plot the bound beside the results."""
    bounds = [overlap.half_width(0.95, n=n) for n in errors]
    seen = [float(np.quantile(found, 0.95)) for found in errors.values()]
    series = tuple(
        Series(name, list(errors), y, line=True) for name, y in (("bound", bounds), ("95 % of the logs", seen))
    )
    return Chart("Theorem 1, delta = 0.05", "impressions", "error of PI", series, log_x=True, log_y=True)


def weights_table() -> Figures:
    """Tabulate weights under Plackett-Luce logging with weights 4, 2, 1, 1, where the target shows (1, 2)."""
    logging = plackett_luce(np.array([4.0, 2.0, 1.0, 1.0]), 2)
    target = Law(logging.slates, (logging.slates == (0, 1)).all(axis=1).astype(float), 4)
    columns = {"chance": logging.chances, "PI": logging.weights(target), "IPS": target.chances / logging.chances}
    cells = {"slate": [f"({a + 1}, {b + 1})" for a, b in logging.slates.tolist()]}
    cells |= {title: column.tolist() for title, column in columns.items()}
    return by_columns("Weights of each logged slate where the target shows (1, 2)", cells)


def _pinv(matrix: Floats) -> Floats:
    return np.asarray(np.linalg.pinv(matrix, rcond=1e-11, hermitian=True))


def _form(rng: np.random.Generator, basis: Floats) -> Floats:
    """Return a random positive form on the span of the basis."""
    root = basis @ rng.normal(size=(basis.shape[1],) * 2)
    return np.asarray(root @ root.T + 0.01 * basis @ basis.T)


def _largest_ratio(top: Floats, bottom: Floats, basis: Floats) -> float:
    """Return the largest z' top z / z' bottom z for z in the span of the basis."""
    small, large = basis.T @ bottom @ basis, basis.T @ top @ basis
    return float(np.linalg.eigvals(np.linalg.solve(small, large)).real.max())


def _largest(values: Iterable[Floats | float]) -> float:
    return max(float(np.abs(value).max()) for value in values)
