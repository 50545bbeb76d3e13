"""The page of `evaluate`, `check`, `compare` and `demo`: the answer, the reasons, groups, then diagnostics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...checks.propensities import SlotsRow
from ...errors import UsageError
from ...estimators.registry import ESTIMATORS
from ...findings.verdict import Verdict
from ...language.formatting import MISSING, Span, count, listing, number, quote, rough
from ...report.document import Document, Figures, Item, Section
from ...report.facts import again, eyebrow, period
from ...report.picture import Picture
from ...report.plots import Forest, ForestRow
from ...wording import joined
from ..differences import Difference
from ..estimates import ResultData
from ..metadata import Check, Diagnoses, Path, R, ResultMetadata
from .ab_test import ab_test_sections, credit_sections
from .diagnostics import (
    clips_forest,
    diagnostic_sections,
    forest_of_checks,
    ranks_forest,
    weights_forest,
    windows_forest,
)
from .document import are_days, findings_of, in_worth
from .estimates import all_groups, bounds_by_group, estimates_forest, estimators, groups_forest, largest_groups
from .headline import SEVERITY_OF, answers, outcomes

_ORDER = ("serious", "warning", "note", "ok", "skipped")


def document(result: ResultData, *, page: bool = True) -> Document:
    """Return the page of a result. page: False for a terminal, which shows no plot and nothing that is folded away."""
    found = in_worth(result)
    about, lines, checked = found.metadata, answers(found), found.metadata.kind == "check"
    targets = list(about.targets)
    sections, pictures = [_left_out(about)] if about.log.skipped or about.log.learnt_from else [], []
    if page:
        pictures.append(forest_of_checks(about) if checked else forest(found))
    if found.comparisons:
        compared = _comparisons(found.comparisons)
        pictures.insert(0, compared.forests[0])
        sections += [replace(compared, forests=()), *ab_test_sections(about.ab_test, found.about_log, about.by)]
        sections += credit_sections(about.credit, about.left_out)
    sections += [outcomes.outcomes_section(found)] if found.outcomes else []
    if not checked:
        every = findings_of(found)
        grave = tuple(one for one in every if one.severity != "note")
        notes = tuple(one for one in every if one.severity == "note")
        sections += [bounds_by_group(found, target) for target in found.bounds]
        sections += [largest_groups(found, target) for target in targets] if found.groups else []
        sections += [estimators(found, target, page=page) for target in targets]
        sections += [
            Section("Before you rely on it: all findings", findings=grave, folded=True),
            Section("Worth knowing", findings=notes, folded=True),
        ]
        sections += [all_groups(found, target) for target in targets] if found.groups and page else []
    sections += [_checks(about.checks, folded=not checked)] if about.checks else []
    sections += [_slots(about.slots, folded=not checked)] if about.slots else []
    if not page:
        return Document(about.title, "", tuple(sections), tuple(lines))
    why = tuple(replace(one, aside="" if one.decision else one.aside) for one in lines if one.aside or one.reasons)
    why = tuple(one for one in why if one.aside or one.reasons)
    sections = [Section("Why", answers=why, printed=False), *sections, *diagnostic_sections(found), again(vars(about))]
    drawn, made = tuple(one for one in pictures if one.rows), eyebrow(vars(about))
    return Document(
        about.title, "", tuple(sections), tuple(lines), drawn, made, tuple(_asked(found)), tuple(_estimators(found))
    )


def _asked(found: ResultData) -> Iterator[tuple[str, str]]:
    """Yield what was asked of which log, for the first screen; what is not known is left out."""
    about, log = found.metadata, found.metadata.log
    decisions = found.decisions
    taken = dict.fromkeys(quote(one.estimator) for one in decisions.values() if one.estimator is not None)
    least = [one.detectable for one in decisions.values() if one.detectable is not None]
    days = sorted(found.groups) if are_days(found.groups) else []
    read = {"first": days[0][:10], "last": days[-1][:10]} if days else log.period
    facts = {
        "Log": quote(log.source) if log.source else "",
        "Impressions": count(log.impressions),
        "Before sub-sampling": "" if log.estimated_impressions == log.impressions else count(log.estimated_impressions),
        "Left out: training rows": count(log.learnt_from),
        "Period": period(read) if read else "",
        "Clusters": _dependent(found),
        "Drawn by": quote(about.logging),
        "Estimator of the answer" if len(taken) < 2 else "Estimators of the answers": listing([*taken]),
        "Examination by rank": ", ".join(f"{one:g}" for one in about.examination or ()),
        "Intervals": f"{about.interval} {100 * about.confidence:g} %" + ", at every look" * about.anytime,
        "Worth of one unit of the log": count(about.worth),
        "Minimum detectable effect": " to ".join(dict.fromkeys(map(number, (min(least), max(least))))) if least else "",
    }
    yield from ((name, value) for name, value in facts.items() if value not in ("", MISSING))


def _estimators(found: ResultData) -> Iterator[tuple[str, str]]:
    """Yield what the estimators of a page do, each with the first line of its own documentation."""
    for name in dict.fromkeys(name.partition("(")[0] for _, name in found.estimates.found):
        if name in ESTIMATORS:
            said = " ".join((ESTIMATORS[name].__doc__ or "").strip().partition("\n\n")[0].split())
            yield name, f"Self-normalised: {said}" if name.startswith("sn") else said


def forest(found: ResultData) -> Forest:
    """Plot the logged mean and the answer for each target, on one axis."""
    about = found.metadata
    earned = next((one.logged for one in found.verdicts.values() if one.logged is not None), about.logged)
    rows = [] if earned is None else [ForestRow("what was logged", Span.of(earned))]
    rows += [_verdict(name, one, found.truths.get(name)) for name, one in found.verdicts.items()]
    band = Span.of(earned if len(rows) > 1 else None)
    title = f"Reward, in {about.unit or 'clicks per impression'}".replace(", in per", " per")
    return Forest(title, tuple(rows), band.value, "logged", band, better="right")


def _comparisons(found: Sequence[Difference]) -> Section:
    """Plot and tabulate the paired differences between targets."""
    rows, cells = [], []
    for one in found:
        name, verdict = f"{one.target} minus {one.against}", one.verdict
        change, part = Span.of(verdict.difference), Span.of(verdict.relative)
        doubt, text = SEVERITY_OF[verdict.trust], change.text(signed=True)
        rows.append(ForestRow(name, change, text, part.share(), verdict.decision, severity=doubt))
        numbers = (change.number(signed=True), change.interval(signed=True), *part.percents())
        cells.append((name, verdict.estimator, *numbers, verdict.decision, verdict.trust))
    header = ("compared", "estimator", "difference", "interval", "relative", "interval", "decision", "trust")
    plot = Forest("Paired differences, on the same impressions", tuple(rows), 0.0, "no difference", better="right")
    return Section(
        "Which is better?", forests=(plot,), tables=(Figures("", header, tuple(cells), extra=((4, 5), (1,))),)
    )


def _verdict(name: str, verdict: Verdict, truth: float | None) -> ForestRow:
    """Show one target on the first screen: its value, and its difference to the log, absolute and relative."""
    if verdict.value is None:
        return ForestRow(name, Span.of(None), verdict.decision, light=verdict.decision)
    change, part = Span.of(verdict.difference), Span.of(verdict.relative)
    aside = "" if change.value is None else ", ".join(filter(None, [change.text(signed=True), part.share()]))
    doubt = SEVERITY_OF[verdict.trust]
    return ForestRow(name, Span.of(verdict.value), None, aside, verdict.decision, truth, severity=doubt)


def _left_out(about: ResultMetadata) -> Section:
    """Report the rows that were left out while reading."""
    items = [f"{count(rows)} for `{rule}`" for rule, rows in about.log.skipped.items() if rows]
    if learnt := about.log.learnt_from:
        items.append(f"{count(learnt)} impressions that the policy was trained on")
    return Section("Left out while reading", items=tuple(items))


def _checks(checks: Sequence[Check], folded: bool) -> Section:
    """List the checks and their results."""
    items = []
    for check in sorted(checks, key=lambda one: _ORDER.index(one.status)):
        title = check.title + ("" if check.value is None else f": {Span.of(check).text(border=check.expected or 0.0)}")
        title += "" if check.expected is None else f", expected {check.expected:g}"
        more = "" if check.status == "ok" and check.value is not None else check.message
        remedy = "" if check.status in ("ok", "skipped") else check.remedy
        items.append(Item(title, joined(" ", (more, remedy)), check.status))
    return Section("Checks of the log", items=tuple(items), folded=folded)


def _slots(found: Sequence[SlotsRow], folded: bool) -> Section:
    """Tabulate the inverse propensities by number of slots."""
    rows = tuple(
        (
            str(one.slots),
            count(one.impressions),
            count(one.estimated_impressions),
            rough(one.mean_inverse_propensity),
            rough(one.max_inverse_propensity),
        )
        for one in found
    )
    table = Figures("1 / propensity", ("slots", "impressions", "before sub-sampling", "mean", "largest"), rows)
    return Section("Inverse propensities by length of the slate", tables=(table,) if rows else (), folded=folded)


def _dependent(found: ResultData) -> str:
    """Name the cluster column, and how much clustering widens the intervals."""
    if not found.metadata.cluster:
        return ""
    parts = (found.estimates, *found.groups.values())
    effects = [one.design_effect for part in parts for one in part.given.values() if one.design_effect]
    widest = f" (design effect up to {max(effects):.1f})" if effects else ""
    return f"{quote(found.metadata.cluster)}{widest}"


@dataclass(frozen=True)
class Plots:
    """Plots of a result: each is a `Picture`, which a notebook shows and `save` writes.

    Each method raises UsageError if there is no such target or nothing to draw; `target` is by default the first.

    Parameters:
        result: what is drawn.
        width: of the drawing, in pixels.

    Examples:
        >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
        >>> result.plot.forest()
        Picture('')
    """

    result: ResultData = field(repr=False)
    width: int = 800

    def forest(self, target: str | None = None) -> Picture:
        """Plot the answer for every target beside the logged mean.

        Parameters:
            target: draw all estimates of this one.

        Returns:
            The plot.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> len(result.plot.forest().data.rows)
            2
        """
        found = in_worth(self.result)
        return self._drawn(forest(found) if target is None else estimates_forest(found, self._known(target)))

    def groups(self, target: str | None = None) -> Picture:
        """Plot the difference to the logged mean in each of the largest groups.

        Parameters:
            target: whose difference.

        Returns:
            The plot.

        Examples:
            >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
            >>> result = offrank.evaluate(log, "uniform", drawn_by, "snips", by="device")
            >>> result.plot.groups().save("groups.svg")
        """
        return self._drawn(groups_forest(in_worth(self.result), self._known(target)))

    def weights(self, target: str | None = None) -> Picture:
        """Plot the mean weight of each estimator, whose expectation is 1.

        Parameters:
            target: whose weights.

        Returns:
            The plot.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.plot.weights().save("weights.svg")
        """
        return self._drawn(weights_forest(self.result, self._known(target)))

    def clips(self, target: str | None = None) -> Picture:
        """Plot the estimate behind the verdict under each clip of its weights.

        Parameters:
            target: whose estimate.

        Returns:
            The plot.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.plot.clips().save("clips.svg")
        """
        return self._path(self._behind.clip_path, clips_forest, target)

    def windows(self, target: str | None = None) -> Picture:
        """Plot the estimate for each window, if the data chose one.

        Parameters:
            target: whose estimate.

        Returns:
            The plot.

        Examples:
            >>> log, drawn_by = "offrank-demo/log.parquet", "plackett_luce(old_score)"
            >>> result = offrank.evaluate(log, "uniform", drawn_by, "interpol(window=slope)", examination=[1] * 5)
            >>> result.plot.windows().save("windows.svg")
        """
        return self._path(self._behind.window_path, windows_forest, target)

    def ranks(self) -> Picture:
        """Plot clicks per impression at each rank.

        Returns:
            The plot.

        Examples:
            >>> result = offrank.evaluate("offrank-demo/log.parquet", "uniform", "plackett_luce(old_score)", "snips")
            >>> result.plot.ranks().save("ranks.svg")
        """
        return self._drawn(ranks_forest(self.result.metadata))

    @property
    def _behind(self) -> Diagnoses:
        return in_worth(self.result).metadata.diagnoses or Diagnoses()

    def _path(self, paths: Sequence[Path[R]], draw: Callable[[Path[R]], Forest], target: str | None) -> Picture:
        name = self._known(target)
        return self._drawn(next((draw(one) for one in paths if one.target == name), Forest("", ())))

    def _known(self, target: str | None) -> str:
        names = list(self.result.metadata.targets)
        found = names[0] if target is None and names else target
        if found not in names:
            raise UsageError(f"there is no target {target!r}", "name one of " + ", ".join(names))
        return found

    def _drawn(self, plot: Forest) -> Picture:
        if not plot.rows:
            raise UsageError("there is nothing to draw", "use an estimate of this result")
        return Picture(plot, self.width)
