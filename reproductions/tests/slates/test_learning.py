"""Uniformly random slates in sums, and Table 1 at a tiny size."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from math import log2
from pathlib import Path

import numpy as np
import pytest

from offrank.errors import UsageError
from offrank.estimators.pseudoinverse.gamma import action_rewards
from offrank.log.graded_queries import Judged
from offrank.report.document import Section
from offrank_papers.slates.learning import CODE, FOLDS, PI_OPT, SUP, TEXT, Experiment, LearningDesign
from offrank_papers.slates.table_1 import learning, signal_share
from offrank_papers.slates.uniform_log import Pages, uniform_log

pytest.importorskip("lightgbm")

DESIGN = LearningDesign(60, 60, None, rounds=5, leaves=4, rate=0.3, slates=60, smallest=2)


def judged(*grades: list[float], features: np.ndarray | None = None) -> Judged:
    """Queries with these grades; by default a feature that tells them, and two that do not."""
    sizes, grade = [len(one) for one in grades], np.concatenate(grades)
    rng = np.random.default_rng(0)
    told = np.column_stack([grade + rng.normal(size=len(grade)), rng.normal(size=(len(grade), 2))])
    first = np.concatenate([[0], np.cumsum(sizes)])
    return Judged(np.arange(len(sizes)), first, grade, told if features is None else features, np.arange(len(grade)))


def quiet(_: str) -> None:
    """Say nothing."""


def test_page_rewards_by_the_text_and_by_the_published_code() -> None:
    pages = Pages.of(judged([0.0, 1.0, 4.0, 2.0], [3.0, 0.0]), 3)
    found = pages.rewards(np.array([0, 0, 1]), np.array([[3, 2, 1], [0, 1, -1], [1, 0, -1]]))
    # Query 0, best page 4, 2, 1: gains 15, 3, 1. Discounts by rank: 1, 1 / log2 3, 1 / 2, or 1, 1, 1 / log2 3.
    best, flat = 15 + 3 / log2(3) + 1 / 2, 15 + 3 + 1 / log2(3)
    assert found[0, 0] == pytest.approx((3 + 15 / log2(3) + 1 / 2) / best)
    assert found[0, 1] == pytest.approx((3 + 15 + 1 / log2(3)) / flat)
    # A reader stops at gain / 16: 3/16 at rank 1, else 15/16 at rank 2, else 1/16 at rank 3.
    assert found[0, 2] == pytest.approx(3 / 16 + 13 / 16 * 15 / 16 / 2 + 13 / 16 * 1 / 16 * 1 / 16 / 3)
    assert found[1].tolist() == pytest.approx([(1 / log2(3)) / best, 1 / flat, 1 / 16 / 2])
    assert found[2].tolist() == pytest.approx([1 / log2(3), 1.0, 7 / 16 / 2])


def test_slates_are_uniform_and_the_same_in_any_part() -> None:
    made = judged([0.0] * 4, [1.0, 0.0])
    seen: list[tuple[int, tuple[int, ...]]] = []

    class Recorded(Pages):
        def rewards(self, query: np.ndarray, slates: np.ndarray) -> np.ndarray:
            seen.extend(zip(query.tolist(), map(tuple, slates.tolist()), strict=True))
            return super().rewards(query, slates)

    pages = Pages.of(made, 3)
    uniform_log(Recorded(pages.judged, pages.slots, pages.world), 24_000, 7, quiet)
    count, some = len(seen), seen[:1_000]
    expected = {(0, slate): 1 / 48 for slate in permutations(range(4), 3)}
    expected |= {(1, (0, 1, -1)): 1 / 4, (1, (1, 0, -1)): 1 / 4}
    assert set(seen) == set(expected)
    chi2 = sum((seen.count(one) - count * p) ** 2 / (count * p) for one, p in expected.items())
    assert chi2 < 25 + 5 * np.sqrt(2 * 25)  # 26 slates
    seen.clear()
    uniform_log(Recorded(pages.judged, pages.slots, pages.world), 1_000, 7, quiet)
    assert seen == some


def test_sums_give_the_mean_of_action_rewards_and_their_truth() -> None:
    made = judged([0.0, 1.0, 4.0, 2.0, 0.0], [1.0, 0.0])
    pages = Pages.of(made, 3)
    log = uniform_log(pages, 40_000, 3, quiet)
    every = np.array(list(permutations(range(5), 3)))
    rewards = pages.rewards(np.zeros(len(every), np.int64), every)
    assert log.means[0] == pytest.approx(rewards.mean(axis=0), abs=0.01)
    for kind in range(3):
        exact = action_rewards(every, rewards[:, kind], 5).mean(axis=0)
        assert log.actions[kind].uniform()[:5] == pytest.approx(exact, abs=0.1)
    assert (log.actions[0].uniform()[5:, 2] == 0).all()  # query 1 has two documents
    assert log.unseen == 0
    assert uniform_log(pages, 1, 3, quiet).unseen == 1


def queries(count: int, seed: int = 1) -> Judged:
    rng = np.random.default_rng(seed)
    grades = [rng.choice([0.0, 1.0, 2.0, 4.0], rng.integers(2, 9), p=[0.6, 0.2, 0.1, 0.1]) for _ in range(count)]
    return judged(*grades)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("learning")


@pytest.fixture(scope="module")
def section(folder: Path) -> Section:
    return learning(DESIGN, queries(60), folder, quiet)


def test_every_query_is_tested_once_by_what_has_not_seen_it() -> None:
    made = queries(23)
    pages = Pages.of(made, 3)
    experiment = Experiment(pages, uniform_log(pages, 100, 0, quiet), DESIGN)
    parts = [(experiment.trained(one), experiment.validating(one), experiment.tested(one)) for one in FOLDS]
    assert np.array_equal(np.sort(np.concatenate([test for *_, test in parts])), np.arange(23))
    for each in parts:
        assert np.array_equal(np.sort(np.concatenate(each)), np.arange(23))
    again = Experiment(Pages.of(made.take(np.arange(23)[::-1]), 3), experiment.log, DESIGN)
    assert set(again.pages.judged.query[again.tested(FOLDS[0])]) == set(made.query[parts[0][2]])


def test_the_tables_have_every_method(section: Section) -> None:
    text, code = section.tables
    rows = {row[0]: row for row in text.rows}
    assert list(rows) == [
        "LambdaMART",
        "uniformly random",
        "SUP",
        "SUP, raw relevance",
        "PI-OPT",
        "PI-OPT, exact assignment",
    ]
    assert [row[0] for row in code.rows] == [
        "LambdaMART",
        "uniformly random",
        "SUP",
        "PI-OPT",
        "PI-OPT, exact assignment",
    ]
    value, published = (text.header.index(name) for name in ("NDCG@3", "NDCG@3, published"))
    assert rows["SUP"][published] == 0.438
    for name in ("LambdaMART", "SUP", "SUP, raw relevance", "PI-OPT"):  # a feature tells the grade
        assert rows[name][value] > rows["uniformly random"][value] + 0.1, name
    assert "verdict" not in text.header
    assert [claim.status for claim in section.claims].count("new") == 1
    assert "60 queries" in section.prose[0]


def test_finished_folds_are_read_again(section: Section, folder: Path) -> None:
    said = list[str]()
    again = learning(DESIGN, queries(60), folder, said.append)
    assert any("5 of 5 studies stand in" in one for one in said)
    assert again == section
    other = learning(replace(DESIGN, rounds=1, queries=20), queries(60), folder, quiet)
    assert other.prose[0].startswith("20 queries")


def test_the_signal_in_the_targets_grows_with_the_log() -> None:
    made = queries(30)
    pages = Pages.of(made, 3)
    few, many = (Experiment(pages, uniform_log(pages, n, 0, quiet), DESIGN) for n in (1_000, 300_000))
    assert signal_share(few) < 0.6
    assert signal_share(many) == pytest.approx(1.0, abs=0.02)


def test_settings_differ_as_the_code_differs_from_the_text() -> None:
    assert (TEXT.ndcg, CODE.ndcg) == (0, 1)
    assert (DESIGN.trees(TEXT).depth, DESIGN.trees(CODE).depth) == (0, 3)
    assert DESIGN.trees(TEXT, 3).smallest == 6
    assert DESIGN.after == (1, 5)
    assert {SUP, PI_OPT} <= {*TEXT.methods} & {*CODE.methods}
    full = LearningDesign.of(1.0, 4)
    assert (full.rounds, full.leaves, full.slates * 6_000 // 10_000) == (1_000, 70, 1_000)


def test_the_price_counts_trees_and_folds() -> None:
    made = queries(40)
    pages = Pages.of(made, 3)
    found = Experiment(pages, uniform_log(pages, 100, 0, quiet), DESIGN).price(FOLDS[:2])
    # text: LambdaMART, SUP, raw relevance, and PI-OPT for two rewards; code: SUP, and PI-OPT for two rewards
    assert found.startswith("2 folds, 8 rankers of 5 trees each: about ")


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="4 queries cannot be divided"):
        learning(DESIGN, queries(4), tmp_path, quiet)
    with pytest.raises(UsageError, match="every page earns nothing"):
        learning(DESIGN, judged(*[[0.0, 0.0]] * 5), tmp_path, quiet)
