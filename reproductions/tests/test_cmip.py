"""The reproduction of CMIP at a size of seconds: its numbers by other ways, its page, and going on after a stop."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import offrank
from offrank import clicks
from offrank.cli import main
from offrank.errors import MissingExtraError, UsageError
from offrank.metrics.cmip_methods import Binned
from offrank.readers.svmlight import write_svmlight
from offrank.report.document import Document
from offrank.simulation.judged_queries import mslr_like
from offrank.simulation.source import SimulatedSource
from offrank_papers.cmip import Study, StudyDesign, made, resume, study
from offrank_papers.cmip.design import FIGURE, POLICIES, StudyQueries
from offrank_papers.cmip.study import perplexities
from offrank_papers.cmip_methods import Paper
from offrank_papers.expectations import Run
from offrank_papers.registry import REPRODUCTIONS, reproduce
from offrank_papers.simulated_users import page_policies

MICRO = StudyDesign(
    queries=30,
    judged=40,
    sessions=20,
    fewer=(),
    tests=40,
    runs=2,
    neural_runs=1,
    repetitions=2,
    models=("dctr", "pbm", "ubm"),
    neural=(),
    users=("pbm", "carousel"),
    documents=4,
    carousel_documents=6,
    trees=2,
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "PAPER", Paper((1, 1)))
    monkeypatch.setattr(study, "BINNED", Binned(replicates=4))
    monkeypatch.setattr(Binned, "worlds", 3)


@pytest.fixture(scope="module")
def queries() -> StudyQueries:
    return StudyQueries.of(MICRO, None, len)


def counting(monkeypatch: pytest.MonkeyPatch, most: int = 1000) -> list[Study]:
    """What is simulated from now on; what comes after `most` studies is interrupted."""
    done: list[Study] = []
    own = resume.studied

    def counted(queries: StudyQueries, study: Study, say: Callable[[str], object]) -> Any:
        if len(done) >= most:
            raise KeyboardInterrupt
        done.append(study)
        return own(queries, study, say)

    monkeypatch.setattr(resume, "studied", counted)
    monkeypatch.setattr(resume, "_WORKERS", 1)
    return done


@pytest.mark.turns(3)
def test_it_goes_on_where_it_was_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    design = replace(MICRO, users=("pbm",), logging=("noisy_oracle",), fewer=(5,))
    with monkeypatch.context() as patch:
        first = counting(patch, most=3)
        with pytest.raises(KeyboardInterrupt):
            made(design, None, tmp_path, len)
    (folder,) = tmp_path.iterdir()
    kept = {path.stem for path in folder.glob("*-*.json")}
    assert kept == {study.name for study in first}
    assert len(kept) == 3
    (folder / f"{first[0].name}.json").write_text("{")  # a file that somebody broke is made anew

    said: list[str] = []
    with monkeypatch.context() as patch:
        second = counting(patch)
        document = made(design, None, tmp_path, said.append)
    assert set(second) == set(design.studies()) - set(first[1:])
    assert any("2 of 5 studies stand in" in text for text in said)
    assert any("3 studies will take about" in text for text in said)
    assert sum("left" in text for text in said) == len(second)
    assert [path for path in folder.iterdir() if path.name.startswith(".")] == []

    with monkeypatch.context() as patch:
        third = counting(patch)
        assert made(design, None, tmp_path, len).render() == document.render()
        assert third == []
        more = replace(design, runs=3, fewer=(5, 2))
        patch.setattr(resume, "studied", lambda *_: {"models": {}})
        found = resume.all_studies(StudyQueries.of(more, None, len), tmp_path, len)
        new = {study for study, result in found.items() if result == {"models": {}}}
        assert new == set(more.studies()) - set(design.studies())  # more runs go on from fewer
        found = resume.all_studies(StudyQueries.of(replace(design, seed=5), None, len), tmp_path, len)
        assert set(map(len, found.values())) == {1}  # other settings: nothing of before is used
    assert len(list(tmp_path.iterdir())) == 2
    check_page(document)


def check_page(document: Document) -> None:
    headings = [section.heading for section in document.sections]
    assert [heading[-9:-1] for heading in headings[1:5]] == ["Figure 1", "Figure 2", "(Table 1", "(Table 2"]
    claims = [claim for section in document.sections for claim in section.claims]
    assert len(claims) == 24
    assert all(claim.evidence for claim in claims)
    assert "not a number" not in (page := document.render())
    assert "temperature 0" in page
    assert "NCM and CACM, which need JAX" in page
    by_sessions, measured = (section.tables[0] for section in document.sections[-2:])
    assert [row[0] for row in by_sessions.rows] == ["5, points", "5, draws", "20, points", "20, draws"]
    assert len(measured.rows) == len(MICRO.models)


def test_without_jax_the_neural_models_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking() -> None:
        raise MissingExtraError("needs JAX, which is missing", "pip install 'offrank[neural]'")

    page = importlib.import_module("offrank_papers.cmip.page")  # the package has a function of that name
    monkeypatch.setattr(page, "libraries", lacking)
    monkeypatch.setattr(page, "all_studies", lambda queries, *_: asked.append(queries.design) or {})
    monkeypatch.setattr(page, "_sections", lambda *_: iter(()))
    asked: list[StudyDesign] = []
    said: list[str] = []
    made(replace(MICRO, neural=("ncm",), users=("pbm",)), None, tmp_path, said.append)
    assert asked[0].names == MICRO.names
    assert "without ncm" in said[0]


def test_the_same_seed_is_the_same_study_in_any_order(queries: StudyQueries) -> None:
    study = Study("carousel", "lambdamart", 1)
    study = replace(study, sessions=20)
    one, again = resume.studied(queries, study, len), resume.studied(queries, study, len)
    assert one == again
    assert one != resume.studied(queries, replace(study, run=0), len)
    assert json.loads(json.dumps(one)) == one


def test_runs_share_what_the_oracle_believes(queries: StudyQueries) -> None:
    first, second = (queries.world(Study("pbm", "noisy_oracle", run)) for run in (0, 1))
    assert (first.scores["noisy_oracle"] == second.scores["noisy_oracle"]).all()
    noise = (first.scores["noisy_oracle"] - first.grade).ravel()
    assert noise.std() == pytest.approx(0.5**0.5, rel=0.2)
    assert queries.world(Study(FIGURE, "noisy_oracle", 0)).temperature == 1.0


def test_lambdamart_learns_from_more_queries_than_have_sessions(queries: StudyQueries) -> None:
    every = StudyQueries.of(replace(MICRO, queries=40, users=("pbm",)), None, len).of_user("pbm")
    some = queries.of_user("pbm")
    assert (len(some.judged), len(every.judged)) == (30, 40)
    place = np.searchsorted(every.judged.query, some.judged.query)
    assert (every.lambdamart[place] == some.lambdamart).all()
    assert (every.grade[place] == some.grade).all()


def test_the_published_code_has_one_ranking_per_query() -> None:
    queries = StudyQueries.of(replace(MICRO, preset="published-code", users=("pbm",)), None, len)
    first, second = (queries.world(Study("pbm", "noisy_oracle", run)) for run in (0, 1))
    assert (first.scores["noisy_oracle"] == second.scores["noisy_oracle"]).all()
    contexts = first.contexts(np.zeros(50, np.int64))
    for policy in POLICIES:
        shown = page_policies.test_policy(first, policy, "published-code").sample(contexts, np.random.default_rng(0))
        assert (shown == shown[0]).all()
    assert (page_policies.logging_relevance(first, "lambdamart", "published-code") == first.scores["lambdamart"]).all()


def test_perplexity_is_that_of_all_clicks_there_could_be(queries: StudyQueries) -> None:
    world = queries.world(Study("pbm", "noisy_oracle", 0))
    log = SimulatedSource(world, 300, world.policy("uniform"), 1)
    models = {"dbn": clicks.DBN().fit(log), "pbm": clicks.PBM().fit(log)}
    source = SimulatedSource(world, 25, world.policy("uniform"), 2)
    found = perplexities(models, world.user, source)
    examined, row = 1 / np.arange(1, 5), dict(zip(world.query.tolist(), range(len(world)), strict=True))
    for name, model in models.items():
        bits = np.zeros(4)
        for batch in source.select(model.needs()).batches(0):
            said = model.click_probs(batch.contexts, batch.slates)
            for query, slate, chances in zip(batch.contexts.keys["query"], batch.slates, said, strict=True):
                grade = world.grade[row[int(query)]][slate]
                truth = examined * (0.1 + 0.9 * (2**grade - 1) / (2 ** world.grade.max() - 1))
                for pattern in product((0, 1), repeat=4):
                    chance = np.prod([p if c else 1 - p for p, c in zip(truth, pattern, strict=True)])
                    bits += [-chance * log2(q if c else 1 - q) for q, c in zip(chances, pattern, strict=True)]
        assert found[name]["unconditional"] == pytest.approx(np.mean(2 ** (bits / 25)), rel=1e-9)
    assert found["pbm"]["conditional"] == pytest.approx(found["pbm"]["unconditional"], rel=1e-12)


@pytest.mark.parametrize("user", ["pbm", "carousel"])
def test_perplexity_is_what_drawn_clicks_tend_to(queries: StudyQueries, user: str) -> None:
    world = queries.world(Study(user, "noisy_oracle", 0))
    log = SimulatedSource(world, 3_000, world.policy("lambdamart"), 1)
    models = {"dbn": clicks.DBN().fit(log), "ubm": clicks.UBM().fit(log)}
    drawn = offrank.evaluate_clicks(log, models).here
    for name, one in perplexities(models, world.user, log).items():
        for how, other in (
            ("unconditional", drawn[name].perplexity),
            ("conditional", drawn[name].conditional_perplexity),
        ):
            assert one[how] == pytest.approx(other.value, abs=4 * other.standard_error)


def test_the_published_size_is_the_papers() -> None:
    full, small = StudyDesign.of(1.0, 4), StudyDesign.of(REPRODUCTIONS["cmip"].small, 4)
    assert (full.queries, full.judged, full.runs, full.neural_runs, full.repetitions) == (6_000, 6_000, 10, 10, 1_000)
    assert full.names == small.names == ("dctr", "rdctr", "pbm", "ubm", "dbn", "ncm", "cacm")
    assert full.sessions == small.sessions == round(5_000_000 / 5_888, -1)  # of each query, at every scale
    assert (full.trees, small.trees) == (100, 15)
    assert (small.queries, small.judged, small.runs, small.neural_runs) == (48, 1_500, 6, 3)
    studies = small.studies()
    assert len(studies) == len({study.name for study in studies}) == 1 + 4 * 2 * (6 * 3 + 3)
    assert sum(study.neural for study in studies) == 4 * 2 * 3
    assert 900 < small.seconds(studies) < 1_800  # 15 minutes on two cores
    assert full.seconds(full.studies()) > 86_400


def test_queries_of_ones_own(tmp_path: Path) -> None:
    judged = mslr_like(40, (5, 12), seed=1)
    write_svmlight(judged, tmp_path / "train.txt")
    few = replace(MICRO, users=("pbm",), judged=30)
    own = StudyQueries.of(few, tmp_path, len)
    assert own.data == f"30 queries of {tmp_path.name}"
    assert len(own.of_user("pbm").judged) == 30
    assert np.isin(own.of_user("pbm").judged.query, judged.query).all()
    same = StudyQueries.of(few, tmp_path / "train.txt", len)
    assert same.digest == own.digest != StudyQueries.of(replace(few, seed=9), tmp_path, len).digest


def test_sizes_have_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Run] = []

    def fake(run: Run) -> Document:
        asked.append(run)
        return Document("empty", "", ())

    for name in ("cmip", "interpol"):
        monkeypatch.setitem(REPRODUCTIONS, name, replace(REPRODUCTIONS[name], document=fake))
    for name, words in (("cmip", ["--scale", "small", "fold1"]), ("cmip", []), ("interpol", ["--scale", "small"])):
        done = CliRunner().invoke(main, ["reproduce", name, *words[2:], *words[:2], "-o", str(tmp_path / "made")])
        assert done.exit_code == 0, done.output
    assert [(one.scale, one.log) for one in asked] == [(0.008, "fold1"), (1.0, None), (0.1, None)]
    assert asked[0].folder == tmp_path / "made"
    for scale in ("huge", "-1", "nan", "inf"):
        with pytest.raises(UsageError, match="scale"):
            reproduce("interpol", tmp_path, scale=scale)
