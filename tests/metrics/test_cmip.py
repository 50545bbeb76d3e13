"""CMIP on laws whose conditional mutual information is arithmetic, and what it says where it cannot know."""

from __future__ import annotations

import math

import numpy as np
import pytest

from offrank import metrics
from offrank.errors import UsageError
from offrank.metrics import Cmip, cmip
from offrank.metrics.cmip_methods import Binned
from offrank.metrics.cmip_methods.base import GradedDocuments

GRADES = [0.5, 0.3, 0.15, 0.05]


def codes(result: Cmip) -> set[str]:
    return {caution.code for caution in result.warnings}


def copula(n: int, rho: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relevance and logging with correlation rho within every grade: CMI is -log(1 - rho^2) / 2."""
    rng = np.random.default_rng(seed)
    grade, noise = rng.choice(len(GRADES), size=n, p=GRADES), rng.normal(size=(2, n))
    return grade + rho * noise[0] + math.sqrt(1 - rho**2) * noise[1], grade + noise[0], grade


def of_counts(tables: dict[int, list[list[int]]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents whose relevance x and logging y come as often as the table of their grade says."""
    cells = [(x, y, grade) for grade, rows in tables.items() for x, row in enumerate(rows) for y in range(len(row))]
    counts = [count for rows in tables.values() for row in rows for count in row]
    relevance, logging, grade = np.repeat(np.array(cells), counts, axis=0).T
    return relevance, logging, grade


def information(rows: list[list[int]]) -> float:
    """Sum of p log(p / (p_x p_y)), written out."""
    total = sum(map(sum, rows))
    columns = [sum(row[y] for row in rows) for y in range(len(rows[0]))]
    return sum(
        count / total * math.log(count * total / (sum(row) * columns[y]))
        for row in rows
        for y, count in enumerate(row)
        if count
    )


@pytest.mark.parametrize(
    "tables",
    [
        {0: [[4000, 1000], [1000, 4000]]},
        {0: [[5000, 0], [0, 5000]]},  # log 2
        {0: [[3000, 500, 500], [1000, 1000, 1000], [500, 500, 2000]], 1: [[2000, 6000], [6000, 2000]]},
        {0: [[2000, 2000], [2000, 2000]], 7: [[9000, 300], [300, 400]]},
    ],
    ids=["binary", "equal", "three values and two", "independent and skewed"],
)
def test_tables_of_counts(tables: dict[int, list[list[int]]]) -> None:
    sizes = {grade: sum(map(sum, rows)) for grade, rows in tables.items()}
    true = {grade: information(rows) for grade, rows in tables.items()}
    found = cmip(*of_counts(tables), permutations=0)
    # What is left is the correction itself, of the order of cells / documents.
    assert found.value == pytest.approx(sum(sizes[g] * true[g] for g in tables) / sum(sizes.values()), abs=1e-3)
    for share in found.grades:
        assert share.documents == sizes[int(share.grade)]
        assert share.value == pytest.approx(true[int(share.grade)], abs=1e-3)


def test_many_values_of_one_and_few_of_the_other() -> None:
    # x = 0 ... 4, y = x + 2 u: log 5 - 4/5 log 2.
    rng = np.random.default_rng(0)
    x = rng.integers(5, size=20_000)
    found = cmip(x, x + 2 * rng.random(20_000), rng.integers(2, size=20_000), permutations=0)
    assert found.value == pytest.approx(math.log(5) - 0.8 * math.log(2), abs=0.02)


def test_values_of_which_half_are_equal() -> None:
    # For standard normal (a, b) with correlation .6, I(max(a, 0); b) = h(b) - h(b | a < 0) / 2 - h(b | a) / 2.
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 20_000))
    found = cmip(np.maximum(first, 0), 0.6 * first + 0.8 * second, np.zeros(20_000), permutations=0)
    assert found.value == pytest.approx(0.1769, abs=0.015)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.9])
def test_gaussian_copula(rho: float) -> None:
    true = -math.log(1 - rho**2) / 2
    found = cmip(*copula(20_000, rho, seed=5), permutations=0)
    assert found.value == pytest.approx(true, abs=0.02)
    assert found.low <= true <= found.high
    assert found.standard_error < 0.02


def test_dependence_without_correlation_is_seen() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, size=5_000)
    found = cmip(x, x**2 + 0.3 * rng.normal(size=5_000), np.zeros(5_000))
    assert found.value == pytest.approx(0.3358, abs=0.05)  # h(y) - h(noise), by quadrature
    assert found.dependent()


def test_agreement_that_the_grade_explains_is_not_counted() -> None:
    rng = np.random.default_rng(3)
    grade = rng.integers(5, size=10_000)
    relevance, logging = grade + 0.1 * rng.normal(size=(2, 10_000))
    given = cmip(relevance, logging, grade)
    assert abs(given.value) < 0.01
    assert not given.dependent(0.01)
    assert cmip(relevance, logging, np.zeros(10_000)).value > 1


@pytest.mark.parametrize("change", [np.exp, lambda x: x**3, lambda x: 5 * x - 100], ids=["exp", "cube", "line"])
def test_monotone_changes_change_nothing(change: object) -> None:
    relevance, logging, grade = copula(3_000, 0.5, seed=6)
    plain = cmip(relevance, logging, grade, permutations=20)
    assert cmip(change(relevance), logging, grade, permutations=20) == plain  # type: ignore[operator]
    assert cmip(relevance, change(logging), 10 - 2 * grade, permutations=20).value == pytest.approx(plain.value)  # type: ignore[operator]


def test_noise_between_bins_is_shrunk() -> None:
    """Where there is no dependence finer bins add noise alone: without shrinkage the deviation is .0098."""
    values = [cmip(*copula(2_000, 0.0, seed), Binned(replicates=1), permutations=0).value for seed in range(40)]
    assert np.std(values) < 0.0075
    assert abs(np.mean(values)) < 0.003


def test_the_other_direction_and_the_other_order_say_the_same() -> None:
    relevance, logging, grade = copula(4_096, 0.7, seed=7)
    plain = cmip(relevance, logging, grade, permutations=0)
    assert cmip(logging, relevance, grade, permutations=0).value == pytest.approx(plain.value)
    assert cmip(relevance, -logging, grade, permutations=0).value == pytest.approx(plain.value, abs=0.02)
    order = np.random.default_rng(0).permutation(4_096)
    assert cmip(relevance[order], logging[order], grade[order], permutations=0).value == pytest.approx(plain.value)


def test_the_null_is_that_of_permutations_within_grades() -> None:
    # Where the hypothesis holds, p-values are uniform.
    quick = Binned(replicates=1)
    p_values = [cmip(*copula(400, 0.0, seed), quick, permutations=39).p_value for seed in range(200)]
    below = [np.mean([p <= level for p in p_values if p is not None]) for level in (0.1, 0.25, 0.5, 0.75)]
    # Binomial with n = 200: 3 standard deviations are at most .106.
    assert np.abs(np.array(below) - [0.1, 0.25, 0.5, 0.75]).max() < 0.106


def queries(seed: int, rho: float, offset: float = 2.0) -> tuple[np.ndarray, ...]:
    """Relevance, logging, grade and query of 20 documents of 20 queries, whose levels differ in both."""
    rng = np.random.default_rng(seed)
    grade = rng.choice(3, (20, 20), p=[0.5, 0.3, 0.2])
    noise, levels = rng.normal(size=(2, 20, 20)), offset * rng.normal(size=(2, 20, 1))
    relevance = grade + levels[0] + rho * noise[0] + np.sqrt(1 - rho**2) * noise[1]
    return relevance.ravel(), (grade + levels[1] + noise[0]).ravel(), grade.ravel(), np.arange(20).repeat(20)


def refuted(rho: float, offset: float, clustered: bool, logs: int) -> float:
    """Share of logs with a p-value of at most .05, where .05 is what 39 permutations give by chance."""
    quick, count = Binned(replicates=2), 0
    for seed in range(logs):
        relevance, logging, grade, query = queries(seed, rho, offset)
        cluster = query if clustered else None
        found = cmip(relevance, logging, grade, quick, permutations=39, seed=seed, cluster=cluster)
        count += bool(found.dependent())
    return count / logs


@pytest.mark.parametrize("offset", [0.0, 2.0])
def test_the_p_value_knows_that_queries_differ(offset: float) -> None:
    """Of 100 logs 5 are refuted by chance, 12 or more in one of 250 times.

    Without clusters, levels of few queries that agree by chance are taken for dependence.
    """
    assert refuted(0.0, offset, clustered=True, logs=100) < 0.12
    if offset:
        assert refuted(0.0, offset, clustered=False, logs=40) > 0.2


def test_dependence_within_queries_is_still_seen() -> None:
    """As often as without clusters, where queries are alike: a correlation of .5 of 400 documents."""
    alone, clustered = (refuted(0.5, 0.0, clustered=given, logs=20) for given in (False, True))
    assert min(alone, clustered) > 0.9
    assert refuted(0.7, 0.5, clustered=True, logs=20) > 0.9


@pytest.mark.parametrize(("single", "codes"), [(51, ["few-exchanges"]), (50, [])])
def test_documents_that_no_permutation_moves_are_told(single: int, codes: list[str]) -> None:
    rng = np.random.default_rng(0)
    cluster = np.append(np.arange(10 * single) + 1, np.zeros(10 * (100 - single)))
    relevance, logging = rng.normal(size=(2, 1000))
    for permutations, expected in ((20, codes), (0, [])):
        found = cmip(relevance, logging, np.arange(1000) % 2, permutations=permutations, cluster=cluster)
        assert [one.code for one in found.warnings if one.code == "few-exchanges"] == expected


def test_permutations_keep_grades_and_clusters() -> None:
    rng = np.random.default_rng(0)
    grade, cluster = rng.integers(3, size=60).astype(float), np.arange(60) // 10
    documents = GradedDocuments.of(rng.random(60), rng.random(60), grade, cluster)
    found = documents.permuted(rng)
    for one in set(zip(grade, cluster, strict=True)):
        own = (grade == one[0]) & (cluster == one[1])
        assert sorted(found[own]) == sorted(documents.logging[own])
    assert (found != documents.logging).mean() > 0.4


def test_the_least_p_value_is_one_of_all_permutations() -> None:
    found = cmip(*copula(2_000, 0.8, seed=1), permutations=99)
    assert found.p_value == 1 / 100
    assert found.null is not None
    assert found.null.low <= found.null.mean <= found.null.high < found.value
    assert abs(found.null.mean) < 0.01


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    true = -math.log(1 - 0.36) / 2
    held = [
        found.low <= true <= found.high for found in (cmip(*copula(2_000, 0.6, s), permutations=0) for s in range(60))
    ]
    assert np.mean(held) >= 0.9


def test_documents_of_a_cluster_are_not_so_many() -> None:
    # In every other query the model repeats the policy: whole queries, not documents, say how much on average.
    rng = np.random.default_rng(4)
    query = np.repeat(np.arange(40), 100)
    logging, noise = rng.normal(size=(2, 4_000))
    relevance = np.where(query % 2 == 0, logging + 0.1 * noise, noise)
    alone, together = (
        cmip(relevance, logging, np.zeros(4_000), permutations=0, cluster=given) for given in (None, query)
    )
    assert together.value == pytest.approx(alone.value, rel=1e-12)
    assert together.standard_error > 2 * alone.standard_error


def test_the_seed_decides_and_nothing_else() -> None:
    given = copula(1_500, 0.3, seed=8)
    assert cmip(*given, seed=3) == cmip(*given, seed=3)
    assert cmip(*given, seed=3).null != cmip(*given, seed=4).null
    assert cmip(*given, seed=3).value == pytest.approx(cmip(*given, seed=4).value, rel=1e-12)


# What cannot be known --------------------------------------------------------------------------------------------


def test_few_documents_small_grades_and_one_grade_are_told() -> None:
    relevance, logging, _ = copula(300, 0.5, seed=9)
    found = cmip(relevance, logging, [0] * 290 + [1] * 10)
    assert codes(found) >= {"few-documents", "small-grade", "one-grade"}
    assert found.n == 290
    assert [(share.grade, share.documents) for share in found.grades] == [(0, 290), (1, 10)]
    assert found.grades[1].value is None


@pytest.mark.parametrize(
    ("constant", "code"), [("relevance", "no-information"), ("logging", "no-policy"), ("both", "no-information")]
)
def test_a_constant_has_no_information(constant: str, code: str) -> None:
    """Where the policy ranks nothing, that does not speak against a model that does."""
    relevance, logging, grade = copula(2_000, 0.5, seed=10)
    given = {"relevance": relevance, "logging": logging, "grade": grade}
    given |= dict.fromkeys(["relevance", "logging"] if constant == "both" else [constant], np.ones(2_000))
    found = cmip(**given)  # type: ignore[arg-type]
    assert (found.value, found.p_value) == (0, 1)
    assert codes(found) & {"no-information", "no-policy"} == {code}
    assert found.trustworthy == (code == "no-policy")


def test_below_zero_is_kept_and_told() -> None:
    found = next(f for f in (cmip(*copula(2_000, 0, s), permutations=0) for s in range(20)) if f.value < 0)
    assert "negative" in codes(found)
    assert found.dependent() is None


def test_the_printed_answer_says_what_was_tested() -> None:
    dependent, independent = (str(cmip(*copula(3_000, rho, seed=2))) for rho in (0.6, 0.0))
    assert "p = 0.00498: relevance or its noise depends on the policy" in dependent
    assert "no evidence of dependence on the policy" in independent
    assert "documents by grade: 0: 1," in dependent
    assert "not tested" in str(cmip(*copula(3_000, 0.6, seed=2), permutations=0))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"relevance": [0.1] * 99}, "different lengths"),
        ({"relevance": [math.nan] + [0.1] * 99}, "relevance is nan at document 0"),
        ({"logging": [0.1] * 99 + [math.inf]}, "logging is inf at document 99"),
        ({"grade": ["good"] * 100}, "grade does not hold numbers"),
        ({"grade": [[1]] * 100}, r"grade has shape \(100, 1\)"),
        ({"grade": range(100)}, "no grade has 24 documents"),
        ({"relevance": [], "logging": [], "grade": []}, "no documents"),
        ({"cluster": [1, 2]}, "cluster 2"),
        ({"relevance": [[1.0, math.inf]] + [[0.1, 0.2]] * 99}, "relevance is inf at document 0"),
        ({"relevance": np.zeros((100, 0))}, r"relevance has shape \(100, 0\)"),
        ({"floor": np.zeros((100, 1))}, r"floor has shape \(100, 1\)"),
        ({"floor": np.zeros(100)}, r"floor has shape \(100,\)"),
        ({"method": "best"}, "method is 'best'"),
        ({"confidence": 95}, "confidence is 95"),
        ({"permutations": -1}, "permutations is -1"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_work_is_refused(change: dict[str, object], told: str) -> None:
    given = {"relevance": np.arange(100.0), "logging": np.arange(100.0), "grade": [0] * 100, **change}
    with pytest.raises(UsageError, match=told):
        cmip(**given)  # type: ignore[arg-type]


def test_progress_counts_to_the_end_and_may_interrupt() -> None:
    steps: list[tuple[int, int]] = []
    cmip(*copula(500, 0, seed=0), progress=lambda done, total: steps.append((done, total)))
    assert [done for done, _ in steps] == list(range(1, steps[-1][1] + 1))

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cmip(*copula(500, 0, seed=0), progress=stop)


# The other estimators --------------------------------------------------------------------------------------------


def test_exchanges_keep_grades_and_halves_keep_clusters() -> None:
    rng = np.random.default_rng(0)
    grade, cluster = rng.integers(3, size=60).astype(float), np.arange(60) // 4
    documents = GradedDocuments.of(rng.random(60), rng.random(60), grade, cluster)
    dealt = documents.exchanged(rng)
    for one in range(3):
        assert sorted(dealt[grade == one]) == sorted(documents.logging[grade == one])
    assert (dealt != documents.logging).mean() > 0.8
    whole = {(r, c) for r, c in zip(documents.relevance[:, 0], cluster, strict=True)}
    for half in documents.halves(rng, 3):
        assert half.cluster is not None
        assert {len(half.relevance[half.cluster == c]) for c in set(half.cluster)} == {4}
        assert set(zip(half.relevance[:, 0], half.cluster, strict=True)) < whole


def test_settings_of_a_method() -> None:
    given = copula(2_000, 0.5, seed=0)
    few, many = (cmip(*given, method=Binned(replicates=count), permutations=0) for count in (10, 100))
    # Sums of many replicates at a time are added up in another order.
    assert few.value == pytest.approx(cmip(*given).value, rel=1e-9)
    assert many.value == pytest.approx(cmip(*given).value, rel=1e-9)
    assert metrics.cmip is cmip
