"""Log-likelihood and perplexity: against enumeration in plain Python, and what is said of doubtful logs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.clicks import PBM, Evaluated, Evaluations
from offrank.clicks.evaluation import PredictionFold
from offrank.errors import ColumnError, OffrankError, UsageError
from offrank.inference.clusters_and_level import IntervalSpec
from offrank.language.formatting import with_half
from offrank.readers.log import read_log
from offrank.sums.base import total
from tests.clicks.readers import CLICKS, SLATES, Reader, drawn, log

TRUE = Reader((0.5, 0.3, 0.8))
OTHER = Reader((0.4, 0.4, 0.4), on=0.9)
Sessions = tuple[list[list[int]], list[list[int]]]


def evaluate(model: Any, log: Any, **how: Any) -> Evaluated:
    """What one model comes to."""
    return offrank.evaluate_clicks(log, {"model": model}, **how).here["model"]


def several(models: dict[str, Any], log: Any, **how: Any) -> Evaluations:
    """What several models come to, by name."""
    return offrank.evaluate_clicks(log, models, **how).here


def expected(reader: Reader, slates: list[list[int]], clicks: list[list[int]]) -> tuple[float, float, float]:
    """(log-likelihood, perplexity, conditional perplexity) by enumeration."""
    likelihood, before, given = 0.0, [[], [], []], [[], [], []]
    for slate, happened in zip(slates, clicks, strict=True):
        likelihood += math.log(reader.joint(slate, tuple(happened)))
        for rank, click in enumerate(happened):
            above = dict(enumerate(happened[:rank]))
            before[rank].append(-math.log2(reader.share(slate, {rank: click})))
            given[rank].append(-math.log2(reader.share(slate, above | {rank: click}) / reader.share(slate, above)))
    one, other = (np.mean([2 ** np.mean(losses) for losses in each if losses]) for each in (before, given))
    return likelihood / len(slates), float(one), float(other)


def test_numbers_are_those_of_enumeration() -> None:
    found = evaluate(TRUE, log())
    numbers = found.log_likelihood.value, found.perplexity.value, found.conditional_perplexity.value
    assert numbers == pytest.approx(expected(TRUE, SLATES, CLICKS), rel=1e-12)
    assert numbers[1] != pytest.approx(numbers[2], rel=1e-3)
    assert found.sessions == 8
    assert found.sessions_at_rank == (8, 7, 4)


@pytest.mark.parametrize(
    ("slate", "clicks", "perplexity"),
    [
        ([0, 1], [1, 0], (1 / 0.5 + 1 / (1 - 0.3 * (0.5 + 0.5 * 0.5))) / 2),
        ([0, 1], [0, 0], (1 / 0.5 + 1 / (1 - 0.3 * (0.5 + 0.5 * 0.5))) / 2),
        ([2], [1], 1 / 0.8),
        ([2], [0], 1 / 0.2),
    ],
    ids=["one session", "no clicks", "one rank", "one rank, no clicks"],
)
def test_a_single_session_is_measured_without_a_warning(slate: list[int], clicks: list[int], perplexity: float) -> None:
    # Any warning is an error here. One session has no standard error, and says none.
    one = pa.table({"slate": [slate], "clicks": [clicks], "query": ["a"]})
    judged = offrank.evaluate_clicks(one, {"true": TRUE, "other": OTHER}, cluster="query", other=one)
    found = judged.here["true"]
    assert found.perplexity.value == pytest.approx(perplexity)
    assert not math.isfinite(found.perplexity.standard_error)
    assert not re.search(r"\b(nan|inf|\d{9,})\b", str(judged).lower())
    assert judged.to_dict()["models"]["true"]["perplexity"]["standard_error"] is None


def test_each_rank_is_over_the_sessions_that_have_it() -> None:
    found = evaluate(TRUE, log())
    third = [(slate, clicks) for slate, clicks in zip(SLATES, CLICKS, strict=True) if len(slate) == 3]
    losses = [-math.log2(TRUE.share(slate, {2: clicks[2]})) for slate, clicks in third]
    assert found.perplexity_at_rank[2].value == pytest.approx(2 ** np.mean(losses), rel=1e-12)
    assert np.mean([one.value for one in found.perplexity_at_rank]) == pytest.approx(found.perplexity.value)
    given = [one.value for one in found.conditional_perplexity_at_rank]
    assert np.mean(given) == pytest.approx(found.conditional_perplexity.value)


def jackknife(statistic: Callable[[Sessions], np.ndarray], sessions: Sessions) -> np.ndarray:
    """Standard errors of statistics by leaving out one session after the other."""
    slates, clicks = sessions
    n = len(slates)
    values = [statistic((slates[:i] + slates[i + 1 :], clicks[:i] + clicks[i + 1 :])) for i in range(n)]
    return np.sqrt((n - 1) * np.var(values, axis=0))


@pytest.mark.turns(3)
def test_standard_errors_are_those_of_the_jackknife() -> None:
    def both(some: Sessions) -> np.ndarray:
        true, other = (np.array(expected(model, *some)) for model in (TRUE, OTHER))
        return np.stack([true, other - true])

    sessions = drawn(TRUE, 150)
    found = several({"true": TRUE, "other": OTHER}, log(*sessions))
    error, away = jackknife(both, sessions)
    for which, name in enumerate(("log_likelihood", "perplexity", "conditional_perplexity")):
        assert getattr(found["true"], name).standard_error == pytest.approx(error[which], rel=0.05)
        difference = found.difference("other", "true", name)
        assert difference.standard_error == pytest.approx(away[which], rel=0.05)
        assert difference.value == pytest.approx(both(sessions)[1, which])


def test_several_models_say_what_each_says_alone() -> None:
    together = several({"true": TRUE, "other": OTHER}, log())
    for name, model in (("true", TRUE), ("other", OTHER)):
        alone = evaluate(model, log())
        for number in ("log_likelihood", "perplexity", "conditional_perplexity"):
            one, other = getattr(together[name], number), getattr(alone, number)
            assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=1e-12)


def test_rows_of_a_sampled_log_count_by_their_inclusion() -> None:
    sampled = evaluate(TRUE, log(inclusion=[0.5] * 4 + [1.0] * 4))
    whole = evaluate(TRUE, log(SLATES + SLATES[:4], CLICKS + CLICKS[:4]))
    for name in ("log_likelihood", "perplexity", "conditional_perplexity"):
        assert getattr(sampled, name).value == pytest.approx(getattr(whole, name).value, rel=1e-12)


def test_sessions_of_a_cluster_depend_on_each_other() -> None:
    slates, clicks = drawn(TRUE, 600)
    once = evaluate(TRUE, log(slates, clicks))
    thrice = log(slates * 3, clicks * 3, person=list(range(600)) * 3)
    clustered = evaluate(TRUE, thrice, cluster="person")
    assert clustered.perplexity.value == pytest.approx(once.perplexity.value)
    assert clustered.perplexity.standard_error == pytest.approx(once.perplexity.standard_error, rel=0.15)
    naive = evaluate(TRUE, thrice)
    assert naive.perplexity.standard_error < 0.62 * once.perplexity.standard_error


@pytest.mark.parametrize("cluster", [None, "person"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_any_partition_gives_the_same(order: list[int], cluster: str | None) -> None:
    slates, clicks = drawn(TRUE, 80)
    lengths = [len(slate) for slate in slates]
    by_length = np.argsort(lengths, kind="stable").tolist()  # so that batches are of different widths
    slates, clicks = [slates[i] for i in by_length], [clicks[i] for i in by_length]
    person = [i % 7 for i in range(80)]
    fold = PredictionFold((TRUE, OTHER), IntervalSpec(cluster=cluster))
    states = []
    for part in order:
        rows = slice(20 * part, 20 * part + 20)
        source = read_log(log(slates[rows], clicks[rows], person=person[rows])).select(fold.needs())
        for batch in source.batches(0):
            states.append(fold.of(batch))  # noqa: PERF401
    left = None
    for state in states:
        left = total(left, state)
    whole = several({"a": TRUE, "b": OTHER}, log(slates, clicks, person=person), cluster=cluster)
    assert left["moments"].mean == pytest.approx(whole.spread.sums.moments.mean)
    assert left["moments"].comoment == pytest.approx(whole.spread.sums.moments.comoment)
    assert left["moments"].least == pytest.approx(whole.spread.sums.moments.least)
    if cluster:
        [clusters] = fold.inference.inference(fold.columns, left).clusters
        assert clusters.sums == pytest.approx(whole.spread.clusters[0].sums)


def test_threads_give_the_same() -> None:
    with ThreadPoolExecutor(2) as threads:
        assert evaluate(TRUE, log(), executor=threads).to_dict() == evaluate(TRUE, log()).to_dict()


def test_sessions_that_cannot_happen() -> None:
    cascade = Reader((0.5, 0.3, 0.8), on=0.0)
    found = several({"cascade": cascade, "true": TRUE}, log())
    twice = sum(sum(clicks) > 1 for clicks in CLICKS)
    assert found["cascade"].impossible == twice == 2
    assert found["cascade"].log_likelihood.value == -math.inf
    assert found["cascade"].to_dict()["log_likelihood"]["value"] is None
    assert [caution.code for caution in found["cascade"].cautions] == ["impossible-clicks"]
    assert found.difference("cascade", "true", "log_likelihood").value == -math.inf
    assert not found["true"].cautions
    # The second click of two sessions has probability 0, kept at 1e-10.
    third = [slate for slate in SLATES if len(slate) == 3]
    assert found["cascade"].conditional_perplexity_at_rank[2].value > 2 ** (math.log2(1e10) / len(third))
    assert math.isfinite(found["cascade"].conditional_perplexity.value)


def test_repeated_clicks_count_once_and_are_told() -> None:
    several = [[2 * click for click in clicks] for clicks in CLICKS]
    found = evaluate(TRUE, log(clicks=several))
    assert found.tally.repeated == sum(map(sum, CLICKS))
    assert found.perplexity == evaluate(TRUE, log()).perplexity


@pytest.mark.parametrize(
    ("broken", "kind", "words"),
    [
        (lambda: evaluate(TRUE, log(clicks=[[0.5] * len(clicks) for clicks in CLICKS])), UsageError, "is not whole"),
        (lambda: evaluate(TRUE, log().drop_columns(["clicks"])), ColumnError, "clicks"),
        (lambda: several({}, log()), UsageError, "no model"),
        (lambda: evaluate(Reader, log()), UsageError, "not a fitted click model"),
        (lambda: evaluate(TRUE, log(), labels="grade"), UsageError, "not a fitted click model"),
        (lambda: evaluate(TRUE, log(), confidence=95), UsageError, "confidence"),
        (lambda: evaluate(TRUE, log(), cluster="persn"), ColumnError, "persn"),
        (lambda: several({"a": TRUE}, log()).difference("a", "b"), UsageError, "no model is called 'b'"),
        (lambda: several({"a": TRUE}, log()).difference("a", "a", "ndcg"), UsageError, "not compared"),
    ],
)
def test_what_cannot_work_is_told(broken: Callable[[], object], kind: type[OffrankError], words: str) -> None:
    with pytest.raises(kind, match=words) as told:
        broken()
    assert told.value.remedy


def test_wider_slates_do_not_change_what_is_known_of_the_upper_ranks() -> None:
    upper = evaluate(TRUE, log([slate[:1] for slate in SLATES], [clicks[:1] for clicks in CLICKS]))
    whole = evaluate(TRUE, log())
    assert upper.perplexity_at_rank[0].value == pytest.approx(whole.perplexity_at_rank[0].value, rel=1e-12)
    assert replace(upper).perplexity.value == upper.perplexity_at_rank[0].value


def test_many_models_stay_readable_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"model-{n}" for n in range(11)]
    found = offrank.evaluate_clicks(log(), dict.fromkeys(names, PBM().fit(log())))
    lines = str(found).splitlines()
    told = with_half(found.here["model-0"].perplexity)
    assert max(map(len, lines)) <= 80
    for name in names:
        assert any(told in line for line in lines if f" {name} " in f" {line} ")


def test_documents_that_were_never_seen_are_the_more_serious_the_more_they_are() -> None:
    known = PBM().fit([{"slate": [1, 2], "clicks": [1, 0]}, {"slate": [2, 1], "clicks": [1, 0]}])
    found = {
        unseen: [
            (one.code, one.severity)
            for one in evaluate(
                known, [{"slate": list(range(1, 3 + unseen)), "clicks": [1] + [0] * (1 + unseen)}] * 5
            ).cautions
            if one.code == "unseen-documents"
        ]
        for unseen in (0, 1, 3)
    }
    assert found == {0: [], 1: [("unseen-documents", "warning")], 3: [("unseen-documents", "serious")]}
