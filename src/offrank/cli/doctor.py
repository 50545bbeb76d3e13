"""`offrank doctor`: what a report of a fault needs."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import offrank

from ..errors import pip_install
from .layout import command, option

_REQUIREMENT = re.compile(r"""^([\w.-]+).*?(?:extra\s*==\s*['"]([\w-]+)['"])?$""")
_FOR_DEVELOPERS = {"all", "dev", "docs"}
_COLUMNS = {
    "slate": [["a", "b"], ["a", "c"], ["b", "a"]],
    "clicks": [[1, 0], [0, 1], [1, 1]],
    "candidates": [["a", "b", "c"], ["b", "c", "a"], ["a", "b", "c"]],
    "new": [[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]],
    "slot_propensity": [[1 / 2, 2 / 3], [1 / 2, 1 / 2], [1 / 3, 3 / 4]],
    "propensity": [1 / 3, 1 / 4, 1 / 4],
}
"""Three impressions. `top(new)` would have shown the first two as they are and the third the other way round.

The probabilities are written into the log: the loops of a named logging policy take longer to compile than the others.
"""
_KNOWN = {"ips": (3 * 1 + 4 * 1 + 0) / 3, "rips": (2 * 1 + 4 * 1 + 0) / 3}
"""The click of the first impression was in its first slot, that of the second in its second."""
_TOLERANCE = 1e-12


@command()
@option("--json", "as_json", is_flag=True, use="output", help="Print the report as JSON.")
def doctor(*, as_json: bool) -> None:
    """What to put into a bug report: versions, threads, compiled code, and a self-test with known answers.

    Nothing is sent anywhere. Exit code 1 if an answer is wrong.
    """
    found: dict[str, Any] = {"installation": _installation(), "libraries": dict(_libraries())}
    if not as_json:
        click.echo("\n".join(_lines(found)))
    tested = []
    for one in _self_test():  # the slow part: what is known is printed at once
        tested.append(one)
        if not as_json:
            click.echo(_line(one))
    if as_json:
        click.echo(json.dumps({**found, "self-test": tested}, indent=2))
    if not all(one["right"] for one in tested):
        sys.exit(1)


def _installation() -> dict[str, str]:
    """Return what offrank runs on."""
    return {
        "offrank": f"{offrank.__version__} in {Path(offrank.__file__).parent}",
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "threads": f"{os.cpu_count()} ({_allowed()} may be used)",
        "compiled code": _kept(),
    }


def _kept() -> str:
    """Return the folder where Numba keeps compiled code, as it finds one for this file."""
    import numba  # here, since every other verb's --help would wait for it

    try:
        return f"kept in folders such as {numba.njit(cache=True)(_allowed).stats.cache_path}"
    except RuntimeError:
        return "kept nowhere: compiled anew in each process; set NUMBA_CACHE_DIR to a folder that you may write to"


def _allowed() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _libraries() -> Iterator[tuple[str, str]]:
    """Yield each library that offrank can use with its version, or with the extra that would install it."""
    import importlib.metadata  # here, since every command would wait for it

    for text in importlib.metadata.requires("offrank") or ():
        found = _REQUIREMENT.match(text)
        assert found is not None
        name, extra = found.groups()
        if extra not in _FOR_DEVELOPERS and name != "offrank":
            try:
                yield name, importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                yield name, f"missing: {pip_install(extra)}"


def _self_test() -> Iterator[dict[str, Any]]:
    """Evaluate a small log as a table in memory and as Parquet, and compare with what was computed by hand."""
    import pyarrow as pa  # here, as numba is
    import pyarrow.parquet as pq

    table = pa.table(_COLUMNS)
    with tempfile.TemporaryDirectory(prefix="offrank-doctor-") as folder:
        path = str(Path(folder) / "log.parquet")
        pq.write_table(table, path)
        for where, log in (("a table in memory", table), ("a Parquet file", path)):
            begun = time.perf_counter()
            result = offrank.evaluate(log, target="top(new)", estimators=list(_KNOWN))
            seconds = time.perf_counter() - begun
            for name, known in _KNOWN.items():
                value = result[name].value
                right = abs(value - known) <= _TOLERANCE
                yield {"what": f"{name} of {where}", "value": value, "known": known, "right": right, "seconds": seconds}


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield what is printed before the self-test."""
    for name, said in found["installation"].items():
        yield f"{name:<16}{said}"
    yield "\nLibraries"
    for name, said in found["libraries"].items():
        yield f"  {name:<14}{said}"
    yield "\nSelf-test (the first on a machine compiles loops, for some ten seconds)"


def _line(one: dict[str, Any]) -> str:
    """Return what is printed of one answer."""
    said = "right" if one["right"] else "WRONG"
    return f"  {one['what']:<26}{said}: {one['value']:.12g}, by hand {one['known']:.12g} ({one['seconds']:.1f} s)"
