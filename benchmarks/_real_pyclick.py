"""Learn one PyClick model from the sessions of a file, and write its predictions of the held-out ones.

Run by real_clicks.py, with a checkout of PyClick (GPL-3) of the user's own.

    python _real_pyclick.py LOG.npz FOUND.npz PBM path/to/PyClick
"""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

import numpy as np


def main(log: str, made: str, name: str, checkout: str) -> None:
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
    main(*sys.argv[1:5])
