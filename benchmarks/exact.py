"""Numbers held against what is known without a log: enumeration, quadrature, and very many draws.

python benchmarks/exact.py balanced
python benchmarks/exact.py race-draws [--draws 100000000] [--write]
python benchmarks/exact.py uncertain-prior [--confidence 0.95] [--write]
python benchmarks/exact.py counted-shares [--logs 300] [--write]
python benchmarks/exact.py guardrails [--logs 400] [--rows 4000] [--write]
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
import pyarrow as pa
from _page import run
from _worlds import lists
from rich.progress import track
from scipy.stats import norm

import offrank
from offrank.inference.uncertain_prior import leaning
from offrank.language.formatting import percent
from offrank.log.batch import Floats
from offrank.policies import policy, propensities
from offrank.races import BetaKeys, list_probs
from offrank.sums.estimate import Interval
from offrank_testing.exact import World
from offrank_testing.laws import Situation

ITEMS, SLOTS = 6, 3
LEAN = tuple((2.0 ** np.arange(ITEMS)).tolist())
SITUATION = Situation(ITEMS, SLOTS, {"a": LEAN, "b": LEAN[::-1]})
RELEVANCE = np.linspace(0.2, 0.6, ITEMS)
MIXED = {"plackett_luce(a, temperature=0.5)": 0.7, "plackett_luce(b, temperature=0.5)": 0.3}
MIXTURE = "mixture({" + ", ".join(f"{ranker}: {share}" for ranker, share in MIXED.items()) + "})"
TARGETS = ("plackett_luce(a)", "plackett_luce(b)", "uniform", "epsilon(top(a), 0.1)", "epsilon(top(b), 0.1)")


def moments(target: str, estimator: str, *, balanced: bool) -> tuple[float, float]:
    """Mean and variance of an estimate from one impression, whose clicks do not depend on each other."""
    world = World((SITUATION,), clicks=lambda _, slate: RELEVANCE[list(slate)].tolist())
    first = second = 0.0
    for ranker, share in MIXED.items():
        batch = world.batch(policy(ranker))
        wanted, drawn = (propensities(policy(one), batch) for one in (target, MIXTURE if balanced else ranker))
        weights: Floats = np.exp(wanted.log_prob - drawn.log_prob)[:, None]
        if estimator == "ipm":
            law = [np.diagonal(one.rank_law.written_out(batch.contexts.length), 0, 1, 2) for one in (wanted, drawn)]
            weights = law[0] / law[1]
        assert batch.clicks is not None
        mean = (weights * batch.clicks).sum(axis=1)
        square = mean**2 + (weights**2 * batch.clicks * (1 - batch.clicks)).sum(axis=1)
        first += share * (mean / batch.inclusion).sum()
        second += share * (square / batch.inclusion).sum()
    return first, second - first**2


ALPHA, BETA = np.array([0.5, 3.0, 20.0, 40.0, 300.0]), np.array([4.0, 12.0, 100.0, 260.0, 1700.0])
BLOCK = 500_000


NEEDS = (0.05, 0.1, 0.2, 0.4, 0.7, 0.9)
CONTRASTS = np.arange(-9.0, 17.0, 0.05)
BIASES = np.arange(0.0, 8.01, 0.25)
WEIGHTS = 0.05 * norm.pdf(CONTRASTS - BIASES[:, None])


def leaning_for(needs: float, confidence: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How often it holds, its length and its error, both over those of D, for each bias."""
    z, other, rho = norm.ppf(0.5 + confidence / 2), np.sqrt(needs), np.sqrt(1 - needs)
    own = Interval(0.0, -z, z, 1.0)
    found = [
        leaning(own, Interval(t * rho, -z * other, z * other, other), Interval(t * rho, 0.0, 0.0, rho), confidence)
        for t in CONTRASTS
    ]
    share, below, above = np.array([[one.share, one.below, one.above] for one in found]).T
    mean = rho * (BIASES[:, None] - CONTRASTS)  # of D less the truth, given the contrast; its variance is `needs`
    holds = norm.cdf(z * below, mean, other) - norm.cdf(-z * above, mean, other)
    squared = needs + (WEIGHTS * (mean + share * rho * CONTRASTS) ** 2).sum(axis=1)
    return (WEIGHTS * holds).sum(axis=1), WEIGHTS @ (below + above) / 2, np.sqrt(squared)


SCORES = {"a": LEAN, "b": LEAN[::-1]}
EXAMINATION = np.array([1.0, 0.7, 0.5])
RANKERS = {"A": "plackett_luce(a, temperature=0.5)", "B": "plackett_luce(b, temperature=0.5)"}
ASKED = ("ips", "snips", "ipm", "rips")


def drawn(rows: int, share: float, drawn_by: str, rng: np.random.Generator) -> pa.Table:
    """A log in which ranker A served each row, or each user, with probability `share`.

    Users have 10 rows on average, and click more or less often than others.
    """
    user = np.arange(rows) if drawn_by == "row" else np.sort(rng.integers(rows // 10, size=rows))
    own = (rng.random(rows) < share)[user]
    leaning = np.where(own[:, None], LEAN, LEAN[::-1])
    slates = np.argsort(-2 * np.log(leaning) - rng.gumbel(size=(rows, ITEMS)), axis=1)[:, :SLOTS]
    mood = 1.0 if drawn_by == "row" else rng.choice([0.5, 1.5], size=(rows, 1))[user]
    clicks = rng.random(slates.shape) < RELEVANCE[slates] * EXAMINATION * mood
    columns = {name: lists(np.tile(score, (rows, 1))) for name, score in SCORES.items()}
    return pa.table(
        {
            "user": user,
            "arm": np.where(own, "A", "B"),
            "slate": lists(slates),
            "clicks": lists(clicks.astype(np.int64)),
            "candidates": lists(np.tile(np.arange(ITEMS), (rows, 1))),
            **columns,
        }
    )


QUERIES = 20
BEFORE, AFTER = "plackett_luce(old)", "plackett_luce(new)"
OUTCOMES = ("orders", "revenue", "orders / clicks", "revenue / orders")
EXAMINED = np.array([1.0, 0.7, 0.5])
_RNG = np.random.default_rng(11)
OLD = np.exp(_RNG.normal(size=(QUERIES, ITEMS)) / 2)
NEW = OLD * np.exp(_RNG.normal(size=OLD.shape) / 3)
CLICKS, ORDERS = _RNG.uniform(0.1, 0.6, OLD.shape), _RNG.uniform(0.1, 0.5, OLD.shape)
PRICES = _RNG.uniform(5, 40, OLD.shape)
LISTS = np.array(list(permutations(range(ITEMS), SLOTS)))


def true_means(weight: np.ndarray) -> dict[str, float]:
    """The mean of each outcome under Plackett-Luce by these weights, summed over all lists."""
    picked = weight[:, LISTS]
    left = weight.sum(axis=1)[:, None, None] - np.cumsum(picked, axis=2) + picked
    law = (picked / left).prod(axis=2)
    clicks = CLICKS[:, LISTS] * EXAMINED
    orders = clicks * ORDERS[:, LISTS]
    each = {"clicks": clicks, "orders": orders, "revenue": orders * PRICES[:, LISTS]}
    means = {name: float((law * one.sum(axis=2)).sum() / QUERIES) for name, one in each.items()}
    ratios = {name: (one, per) for name in OUTCOMES for one, _, per in [name.partition(" / ")] if per}
    return means | {name: means[one] / means[per] for name, (one, per) in ratios.items()}


def simulate(rows: int, rng: np.random.Generator) -> pa.Table:
    query = rng.integers(0, QUERIES, rows)
    slate = np.argsort(-np.log(OLD[query]) - rng.gumbel(size=(rows, ITEMS)), axis=1)[:, :SLOTS]
    at = query[:, None], slate
    clicked = rng.random(slate.shape) < CLICKS[at] * EXAMINED
    ordered = clicked & (rng.random(slate.shape) < ORDERS[at])
    paid = ordered * PRICES[at] * rng.lognormal(-0.125, 0.5, slate.shape)
    columns = {
        "query": query,
        "slate": [*slate],
        "candidates": [np.arange(ITEMS)] * rows,
        "clicks": [*clicked.astype(int)],
    }
    columns |= {"old": [*OLD[query]], "new": [*NEW[query]], "orders": ordered.sum(axis=1), "revenue": paid.sum(axis=1)}
    return pa.table({name: pa.array(one) for name, one in columns.items()})


def balanced() -> Iterator[str]:
    """Two sharp unlike rankers, 70 / 30: the variance against each row's own ranker, and against the mixture of both.

    Every slate that either ranker can show is enumerated, so the variances of one impression are exact.
    """
    yield "| target | estimator | mean | variance, `by` | variance, `balanced` | ratio |"
    yield "|---|---|---|---|---|---|"
    for target in TARGETS:
        for estimator in ("ips", "ipm"):
            (mean, own), (same, mixed) = (moments(target, estimator, balanced=one) for one in (False, True))
            assert np.isclose(mean, same), "both are unbiased"
            yield f"| `{target}` | `{estimator}` | {mean:.4f} | {own:.4g} | {mixed:.4g} | {own / mixed:.1f} |"


def race_draws(*, draws: int = 100_000_000) -> Iterator[str]:
    """The quadrature of a race of Beta keys beside draws: what share of them each list begins, and P(list).

    Five arms of a bandit, from one that was hardly pulled to one that was pulled often; the first two places of the
    list. "Errors" is the difference over the standard error of the draws, of which 20 lists of 20 have about one
    beyond 2.
    """
    rng, m = np.random.default_rng(1), len(ALPHA)
    counts, left = np.zeros(m * m), draws
    while left > 0:
        keys = rng.beta(ALPHA, BETA, (min(BLOCK, left), m))
        left -= len(keys)
        first, row = keys.argmax(axis=1), np.arange(len(keys))
        keys[row, first] = -1.0
        counts += np.bincount(first * m + keys.argmax(axis=1), minlength=m * m)
    slates = np.array(list(permutations(range(m), 2)))
    race = BetaKeys(ALPHA[None], BETA[None]).take(np.zeros(len(slates), np.int64))
    chance = list_probs(race, np.full(len(slates), m), slates)[:, 1]
    share = counts[slates[:, 0] * m + slates[:, 1]] / draws
    away = (share - chance) / np.sqrt(chance * (1 - chance) / draws)
    yield "| list begins | by quadrature | by draws | errors |"
    yield "|---|--:|--:|--:|"
    for (one, two), known, found, errors in zip(slates.tolist(), chance, share, away, strict=True):
        yield f"| {one}, {two} | {known:.8f} | {found:.8f} | {errors:+.2f} |"
    size = float(np.sqrt((away**2).mean()))
    yield ""
    yield f"Sum of P(list) less 1: {chance.sum() - 1:.1e}. Root mean square of the errors: {size:.2f}."


def uncertain_prior(*, confidence: float = 0.95) -> Iterator[str]:
    """What an interval that leans on another estimate does for any bias of that one, by quadrature.

    A number D and a sharper estimate S of the same, jointly normal, S with a bias of any size: how often the interval
    holds, how long it is, and the error of the value, as `offrank.inference.uncertain_prior` has them. bias: of S, in
    standard errors of its difference to D. needs: the share of the sessions that S needs if it has none.
    """
    yield f"Intervals at {100 * confidence:g} %, for biases from 0 to 8 standard errors of the contrast."
    yield ""
    yield (
        "| S needs of the sessions | holds at least | length without bias | sessions saved | longest, for any bias "
        "| error without bias | largest error, for any bias |"
    )
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    for needs in NEEDS:
        holds, length, error = leaning_for(needs, confidence)
        yield (
            f"| {percent(needs, 0)} | {percent(holds.min(), 2)} | {length[0]:.3f} | {length[0] ** -2:.2f} "
            f"| {length.max():.3f} | {error[0]:.2f} | {error.max():.2f} |"
        )


def counted_shares(*, logs: int = 300) -> Iterator[str]:
    """Shares of rankers counted in the log, and with those of the design: errors, and intervals that hold.

    An A/B test of two sharp rankers of a few items; clicks depend on the item and its rank. The truth is exact. s.d. is
    that of the estimates over all logs, and beside it the one that intervals are made of.
    """
    world = World((SITUATION,), clicks=lambda _, slate: (RELEVANCE[list(slate)] * EXAMINATION).tolist())
    target = RANKERS["B"]
    truth = world.value(policy(target))
    served = "by(arm, {" + ", ".join(f"{value}: {one}" for value, one in RANKERS.items()) + "})"
    heads = ["rows", "arm drawn by", "shares", "target", "estimator", "s.d., known", "printed", "hold", "s.d., counted"]
    heads += ["printed", "hold"]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for drawn_by, rows, share in product(("row", "user"), (500, 5_000), (0.5, 0.95)):
        found: dict[str, list[list[float]]] = {}
        laws = [f"balanced({served}, shares={{A: {share}, B: {round(1 - share, 9)}}})", f"balanced({served})"]
        for seed in range(logs):
            log = drawn(rows, share, drawn_by, np.random.default_rng([rows, int(100 * share), seed]))
            for law in laws:
                cluster = None if drawn_by == "row" else "user"
                result = offrank.evaluate(log, [target], law, list(ASKED), cluster=cluster)
                for name in ASKED:
                    one = result[target, name]
                    inside = one.low <= truth <= one.high
                    found.setdefault(name, []).append([one.value, one.standard_error, inside])
        for name, values in found.items():
            cells = [f"{rows:,}", drawn_by, f"{share:g} / {1 - share:.2g}", f"`{target}`", f"`{name}`"]
            for part in (np.array(values)[0::2], np.array(values)[1::2]):
                value, error, hold = part.T
                cells += [f"{value.std(ddof=1):.4f}", f"{error.mean():.4f}", f"{hold.mean():.3f}"]
            yield f"| {' | '.join(cells)} |"


def guardrails(*, logs: int = 400, rows: int = 4000) -> Iterator[str]:
    """Guardrails at their very bound: how often is one said to hold, or to be broken, and do their intervals cover?

    Lists of three of six items for 20 queries; what a click orders and pays depends on the item. The true changes are
    sums over all 120 lists of each query, and each guardrail's bound is the true change: whatever is said of it is
    wrong.
    """
    before, after = true_means(OLD), true_means(NEW)
    change = {name: after[name] / before[name] - 1 for name in OUTCOMES}
    rails = [f"{name} > {100 * change[name]:.12f}%" for name in OUTCOMES]
    covered, alone, together = dict.fromkeys(OUTCOMES, 0), dict.fromkeys(OUTCOMES, 0), [0, 0]
    for seed in track(range(logs), transient=True):
        log = simulate(rows, np.random.default_rng(seed))
        found = offrank.evaluate(log, AFTER, BEFORE, "snips", cluster=None, outcomes=OUTCOMES, guardrails=rails)
        wrong = []
        for name in OUTCOMES:
            ends = found.outcomes[name].verdict.relative
            wrong.append(not ends.low <= change[name] <= ends.high)
            covered[name] += not wrong[-1]
        for one in found.guardrails:
            alone[one.guardrail.outcome] += one.state != "not shown"
        together[0] += any(wrong)
        together[1] += any(one.state != "not shown" for one in found.guardrails)
    yield "| outcome | true change | its own 95 % interval covers | said of its guardrail, wrongly |"
    yield "|---|--:|--:|--:|"
    for name in OUTCOMES:
        shares = (percent(one[name] / logs, 1) for one in (covered, alone))
        yield f"| {name} | {percent(change[name], 2)} | " + " | ".join(shares) + " |"
    yield f"| any of the four | | {percent(1 - together[0] / logs, 1)} | {percent(together[1] / logs, 1)} |"
    yield ""
    yield f"{logs} logs of {rows:,} rows, by snips."


COMMANDS = {
    balanced: "",
    race_draws: "race draws",
    uncertain_prior: "uncertain prior",
    counted_shares: "counted shares",
    guardrails: "guardrails",
}
if __name__ == "__main__":
    run(__file__, COMMANDS)
