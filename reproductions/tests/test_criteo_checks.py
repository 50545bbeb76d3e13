"""Tables 1 to 4 of the test-bed: the numbers, by other ways; and that the page has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import offrank
from offrank import EpsilonUniform
from offrank.errors import UsageError
from offrank.policies.logged_probabilities import Logged
from offrank.running.executors import run
from offrank_papers import criteo_checks
from offrank_papers.adverts import AdvertWorld
from offrank_papers.mixtures import EPSILONS, Mixtures, MixturesFold
from offrank_testing import check_fold

WORLD = AdvertWorld(impressions=4_000, contexts=300, seed=5, slots=(1, 3))
FOLD = MixturesFold(Logged())


@pytest.fixture(scope="module")
def found() -> dict[int, Mixtures]:
    return run(WORLD.source().select(FOLD.needs()), FOLD)


@pytest.mark.parametrize("epsilon", [2**-4, 0.5, 1.0])
@pytest.mark.parametrize("estimator", ["ips", "snips"])
def test_every_epsilon_follows_from_the_moments(found: dict[int, Mixtures], epsilon: float, estimator: str) -> None:
    logging = WORLD.logging  # logged propensities are its own
    target = EpsilonUniform(logging, epsilon)
    result = offrank.evaluate(WORLD.source(), target, logging, estimator, by="slots", confidence=0.99, cluster=None)
    for slots, one in found.items():
        made, other = one.at(epsilon), result.groups[str(slots)][repr(target), estimator]
        mine = made.plain if estimator == "ips" else made.normalised
        assert (mine.value, mine.low, mine.high) == pytest.approx((other.value, other.low, other.high), rel=1e-9)
        assert made.mean_weight.value == pytest.approx(other.mean_weight, rel=1e-9)


def test_table_1(found: dict[int, Mixtures]) -> None:
    table = WORLD.table(4_000, 0)
    slots, inverse = table["slots"].to_numpy(), 1 / table["propensity"].to_numpy()
    for number, one in found.items():
        rows = slots == number
        h = 1 / table["inclusion"].to_numpy()[rows]
        sizes = np.array([len(items) for items in table["candidates"].to_pylist()])[rows]
        slates = np.prod([sizes - j for j in range(number)], axis=0)
        assert one.impressions == rows.sum()
        assert one.estimated_impressions == pytest.approx(h.sum())
        assert one.mean_inverse_propensity == pytest.approx(inverse[rows].mean())
        assert one.corrected_inverse_propensity == pytest.approx(h @ inverse[rows] / h.sum())
        assert one.mean_slates == pytest.approx(h @ slates / h.sum())
        assert one.largest_inverse_propensity == pytest.approx(inverse[rows].max())


def test_any_partition_and_order_gives_the_same() -> None:
    check_fold(FOLD, next(WORLD.source().select(FOLD.needs()).batches(0)), np.random.default_rng(7))


def test_no_epsilon_is_the_log_itself(found: dict[int, Mixtures]) -> None:
    for one in found.values():
        same = one.at(0.0)
        assert same.mean_weight.value == pytest.approx(1)
        assert same.mean_weight.high - same.mean_weight.low == pytest.approx(0, abs=1e-9)
        assert same.plain.value == pytest.approx(same.normalised.value)
        assert same.trustworthy


def test_heavy_weights_are_warned_of_where_they_count() -> None:
    world = AdvertWorld(impressions=4_000, contexts=200, slots=6, sharpness=2.5)
    one = run(world.source().select(FOLD.needs()), FOLD)[6]
    assert not one.at(1.0).trustworthy
    assert one.at(2.0**-10).trustworthy


@pytest.mark.turns(3)
def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(criteo_checks, "_LOGS", 4)
    made = offrank.reproduce("criteo-checks", tmp_path / "made", scale=0.01)
    headings = [section.heading for section in made.document.sections]
    assert headings[0] == "Propensities (Table 1)"
    assert [heading.split(":")[0] for heading in headings[-6:]] == [
        "1 slot",
        *(f"{slots} slots" for slots in range(2, 7)),
    ]
    tables = made.document.sections[-1].tables[0]
    assert len(tables.rows) == len(EPSILONS) == 12
    assert (tables.rows[0][0], tables.rows[1][0], tables.rows[-1][0]) == ("6, 0", "6, 2^-10", "6, 1")
    assert "verdict" not in tables.header  # a simulated log is not the published one
    assert "mean weight" in made.page.read_text(encoding="utf-8")


def test_the_published_log_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(criteo_checks, "same_size", lambda *_: True)
    made = offrank.reproduce("criteo-checks", tmp_path, log=WORLD.source())
    first, *_, last = made.document.sections
    assert first.prose[-1].endswith(": 1, 3.")
    assert first.tables[0].header[-1] == last.tables[0].header[-1] == "verdict"
    assert first.tables[0].rows[0][-1] == "not confirmed"  # 4,000 impressions are not 21 million
    assert {row[-1] for row in last.tables[0].rows} <= {"confirmed", "in part", "not confirmed"}


def test_a_log_of_ones_own(tmp_path: Path) -> None:
    WORLD.write_text(tmp_path / "log.txt")
    log = offrank.read_log(tmp_path / "log.txt", format="criteo_paper")
    made = offrank.reproduce("criteo-checks", tmp_path / "made", log=log)
    assert [section.heading[:7] for section in made.document.sections][2:] == ["1 slot:", "3 slots"]
    assert "truth" not in made.document.sections[-1].tables[0].header
    with pytest.raises(UsageError, match="takes no log"):
        offrank.reproduce("interpol", tmp_path / "made", log=log)


def test_the_real_one_slot_log(tmp_path: Path, shared_data: Path) -> None:
    text = offrank.read_log(shared_data / "criteo-nips17" / "criteo_first2000.txt.gz", format="criteo")
    assert offrank.convert(text, tmp_path / "log.parquet").rows == 2000
    for log in (text, offrank.read_log(tmp_path / "log.parquet")):
        one = run(log.select(FOLD.needs()), FOLD)[1]
        assert one.mean_slates == pytest.approx(12.44, abs=0.01)
        assert one.at(1.0).mean_weight.value == pytest.approx(0.816, abs=1e-3)  # .98 on the whole log; see tests/real
        assert one.at(1.0).ess < 200
        assert {caution.code for caution in one.at(1.0).cautions} == {"heavy-tail", "few-rewards"}
