"""What is asked of a case: every verb, and for those whose answer the oracle knows, the comparison."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import offrank

from ...cli import main
from ...errors import NoOverlapError, OffrankError
from ...log.batch import LogBatch
from ...log.source import Needs, Source
from ...policies import PlackettLuce, Top, Uniform
from . import oracle
from .cases import LONG_LAYOUT, LogCase
from .oracle import Expected, Row

_CLOSE = 1e-9
_LONG = 200
"""Items of a slate beyond which its probability is not recomputed."""
_NAMED = frozenset({"clicks", "candidates", "reward", "propensity", "inclusion"})


class Wrong(Exception):  # noqa: N818
    """An answer that is not the oracle's, or that holds what no answer may."""


@dataclass(frozen=True)
class Asked:
    """A case that is written: what `read_log` takes, its folder, and what the oracle expects."""

    case: LogCase
    log: Any
    folder: Path

    def source(self) -> Source:
        """Open the log."""
        return offrank.read_log(self.log, self.case.renamed or None, invalid=self.case.invalid)

    def expected(self, roles: frozenset[str]) -> Expected | None:
        """Return how the log must be read."""
        return oracle.expected(self.case, roles)

    def rows(self, roles: frozenset[str]) -> tuple[Row, ...] | None:
        """Return the rows that must count; None where that is open.

        Raises:
            Wrong: the log had to be refused, and was read.
        """
        known = self.expected(roles)
        if known is None or not known.known:
            return None
        if self.case.invalid == "raise" and "broken" in known.standings:
            raise Wrong("read, though a row breaks a rule")
        return known.rows


def ask_read(asked: Asked) -> None:
    """Read all rows, and compare every cell."""
    held = asked.case.columns.keys() & {"old", "new"}
    roles = _roles(asked.case)
    found = _found(asked.source(), roles, [asked.case.name(name) for name in held])
    wanted = asked.rows(roles | held)
    if wanted is not None:
        _same_rows(found, wanted, asked.case)


def _roles(case: LogCase) -> frozenset[str]:
    """Return the roles, without scores, that a case has columns for."""
    held = {"clicks" if role == "click" else role for role in case.columns}
    return _NAMED & (held | ({"candidates"} if case.layout == "long" else set()))


def _found(log: Source, roles: frozenset[str], scores: Iterable[str]) -> list[dict[str, Any]]:
    """Return the impressions of a log, in order, items as codes."""
    chosen = log.select(Needs(roles, scores=frozenset(scores)))
    batches = [batch for part in range(chosen.parts()) for batch in chosen.batches(part)]
    return sorted((row for batch in batches for row in _rows(batch)), key=lambda row: row["row"])


def _rows(batch: LogBatch) -> Iterator[dict[str, Any]]:
    contexts, written = batch.contexts, batch.shown.written
    for i, (size, length) in enumerate(zip(contexts.size.tolist(), contexts.length.tolist(), strict=True)):
        candidates = contexts.candidates[i, :size].tolist()
        yield {
            "row": int(batch.row[i]),
            "candidates": candidates,
            "slate": [candidates[place] for place in batch.slates[i, :length].tolist()],
            "clicks": None if batch.clicks is None else batch.clicks[i, :length].tolist(),
            "inclusion": float(batch.inclusion[i]),
            "reward": None if batch.outcome is None else float(batch.outcome[i]),
            "propensity": float(written["propensity"][i]) if "propensity" in written else None,
            **{f"score:{name}": scores[i, :size].tolist() for name, scores in contexts.scores.items()},
        }


def _same_rows(found: list[dict[str, Any]], wanted: tuple[Row, ...], case: LogCase) -> None:
    """Compare what was read with what must be: items one to one, numbers exactly."""
    if len(found) != len(wanted):
        raise Wrong(f"{len(found)} impressions were read of {len(wanted)}")
    codes: dict[Any, int] = {}
    for index, (got, row) in enumerate(zip(found, wanted, strict=True)):
        for role, items in (("slate", row.slate), ("candidates", row.candidates)):
            if len(items) != len(got[role]):
                raise Wrong(f"impression {index}: {len(got[role])} items in {role!r} of {len(items)}")
            for item, code in zip(items, got[role], strict=True):
                if codes.setdefault(item, code) != code:
                    raise Wrong(f"impression {index}: item {item!r} of {role!r} is another")
        numbers: dict[str, Any] = {"clicks": row.clicks, **row.numbers}
        numbers |= {f"score:{case.name(name)}": values for name, values in row.scores.items()}
        for name, values in numbers.items():
            if values is not None and got.get(name) is not None and got[name] != values:
                raise Wrong(f"impression {index}: {name} is {got[name]!r}, not {values!r}")
    if len(set(codes.values())) < len(codes):
        raise Wrong("two items have become one")


def ask_evaluate(asked: Asked) -> None:
    """Compare `ips` and `snips` of three targets with sums over the rows."""
    new, old = asked.case.name("new"), asked.case.name("old")
    targets: dict[str, Any] = {"top": Top(new), "uniform": Uniform(), "drawn": PlackettLuce(old)}
    result = offrank.evaluate(asked.source(), targets, estimators=["ips", "snips"], cluster=None)
    in_json(result.to_json())
    rows = asked.rows(_NAMED | {"old", "new"})
    if rows is None or any(len(row.slate) > _LONG or min(row.scores["old"]) <= 0 for row in rows):
        return
    laws = {
        "top": oracle.top_probability,
        "uniform": oracle.uniform_probability,
        "drawn": oracle.plackett_luce_probability,
    }
    for name, law in laws.items():
        for estimator, value in zip(("ips", "snips"), oracle.ips(rows, law), strict=True):
            _same_estimate(result, name, estimator, value, len(rows))


def _same_estimate(result: Any, target: str, estimator: str, value: float, n: int) -> None:
    try:
        found = result[target, estimator]
    except NoOverlapError:
        return
    if found.n != n:
        raise Wrong(f"{target}, {estimator}: {found.n} rows of {n}")
    if not math.isclose(found.value, value, rel_tol=_CLOSE, abs_tol=1e-12):
        raise Wrong(f"{target}, {estimator}: {found.value!r}, not {value!r}")


def ask_convert(asked: Asked) -> None:
    """Write the log in the wide layout, read that, and compare it as `read` does."""
    case, roles = asked.case, _roles(asked.case)
    path = asked.folder / f"converted.{'parquet' if len(case.seed) % 2 else 'arrow'}"
    scores = [case.name(name) for name in case.columns.keys() & {"old", "new"}]  # whose values are not looked at
    converted = offrank.convert(asked.source(), path, scores=scores if case.layout == "long" else ())
    found = _found(offrank.read_log(path), roles, ())
    if converted.rows != len(found):
        raise Wrong(f"{converted.rows} rows written, {len(found)} read")
    if case.layout == "long" and case.columns.keys() - {*LONG_LAYOUT} | case.columns.keys() & {"query"}:
        return  # each further column must be the same in all rows of an impression
    rows = asked.rows(roles)
    if rows is not None:
        _same_rows(found, rows, case)


def ask_inspect(asked: Asked) -> None:
    """Look at the table, and count its rows."""
    case = asked.case
    log: Any = asked.log if case.invalid == "raise" else asked.source()
    seen = offrank.inspect(log, case.renamed or None) if case.invalid == "raise" else offrank.inspect(log)
    in_json(json.dumps(seen.to_dict()))
    _clean(str(seen))


def ask_check(asked: Asked) -> None:
    """Check the log against a target."""
    result = offrank.check(asked.source(), target=Top(asked.case.name("new")))
    in_json(result.to_json())


def ask_compare(asked: Asked) -> None:
    """Compare two targets."""
    targets: dict[str, Any] = {"new": Top(asked.case.name("new")), "old": PlackettLuce(asked.case.name("old"))}
    result = offrank.compare(asked.source(), targets, "logged", "snips", cluster=None)
    in_json(result.to_json())


def ask_others(asked: Asked) -> None:
    """Ask for more estimators and groups, by another logging policy, on a page and in a frame."""
    old = PlackettLuce(asked.case.name("old"))
    result = offrank.evaluate(asked.source(), old, Uniform(), ["ips", "ipm", "rips", "dr(mean)", "interpol(window=2)"])
    in_json(result.to_json())
    result.save_html(asked.folder / "page.html")
    _no_nan((asked.folder / "page.html").read_text(encoding="utf-8"))


def ask_grouped(asked: Asked) -> None:
    """Ask by group, with clusters and the bootstrap."""
    query = asked.case.name("query")
    result = offrank.evaluate(
        asked.source(), Uniform(), "uniform", "ips", by=query, cluster=query, interval="bootstrap"
    )
    in_json(result.to_json())


def ask_measure(asked: Asked) -> None:
    """Measure rankings by their metrics."""
    in_json(offrank.measure(asked.source(), asked.case.name("new"), "uniform").to_json())


def ask_clicks(asked: Asked) -> None:
    """Fit a click model, evaluate it, judge and predict with it."""
    path = asked.folder / "model.json"
    in_json(offrank.fit_clicks(asked.source(), "pbm", path).to_json())
    in_json(path.read_text(encoding="utf-8"))
    in_json(offrank.evaluate_clicks(asked.source(), str(path)).to_json())
    offrank.judge_clicks(path, asked.folder / "judged.csv")
    offrank.predict_clicks(asked.source(), path, asked.folder / "predicted.csv")


def ask_harvest(asked: Asked) -> None:
    """Estimate an examination curve."""
    in_json(json.dumps(offrank.harvest_clicks(asked.source(), replicates=10).to_dict()))


def ask_select(asked: Asked) -> None:
    """Choose an estimator."""
    target = Top(asked.case.name("new"))
    in_json(offrank.select_estimators(asked.source(), target, "uniform", ["ips", "snips"], worlds=0).to_json())


def ask_states(asked: Asked) -> None:
    """Write a state, and merge it alone: the same answer."""
    path = asked.folder / "log.state"
    found = offrank.evaluate(asked.source(), Uniform(), "uniform", "ips", cluster=None, state=path)
    merged = offrank.merge(path)
    if found["ips"].value != merged["ips"].value:
        raise Wrong(f"merged {merged['ips'].value!r}, not {found['ips'].value!r}")


def ask_command(asked: Asked) -> None:
    """Ask on the command line: an exit code that is documented, and JSON."""
    if callable(asked.log) or not isinstance(asked.log, str | Path):
        return
    case, out = asked.case, asked.folder / "out" / "result.json"
    out.parent.mkdir()
    words = ["evaluate", str(asked.log), "--target", repr(Top(case.name("new"))), "-e", "snips", "--json", str(out)]
    words += [word for role, name in case.renamed.items() for word in ("--column", f"{role}={name}")]
    done = CliRunner().invoke(main, [*words, "--quiet", *(["--skip-invalid"] if case.invalid == "skip" else [])])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code not in (0, 1, 2, 3, 4) or "Traceback" in done.output:
        raise Wrong(f"exit code {done.exit_code}: {done.output[-300:]}")
    if done.exit_code == 0 and out.exists():
        in_json(out.read_text(encoding="utf-8"))


_OFTEN = {ask_read: 60.0, ask_convert: 10.0, ask_evaluate: 8.0, ask_inspect: 2.0, ask_harvest: 0.3, ask_select: 0.3}
_SELDOM = (ask_check, ask_compare, ask_others, ask_grouped, ask_measure, ask_clicks, ask_states, ask_command)
QUESTIONS: dict[str, tuple[Callable[[Asked], None], float]] = {
    ask.__name__.removeprefix("ask_"): (ask, often)
    for ask, often in [*_OFTEN.items(), *((ask, 1.0) for ask in _SELDOM)]
}
"""Name -> what is asked, and how often."""


def judge_refusal(case: Any, error: OffrankError) -> None:
    """Judge an error: it says what is wrong and what to do, and a log that is as it should be is not refused.

    Raises:
        Wrong: it does not, or it is.
    """
    if not error.message.strip() or not error.remedy.strip():
        raise Wrong(f"an error without a remedy: {error!r}")
    if case.question in ("read", "convert") and not case.changed and not _ODD.search(str(case.columns)):
        raise Wrong(f"refused, though it keeps every rule: {error}")


_ODD = re.compile(r"\\x00|['\"][\[{]")
"""Ids with a NUL, which text has not, or that begin like JSON, which may be objects: such a log may be refused."""


def in_json(text: str) -> None:
    """Refuse what no JSON may hold."""
    json.loads(text, parse_constant=_constant)


def _constant(name: str) -> None:
    raise Wrong(f"{name} in JSON")


_NO_NUMBER = re.compile(r"(?<![\w.])[+-]?(nan|inf)(?![\w.])")


def _no_nan(page: str) -> None:
    found = _NO_NUMBER.search(re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL))
    if found:
        raise Wrong(f"{found[0]} on a page: {page[max(found.start() - 80, 0) : found.end() + 40]!r}")


_CONTROL: Sequence[str] = ("\0", "\x1b", "\x07", "\u202e")


def _clean(text: str) -> None:
    """Refuse control characters where people read."""
    found = [repr(one) for one in _CONTROL if one in text]
    if found:
        raise Wrong(f"{', '.join(found)} in the words for a terminal")
