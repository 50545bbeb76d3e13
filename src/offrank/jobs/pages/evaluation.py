"""The page of `evaluate`, `check`, `compare` and `demo`: the answer, why, groups, then what stands behind it."""

from __future__ import annotations

from dataclasses import replace

from ...report import words
from ...report.plots import Forest, Row, Span
from ...report.sheet import Cell, Codes, Figures, Item, Section, Sheet, findings
from . import facts
from .again import again, eyebrow
from .amounts import amount, interval, number, refusal, share, share_ends
from .answers import answers
from .facts import Document, Record, error_of
from .heterogeneity import welch
from .weights import weights_chart, weights_of, weights_table
from .worth import priced

MOST_GROUPS = 10
_MOST_ROWS = 200
_HEADER = ("estimator", "value", "interval", "change", "interval", "ESS", "weight", "largest", "tail", "truth", "see")
_SPARE = (4, 7, 8)
"""Columns that a narrow terminal leaves out: the interval of the change, the largest share and the tail index."""

_NEAR = (Span(0.95, None, None), Span(1.05, None, None))
"""Mean weights that differ by less are not worth a closer look."""
_ORDER = ("serious", "warning", "note", "ok", "skipped")


def sheet(document: Document) -> Sheet:
    """The page of a result document; see `Result.to_dict`."""
    document = priced(document)
    found, compared = answers(document), comparisons(document) if document.get("comparisons") else None
    checked = document.get("kind") == "check"
    told = findings(facts.told(document))
    grave = tuple(one for one in told if one.severity != "note")
    notes = tuple(one for one in told if one.severity == "note")
    why = tuple(one for one in found if one.aside or one.reasons)
    sections = [Section("Why", answers=why, printed=False), _left_out(document)]
    if not checked:
        sections += [replace(compared, forests=())] if compared else []
        sections += [_groups(document, target) for target in facts.targets(document)]
        sections += [_estimators(document, target) for target in facts.targets(document)]
        sections += [
            Section("Before you rely on it: all findings", findings=grave, folded=True),
            Section("Worth knowing", findings=notes, folded=True),
        ]
        sections += [_all_groups(document, target) for target in facts.targets(document)]
    sections += [_checks(document, folded=not checked), _slots(document, folded=not checked)]
    sections += [_weights(document), _ranks(document), _log(document), again(document)]
    pictures = [forest_of_checks(document) if checked else forest(document)]
    if compared:
        pictures.insert(0, compared.forests[0])
    title = document.get("title") or "offrank report"
    return Sheet(
        title, "", tuple(sections), tuple(found), tuple(one for one in pictures if one.rows), eyebrow(document)
    )


def forest(document: Document) -> Forest:
    """What the log earned and the answer for each target, on one axis."""
    logged = document.get("logged")
    verdicts = document.get("verdicts") or {}
    first = next((one["logged"] for one in verdicts.values() if one.get("logged")), None)
    earned = first or logged
    rows = [] if earned is None else [Row("what was logged", Span.of(earned), amount(earned))]
    rows += [_verdict(document, name, one) for name, one in verdicts.items()]
    reference = None if earned is None or len(rows) == 1 else earned["value"]
    unit = document.get("unit") or "clicks per impression"
    band = Span.of(earned if reference is not None else None)
    return Forest(f"Earned, in {unit}", tuple(rows), reference, "logged", band, better="right")


def estimates_forest(document: Document, target: str) -> Forest:
    """The estimates of one target; the axis is the same for all targets, so that plots can be compared."""
    whole = [one for one in facts.estimates(document) if one.get("group") is None]
    logged = document.get("logged") or {}
    others = tuple(map(_drawn, whole))
    rows = [_row(one) for one in facts.estimates_of(document, target)]
    label = "" if not logged else f"logged {number(logged)}"
    title = f"Estimates for {target} with their intervals"
    return Forest(title, tuple(rows), logged.get("value"), label, Span.of(logged), others, better="right")


def groups_forest(document: Document, target: str) -> Forest:
    """The difference to what the log earned in each of the largest groups."""
    estimator = grouped_estimator(document, target)
    found = list(facts.groups(document, target).items())[:MOST_GROUPS]
    rows = []
    for group, each in found:
        one = each.get(estimator) or {"estimator": estimator}
        change, severity = one.get("difference") or {}, facts.severity(one)
        text = refusal(one) or amount(change, signed=True)
        rows.append(Row(str(group), Span.of(change), text, severity=severity))
    by = document.get("by") or "group"
    title = f"{target} against what was logged, by {by} ({estimator})"
    return Forest(title, tuple(rows), 0.0, "no difference", better="right")


def weights_forest(document: Document, target: str) -> Forest:
    """The mean weight of each estimator that has one, around the 1 that it should be."""
    found = [one for one in facts.estimates_of(document, target) if one.get("mean_weight") is not None]
    rows = (
        Row(one["estimator"], Span(*(one.get(f"mean_weight{end}") for end in ("", "_low", "_high")))) for one in found
    )
    title = f"Mean importance weight for {target}, which should be 1"
    return Forest(title, tuple(rows), 1.0, "1", others=_NEAR)


def ranks_forest(document: Document) -> Forest:
    """Clicks per impression at each rank, as bars from zero with intervals."""
    found = document.get("ranks") or []
    rows = (Row(f"rank {one['rank']}", Span(one.get("click_rate"), one.get("low"), one.get("high"))) for one in found)
    return Forest("Clicks per impression at each rank", tuple(rows), bars=True)


def forest_of_checks(document: Document) -> Forest:
    """What checks measured that should be 1."""
    found = [one for one in document.get("checks") or [] if one.get("expected") == 1 and one.get("low") is not None]
    lights = {"ok": "use", "note": "use", "warning": "use with care", "serious": "do not use"}
    rows = (Row(_short(one["title"]), Span.of(one), light=lights.get(one["status"], "")) for one in found)
    return Forest("Mean weights, which should be 1", tuple(rows), 1.0, "1", others=_NEAR)


def comparisons(document: Document) -> Section:
    """Paired differences between targets."""
    found = document.get("comparisons") or []
    rows, cells = [], []
    for one in found:
        change, part = one.get("difference") or {}, one.get("relative") or {}
        name = f"{one['target']} - {one['against']}"
        none = one.get("word") == "do not use"
        light = one.get("word", "use") if none or one.get("decided") else ""
        text, ends = amount(change, signed=True), interval(change, signed=True)
        rows.append(Row(name, Span.of(change), text, share(part), light))
        said = "do not use" if none else "decided" if one.get("decided") else "not clear"
        shares = (words.percent(part.get("value"), signed=True), share_ends(part) if part else words.MISSING)
        cells.append((name, one["estimator"], number(change, signed=True), ends, *shares, said))
    header = ("compared", "estimator", "difference", "interval", "relative", "interval", "it is")
    plot = Forest("Paired differences, on the same impressions", tuple(rows), 0.0, "no difference", better="right")
    return Section("Which is better?", forests=(plot,), tables=(Figures("", header, tuple(cells), extra=(1,)),))


def grouped_estimator(document: Document, target: str) -> str:
    """The estimator whose groups are shown: the one that answers for the whole log."""
    best = (facts.verdict_of(document, target) or {}).get("estimator")
    names = dict.fromkeys(name for each in facts.groups(document, target).values() for name in each)
    return best if best in names else next(iter(names), "")


def _verdict(document: Document, name: str, verdict: Record) -> Row:
    """One target on the first screen: its value, and its difference to the log, absolute and relative."""
    value, light = verdict.get("value"), verdict["word"]
    if not value:
        return Row(name, Span.of(None), "do not use", light=light)
    change, part = verdict.get("difference") or {}, verdict.get("relative_change") or {}
    aside = ""
    if change.get("value") is not None:
        aside = ", ".join(filter(None, [amount(change, signed=True), share(part)]))
    truths = (one.get("truth") for one in facts.estimates_of(document, name))
    return Row(name, Span.of(value), amount(value), aside, light, next((t for t in truths if t is not None), None))


def _row(one: Record, label: str | None = None) -> Row:
    span, severity = _drawn(one), facts.severity(one)
    text = refusal(one) or amount(one)
    return Row(one["estimator"] if label is None else label, span, text, truth=one.get("truth"), severity=severity)


def _drawn(estimate: Record) -> Span:
    return Span.of(None if estimate.get("error") else estimate)


def _estimators(document: Document, target: str) -> Section:
    """All estimators of one target: a picture, and a table."""
    found = facts.estimates_of(document, target)
    if not found:
        return Section("")
    spelling = str((document.get("targets") or {}).get(target, target))
    heading = words.quote(target) + ("" if spelling == target else f" is {words.quote(spelling)}")
    table = _table(target, "estimator", [_cells(one, one["estimator"]) for one in found])
    return Section(heading, forests=(estimates_forest(document, target),), tables=(table,))


def _groups(document: Document, target: str) -> Section:
    """The largest groups of one target, and whether groups differ."""
    found, by = facts.groups(document, target), str(document.get("by") or "group")
    if not found:
        return Section("")
    estimator = grouped_estimator(document, target)
    rows = [_cells(one[estimator], str(name)) for name, one in found.items() if estimator in one]
    prose = [_test(found, estimator)]
    if (hidden := len(rows) - MOST_GROUPS) > 0:
        prose.append(
            f"The {MOST_GROUPS} largest are shown; {words.plural(hidden, 'smaller one is', 'smaller ones are')} not."
        )
    table = _table(f"{target} by {estimator}", by, rows[:MOST_GROUPS])
    forest = groups_forest(document, target)
    return Section(f"By {by}: {words.quote(target)}", tuple(prose), forests=(forest,), tables=(table,))


def _all_groups(document: Document, target: str) -> Section:
    """Every estimator in every group."""
    found, by = facts.groups(document, target), str(document.get("by") or "group")
    every = dict.fromkeys(name for one in found.values() for name in one)
    rows = [(str(name), *(_brief(one.get(key)) for key in every)) for name, one in found.items()]
    more = "" if len(rows) <= _MOST_ROWS else f"the {_MOST_ROWS} largest; the JSON has the others"
    tables = (Figures(more, (by, *every), tuple(rows[:_MOST_ROWS])),) if rows else ()
    return Section(f"All estimators by {by}: {words.quote(target)}", tables=tables, folded=True, printed=False)


def _test(found: dict[str, dict[str, Record]], estimator: str) -> str:
    """Whether the differences to the log differ between groups."""
    told = [one[estimator] for one in found.values() if estimator in one and facts.is_sound(one[estimator])]
    told = [one for one in told if (one.get("difference") or {}).get("low") is not None]
    changes = [one["difference"] for one in told]
    errors = [error_of(change) or 0.0 for change in changes]
    sizes = [one.get("effective_clusters") or one.get("ess") or 0.0 for one in told]
    p = welch([change["value"] for change in changes], errors, sizes)
    if p is None:
        return "Whether groups differ cannot be tested: fewer than two have a sound interval."
    said = (
        "The difference to the log is not the same in all groups"
        if p < 0.05
        else "The groups may all have the same difference to the log"
    )
    shown = "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
    return f"{said} (Welch's test over the {len(told):,} with a sound interval: {shown})."


def _table(caption: str, first: str, rows: list[tuple[Cell, ...]]) -> Figures:
    """Estimates in words; without the truth where nobody knows it."""
    header = (first, *_HEADER[1:])
    kept = [place for place, name in enumerate(header) if name != "truth" or any(row[place] for row in rows)]
    cells = tuple(tuple(row[place] for place in kept) for row in rows)
    return Figures(caption, tuple(header[place] for place in kept), cells, _SPARE, folded=True)


def _brief(one: Record | None) -> str:
    if one is None:
        return words.MISSING
    return refusal(one) or amount(one)


def _cells(one: Record, label: str) -> tuple[Cell, ...]:
    """One estimate in words, its digits chosen from its standard error."""
    codes = tuple(dict.fromkeys(caution.code for caution in facts.cautions(one)))
    see = Codes(facts.severity(one), codes)
    if refused := refusal(one):
        return (label, "", refused, *[""] * 7, see)
    change, mean = one.get("difference") or {}, [one.get(f"mean_weight{end}") for end in ("", "_low", "_high")]
    places = words.decimals(mean[0], words.doubt(*mean[1:]))
    return (
        label,
        number(one),
        interval(one),
        number(change, signed=True) if change else words.MISSING,
        interval(change, signed=True) if change else words.MISSING,
        words.count(one.get("ess")),
        words.number(mean[0], places),
        words.percent(one.get("max_weight_share")),
        words.number(one.get("tail_index"), 2),
        "" if one.get("truth") is None else number({**one, "value": one["truth"]}),
        see,
    )


def _left_out(document: Document) -> Section:
    """What was left out while reading, never in silence."""
    log = document.get("log") or {}
    items = [f"{words.count(number)} for `{rule}`" for rule, number in (log.get("skipped") or {}).items() if number]
    if learnt := log.get("learnt_from"):
        items.append(f"{words.count(learnt)} impressions that the policy was learnt from")
    return Section("Left out while reading", items=tuple(items))


def _checks(document: Document, folded: bool) -> Section:
    """What was checked."""
    items = []
    for check in sorted(document.get("checks") or [], key=lambda one: _ORDER.index(one.get("status") or "ok")):
        status, said = check.get("status") or "ok", str(check.get("title") or check["code"])
        if check.get("value") is not None:
            said += f": {Span.of(check).text}"
        if check.get("expected") is not None:
            said += f", expected {check['expected']:g}"
        more = "" if status == "ok" and check.get("value") is not None else check.get("message") or ""
        remedy = "" if status in ("ok", "skipped") else check.get("remedy") or ""
        items.append(Item(said, f"{more} {remedy}".strip(), status))
    return Section("Checks of the log", items=tuple(items), folded=folded)


def _slots(document: Document, folded: bool) -> Section:
    """The inverse propensities per slot count."""
    rows = tuple(
        (
            str(one["slots"]),
            words.count(one["impressions"]),
            words.count(one["estimated_impressions"]),
            *(f"{one[name]:.4g}" for name in ("mean_inverse_propensity", "max_inverse_propensity")),
        )
        for one in document.get("slots") or []
    )
    table = Figures("1 / propensity", ("slots", "impressions", "before sub-sampling", "mean", "largest"), rows)
    return Section("Inverse propensities by length of the slate", tables=(table,) if rows else (), folded=folded)


def _weights(document: Document) -> Section:
    forests = (weights_forest(document, name) for name in facts.targets(document))
    shown, found = tuple(one for one in forests if one.rows), weights_of(document)
    prose = "If the logged propensities are right and the log covers the target, the mean weight is 1."
    charts = tuple(one for one in map(weights_chart, found) if one.series)
    tables = tuple(map(weights_table, found))
    told = (prose,) if shown or found else ()
    return Section("Importance weights", told, forests=shown, charts=charts, tables=tables, folded=True, printed=False)


def _ranks(document: Document) -> Section:
    plot = ranks_forest(document)
    return Section("Clicks by rank", forests=(plot,) if plot.rows else (), folded=True, printed=False)


def _log(document: Document) -> Section:
    """What is known about the log; what is not known is left out."""
    log = document.get("log") or {}
    estimated, confidence = log.get("estimated_impressions"), document.get("confidence")
    known = {
        "Source": words.quote(str(log["source"])) if log.get("source") else "",
        "Impressions": words.count(log.get("impressions")),
        "Left out, learnt from": words.count(log.get("learnt_from")),
        "Before sub-sampling": "" if estimated == log.get("impressions") else words.count(estimated),
        "Logging policy": words.quote(document["logging"]) if document.get("logging") else "",
        "Examination by rank": ", ".join(f"{one:g}" for one in document.get("examination") or []),
        "Intervals": f"{document.get('interval') or ''} {100 * confidence:g} %".strip() if confidence else "",
        "Dependent rows": _dependent(document),
        "Worth of one unit of the log": words.count(document.get("worth")),
    }
    items = tuple(f"{name}: {value}" for name, value in known.items() if value not in ("", words.MISSING))
    return Section("The log", items=items, folded=True, printed=False)


def _dependent(document: Document) -> str:
    """What rows are clustered by, and how much that widens the intervals."""
    if not document.get("cluster"):
        return ""
    effects = [one["design_effect"] for one in facts.estimates(document) if one.get("design_effect")]
    widest = f" (design effect up to {max(effects):.1f})" if effects else ""
    return f"taken together by {words.quote(document['cluster'])}{widest}"


def _short(title: str) -> str:
    return title.replace("Mean importance weight of ", "slates: ").replace("Mean item weight of ", "items: ")
