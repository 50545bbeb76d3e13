#!/usr/bin/env python3
"""Does a change leave all numbers and words as they were? Asks two checkouts the same random questions and compares.

    git worktree add ../before HEAD~5
    scripts/same_numbers.py ../before             500 random logs, in two processes for each checkout
    scripts/same_numbers.py ../before -n 2000 --seed 7

Every log has its own policy, clusters, groups, arms, outcome and rates at which rows were kept; every question its own
targets, estimators, interval and verb. Numbers that differ by more than a billionth of the larger, other keys, other
refusals and other words are printed, with the seed of their log. Exit code 1 if there is any.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parents[1]
SLACK = 1e-9
Draw = np.random.Generator

BASES = ("ips", "snips", "ipm", "snipm", "rips", "snrips", "pi", "interpol(window=1)", "sninterpol(window=1)", "logged")
SLATES = ("ips", "snips", "clip(ips, 3)", "controlled(ips)", "logged")
WRAPPED = (
    "clip(snips, 5)",
    "clip(ipm, auto)",
    "shrink(ips, 3)",
    "switch(ips, 4)",
    "controlled(ips)",
    "controlled(ipm)",
)
MODELS = ("pbm", "dr(lasso)", "direct(lasso)", "interpol(window=slope)", "auto", "clip(interpol(window=1), 4)")
TARGETS = ("top(new)", "top(other)", "plackett_luce(new)", "epsilon(top(new), 0.2)", "swaps(top(new), 0.8)", "uniform")
NESTED = ("mixture({top(new): 0.5, uniform: 0.5})", "distinct(top(new), kind)", "filtered(top(new), fine)", "top(rare)")


def drawn_slate(weights: np.ndarray, slots: int, rng: Draw) -> tuple[list[int], float]:
    """A slate by Plackett-Luce, and its probability."""
    left, slate, prob = list(range(len(weights))), [], 1.0
    for _ in range(slots):
        shares = weights[left] / weights[left].sum()
        place = int(rng.choice(len(left), p=shares))
        prob *= float(shares[place])
        slate.append(left.pop(place))
    return slate, prob


def random_log(rng: Draw) -> tuple[dict[str, list[Any]], str]:
    """The columns of a log, and the policy that drew it."""
    rows, most = int(rng.choice([3, 30, 120, 400])), int(rng.integers(2, 7))
    slots = int(rng.integers(1, min(most, 4) + 1))
    users, ragged, logging = (
        int(rng.choice([2, 10, 60])),
        rng.random() < 0.3,
        str(rng.choice(["old", "uniform", "mixed"])),
    )
    spell = {"old": "plackett_luce(old)", "uniform": "uniform", "mixed": "epsilon(plackett_luce(old), 0.5)"}[logging]
    columns: dict[str, list[Any]] = {}
    for row in range(rows):
        size = int(rng.integers(slots, most + 1)) if ragged else most
        items = rng.choice(12, size, replace=False)
        old, new, other = (np.round(rng.uniform(0.2, 3, size), int(rng.choice([0, 2]))) + 0.25 for _ in range(3))
        weights = np.ones(size) if logging == "uniform" or (logging == "mixed" and rng.random() < 0.5) else old
        slate, prob = drawn_slate(weights, slots, rng)
        user = int(rng.integers(users))
        appeal = 0.05 + 0.4 * ((items[slate] * 7 + user) % 5) / 5
        clicks = (rng.random(slots) < appeal / np.arange(1, slots + 1)).astype(int)
        cells = {
            "slate": [f"i{items[place]}" for place in slate],
            "candidates": [f"i{item}" for item in items],
            "clicks": clicks.tolist(),
            "old": old.tolist(),
            "new": new.tolist(),
            "other": other.tolist(),
            "rare": np.where(items < 2, 3.0, new).tolist(),
            "kind": (items % 3).astype(float).tolist(),
            "fine": (items % 4).astype(float).tolist(),
            "propensity": prob,
            "query": f"q{user % 7}",
            "user": user,
            "device": "phone" if user % 2 else "desk",
            "arm": "A" if (row * 7 + user) % 2 else "B",
            "before": float(user % 5) + 0.1 * float(clicks.sum()),
            "time": 1_700_000_000 + row * 60,
            "revenue": float(np.round(clicks.sum() * rng.lognormal(1, 1), 2)),
            "rate": float(rng.choice([1.0, 0.5])),
        }
        for name, cell in cells.items():
            columns.setdefault(name, []).append(cell)
    columns = {
        name: columns[name] for name in columns if name not in ("revenue", "rate", "time", "arm") or rng.random() < 0.4
    }
    if logging == "mixed":
        del columns["propensity"]
    return columns, spell


def random_question(columns: dict[str, list[Any]], spell: str, rng: Draw) -> tuple[str, dict[str, Any]]:
    """A verb and its arguments."""

    def some(names: tuple[str, ...], most: int) -> list[str]:
        return [str(name) for name in rng.choice(names, int(rng.integers(1, most + 1)), replace=False)]

    verb = str(rng.choice(["evaluate", "compare", "estimate", "measure", "check"], p=[0.5, 0.25, 0.13, 0.06, 0.06]))
    roles = {"reward": "revenue", "inclusion": "rate"}
    found: dict[str, Any] = {"columns": {role: name for role, name in roles.items() if name in columns} or None}
    logged = "propensity" in columns and rng.random() < 0.3
    found["logging"] = "logged" if logged else spell
    if verb == "check":
        return verb, found
    found |= {
        "cluster": str(rng.choice(["auto", "none", "user", "query"])),
        "by": "device" if rng.random() < 0.25 else None,
    }
    kinds = ["studentised", "normal", "bootstrap", "bernstein" if found["cluster"] == "none" else "studentised"]
    found |= {"interval": str(rng.choice(kinds, p=[0.5, 0.15, 0.15, 0.2]))}
    if verb == "measure":
        return verb, found | {"score": "new"}
    found["estimators"] = some(SLATES if logged else BASES + WRAPPED, 4) + (
        some(MODELS, 1) if rng.random() < 0.3 else []
    )
    found["examination"] = [1, 0.7, 0.5, 0.4] if rng.random() < 0.9 else None
    targets = some(TARGETS + NESTED, 3)
    found["target"] = (
        targets[0] if verb != "compare" or rng.random() < 0.2 else {f"T{at}": one for at, one in enumerate(targets)}
    )
    if verb == "compare" and "arm" in columns and rng.random() < 0.6:
        found["logging"], found["target"] = "by(arm, {A: plackett_luce(old), B: uniform})", None
        del found["estimators"]
    if rng.random() < 0.2:
        found["control"] = "before"
    elif rng.random() < 0.1 and verb != "estimate":
        found["bounds"] = True
    if rng.random() < 0.1 and verb != "estimate":
        found["totals"] = {"all": 2 * len(columns["slate"])}
    return verb, found


def answers(seed: int, number: int, folder: Path) -> Any:
    """What this checkout says to the question of a number: the result as JSON, and as text, or the refusal."""
    import offrank

    rng = np.random.default_rng([seed, number])
    columns, spell = random_log(rng)
    verb, arguments = random_question(columns, spell, rng)
    path = folder / "log.parquet"
    pq.write_table(pa.table(columns), path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = getattr(offrank, verb)(str(path), **arguments)
            found = json.loads(result.to_json())
            found.pop("created", None)
    except Exception as error:  # noqa: BLE001  (also one that should not be: both should give it)
        return {"verb": verb, "refused": type(error).__name__, "text": str(error)}
    return {"verb": verb, "json": found, "text": str(result)}


def dump(seed: int, numbers: range) -> None:
    """Print an answer a line."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number in numbers:
            print(json.dumps(answers(seed, number, Path())), flush=True)


def ask(checkout: Path, seed: int, numbers: range) -> subprocess.Popen[str]:
    """Start a process in which a checkout answers."""
    where = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src"), "PYTHONWARNINGS": "ignore"}
    told = ["--dump", f"{numbers.start}:{numbers.stop}:{numbers.step}", "--seed", str(seed)]
    command = [sys.executable, str(Path(__file__).resolve()), *told]
    return subprocess.Popen(command, env=where, stdout=subprocess.PIPE, text=True)  # noqa: S603


def differences(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Where two answers differ, and how; numbers that are compared are counted in passing."""
    if isinstance(old, dict) and isinstance(new, dict):
        if list(old) != list(new):
            yield f"{place} keys", f"{sorted({*old} ^ {*new})}"
        for key in old.keys() & new.keys():
            yield from differences(old[key], new[key], f"{place}.{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, f"{place}[{at}]")
    elif isinstance(old, str) and isinstance(new, str):
        lines = [(a, b) for a, b in zip_longest(old.splitlines(), new.splitlines()) if a != b]
        if lines:
            yield place, "".join(f"\n    - {a}\n    + {b}" for a, b in lines[:4])
    elif not same(old, new):
        yield place, f"{old!r} {new!r}"


def same(old: Any, new: Any) -> bool:
    """Whether two cells agree: numbers to a billionth, others to the letter."""
    if not (isinstance(old, int | float) and isinstance(new, int | float)):
        return bool(old == new)
    COUNTED["numbers"] += 1
    return math.isclose(old, new, rel_tol=SLACK, abs_tol=1e-12) or (math.isnan(old) and math.isnan(new))


COUNTED: Counter[str] = Counter()


def main() -> int:
    """Ask both, compare, and print what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", nargs="?", type=Path, help="a checkout of the code before the change")
    parser.add_argument("-n", type=int, default=500, help="how many logs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dump", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.dump:
        dump(options.seed, range(*map(int, options.dump.split(":"))))
        return 0
    numbers = range(options.n)
    jobs = [(ask(checkout, options.seed, numbers)) for checkout in (options.before, HERE)]
    differ = 0
    for number, (old, new) in enumerate(zip(*(job.stdout or () for job in jobs), strict=True)):
        before, after = json.loads(old), json.loads(new)
        COUNTED[f"{before['verb']}{' refused' if 'refused' in before else ''}"] += 1
        found = list(differences(before, after))
        differ += bool(found)
        for place, how in found[:6]:
            print(f"log {number}: {place}: {how}")
    codes = [job.wait() for job in jobs]
    print(dict(sorted(COUNTED.items())), f"{differ} of {options.n} answers differ")
    return int(differ > 0 or any(codes))


if __name__ == "__main__":
    sys.exit(main())
