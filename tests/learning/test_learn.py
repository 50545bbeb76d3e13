"""The job: thirds, the file, its judgement, the command line, and a real log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.errors import UsageError
from offrank.learning import Split
from offrank.log.source import needs
from offrank.policies.splits import PARTS, By, OneSlot
from tests.learning.worlds import WORLD, source

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "criteo-nips17" / "criteo_first2000.txt.gz"


@pytest.mark.parametrize("by", ["turn", "hash"])
def test_thirds_share_no_row_and_leave_none_out(by: By) -> None:
    chosen = source().select(needs("clicks"))
    rows = []
    for part in PARTS:
        third = Split(chosen, part, by)
        rows.append(np.concatenate([b.row for p in range(third.parts()) for b in third.batches(p)]))
        assert len(rows[-1]) == pytest.approx(WORLD.impressions / 3, rel=0.05)
    assert sorted(np.concatenate(rows)) == list(range(WORLD.impressions))
    if by == "turn":
        assert list(rows[1][:3]) == [1, 4, 7]


def test_one_slot_leaves_the_others_out() -> None:
    rows = [{"slate": [1, 2], "clicks": [0, 1]}, {"slate": [3], "clicks": [1]}]
    (batch,) = OneSlot(offrank.read_log(rows)).batches(0)
    assert batch.row.tolist() == [1]
    assert batch.slates.shape == (1, 1)


@pytest.mark.turns(3)
@pytest.mark.parametrize("criterion", ["snips", "lower"])
def test_learnt_policy_is_judged_on_the_test_third(tmp_path: Path, criterion: str) -> None:
    path = tmp_path / "policy.npz"
    made = offrank.learn(source(), "regression", path, criterion=criterion, bits=12, epochs=2)
    again = offrank.evaluate(Split(source(), "test"), f"linear({str(path)!r}, greedy=True)")
    assert made.greedy
    assert made.tested is not None
    assert made.tested["sorted", "ips"].value == pytest.approx(again["ips"].value, rel=1e-12)
    worths = [one.worth(criterion) for one in made.tried]
    assert worths == sorted(worths, reverse=True)
    assert made.policy.model.facts["method"] == "regression"
    assert f"{made.ignored} of {made.features} features have the same value" in str(made)
    assert not list(tmp_path.glob(".learning*"))


def ranked(rows: int, earns: list[float], seed: int = 0) -> list[dict[str, object]]:
    """Uniform slates of one of four items, each known by its feature, that are clicked as often as `earns` says."""
    rng = np.random.default_rng(seed)
    shown, luck = rng.integers(0, 4, rows), rng.random(rows)
    features = [[item] for item in range(4)]
    known = {"candidates": [0, 1, 2, 3], "features": features, "propensity": 0.25}
    return [{"slate": [int(i)], "clicks": [float(u < earns[i])], **known} for i, u in zip(shown, luck, strict=True)]


HEADLINES = {
    "better": (1_500, [0.1, 0.1, 0.1, 0.5], True, "Better than the logged policy with probability 0.95: +0."),
    "no better": (1_500, [0.2] * 4, False, "Do not ship: not shown to be better than the logged policy"),
    "too few": (90, [0.1, 0.1, 0.1, 0.5], False, "Do not ship: the held-out last third cannot tell"),
}


@pytest.mark.parametrize("case", HEADLINES)
def test_the_headline_says_whether_to_ship(tmp_path: Path, case: str) -> None:
    rows, earns, better, words = HEADLINES[case]
    made = offrank.learn(ranked(rows, earns), "regression", tmp_path / "p.npz", bits=4, epochs=1)
    assert made.tested is not None
    assert made.release is not None
    assert made.better is made.usable is made.release.released is better
    assert words in made.headline
    assert made.headline in " ".join(str(made).split())
    assert json.loads(made.to_json())["release"]["released"] is better
    away = made.release.difference
    if away is not None:
        one_sided = made.tested.at(0.9)["sorted", str(made.release.estimator)].difference
        assert one_sided is not None
        assert away.low == one_sided.low
        assert f"{away.value:+.2f} per impression" in made.headline


def test_the_headline_of_a_worse_policy_and_of_one_that_was_not_judged(tmp_path: Path) -> None:
    """The logging policy mostly shows the best item, and `random` does not."""
    log = [{**row, "propensity": 0.7 if row["slate"] == [3] else 0.1} for row in ranked(9_000, [0.1, 0.1, 0.1, 0.5])]
    kept = [row for i, row in enumerate(log) if row["slate"] == [3] or i % 7 == 0]
    worse = offrank.learn(kept, "random", tmp_path / "p.npz", bits=4)
    assert worse.better is False
    assert worse.headline.startswith("Do not ship: worse than the logged policy with probability 0.95: -0.")
    worse.save_html(tmp_path / "p.html")
    page = re.sub(r"</?abbr[^>]*>", "", (tmp_path / "p.html").read_text())
    assert worse.headline[:20] in page
    assert "Candidates on the validation third" in page
    unjudged = offrank.learn(log, "random", tmp_path / "p.npz", bits=4, test=False)
    assert unjudged.better is unjudged.release is None
    assert unjudged.usable
    assert "Not evaluated" in str(unjudged)
    with pytest.raises(UsageError, match=r"confidence is 0\.4"):
        offrank.learn(log, "random", tmp_path / "p.npz", confidence=0.4)


@pytest.mark.turns(3)
def test_command(tmp_path: Path) -> None:
    log, path = tmp_path / "log.parquet", tmp_path / "policy.npz"
    pq.write_table(pa.concat_tables(WORLD.tables()), log)
    found = CliRunner().invoke(
        main, ["learn", str(log), "--method", "ips", "-o", str(path), "--bits", "12", "--epochs", "1"]
    )
    assert found.exit_code == 0, found.output
    assert "validation third" in found.output
    printed = " ".join(found.output.split())
    assert "than the logged policy" in printed
    assert "without effect: --interactions crosses them" in printed
    command = ["evaluate", str(log), "--target", f"linear({str(path)!r})", "-e", "snips"]
    judged = CliRunner().invoke(main, command)
    assert judged.exit_code == 0, judged.output
    given = ["learn", str(log), "--method", "random", "-o", str(path), "--bits", "12", "--strict", "--json", "-"]
    refused = CliRunner().invoke(main, given)
    assert refused.exit_code == 3
    assert '"released": false' in refused.stdout


def test_arguments_that_cannot_work(tmp_path: Path) -> None:
    wrong = {"criterion": "luck", "split": "half", "bits": 99, "confidence": 2, "epochs": 0}
    for name, value in wrong.items():
        with pytest.raises(UsageError, match=name):
            offrank.learn(source(), "ips", tmp_path / "p.npz", **{name: value})
    for path in (tmp_path / "p.txt", tmp_path / "absent" / "p.npz"):
        with pytest.raises(UsageError):
            offrank.learn(source(), "ips", path)
    rows = [{"slate": [1], "clicks": [1], "candidates": [1, 2], "propensity": 0.5}] * 9
    with pytest.raises(offrank.OffrankError, match="features"):
        offrank.learn(rows, "ips", tmp_path / "p.npz")


@pytest.mark.skipif(not REAL.exists(), reason="the Criteo sample is not beside the repository")
def test_real_log_says_how_little_it_can_tell(tmp_path: Path) -> None:
    log = offrank.read_log(REAL, format="criteo")
    random = offrank.learn(log, "random", tmp_path / "random.npz", bits=18)
    assert random.tested is not None
    whole = offrank.evaluate(log, {"learnt": random.policy, "uniform": "uniform"})
    assert whole["learnt", "ips"].value == pytest.approx(whole["uniform", "ips"].value)
    assert whole["learnt", "ips"].mean_weight == pytest.approx(whole["uniform", "ips"].mean_weight)
    assert whole["learnt", "ips"].ess < 200
    found = offrank.learn(log, "regression", tmp_path / "policy.npz", bits=18, epochs=2)
    assert found.tested is not None
    assert found.tested["sorted", "snips"].ess < 300
