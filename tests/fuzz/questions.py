"""What is asked of a case: every verb, and for those whose answer the oracle knows, the comparison."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import offrank
from offrank.cli import main
from offrank.errors import NoOverlapError, OffrankError
from offrank.language.spelling import spell
from offrank.log.batch import LogBatch
from offrank.log.source import Needs, Source
from offrank.policies import PlackettLuce, Top, Uniform

from . import answers, oracle
from .answers import Wrong, clean, in_json, no_nan
from .cases import LONG_LAYOUT, LogCase
from .forms import TEXTUAL
from .oracle import Expected, Row

_LONG = 200
"""Items of a slate beyond which its probability is not recomputed."""
_NAMED = frozenset({"clicks", "candidates", "reward", "propensity", "inclusion"})
_ALL = _NAMED | {"old", "new"}


@dataclass(frozen=True)
class Asked:
    """A case that is written: what `read_log` takes, its folder, and what the oracle expects."""

    case: LogCase
    log: Any
    folder: Path

    def source(self) -> Source:
        """Open the log."""
        case = self.case
        return offrank.read_log(self.log, case.renamed or None, format=case.format, invalid=case.invalid)

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
            if self.case.shape == "composed" and not self.case.told:
                return None  # other columns may name the impressions together, and keep every rule
            raise Wrong("read, though a row breaks a rule")
        return known.rows

    def sound(self) -> tuple[Row, ...] | None:
        """Return the rows if they keep every rule that any job knows; None otherwise."""
        known = self.expected(_ALL)
        return known.rows if known and {*known.standings} == {"fine"} else None


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
    """Compare `ips` and `snips` of one of three targets with sums over the rows."""
    score = random.Random(asked.case.seed).choice([*_LAWS])
    target, law = _LAWS[score]
    targets: dict[str, Any] = {"target": target(asked.case.name(score))}
    result = offrank.evaluate(asked.source(), targets, estimators=["ips", "snips"], cluster=None)
    told = in_json(result.to_json())
    rows = asked.rows(_NAMED | {score})
    if rows is None or not _few(rows):
        return
    answers.about_log(told, rows)
    for estimator, value in zip(("ips", "snips"), oracle.ips(rows, law), strict=True):
        _same_estimate(result, "target", estimator, value, len(rows))


_LAWS: dict[str, tuple[Callable[[str], Any], Callable[[Row], float]]] = {
    "new": (Top, oracle.top_probability),
    "old": (PlackettLuce, oracle.plackett_luce_probability),
    "": (lambda _: Uniform(), oracle.uniform_probability),
}
"""Score -> the policy that ranks by it, and the probability of a slate under it."""


def _few(rows: tuple[Row, ...]) -> bool:
    """Whether the probabilities of all slates can be recomputed."""
    return not any(len(row.slate) > _LONG or min(row.scores.get("old", (1.0,))) <= 0 for row in rows)


def _same_estimate(result: Any, target: str, estimator: str, value: float, n: int) -> None:
    try:
        found = result[target, estimator]
    except NoOverlapError:
        return
    if found.n != n:
        raise Wrong(f"{target}, {estimator}: {found.n} rows of {n}")
    answers.same(found.value, value, f"{target}, {estimator}")


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
    seen = offrank.inspect(log, case.renamed or None, format=case.format) if log is asked.log else offrank.inspect(log)
    in_json(json.dumps(seen.to_dict()))
    clean(str(seen))


def ask_check(asked: Asked) -> None:
    """Check the log against a target, and compare what is said of its rows."""
    told = in_json(offrank.check(asked.source(), target=Top(asked.case.name("new"))).to_json())
    rows = asked.sound()
    if rows is not None:
        answers.about_log(told, rows)


def ask_compare(asked: Asked) -> None:
    """Compare two targets: what each earns, and the difference."""
    targets: dict[str, Any] = {"new": Top(asked.case.name("new")), "old": PlackettLuce(asked.case.name("old"))}
    result = offrank.compare(asked.source(), targets, "logged", "snips", cluster=None)
    told = in_json(result.to_json())
    rows = asked.sound()
    if rows is None or not _few(rows):
        return
    answers.about_log(told, rows)
    new, old = (oracle.ips(rows, law)[1] for law in (oracle.top_probability, oracle.plackett_luce_probability))
    _same_estimate(result, "new", "snips", new, len(rows))
    _same_estimate(result, "old", "snips", old, len(rows))
    [found] = told["comparisons"]
    if found["difference"]["value"] is not None:
        answers.same(found["difference"]["value"], old - new, "the difference")


def ask_others(asked: Asked) -> None:
    """Ask for more estimators, by another logging policy, on a page and in a frame."""
    old = asked.case.name("old")
    estimators = ["ips", "ipm", "rips", f"dr(column={spell(old)})", "interpol(window=2)", "clip(snips, 10)"]
    looks = [1 / rank for rank in range(1, _LONG + 1)]
    how: dict[str, Any] = {"examination": looks, "cluster": None}
    result = offrank.evaluate(asked.source(), PlackettLuce(old), Uniform(), estimators, **how)
    told = in_json(result.to_json())
    result.save_html(asked.folder / "page.html")
    no_nan((asked.folder / "page.html").read_text(encoding="utf-8"))
    rows = asked.sound()
    if rows is not None and _few(rows):
        answers.about_log(told, rows)


def ask_grouped(asked: Asked) -> None:
    """Ask by group, with clusters and the bootstrap; the groups are counted."""
    query = asked.case.name("query")
    result = offrank.evaluate(
        asked.source(), Uniform(), "uniform", "ips", by=query, cluster=query, interval="bootstrap"
    )
    told, rows = in_json(result.to_json()), asked.sound()
    if rows is not None:
        answers.about_log(told, rows)
        answers.about_groups(told, asked.case, len(rows))


def ask_measure(asked: Asked) -> None:
    """Measure rankings by their metrics, and count the clicks."""
    told = in_json(offrank.measure(asked.source(), asked.case.name("new"), "uniform").to_json())
    rows = asked.sound()
    if rows is not None:
        answers.about_metrics(told, rows)


def ask_clicks(asked: Asked) -> None:
    """Fit a click model, evaluate it, judge and predict with it."""
    path, rows = asked.folder / "model.json", asked.sound()
    model = random.Random(asked.case.seed).choice(["pbm", "pbm", "dbn", "ubm", "rctr"])
    told = in_json(offrank.fit_clicks(asked.source(), model, path).to_json())
    if rows is not None and told["sessions"] != len(rows):
        raise Wrong(f"{told['sessions']} sessions of {len(rows)}")
    in_json(path.read_text(encoding="utf-8"))
    told = in_json(offrank.evaluate_clicks(asked.source(), str(path)).to_json())
    if rows is not None:
        answers.about_clicks(told, rows)
    offrank.predict_clicks(asked.source(), path, asked.folder / "predicted.csv")
    answers.predicted(asked.folder / "predicted.csv", rows)
    offrank.judge_clicks(path, asked.folder / "judged.csv")
    answers.judged(asked.folder / "judged.csv")


def ask_harvest(asked: Asked) -> None:
    """Estimate an examination curve."""
    found = offrank.harvest_clicks(asked.source(), replicates=20)
    answers.about_curve(in_json(json.dumps(found.to_dict())))


def ask_select(asked: Asked) -> None:
    """Choose an estimator, one of those that were given."""
    given = ["ips", "snips", "ipm"]
    result = offrank.select_estimators(asked.source(), PlackettLuce(asked.case.name("old")), "uniform", given)
    told = in_json(result.to_json())
    if [one["estimator"] for one in told["candidates"] if one["chosen"]] != [told["chosen"]]:
        raise Wrong(f"chosen is {told['chosen']!r} of {told['candidates']}")


def ask_states(asked: Asked) -> None:
    """Write the states of two halves, and merge them: the answer of the whole."""
    how: dict[str, Any] = {"target": Uniform(), "logging": "uniform", "estimators": ["ips", "snips"], "cluster": None}
    path, whole = asked.folder / "whole.state", offrank.evaluate(asked.source(), **how, state=asked.folder / "a.state")
    in_json(offrank.merge(asked.folder / "a.state", state=path).to_json())
    answers.same_answer(offrank.merge(path), whole, 0.0)
    rows = asked.sound()
    if rows is None or len(rows) < 2:
        return
    half, names = len(rows) // 2, []
    for name, some in (("first", rows[:half]), ("second", rows[half:])):
        written = [answers.as_dict(row) for row in some]
        names.append(asked.folder / f"{name}.state")
        (asked.folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in written))
        offrank.evaluate(asked.folder / f"{name}.jsonl", **how, state=names[-1])
    answers.same_answer(offrank.merge(names), whole, answers.CLOSE)


def ask_learn(asked: Asked) -> None:
    """Learn a policy from the rows, with their scores as features, and evaluate it."""
    rows = asked.sound()
    if rows is None or not all({"old", "new"} <= row.scores.keys() for row in rows):
        return
    pairs = [list(map(list, zip(row.scores["old"], row.scores["new"], strict=True))) for row in rows]
    written = [{**answers.as_dict(row), "features": each} for row, each in zip(rows, pairs, strict=True)]
    path, method = (
        asked.folder / "policy.npz",
        random.Random(asked.case.seed).choice(["regression", "poem", "snpoem", "plackett-luce"]),
    )
    offrank.learn(written, method, path, logging="uniform", split="hash", test=False, epochs=2)
    result = offrank.evaluate(written, f"linear({str(path)!r})", Uniform(), ["ips", "snips"], cluster=None)
    answers.about_log(in_json(result.to_json()), rows)


def ask_simulate(asked: Asked) -> None:
    """Simulate a log of a few sessions, and read what was written."""
    rng, path = random.Random(asked.case.seed), asked.folder / "simulated.parquet"
    sessions, documents = rng.randint(1, 40), rng.randint(1, 6)
    slots, user = rng.randint(0, documents), rng.choice(["pbm", "dcm", "dbn"])
    offrank.simulate(
        path,
        sessions=sessions,
        documents=documents,
        slots=slots,
        queries=rng.randint(1, 5),
        user=user,
        temperature=rng.choice([0.0, 0.1, 2.0]),
        seed=rng.randint(0, 99),
    )
    rows = _found(offrank.read_log(path), frozenset({"clicks", "candidates"}), ())
    if len(rows) != sessions or any(len(row["slate"]) > documents for row in rows):
        raise Wrong(f"{len(rows)} sessions of {sessions}")
    if any(click not in (0.0, 1.0) for row in rows for click in row["clicks"]):
        raise Wrong("a click that is no flag")
    in_json(offrank.evaluate(path, "uniform", "uniform", "ips").to_json())


def ask_command(asked: Asked) -> None:
    """Ask on the command line: an exit code that is documented, and JSON."""
    logs = asked.log if isinstance(asked.log, list) else [asked.log]
    if not logs or not all(isinstance(log, str | Path) for log in logs):
        return
    case, out = asked.case, asked.folder / "out" / "result.json"
    out.parent.mkdir()
    words = ["evaluate", *map(str, logs), "--target", repr(Top(case.name("new"))), "-e", "snips", "--json", str(out)]
    words += [word for role, name in case.renamed.items() for word in ("--column", f"{role}={name}")]
    words += ["--format", case.format] if case.format else []
    done = CliRunner().invoke(main, [*words, "--quiet", *(["--skip-invalid"] if case.invalid == "skip" else [])])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if done.exit_code not in range(5) or "Traceback" in done.output:
        raise Wrong(f"exit code {done.exit_code}: {done.output[-300:]}")
    if done.exit_code == 0 and out.exists():
        told, rows = in_json(out.read_text(encoding="utf-8")), asked.sound()
        if rows is not None and _few(rows):
            answers.about_log(told, rows)


_OFTEN = {ask_read: 60.0, ask_convert: 10.0, ask_evaluate: 8.0, ask_inspect: 2.0}
_OFTEN |= {ask_harvest: 0.3, ask_select: 0.3, ask_learn: 0.3, ask_simulate: 0.1}
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
    told = not isinstance(case, LogCase) or case.told
    odd = _ODD if not isinstance(case, LogCase) or not case.shape or case.form not in TEXTUAL else _ODD_IN_TABLES
    if error.message.startswith("no row has 'click' in") and not any(case.columns["click"]):
        return  # it cannot be told from clicks of another name
    if case.question in ("read", "convert") and told and not case.changed and not odd.search(str(case.columns)):
        raise Wrong(f"refused, though it keeps every rule: {error}")


_ODD = re.compile(r"\\x00|['\"][\[{]")
"""Ids with a NUL, which text has not, or that begin like JSON, which may be objects: such a log may be refused."""
_ODD_IN_TABLES = re.compile(rf"{_ODD.pattern}|'(0x)?[-+\d.e]+[0-9a-f]*'")
"""In several columns or files of text also ids like 1.0 or 0x1f, which alone in a column are numbers."""
