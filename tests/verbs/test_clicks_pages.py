"""The pages of click models: what they hold, and that they fit on a phone."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import offrank
from offrank.clicks import load
from tests.cli.clicked import folder_of
from tests.report.conftest import chromium  # noqa: F401  a fixture
from tests.report.test_browser import framed, run

# One worker: what these tests share is made once.
pytestmark = pytest.mark.xdist_group("clicks pages")

LONG = "a very long name of a model that nobody would write <img src=x onerror=1>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory)


@pytest.fixture(scope="module")
def pages(folder: Path) -> dict[str, str]:
    models = {"dbn": folder / "dbn.json", LONG: folder / "pbm.json", "gctr": folder / "gctr.json"}
    judged = offrank.evaluate_clicks(folder / "test.parquet", models, other=folder / "other.parquet", labels="grade")
    logging = "plackett_luce(score, log=True)"
    selected = offrank.select_clicks(folder / "test.parquet", models, "grade", logging)
    harvested = offrank.harvest_clicks(folder / "train.parquet")
    return {
        "judged": judged.to_document().render(),
        "selected": selected.to_document().render(),
        "harvested": harvested.to_document().render(),
    }


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_what_was_judged(pages: dict[str, str], folder: Path) -> None:
    text = words(pages["judged"])
    for heading in (
        "What to know",
        "On this log",
        "Out of distribution",
        "Difference to dbn",
        "On this log: at each rank",
        "nDCG",
    ):
        assert heading in text
    assert "<img" not in pages["judged"]
    curve = load(folder / "pbm.json").examination()
    assert f"{curve[1]:.2f}"[:3] in text[text.index("Examination") :]


def test_what_was_chosen(pages: dict[str, str]) -> None:
    text = words(pages["selected"])
    assert "is the choice of top-4 cmip, top-4 ppl: ndcg" in text
    assert "but: " in text  # the doubts, on the page too
    assert "serious no-information Within every grade" in text  # its relevance is the same everywhere
    assert "warning few-documents" in text


def test_the_words_of_a_curve_are_its_numbers(folder: Path) -> None:
    made = offrank.harvest_clicks(folder / "train.parquet")
    word, numbers = made.option.split()
    assert word == "--examination"
    assert [float(number) for number in numbers.split(",")] == pytest.approx(made.found.curve.tolist(), rel=1e-3)
    assert made.option in str(made)
    assert made.to_dict()["option"] == made.option
    assert json.loads(made.to_json())["curve"] == pytest.approx(made.found.curve.tolist())


def test_a_curve_with_holes_has_no_words() -> None:
    # Items 1 and 2 change places; item 3 is always last.
    log = pa.table({"slate": [[1, 2, 3], [2, 1, 3]] * 60, "clicks": [[1, 0, 0], [1, 1, 1]] * 60})
    made = offrank.harvest_clicks(log)
    assert made.option == ""
    assert not made.trustworthy
    assert "has gaps" in str(made)
    assert made.to_dict()["curve"][2] is None
    assert "unlinked-ranks" in words(made.to_document().render())


def test_what_reading_left_out_is_told_everywhere(folder: Path) -> None:
    table = pq.read_table(folder / "test.parquet")
    broken = table.slice(0, 3).to_pylist()
    for row in broken:
        row["slate"] = [row["slate"][0]] * len(row["slate"])
    log = offrank.read_log(pa.concat_tables([table, pa.Table.from_pylist(broken, table.schema)]), invalid="skip")
    models = {name: folder / f"{name}.json" for name in ("dbn", "pbm")}
    judged = offrank.evaluate_clicks(log, models, other=log)
    for made in (judged, offrank.select_clicks(log, models, "grade"), offrank.harvest_clicks(log)):
        for told in (str(made), made.to_document().render()):
            assert "3 sessions were left out while reading: duplicate-item" in words(told)
    assert "3 sessions of the other log were left out" in words(judged.to_document().render())
    assert offrank.harvest_clicks(log).to_dict()["tally"]["skipped"] == {"duplicate-item": 3}


@pytest.mark.turns(3)
@pytest.mark.browser
@pytest.mark.slow
def test_the_pages_fit_on_a_phone(pages: dict[str, str], chromium: str, tmp_path: Path) -> None:  # noqa: F811
    dom = run(chromium, tmp_path, framed(*pages.values()), "--dump-dom")
    found = re.search(r'data-seen="([^"]*)"', dom)
    assert found is not None
    looks = json.loads(unescape(found.group(1)))
    assert len(looks) == 2 * len(pages)
    for seen in looks:
        assert seen["needed"] <= seen["width"]


def test_a_fitted_model_tells_how_well_it_fits(folder: Path, tmp_path: Path) -> None:
    """The log-likelihoods are those of `evaluate_clicks` and of click rates by rank, on the same sessions."""
    path = folder / "train.parquet"
    found = offrank.fit_clicks(path, "pbm", tmp_path / "pbm.json")
    judged = offrank.evaluate_clicks(path, {"rctr": offrank.clicks.RCTR().fit(path), "pbm": found.fitted}).here
    fit = found.fit
    assert fit is not None
    assert fit.sessions == judged["pbm"].sessions
    assert fit.log_likelihood.value == pytest.approx(judged["pbm"].log_likelihood.value, rel=1e-12)
    assert fit.by_rank.value == pytest.approx(judged["rctr"].log_likelihood.value, rel=1e-3)  # which has a prior
    assert fit.ahead.value == pytest.approx(fit.log_likelihood.value - fit.by_rank.value, rel=1e-9)
    assert found.to_dict()["fit"]["perplexity"]["value"] == pytest.approx(judged["pbm"].perplexity.value, rel=1e-12)
    section = found.to_document().sections[0]
    said, of_documents, _ = section.prose
    assert said.startswith("On the sessions that it was learnt from, its log-likelihood a session is ")
    assert "better than click rates by rank alone" in said
    shown = found.fitted.documents.shown
    assert shown is not None
    few, some = int((shown < 10).sum()), int((shown < 100).sum())
    assert of_documents.startswith(
        f"Of {len(shown):,} documents, {few:,} were shown fewer than 10 times and {some:,} fewer than 100 times;"
    )
    curve, views = section.charts
    (line,) = curve.series
    assert line.low is not None
    assert line.high is not None
    assert all(low < value < high for low, value, high in zip(line.low[1:], line.y[1:], line.high[1:], strict=True))
    (counted,) = views.series
    assert list(counted.y) == [(shown >= times).sum() for times in counted.x]
    drawn = found.to_document().render().partition("Examination by rank</title>")[2].partition("</svg>")[0]
    assert drawn.count('stroke-width="1.6"') >= 3 * len(line.x) - 2  # a line with two ends; rank 1 may have none


def test_the_fit_is_told_of_the_first_sessions_however_they_are_stored(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("offrank.clicks.evaluation.OF_FIT", 150)
    table = pq.read_table(folder / "train.parquet").slice(0, 400)
    fits = []
    for size in (400, 70):
        pq.write_table(table, tmp_path / f"{size}.parquet", row_group_size=size)
        found = offrank.fit_clicks(tmp_path / f"{size}.parquet", "pbm", tmp_path / f"{size}.json")
        fits.append(found.fit)
        assert "On the first 150 sessions that it was learnt from" in words(found.to_document().render())
    one, other = fits
    assert one is not None
    assert other is not None
    assert one.sessions == other.sessions == 150
    for number in ("log_likelihood", "by_rank", "ahead", "perplexity"):
        assert getattr(one, number).to_dict() == pytest.approx(getattr(other, number).to_dict(), rel=1e-12)
    stream = offrank.fit_clicks(offrank.read_log(iter([table])), "pbm", tmp_path / "stream.json")
    assert stream.fit is None  # it cannot be read again
    assert stream.to_document().sections[0].prose[0].startswith("Of ")


def test_sessions_that_a_model_cannot_explain_are_told(tmp_path: Path) -> None:
    rows = [
        {"query": "q", "slate": ["a", "b"], "clicks": [1, 1]},
        {"query": "q", "slate": ["b", "a"], "clicks": [0, 0]},
    ]
    found = offrank.fit_clicks(rows, "cascade", tmp_path / "cascade.json")
    section = found.to_document().sections[0]
    assert [one.title for one in section.charts] == ["Perplexity at each rank", "Documents shown at least so often"]
    said = section.prose[0]
    assert said == (
        "The model gives probability 0 to 1 session of the sessions that it was learnt from, which it cannot explain."
    )
