"""Measuring a log: conventions, groups, doubts, cautions, the report and the command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import offrank
from offrank import metrics
from offrank.cli import main
from offrank.errors import ColumnError, EmptyLogError, NoOverlapError, UsageError

ROWS = [
    {"slate": [1, 2, 3], "clicks": [1, 0, 0], "score": [3.0, 2.0, 1.0], "other": [1.0, 2.0, 3.0], "page": "a"},
    {"slate": [1, 2, 3], "clicks": [0, 0, 1], "score": [3.0, 2.0, 1.0], "other": [1.0, 1.0, 1.0], "page": "b"},
    {"slate": [4, 5], "clicks": [1, 1], "score": [1.0, 2.0], "other": [1.0, 2.0], "page": "b"},
    {"slate": [4, 5], "clicks": [0, 0], "score": [1.0, 2.0], "other": [1.0, 2.0], "page": "a"},
]


def value(**options: object) -> float:
    return metrics.pairwise_disagreement(ROWS, "score", **options)["score"].value


def test_several_clicks_by_hand() -> None:
    # Slates 1 and 2 disagree with 0 and 2 of 2 pairs; of slate 3 both clicked items are compared with each other.
    assert value() == pytest.approx((0 + 1 + (1 + 0)) / 4)
    assert value(several="unclicked") == pytest.approx((0 + 1) / 2)
    assert value(several="single") == pytest.approx((0 + 1) / 2)


def test_what_is_rejected_is_counted() -> None:
    assert metrics.pairwise_disagreement(ROWS, "score")["score"].rejected == 0
    assert metrics.pairwise_disagreement(ROWS, "score", several="single")["score"].rejected == pytest.approx(2 / 4)
    # Under shuffling the clicked item stays with probability 1 / l.
    found = metrics.counterfactual_disagreement(ROWS, "score", "uniform")["score"]
    assert found.rejected == pytest.approx((1 / 3 + 1 / 3 + 2 / 2) / 4)
    assert found.clicks == 4
    assert found.impressions == 3


def test_inclusion_weighs_rows() -> None:
    rows = [{**row, "inclusion": share} for row, share in zip(ROWS, (0.5, 1.0, 1.0, 1.0), strict=True)]
    assert metrics.pairwise_disagreement(rows, "score")["score"].value == pytest.approx((0 + 1 + 1) / (2 + 1 + 2))


def test_groups_and_models_in_one_pass() -> None:
    found = offrank.measure(ROWS, ["score", "other"], "uniform", ["pairwise_disagreement"], by="page")
    assert found["other"].value == pytest.approx((1 + 0.5 + 1) / 4)
    assert found["other"].difference.value == pytest.approx((1 + 0.5 + 1) / 4 - 2 / 4)
    assert found.groups["a"]["score", "pairwise_disagreement"].value == 0
    assert found.groups["b"]["score", "pairwise_disagreement"].value == pytest.approx(2 / 3)
    assert found.models == ["score", "other"]


@pytest.fixture(scope="module")
def log() -> list[dict]:
    """800 shuffled slates of four with one click each, independent of both scores."""
    rng = np.random.default_rng(11)
    scores = rng.normal(size=(800, 2, 4))
    clicks = np.eye(4, dtype=int)[rng.integers(4, size=800)]
    return [
        {"slate": [1, 2, 3, 4], "clicks": click.tolist(), "one": one.tolist(), "two": two.tolist(), "day": row // 8}
        for row, (click, (one, two)) in enumerate(zip(clicks, scores, strict=True))
    ]


def test_the_interval_is_that_of_a_mean(log: list[dict]) -> None:
    found = metrics.pairwise_disagreement(log, "one", logging="uniform")["one"]
    each = [np.mean([s > row["one"][np.argmax(row["clicks"])] for s in row["one"]]) * 4 / 3 for row in log]
    assert found.value == pytest.approx(np.mean(each))
    assert found.standard_error == pytest.approx(np.std(each, ddof=1) / math.sqrt(800), rel=1e-6)
    assert found.ess == pytest.approx(800)


def test_every_interval_holds_the_truth_and_differences_are_paired(log: list[dict]) -> None:
    for options in ({}, {"interval": "bootstrap"}, {"interval": "bernstein"}, {"cluster": "day"}):
        found = metrics.counterfactual_disagreement(log, ["one", "two"], "uniform", confidence=0.99, **options)
        assert found["one"].low < 0.5 < found["one"].high
        assert found["two"].difference.low < 0 < found["two"].difference.high


def test_cautions() -> None:
    found = offrank.measure(ROWS, "score", "uniform", ["pairwise_disagreement"])["score"]
    assert [caution.code for caution in found.warnings] == ["few-comparisons"]
    assert not found.trustworthy
    other = offrank.measure(ROWS, "score", metrics=["pairwise_disagreement"])["score"]
    assert "position-bias" in [caution.code for caution in other.warnings]


def test_the_report_says_the_same_everywhere(tmp_path: Path, log: list[dict]) -> None:
    found = offrank.measure(log, ["one", "two"], "uniform", ["counterfactual_disagreement", "pairwise_loss"])
    document = json.loads(found.to_json(tmp_path / "metrics.json"))
    assert document == json.loads((tmp_path / "metrics.json").read_text())
    assert [row["value"] for row in document["metrics"]] == [one.value for one in found.estimates.values()]
    assert f"{found['two', 'pairwise_loss'].value:.2f}" in str(found)
    found.save_html(tmp_path / "metrics.html")
    page = (tmp_path / "metrics.html").read_text()
    assert "counterfactual_disagreement" in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_command(tmp_path: Path, log: list[dict]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = str(tmp_path / "log.parquet")
    pq.write_table(pa.Table.from_pylist(log), path)
    words = ["measure", path, "--score", "one", "--score", "two", "--logging", "uniform", "-m"]
    words.append("banner_disagreement,counterfactual_loss(form=hinge, several=single)")
    done = CliRunner().invoke(main, [*words, "--json", str(tmp_path / "out.json")])
    assert done.exit_code == 0, done.output
    assert "banner_disagreement" in done.output
    assert len(json.loads((tmp_path / "out.json").read_text())["metrics"]) == 4
    assert CliRunner().invoke(main, ["measure", path, "--score", "three", "--logging", "uniform"]).exit_code == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"score": "nothing"}, ColumnError),
        ({"score": []}, UsageError),
        ({"score": "score", "confidence": 2}, UsageError),
        ({"score": "score", "interval": "exact"}, UsageError),
        ({"score": "score", "replicates": 2}, UsageError),
        ({"score": "score", "interval": "bernstein", "cluster": "page"}, UsageError),
    ],
)
def test_what_cannot_work_is_refused(options: dict, error: type[Exception]) -> None:
    with pytest.raises(error):
        offrank.measure(ROWS, logging="uniform", **options)


def test_a_log_without_clicks_is_refused() -> None:
    with pytest.raises(NoOverlapError, match="no impression has a click"):
        metrics.counterfactual_disagreement(ROWS[3:], "score", "uniform")
    with pytest.raises(EmptyLogError):
        metrics.counterfactual_disagreement([], "score", "uniform")


def test_a_mapping_holds_what_the_log_can_give(tmp_path: Path) -> None:
    # Slates of one item have nothing to compare the click with: `single` takes these alone.
    rows = [*ROWS[2:], {"slate": [9], "clicks": [1], "score": [1.0], "other": [1.0], "page": "a"}]
    names = ["pairwise_disagreement", "pairwise_disagreement(several=single)"]
    for found in (offrank.measure(rows, "score", "uniform", names), offrank.measure(rows, "score", "uniform", names)):
        assert list(found) == [key for key, _ in found.items()] == [("score", names[0])]
        assert len(found) == 1
        assert dict(found)["score", names[0]] is found[names[0]]
        assert names[1] not in found
        assert found.get(names[1]) is None
        with pytest.raises(NoOverlapError):
            found[names[1]]


def test_asking_for_what_is_not_there_names_what_is() -> None:
    found = offrank.measure(ROWS, ["score", "other"], "uniform", ["pairwise_disagreement", "pairwise_loss"])
    with pytest.raises(KeyError, match="several"):
        found["score"]
    with pytest.raises(KeyError, match="none"):
        found["nothing"]
    assert len(found) == len(list(found)) == 4
