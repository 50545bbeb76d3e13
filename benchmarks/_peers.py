"""Learn one model of CLAX or PyClick from the sessions of a file, and write its predictions of the held-out ones.

Run by real_clicks.py in an environment that has CLAX; PyClick (GPL-3) is a checkout of the user's own. CLAX with its
own settings: AdamW, at most 50 epochs, early stopping without patience on every tenth session of those to learn from;
the learning rate is that of its README (.003) or of its experiments (.01), whichever has the lower loss on those, in
batches of 512. Seconds are those of the chosen one.

    python _peers.py clax LOG.npz FOUND.npz PositionBasedModel
    python _peers.py pyclick LOG.npz FOUND.npz PBM path/to/PyClick
"""

from __future__ import annotations

import importlib
import inspect
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

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


def of_clax(log: str, made: str, name: str) -> None:
    clax, nnx, optax = (importlib.import_module(one) for one in ("clax", "flax.nnx", "optax"))
    with np.load(log) as found:
        known, clicks, held, held_clicks = (found[part] for part in ("known", "known_clicks", "held", "held_clicks"))
    tenth = np.arange(len(known)) % 10 == 0
    learning = Batches(known[~tenth], clicks[~tenth], BATCH, np.random.default_rng(0))
    checking, test = Batches(known[tenth], clicks[tenth], TEST_BATCH), Batches(held, held_clicks, TEST_BATCH)
    sizes = {"query_doc_pairs": int(max(known.max(), held.max())) + 1, "positions": known.shape[1]}
    fixed = {"fix_continuation": True} if name == "SDBN" else {}
    kind = getattr(clax, "DynamicBayesianNetwork" if fixed else name)
    accepted = inspect.signature(kind.__init__).parameters
    make = partial(kind, **fixed, **{word: size for word, size in sizes.items() if word in accepted})

    def trained(rate: float) -> tuple[float, float, Any]:
        """(loss on the sessions to check, CPU seconds, model)."""
        start, model = time.process_time(), make(rngs=nnx.Rngs(42))
        clax.Trainer(optimizer=optax.adamw(rate), epochs=50).train(model, learning, checking)
        seconds = time.process_time() - start
        return float(np.mean([model.compute_loss(batch).mean() for batch in checking])), seconds, model

    _, seconds, model = min(map(trained, RATES), key=lambda one: one[0])
    before = [np.exp(np.asarray(model.predict_clicks(batch))) for batch in test]
    given = [np.exp(np.asarray(model.predict_conditional_clicks(batch))) for batch in test]
    np.savez(made, marginal=np.concatenate(before), conditional=np.concatenate(given), seconds=seconds)


def of_pyclick(log: str, made: str, name: str, checkout: str) -> None:
    sys.path.insert(0, checkout)
    module = importlib.import_module(f"pyclick.click_models.{'CTR' if name.endswith('CTR') else name}")
    with np.load(log) as found:
        known = sessions(found["known_query"], found["known"], found["known_clicks"])
        held = sessions(found["held_query"], found["held"], found["held_clicks"])
        clicks = found["held_clicks"]
    model, start = getattr(module, name)(), time.process_time()
    model.train(known)
    seconds = time.process_time() - start
    before = np.array([model.get_full_click_probs(session) for session in held])
    happened = np.array([model.get_conditional_click_probs(session) for session in held])
    given = np.where(clicks > 0, happened, 1 - happened)  # theirs are of the observed outcome
    np.savez(made, marginal=before, conditional=given, seconds=seconds)


def sessions(query: np.ndarray, documents: np.ndarray, clicks: np.ndarray) -> list[Any]:
    """Sessions as PyClick has them."""
    session = importlib.import_module("pyclick.search_session.SearchSession").SearchSession
    result = importlib.import_module("pyclick.search_session.SearchResult").SearchResult
    made = []
    for of, shown, clicked in zip(query.tolist(), documents.tolist(), clicks.tolist(), strict=True):
        one = session(of)
        one.web_results = [result(*pair) for pair in zip(shown, clicked, strict=True)]
        made.append(one)
    return made


if __name__ == "__main__":
    {"clax": of_clax, "pyclick": of_pyclick}[sys.argv[1]](*sys.argv[2:])
