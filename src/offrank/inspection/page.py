"""The page of an inspection: what the table is, whether it can judge other rankings, and what to run next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..checks.logged_by import CONTRADICTED
from ..language.formatting import Span, listing, percent, plural, quote
from ..language.spelling import spell
from ..log import rules
from ..readers.log_columns import LogColumn
from ..report.document import Answer, Document, Figures, Item, Section
from ..report.facts import period
from ..wording import ColumnNames, Option, Wording, joined

if TYPE_CHECKING:
    from .result import Inspection

_APART = {"outcome": "outcome, not tried", "doubtful": "perhaps an outcome"}
_OF_SAMPLE = (
    "These are counts of the sample. It contains fewer copies, and fewer rows of the same user or query, if they "
    "are far apart in the log: the whole log may have more copies and larger design effects."
)
_RULES = {
    rule.code: f": {rule.broken}; " + rule.remedy for rule in vars(rules).values() if isinstance(rule, rules.Rule)
}


def inspection_document(seen: Inspection) -> Document:
    """Return the page: the answer, the next command and what would make the log better; then what was found."""
    answer, every = _answer(seen), [*_families(seen)]
    if seen.sample is not None:
        said = Wording("**In {}** ({} reads all rows): ", seen.sample.said, Option("sample_above", None))
        answer = replace(answer, text=said + answer.text)
    shown = [one for one in every if one[-1] not in _IDLE or len(every) <= _MOST_ROWS]
    idle = _some([quote(name) for name, *_, use in every if use in _IDLE]) if len(shown) < len(every) else ""
    header = ("column", "type", "first values", "read as")
    read = Figures("How columns are read", header, tuple(shown), extra=((2,), (1,)))
    others = [Item(idle, status="group by")] if idle else []
    sections = [
        Section("Next", (_asking(seen), *_direction(seen)), code=f"  {seen.command}") if seen.command else None,
        Section("How to improve the log", items=tuple(_better_logs(seen))),
        Section("Contents", (_OF_SAMPLE,) if seen.sample else (), items=(*_sizes(seen), *others)),
        Section("Columns", tuple(_remarks(seen)), tables=(read,)),
        Section("Which policies fit?", tuple(_confirming(seen)), items=tuple(_laws(seen))),
    ]
    return Document(
        seen.title,
        "",
        tuple(one for one in sections if one is not None),
        (answer,),
        eyebrow="offrank inspect",
        facts=tuple(_facts(seen)),
    )


def _some(names: list[str]) -> str:
    """Return names as far as a few lines hold them."""
    held = [at for at in range(1, len(names) + 1) if len(", ".join(names[:at])) <= _MOST_LETTERS] or [1]
    more = f" and {len(names) - held[-1]} more" if held[-1] < len(names) else ""
    return ", ".join(names[: held[-1]]) + more


def _facts(seen: Inspection) -> Iterator[tuple[str, str]]:
    """Yield what the log holds in a few numbers."""
    yield "Impressions", f"{seen.rows:,}"
    if seen.period is not None:
        yield "Period", period(seen.period)
    for name, count in seen.overview.distinct.items():
        yield _counted(2, name).removeprefix("2 ").capitalize(), f"{count:,}"
    yield "Slots", _spread(seen.overview.slots)
    if seen.logging.known and seen.logging.policy is not None:
        yield "Drawn by", quote(str(seen.logging.policy))


def _asking(seen: Inspection) -> str:
    if seen.logging.bucket:
        return "Whether the rows that look random can be used:"
    if seen.arms is not None or seen.means is not None:
        return f"Which ranker earns more, if {quote(str(seen.logging.column))} was assigned at random:"
    if seen.next is None or seen.next.against:
        both = () if seen.next is None else map(quote, (seen.next.target, seen.next.against))
        return f"Which of {listing([*both])} earns more:" if both else "What a click model says about users:"
    law, target = str(seen.logging.policy), seen.next.target
    if seen.next.first:
        return f"The log has enough of the first items alone. What those of {quote(target)} would have earned:"
    if target in law:
        used = (one.name for one in seen.columns if one.use in ("score", "ranking"))
        rankers = [name for name in used if not re.search(rf"[( ]{re.escape(spell(name))}[,)]", law)]
        shows = ": it shows too little of what {} would show:" if rankers else ". Log your scores, and {} judges them:"
        own = quote(rankers[0]) if rankers else Option("target", "top(score)")
        earned = "has earned, which drew the log" if target == law else "would have earned, of which the log has most"
        return Wording("What {} " + earned + shows, quote(target), own)
    return f"What {quote(seen.next.target)} would have earned:"


def _direction(seen: Inspection) -> Iterator[str]:
    """Say of a score that did not draw the log that its direction is not known, and how to turn it round."""
    for name, share in seen.against_clicks.items():
        pairs = "of a clicked and an unclicked item of one slate the clicked one has the higher number in only"
        yield f"Clicks speak against high {quote(name)}: {pairs} {percent(share)} of the pairs."
    if seen.next is not None and seen.next.turned:
        turned = Option("target", seen.next.turned)
        yield Wording("The log does not show whether high scores are good; if low ones are, use {}.", turned)


def _nothing(seen: Inspection) -> Answer | None:
    """Say what a log lacks of which nothing can be estimated; None of others."""
    if seen.unreadable:
        return Answer(_chosen_by_outcome(seen), severity="serious")
    if seen.overview.earned is None:
        near = next((one for one in seen.columns if one.like in ("clicks", "click", "reward")), None)
        if near is not None:
            asked = "**Nothing can be estimated from this log yet**: if {} is the {}, use {}."
            named = ColumnNames({near.like: near.name})
            return Answer(Wording(asked, near.name, near.like, named), severity="serious")
        return Answer("**Nothing can be estimated from this log**: log clicks or a reward.", severity="serious")
    if seen.only_clicks and seen.next is None:
        return Answer(
            "**The log contains only clicks**: every item in it was clicked, so no ranking can be evaluated.",
            severity="warning",
        )
    return None


def _chosen_by_outcome(seen: Inspection) -> Wording:
    """Say that rows cannot be read for their clicks or reward, and what to do instead of leaving them out."""
    outcome = next(one for one in seen.columns if one.use in ("clicks", "click", "reward"))
    written = "the reward of each" if outcome.use == "reward" else "0 for each item that was not clicked"
    many, every = f"{seen.unreadable:,}", f"{seen.rows + sum(rules.skipped_rows(seen.skipped).values()):,}"
    return Wording(
        "**Nothing can be estimated from this log yet**: {} cannot be read in {} of {} rows. Without them the log is "
        "chosen by its outcome, so do not skip them. Write {}, or name the column that has it, with {}.",
        *(quote(outcome.name), many, every, written, ColumnNames({outcome.use: "NAME"})),
    )


def _answer(seen: Inspection) -> Answer:
    """Say whether the log can be used to evaluate other rankings."""
    lacking = _nothing(seen)
    if lacking is not None:
        return lacking
    found = seen.logging
    law = "the logged propensities" if found.policy == "logged" else quote(str(found.policy))
    if found.confirmed and found.status not in CONTRADICTED and not seen.declined:
        return Answer(f"**Other rankings can be evaluated if the slates were drawn with {law}**, as given.")
    if found.known and seen.declined:
        none = f"**The logging policy is known** ({law}), but **none of the rankings in the log can be evaluated** yet."
        return Answer(none, severity="warning")
    if found.known:
        what = "The first items of other rankings" if seen.next is not None and seen.next.first else "Other rankings"
        return Answer(f"**{what} can be evaluated**, with weights from {law}.")
    rankers = "Random rankers" if seen.arms_draw else "Deterministic rankers"
    within = "within one, " if found.randomness.beside == found.column else ""
    said = {
        "written, not tested": f"**The log's propensities cannot be tested**: {found.why}. Other rankings can be "
        f"evaluated only if the slates were drawn with {law}.",
        "not contradicted": f"**Nothing contradicts {law} as the logging policy, but nobody has confirmed it**: "
        f"{found.why}.",
        "refuted": f"**The log contradicts its propensities**: {found.why}",
        "arms": f"**{rankers}, identified by {quote(str(found.column))}**: {within}{found.why}.",
        "not random": f"**This log is not random**: {found.why}. No other ranking can be evaluated by weights.",
    }
    unknown = f"**The logging policy is unknown, and nothing shows that this log is random**: {found.why}."
    if found.policy is None and found.randomness.state == "random":
        unknown = f"**This log is random, but the policy that drew it is unknown**: {found.why}."
    elif found.policy is not None:
        scores = " follows none of its scores, and" if found.policy == "uniform" and seen.ties else ""
        unknown = f"**The order of the slates{scores} fits {law}, but this log cannot prove it**: {found.why}."
    severity = "serious" if found.status == "refuted" else "warning"
    return Answer(said.get(found.status, unknown), severity=severity)


def _ways(found: Inspection) -> Iterator[str]:
    """Say how a person can tell who drew a random log."""
    score = spell(next((one.name for one in found.columns if one.use == "score"), "score"))
    laws = [f"epsilon(top({score}), 0.1)", f"plackett_luce({score})"]
    laws += ["counted(by=query)"] if "query" in found.overview.distinct else []
    yield joined(
        "", ["Say how lists were drawn: ", joined(", or ", [Wording("{}", Option("logging", one)) for one in laws])]
    )
    yield Wording("Name the column that has the probability of each list: {}.", ColumnNames({"propensity": "NAME"}))
    where = found.logging.bucket or "explored = 1"
    yield Wording("Read those rows alone that were drawn at random: {}.", Option("where", where))


def _confirming(found: Inspection) -> Iterator[str]:
    """Return what a person has to confirm, and what such a log can give."""
    by = found.logging
    if max(found.overview.candidates, default=0) == 1:
        yield "Every row has a single item, so no ranking can be evaluated: log whole lists, clicked or not."
        return
    if found.only_clicks and found.next is None:
        yield "Items without a click are missing, so no click model can be fitted either."
        return
    if by.status in ("not contradicted", "unknown") and by.policy is not None and not by.confirmed:
        yield Wording(
            "If you know that this policy generated the log, confirm it with {}; the log cannot.",
            Option("logging", by.policy),
        )
    fits = [one.policy for one in found.drawn if one.fits and by.status == "refuted"]
    if fits:
        written = " and ".join(f"`{one.name}`" for one in found.columns if one.use in found.written)
        yield Wording(
            "The shown slates fit {}. If you know that this policy generated them, remove the column "
            "{} from the table, which says otherwise, and confirm it with {}.",
            repr(fits[0]),
            written,
            Option("logging", repr(fits[0])),
        )
    if by.status == "unknown" and by.policy is None and by.randomness.state == "random":
        yield from _ways(found)
        return
    if by.arms:
        yield from _of_arms(found)
    fixed = by.status in ("not random", "arms") or (by.status == "refuted" and not fits)
    fixed = fixed or (by.status == "unknown" and by.policy is None)
    if fixed and not found.arms_draw and found.overview.earned is not None:
        yield (
            "Without randomness, a click model can predict the value of another ranking. To evaluate rankings from "
            "the log itself, show a random slate in a share of the requests, and log the propensity of every slate."
        )
    if found.declined:
        yield "Tried: no ranking in the log can be evaluated. " + found.declined


def _of_arms(found: Inspection) -> Iterator[str]:
    """Say what served each arm, and what compares them."""
    by, fits = found.logging, "the slates fit" if found.arms_draw else "every slate is sorted by"
    for value, ranker in by.arms.items():
        yield f"{by.column} = {value} ({percent(by.shares[value])} of the impressions): {fits} {ranker}."
    if by.unit:
        yield f"All rows of a {by.unit} have the same {by.column}."
    yield (
        f"If {by.column} was assigned at random, `offrank compare` tells which ranker earns more: from the "
        "means of its values, as in any A/B test, and from what each row says about all rankers."
    )


def _better_logs(seen: Inspection) -> Iterator[Item]:
    """Return what to write from now on, the most useful first; nothing where the log has it all."""
    roles = {column.use for column in seen.columns}
    if seen.overview.earned is None:
        yield Item("Log the clicks on each item, or what each slate earned.", 'log["clicks"] = [0, 1, 0]')
    if seen.only_clicks:
        yield Item("Log whole lists, clicked or not: every item that was shown, at its rank.", _WHOLE)
    if seen.logging.status in ("not random", "written, not tested") or (seen.arms is not None and not seen.arms_draw):
        yield Item("Show a random slate in a small share of the requests: only what varies can be compared.", _EXPLORE)
    if not seen.written and seen.logging.status != "agrees":
        yield Item("Log the propensity of each slate when it is served.", _PROPENSITY)
    if not roles & {"candidates"} and seen.layout == "wide":
        yield Item("Log the items that could have been shown next to those that were.", 'log["candidates"] = ids')
    if not roles & {"user", "session", "query"}:
        yield Item("Log the query, the user or the session: rows of one depend on each other.")


_PROPENSITY = 'log["propensity"] = probability  # of this slate, in this order'
_WHOLE = 'log["slate"], log["clicks"] = ["a", "b", "c"], [0, 1, 0]'
_EXPLORE = "if random.random() < 0.01: random.shuffle(slate)  # and log which requests"


def _sizes(found: Inspection) -> Iterator[Item]:
    overview, distinct = found.overview, found.overview.distinct
    groups = "".join(f", {_counted(count, name)}" for name, count in distinct.items() if name != "item")
    yield Item(f"{found.rows:,} impressions{groups}", status="rows")
    for rule, count in found.skipped.items():
        yield Item(f"{count:,} {rule}{_RULES.get(rule, '')}", status="left out")
    if found.first_broken:
        yield Item(found.first_broken, status="the first")
    yield Item(_spread(overview.slots), status="slots")
    items = _counted(distinct["item"], "different item")
    yield Item(f"{_spread(overview.candidates)}, {items}", status="candidates")
    if found.unreadable:
        yield Item("unknown: what some rows earned cannot be read", status="earned")
    elif (earned := overview.earned) is not None:
        yield Item(f"{Span.of(earned).number()} per impression ({Span.of(earned).interval()})", status="earned")
    else:
        yield Item("unknown: the log has neither clicks nor a reward", status="earned")
    for name, effect in overview.effects.items():
        if effect is not None:
            yield Item(f"by {name}: design effect of the mean reward {_number(effect)}", status="dependence")
    copies = f"at least {percent(found.copies)} of the rows" if found.copies else "none found"
    yield Item(copies, status="duplicates")
    if found.checksums is False:
        yield Item("none: a damaged number would go unnoticed (`offrank convert`)", status="checksums")


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _counted(count: int, name: str) -> str:
    return plural(count, name, f"{name[:-1]}ies" if name.endswith("y") else f"{name}s")


def _spread(rows: Mapping[int, int]) -> str:
    """Describe counts per row: `4 in every row`, `1 to 10, half of the rows at most 4`."""
    sizes, below = list(rows), np.cumsum(list(rows.values()))
    if len(sizes) == 1:
        return f"{sizes[0]:,} in every row"
    middle = sizes[int(np.argmax(2 * below >= below[-1]))]
    return f"{sizes[0]:,} to {sizes[-1]:,} per row, at most {middle:,} in half of the rows"


def _families(seen: Inspection) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of the table of columns; those that differ in a number only, as `affinity_0..33`, are one."""
    found: dict[tuple[str, ...], dict[str, LogColumn]] = {}
    for one in seen.columns:
        before, number, after = re.findall(r"(?s)^(.*?)(\d*)(\D*)$", one.name)[0]
        alone = "" if number else one.name
        found.setdefault((before, after, alone, one.type, one.use, one.like), {})[number] = one
    for (before, after, *_), same in found.items():
        written = {int(number or 0): number for number in same}
        low, high = min(written), max(written)
        family = f"{before}{written[low]}..{written[high]}{after}" if len(same) > 2 else ""
        family += f" ({len(same)})" if family and high - low + 1 > len(same) else ""
        for one in [*same.values()][: 1 if family else None]:
            yield family or one.name, one.type, ", ".join(one.samples), _use(one, seen)


_MOST_ROWS = 10
"""Rows of the table of columns up to which those are shown that have no role."""
_IDLE, _MOST_LETTERS = ("to group by", "not read"), 300


def _use(column: LogColumn, seen: Inspection) -> str:
    """Say what a column is read as."""
    ties = seen.ties.get(column.name) if column.use == "score" else None
    said = {"group": "not read" if column.like else "to group by", "": "not read", **_APART}
    return f"score, ties in {percent(ties)} of the rows" if ties else said.get(column.use, column.use)


def _remarks(seen: Inspection) -> Iterator[str]:
    """Say which option would make a column that is not read what its name promises, and why a column is no score."""
    for column in seen.columns:
        if column.type.startswith("map<"):
            keys = "write its keys as a list candidates, and its values, in the same order, as a list beside it"
            yield f"{column.name} is a map, which is not read: {keys}."
        elif column.like:
            named = ColumnNames({column.like: column.name})
            filled = Wording("If {} is a score, write a number for each candidate in every row.", column.name)
            asked = Wording("If {} is the {}, use {}.", column.name, column.like, named)
            logarithm = (
                f"If {column.name} is the logarithm of the propensity, write exp({column.name}) in `propensity`."
            )
            yield {"score": filled, "log_propensity": logarithm}.get(column.like, asked)
    for use, name in ((one.use, one.name) for one in seen.columns if one.use in _APART):
        doubt = "perhaps follows" if use == "doubtful" else "follows"
        yield f"{name} {doubt} the impression, so it is not tried as a score. If it is one, name it in a policy."


def _laws(found: Inspection) -> Iterator[Item]:
    """Return the policies that may have drawn the log, each with the evidence against it."""
    if found.written:
        yield Item(_said(", ".join(found.written), _agreement(found)), status="written")
    refuted: dict[str, list[str]] = {}
    for one in found.drawn:
        if one.fits:
            yield Item(repr(one.policy), status="fits")
        else:
            refuted.setdefault("" if found.logging.known else one.against, []).append(repr(one.policy))
    for why, laws in refuted.items():
        more = f" and {len(laws) - 1} more" if len(laws) > 1 else ""
        yield Item(_said(laws[0] + more, why), status="no")
    if not any(one.fits for one in found.drawn):
        yield Item("None of the policies that were tried fits this log.")
    if queries := found.overview.distinct.get("query"):
        rows = f"{_number(found.rows / queries)} rows per query; counts always fit the log that they are from"
        yield Item(_said("counted(by=query)", rows), status="counted")
    for caution in found.about:
        yield Item(caution.text, status=caution.severity)


def _said(name: str, why: str) -> str:
    return f"{name}: {why}" if why else name


def _agreement(found: Inspection) -> str:
    if found.agreement is None:
        return ""
    law = next(one.policy for one in found.drawn if one.fits)
    apart = found.agreement.share_apart
    if apart > 1 / 2:
        return f"they differ from those of {law!r} in {percent(apart)} of the rows"
    return f"they match those of {law!r}" + (f", except in {percent(apart)} of the rows" if apart else "")
