"""Table 5 in small: every method drawn and sorted, estimates beside the truth, the published interval as such."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import pytest

import offrank
from offrank.errors import UsageError
from offrank_papers import criteo_learning
from offrank_papers.adverts import AdvertWorld


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer methods."""
    monkeypatch.setattr(criteo_learning, "LEARNT", ("regression", "ips"))
    monkeypatch.setattr(criteo_learning, "CLAIMED", (("regression", "sorted"), ("ips", "sorted")))


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "table-1-1.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.turns(3)
def test_simulated_log(tmp_path: Path, quick: None) -> None:
    made = offrank.reproduce("criteo-learning", tmp_path, scale=0.03)
    rows = {row["policy"]: row for row in table(tmp_path)}
    assert set(rows) == {"random", "logger", *(f"{m}, {u}" for m in ("regression", "ips") for u in ("drawn", "sorted"))}
    assert float(rows["logger"]["mean weight"]) == pytest.approx(1)
    for row in rows.values():
        assert float(row["truth"]) > 0
        assert float(row["± of SNIPS, as in the paper"]) < float(row["effective sample"])
    learnt, intervals = made.document.sections
    assert any("earns more than regression" in claim.text for claim in learnt.claims)
    (claim,) = intervals.claims
    found = re.search(r"truth (\d+) % of the time, .* (\d+) %\.", claim.evidence)
    assert found is not None
    delta, published = map(int, found.groups())
    assert delta > 75  # 60 rows a log: a few clicks each
    assert published < 40
    assert claim.status == "not confirmed"


@pytest.mark.turns(3)
def test_published_interval_is_the_square_root_of_the_rows_too_narrow(tmp_path: Path, quick: None) -> None:
    world = AdvertWorld(3_000, seed=2, contexts=600)
    made = offrank.reproduce("criteo-learning", tmp_path, log=world.source())
    first = table(tmp_path)[0]
    ratio = float(first["± of SNIPS"]) / float(first["± of SNIPS, as in the paper"])
    one_slot = 3_000 * 203 / 975  # the paper's traffic, roughly: the rest has more slots
    assert math.isclose(ratio**2, one_slot / 3, rel_tol=0.2)
    assert len(made.document.sections) == 1  # the truth of a user's log is not known
    assert "truth" not in first
    assert "verdict" not in first  # nor is it the published log
    assert float(first["IPS, published"]) == 44.676


def test_other_papers_take_no_log(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes no log"):
        offrank.reproduce("interpol", tmp_path, log=[])
