"""Learn one CLAX model from the sessions of a file, and write its predictions of the held-out ones.

Run by real_clicks.py in an environment that has CLAX. Its own settings: AdamW, at most 50 epochs, early stopping
without patience on every tenth session of those to learn from; the learning rate is that of its README (.003) or of its
experiments (.01), whichever has the lower loss on those, in batches of 512. Seconds are those of the chosen one.

    python _real_clax.py LOG.npz FOUND.npz PositionBasedModel
"""

from __future__ import annotations

import inspect
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import clax
import numpy as np
from flax import nnx
from optax import adamw

BATCH = 512
RATES = (0.003, 0.01)
TEST_BATCH = 2000  # no last batch of one session, which CLAX cannot read


class Batches:
    """Batches of sessions, in a new order each time where there is a generator of random numbers."""

    def __init__(self, document: np.ndarray, clicks: np.ndarray, size: int, rng: np.random.Generator | None = None):
        self.document, self.clicks, self.size, self.rng = document, clicks, size, rng

    def __len__(self) -> int:
        return len(self.document) // self.size + (len(self.document) % self.size > 1)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        n, k = self.document.shape
        order = np.arange(n) if self.rng is None else self.rng.permutation(n)
        for at in range(len(self)):
            rows = order[at * self.size : (at + 1) * self.size]
            yield {
                "query_doc_ids": self.document[rows],
                "positions": np.tile(np.arange(1, k + 1), (len(rows), 1)),
                "clicks": self.clicks[rows],
                "mask": np.ones((len(rows), k), bool),
            }


def trained(make: Callable[..., Any], rate: float, learning: Batches, checking: Batches) -> tuple[float, float, Any]:
    """(loss on the sessions to check, CPU seconds, model)."""
    start = time.process_time()
    model = make(rngs=nnx.Rngs(42))
    clax.Trainer(optimizer=adamw(rate), epochs=50).train(model, learning, checking)
    seconds = time.process_time() - start
    return float(np.mean([model.compute_loss(batch).mean() for batch in checking])), seconds, model


def main(log: str, made: str, name: str) -> None:
    with np.load(log) as found:
        known, clicks, held, held_clicks = (found[part] for part in ("known", "known_clicks", "held", "held_clicks"))
    tenth = np.arange(len(known)) % 10 == 0
    learning = Batches(known[~tenth], clicks[~tenth], BATCH, np.random.default_rng(0))
    checking, test = Batches(known[tenth], clicks[tenth], TEST_BATCH), Batches(held, held_clicks, TEST_BATCH)
    sizes = {"query_doc_pairs": int(max(known.max(), held.max())) + 1, "positions": known.shape[1]}
    kind = getattr(clax, name) if name != "SDBN" else partial(clax.DynamicBayesianNetwork, fix_continuation=True)
    fixed = {"fix_continuation": True} if name == "SDBN" else {}
    kind = getattr(clax, "DynamicBayesianNetwork" if fixed else name)
    accepted = inspect.signature(kind.__init__).parameters
    make = partial(kind, **fixed, **{word: size for word, size in sizes.items() if word in accepted})
    tried = [trained(make, rate, learning, checking) for rate in RATES]
    _, seconds, model = min(tried, key=lambda one: one[0])
    before = [np.exp(np.asarray(model.predict_clicks(batch))) for batch in test]
    given = [np.exp(np.asarray(model.predict_conditional_clicks(batch))) for batch in test]
    np.savez(made, marginal=np.concatenate(before), conditional=np.concatenate(given), seconds=seconds)


if __name__ == "__main__":
    main(*sys.argv[1:4])
