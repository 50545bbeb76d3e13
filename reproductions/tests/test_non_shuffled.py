"""The reproduction at a small scale: its files, its claims, and the same again for the same seed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.errors import UsageError
from offrank.report.document import Claim, Document, Section
from offrank_papers.banners import BannerWorld
from offrank_papers.registry import REPRODUCTIONS, Reproduction, reproduce

SOURCE = Path(__file__).parents[1] / "src"
SMALL = BannerWorld(6_000, slots=(3, 4), candidates=6, models=4, queries=50)


@pytest.mark.turns(3, SOURCE)
@pytest.mark.slow
def test_the_papers_main_claims_hold(tmp_path: Path) -> None:
    made = reproduce("non-shuffled", tmp_path, scale=0.1)
    claims = {claim.text: claim for section in made.document.sections for claim in section.claims}
    assert len(claims) == 9
    assert [text for text, claim in claims.items() if claim.status != claim.recorded] == []
    assert any("Correlation 0.9" in claim.evidence for claim in claims.values() if claim.status == "new")
    names = {path.name for path in tmp_path.iterdir()}
    assert {"index.html", "result.json", "figure-2-1.svg", "figure-2-2.svg", "table-2-1.csv"} <= names
    page = made.page.read_text(encoding="utf-8")
    assert "<script" not in page
    assert all(claim.split(" ")[0] in page for claim in claims)
    assert str(made.page) in str(made)


def test_a_reproduction_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claims = (
        Claim("It rains.", "confirmed", "Seen " + 11 * "often "),
        Claim("It snows.", "not confirmed", "Not seen."),
    )
    document = Document(
        "A title & more", "lead", (Section("Weather", ("Prose.",), claims), Section("Nothing", ("More.",)))
    )
    monkeypatch.setitem(REPRODUCTIONS, "empty", Reproduction(lambda _: document))
    done = CliRunner().invoke(main, ["reproduce", "empty", "-o", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    told = [
        "[confirmed] It rains. Seen " + 8 * "often " + "often",
        "often often",
        "[not confirmed] It snows. Not seen.",
    ]
    answer, page = ["1 of 2 claims of the paper are confirmed."], f"The page: {tmp_path / 'new' / 'index.html'}"
    assert done.output.splitlines() == ["A title & more", "", *answer, "", "Weather", *told, "", page]
    assert "A title &amp; more" in (tmp_path / "new" / "index.html").read_text()
    assert json.loads((tmp_path / "new" / "result.json").read_text())["title"] == "A title & more"


def test_what_cannot_be_reproduced_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="non-shuffled"):
        reproduce("nothing", tmp_path)
    with pytest.raises(UsageError, match="scale"):
        reproduce("non-shuffled", tmp_path, scale=0)


def test_the_world_is_the_same_whenever_it_is_read() -> None:
    for part in range(SMALL.parts()):
        one, again = (next(iter(SMALL.batches(part))) for _ in range(2))
        assert (one.slates == again.slates).all()
        assert (one.clicks == again.clicks).all()


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_world_keeps_its_word(shuffled: bool) -> None:
    world = BannerWorld(40_000, slots=(3,), candidates=4, models=1, queries=3, shuffled=shuffled, randomness=0.5)
    batches = [batch for part in range(world.parts()) for batch in world.batches(part)]
    clicks = np.concatenate([batch.clicks for batch in batches])
    assert (clicks.sum(axis=1) <= 1).all()
    slates = np.concatenate([batch.slates for batch in batches])
    query = np.concatenate([batch.contexts.keys["query"] for batch in batches])
    expected = np.take_along_axis(world.relevance[query], slates, axis=1) * world.examination(3)
    errors = np.sqrt(expected.mean(axis=0) / len(expected))
    assert (np.abs(clicks.mean(axis=0) - expected.mean(axis=0)) < 4 * errors).all()
    # The strongest candidate of a shown slate is on top a third of the time only where slates are shuffled.
    weights = np.take_along_axis(world.scores["old_score"][query], slates, axis=1)
    on_top = (weights.argmax(axis=1) == 0).mean()
    assert (abs(on_top - 1 / 3) < 0.01) == shuffled


def test_models_are_measured_the_same_on_any_partition() -> None:
    names = ["pairwise_disagreement", "counterfactual_disagreement(draws=2)"]
    found = offrank.measure(SMALL, SMALL.model_names, SMALL.logging, names)
    again = offrank.measure(SMALL, SMALL.model_names[::-1], SMALL.logging, names[::-1])
    for key, one in found.items():
        assert one.value == pytest.approx(again[key].value, rel=1e-12)
