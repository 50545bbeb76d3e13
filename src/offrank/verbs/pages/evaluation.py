"""The page of `evaluate`, `check`, `compare` and `demo`: the answer, the reasons, groups, then diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ...errors import UsageError
from ...formatting import MISSING, Span, count, percent, quote
from ...report.document import Document, Figures, Item, Section, findings
from ...report.plots import Forest, ForestRow
from ...report.svg import standalone
from . import document as of
from .answers import answers
from .diagnostics import clips_forest, diagnostics, forest_of_checks, ranks_forest, weights_forest, windows_forest
from .document import Record, again, eyebrow, priced
from .estimates import all_groups, estimates_forest, estimators, groups_forest, largest_groups

_ORDER = ("serious", "warning", "note", "ok", "skipped")


def sheet(document: Record) -> Document:
    """Return the page of a result document; see `Result.to_dict`."""
    document = priced(document)
    found, compared = answers(document), comparisons(document) if document.get("comparisons") else None
    checked = document.get("kind") == "check"
    told = findings(of.told(document))
    grave = tuple(one for one in told if one.severity != "note")
    notes = tuple(one for one in told if one.severity == "note")
    why = tuple(one for one in found if one.aside or one.reasons)
    sections = [Section("Why", answers=why, printed=False), _left_out(document)]
    if not checked:
        sections += [replace(compared, forests=())] if compared else []
        sections += [largest_groups(document, target) for target in of.targets(document)]
        sections += [estimators(document, target) for target in of.targets(document)]
        sections += [
            Section("Before you rely on it: all findings", findings=grave, folded=True),
            Section("Worth knowing", findings=notes, folded=True),
        ]
        sections += [all_groups(document, target) for target in of.targets(document)]
    sections += [_checks(document, folded=not checked), _slots(document, folded=not checked)]
    sections += [*diagnostics(document), _log(document), again(document)]
    pictures = [forest_of_checks(document) if checked else forest(document)]
    if compared:
        pictures.insert(0, compared.forests[0])
    title = document.get("title") or "offrank report"
    return Document(
        title, "", tuple(sections), tuple(found), tuple(one for one in pictures if one.rows), eyebrow(document)
    )


def forest(document: Record) -> Forest:
    """Plot the logged mean and the answer for each target, on one axis."""
    logged = document.get("logged")
    verdicts = document.get("verdicts") or {}
    first = next((one["logged"] for one in verdicts.values() if one.get("logged")), None)
    earned = first or logged
    rows = [] if earned is None else [ForestRow("what was logged", Span.of(earned))]
    rows += [_verdict(document, name, one) for name, one in verdicts.items()]
    reference = None if earned is None or len(rows) == 1 else earned["value"]
    unit = document.get("unit") or "clicks per impression"
    band = Span.of(earned if reference is not None else None)
    return Forest(f"Earned, in {unit}", tuple(rows), reference, "logged", band, better="right")


def comparisons(document: Record) -> Section:
    """Tabulate the paired differences between targets."""
    found = document.get("comparisons") or []
    rows, cells = [], []
    for one in found:
        change, part = Span.of(one.get("difference")), Span.of(one.get("relative"))
        name = f"{one['target']} - {one['against']}"
        none = one.get("word") == "do not use"
        light = one.get("word", "use") if none or one.get("decided") else ""
        rows.append(ForestRow(name, change, change.text(signed=True), part.share(), light))
        said = "do not use" if none else "decided" if one.get("decided") else "not clear"
        shares = (percent(part.value, signed=True), part.percents())
        cells.append((name, one["estimator"], change.number(signed=True), change.interval(signed=True), *shares, said))
    header = ("compared", "estimator", "difference", "interval", "relative", "interval", "it is")
    plot = Forest("Paired differences, on the same impressions", tuple(rows), 0.0, "no difference", better="right")
    return Section("Which is better?", forests=(plot,), tables=(Figures("", header, tuple(cells), extra=(1,)),))


def _verdict(document: Record, name: str, verdict: Record) -> ForestRow:
    """Show one target on the first screen: its value, and its difference to the log, absolute and relative."""
    value, light = verdict.get("value"), verdict["word"]
    if not value:
        return ForestRow(name, Span.of(None), "do not use", light=light)
    change, part = Span.of(verdict.get("difference")), Span.of(verdict.get("relative_change"))
    aside = ""
    if change.value is not None:
        aside = ", ".join(filter(None, [change.text(signed=True), part.share()]))
    truths = (one.get("truth") for one in of.estimates_of(document, name))
    return ForestRow(name, Span.of(value), None, aside, light, next((t for t in truths if t is not None), None))


def _left_out(document: Record) -> Section:
    """Report the rows that were left out while reading."""
    log = document.get("log") or {}
    items = [f"{count(number)} for `{rule}`" for rule, number in (log.get("skipped") or {}).items() if number]
    if learnt := log.get("learnt_from"):
        items.append(f"{count(learnt)} impressions that the policy was learnt from")
    return Section("Left out while reading", items=tuple(items))


def _checks(document: Record, folded: bool) -> Section:
    """List the checks and their results."""
    items = []
    for check in sorted(document.get("checks") or [], key=lambda one: _ORDER.index(one.get("status") or "ok")):
        status, said = check.get("status") or "ok", str(check.get("title") or check["code"])
        if check.get("value") is not None:
            said += f": {Span.of(check).text()}"
        if check.get("expected") is not None:
            said += f", expected {check['expected']:g}"
        more = "" if status == "ok" and check.get("value") is not None else check.get("message") or ""
        remedy = "" if status in ("ok", "skipped") else check.get("remedy") or ""
        items.append(Item(said, f"{more} {remedy}".strip(), status))
    return Section("Checks of the log", items=tuple(items), folded=folded)


def _slots(document: Record, folded: bool) -> Section:
    """Tabulate the inverse propensities by number of slots."""
    rows = tuple(
        (
            str(one["slots"]),
            count(one["impressions"]),
            count(one["estimated_impressions"]),
            *(f"{one[name]:.4g}" for name in ("mean_inverse_propensity", "max_inverse_propensity")),
        )
        for one in document.get("slots") or []
    )
    table = Figures("1 / propensity", ("slots", "impressions", "before sub-sampling", "mean", "largest"), rows)
    return Section("Inverse propensities by length of the slate", tables=(table,) if rows else (), folded=folded)


def _log(document: Record) -> Section:
    """List the known facts about the log; unknown ones are left out."""
    log = document.get("log") or {}
    estimated, confidence = log.get("estimated_impressions"), document.get("confidence")
    known = {
        "Source": quote(str(log["source"])) if log.get("source") else "",
        "Impressions": count(log.get("impressions")),
        "Left out, learnt from": count(log.get("learnt_from")),
        "Before sub-sampling": "" if estimated == log.get("impressions") else count(estimated),
        "Logging policy": quote(document["logging"]) if document.get("logging") else "",
        "Examination by rank": ", ".join(f"{one:g}" for one in document.get("examination") or []),
        "Intervals": f"{document.get('interval') or ''} {100 * confidence:g} %".strip() if confidence else "",
        "Dependent rows": _dependent(document),
        "Worth of one unit of the log": count(document.get("worth")),
    }
    items = tuple(f"{name}: {value}" for name, value in known.items() if value not in ("", MISSING))
    return Section("The log", items=items, folded=True, printed=False)


def _dependent(document: Record) -> str:
    """Name the cluster column, and how much clustering widens the intervals."""
    if not document.get("cluster"):
        return ""
    effects = [one["design_effect"] for one in of.estimates(document) if one.get("design_effect")]
    widest = f" (design effect up to {max(effects):.1f})" if effects else ""
    return f"taken together by {quote(document['cluster'])}{widest}"


@dataclass(frozen=True)
class Plots:
    """Plots of a result, as SVG text of this width; write it to a file, or show it in a notebook.

    Each raises UsageError if there is no such target or nothing to draw. target: by default the first.
    """

    document: Record = field(repr=False)
    width: int = 800

    def forest(self, target: str | None = None) -> str:
        """Plot the answer for every target beside the logged mean; for one target, all its estimates."""
        document = priced(self.document)
        one = None if target is None else estimates_forest(document, self._known(target))
        return self._drawn(one or forest(document))

    def groups(self, target: str | None = None) -> str:
        """Plot the difference to the logged mean in each of the largest groups."""
        return self._drawn(groups_forest(priced(self.document), self._known(target)))

    def weights(self, target: str | None = None) -> str:
        """Plot the mean weight of each estimator, whose expectation is 1."""
        return self._drawn(weights_forest(self.document, self._known(target)))

    def clips(self, target: str | None = None) -> str:
        """Plot the estimate behind the verdict under each clip of its weights."""
        return self._path("clip_path", clips_forest, target)

    def windows(self, target: str | None = None) -> str:
        """Plot the estimate for each window, if the data chose one."""
        return self._path("window_path", windows_forest, target)

    def ranks(self) -> str:
        """Plot clicks per impression at each rank."""
        return self._drawn(ranks_forest(self.document))

    def _path(self, name: str, draw: Callable[[Record], Forest], target: str | None) -> str:
        known, paths = self._known(target), priced(self.document).get(name) or []
        return self._drawn(next((draw(one) for one in paths if one["target"] == known), Forest("", ())))

    def _known(self, target: str | None) -> str:
        names = of.targets(self.document)
        found = names[0] if target is None and names else target
        if found not in names:
            raise UsageError(f"there is no target {target!r}", "name one of " + ", ".join(names))
        return str(found)

    def _drawn(self, plot: Forest) -> str:
        if not plot.rows:
            raise UsageError("there is nothing to draw", "ask for what was estimated")
        return standalone(plot, self.width)
