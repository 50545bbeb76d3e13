"""CLAX on the logs of `click_features.py`, in CLAX's own environment: `python _clax_features.py linear FOLDER`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import numpy as np
import optax
from clax import Trainer
from clax.models import PositionBasedModel
from clax.parameters import DeepParameterConfig, LinearParameterConfig
from flax import nnx
from flax.training.early_stopping import EarlyStopping

BATCH = 512


class Loader:
    """Batches of sessions as CLAX reads them, in a new order each time where `shuffled`."""

    def __init__(self, x: np.ndarray, log: list[np.ndarray], *, shuffled: bool) -> None:
        self.x, self.log, self.rng = x, log, np.random.default_rng(0) if shuffled else None

    def __len__(self) -> int:
        return int(np.ceil(len(self.log[0]) / BATCH))

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        n = len(self.log[0])
        rows = np.arange(n) if self.rng is None else self.rng.permutation(n)
        for first in range(0, n, BATCH):
            query, order, clicks = (part[rows[first : first + BATCH]] for part in self.log)
            yield {
                "query_doc_features": self.x[query[:, None], order.astype(int)],
                "positions": np.tile(np.arange(1, order.shape[1] + 1), (len(query), 1)),
                "clicks": clicks.astype(np.float32),
                "mask": np.ones(order.shape, bool),
            }


def main(kind: str, folder: str) -> None:
    data = np.load(f"{folder}/logs.npz")
    logs = {
        name: [data[f"{name}_{part}"] for part in ("query", "order", "clicks")] for name in ("train", "same", "other")
    }
    x, (ranks, width) = data["x"], data["x"].shape[1:]
    held = np.random.default_rng(0).random(len(logs["train"][0])) < 0.1
    known, rest = ([part[rows] for part in logs["train"]] for rows in (~held, held))
    config = {"linear": LinearParameterConfig, "deep": DeepParameterConfig}[kind]
    # Features are standardised already; CLAX's LayerNorm over the features of one document loses their level.
    attraction = config(use_feature="query_doc_features", features=width, input_norm=None)
    model = PositionBasedModel(positions=ranks, attraction=attraction, rngs=nnx.Rngs(0))
    trainer = Trainer(optax.adamw(0.003), epochs=50, early_stopping=EarlyStopping(patience=1, min_delta=1e-5))
    start = time.process_time()
    trainer.train(model, Loader(x, known, shuffled=True), Loader(x, rest, shuffled=False))
    seconds = time.process_time() - start
    model.eval()
    predict = nnx.jit(lambda model, batch: model.predict_clicks(batch))
    found = {}
    for name in ("same", "other"):
        batches = Loader(x, logs[name], shuffled=False)
        found[name] = np.exp(np.concatenate([np.asarray(predict(model, batch)) for batch in batches]))
    np.savez(f"{folder}/found.npz", **found)
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
