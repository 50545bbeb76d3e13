"""What `evaluate` returns: estimates by name, and ways to show and keep them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any

import pyarrow as pa

from ..errors import NoOverlapError, UsageError
from ..estimators.base import Estimator
from ..estimators.named import estimator as named_estimator
from ..estimators.wrappers import SelfNormalised
from ..files import write_text
from ..findings.verdict import Verdict
from ..folds.estimate import Caution, Estimate
from ..policies.base import Policy
from ..policies.named import policy as named_policy
from ..report import terminal
from ..report.sheet import Sheet
from . import document
from .pages import evaluation
from .pages.plots import Plots

Key = tuple[str, str]
Asked = str | Estimator | SelfNormalised | tuple[str | Policy, str | Estimator | SelfNormalised]


@dataclass(frozen=True)
class Estimates(Mapping[Key, Estimate]):
    """Estimates by (target, estimator), or by estimator alone where there is one target.

    Both may be spelled in any way, or be the objects. It holds what the log can give (`given`); asking for another
    raises NoOverlapError, which is a KeyError; `refused` says which those are and why.
    """

    found: Mapping[Key, Estimate | NoOverlapError]

    def __getitem__(self, key: Asked) -> Estimate:
        estimate = self.found[self._known(key)]
        if isinstance(estimate, NoOverlapError):
            raise estimate
        return estimate

    def __iter__(self) -> Iterator[Key]:
        return iter(self.given)

    def __len__(self) -> int:
        return len(self.given)

    @property
    def refused(self) -> dict[Key, NoOverlapError]:
        """The estimates that the log cannot give."""
        return {key: value for key, value in self.found.items() if isinstance(value, NoOverlapError)}

    @property
    def given(self) -> dict[Key, Estimate]:
        """The estimates that the log can give."""
        return {key: value for key, value in self.found.items() if isinstance(value, Estimate)}

    def _known(self, key: Any) -> Key:
        """The key that is meant: the estimator may be spelled in any way, or be the object itself."""
        targets = list(dict.fromkeys(target for target, _ in self.found))
        target, name = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        if target is None:
            if len(targets) > 1:
                raise KeyError(f"there are several targets: ask for result[name, estimator], name in {targets}")
            target = "".join(targets)
        known = _among(targets, target, named_policy)
        if known is None:
            raise KeyError(f"no target {target!r}; there are: {targets}")
        names = [name for other, name in self.found if other == known]
        estimator = _among(names, name, named_estimator)
        if estimator is None:
            raise KeyError(f"no estimate {name!r}; there are: {names}")
        return known, estimator


@dataclass(frozen=True)
class Result(Mapping[Key, Estimate]):
    """What new rankings would have earned: `result["snips"].value`, or `result["name", "snips"]`.

    A mapping of what could be estimated, as its `estimates` are; `result.estimates.refused` has the others.

    - estimates: of the whole log.
    - groups: the same for each value of the `by` column.
    - about_log: what is wrong with the log whatever the estimate.
    - facts: everything else that reports show (see `to_dict`).
    - verdicts: by the name of each target whether the answer is to be used, and the answer; of `check`, of `the log`.
    """

    estimates: Estimates
    groups: Mapping[str, Estimates] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    truths: Mapping[str, float] = field(default_factory=dict)
    about_log: tuple[Caution, ...] = ()
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    def __getitem__(self, key: Asked) -> Estimate:
        return self.estimates[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __str__(self) -> str:
        return terminal.render_text(self.sheet())

    __repr__ = __str__

    def show(self) -> None:
        """Print the tables, in colour on a terminal."""
        terminal.show(self.sheet())

    @property
    def trustworthy(self) -> bool:
        """Every estimate was given, and nothing serious was found.

        A check is judged by its findings alone: its estimates are of policies that nobody asked for.
        """
        if any(row["status"] == "serious" for row in self.facts.get("checks", [])):
            return False
        if self.facts.get("kind") == "check":
            return True
        return not self.estimates.refused and all(e.trustworthy for e in self.estimates.given.values())

    @property
    def verdict(self) -> Verdict:
        """The only verdict: of the one target, or of `check` on the log.

        Raises:
            KeyError: there are several targets, or none but what was logged was asked for.
        """
        names = list(self.verdicts)
        if len(names) > 1:
            raise KeyError(f"there are several targets: ask for result.verdicts[name], name in {names}")
        if not names:
            raise KeyError("there is no verdict: only what was logged was asked for")
        return self.verdicts[names[0]]

    @property
    def usable(self) -> bool:
        """Whether no verdict is `do not use`."""
        return all(one.usable for one in self.verdicts.values())

    def with_truths(self, truths: Mapping[str, float]) -> Result:
        """The same result beside the true values of its targets, known in simulations only."""
        return replace(self, truths=dict(truths))

    def with_facts(self, **facts: Any) -> Result:
        """The same result with facts for the report replaced (title, command)."""
        return replace(self, facts={**self.facts, **facts})

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain lists, dicts and numbers (None for what is not known)."""
        rows = [self._row(key, None, value) for key, value in self.estimates.found.items()]
        for group, estimates in self.groups.items():
            rows += [self._row(key, group, value) for key, value in estimates.found.items()]
        verdicts = {name: document.verdict_row(one) for name, one in self.verdicts.items()}
        log_findings = [asdict(caution) for caution in self.about_log]
        return {**self.facts, "verdicts": verdicts, "log_findings": log_findings, "estimates": rows}

    def to_json(self, path: str | PathLike[str] | None = None, indent: int | None = 2) -> str:
        """The same as JSON text; written to `path` if given."""
        text = json.dumps(self.to_dict(), indent=indent, allow_nan=False)
        if path is not None:
            write_text(path, text)
        return text

    def to_arrow(self) -> pa.Table:
        """A row per estimate."""
        rows = []
        for row in self.to_dict()["estimates"]:
            difference = row.pop("difference") or {}
            error = row.pop("error") or {}
            row["warnings"] = [caution["code"] for caution in row["warnings"]]
            row |= {f"difference_{name}": difference.get(name) for name in ("value", "low", "high")}
            rows.append({**row, "error": error.get("code")})
        return pa.Table.from_pylist(rows, schema=document.ARROW_SCHEMA)

    def save_html(self, path: str | PathLike[str]) -> None:
        """The report: one self-contained HTML file."""
        write_text(path, self.sheet().render())

    def sheet(self) -> Sheet:
        """What the report and the terminal show."""
        return evaluation.sheet(self.to_dict())

    @property
    def plot(self) -> Plots:
        """Its pictures as SVG: `result.plot.forest()`."""
        return Plots(self.to_dict())

    def _row(self, key: Key, group: str | None, value: Estimate | NoOverlapError) -> dict[str, Any]:
        return document.estimate_row(key, group, value, self.truths.get(key[0]))


def refuse_empty(result: Result) -> Result:
    """The result, unless no estimate at all could be given.

    Raises:
        NoOverlapError: the first of the refusals.
    """
    refused = result.estimates.refused
    if refused and not result.estimates:
        raise next(iter(refused.values()))
    return result


def _among(known: list[str], asked: object, read: Callable[[Any], object]) -> str | None:
    """The spelling that results use for what is asked: `clip(ips, 10)` for `clip(ips, 1e1)`; None for what is none."""
    if str(asked) in known:
        return str(asked)
    try:
        spelled = repr(read(asked))
    except UsageError:
        return None
    return spelled if spelled in known else None
