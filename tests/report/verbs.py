"""One page of each further verb, of a small simulated log: what `test_layout` measures beside the pages of `sample`."""

from __future__ import annotations

import contextlib
import tempfile
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq

import offrank
from offrank.report.document import Document
from offrank_lab import plan
from offrank_papers.adverts import AdvertWorld

NAMES = (
    *("inspect", "fit", "harvest", "evaluate clicks", "judge", "predict", "select clicks"),
    *("select", "measure", "plan", "learn"),
)
LOG = "world.parquet"


@cache
def every() -> dict[str, Document]:
    """The documents by name; files have short names, since pages show them."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        drawn = offrank.simulate(LOG, sessions=2_000, queries=20).logging
        adverts = AdvertWorld(6_000, slots=1)
        pq.write_table(pa.concat_tables(adverts.tables()), "adverts.parquet")
        fits = [offrank.fit_clicks(LOG, model, f"{model}.json") for model in ("pbm", "dbn")]
        models = ["pbm.json", "dbn.json"]
        found = (
            offrank.inspect(LOG),
            fits[0],
            offrank.harvest_clicks(LOG),
            offrank.evaluate_clicks(LOG, models),
            offrank.judge_clicks("pbm.json", "judged.parquet"),
            offrank.predict_clicks(LOG, "pbm.json", "predicted.parquet"),
            offrank.select_clicks(LOG, models, "grade"),
            offrank.select_estimators(LOG, "uniform", drawn),
            offrank.measure(LOG, ["noisy_oracle", "uniform"], drawn),
            plan(LOG, "top(noisy_oracle)", "top(grade)", impressions_a_day=10_000),
            offrank.learn("adverts.parquet", "regression", "policy.npz", epochs=2, bits=12),
        )
        return {name: one.to_document() for name, one in zip(NAMES, found, strict=True)}
