"""Tables that are no logs: what those tell that hold no list that was shown, and what is open of others."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import ColumnError, OffrankError, UsageError
from ..language.spelling import spell
from ..wording import ColumnNames, Option, Wording, command_line, joined, nearest
from . import flat
from .column_sets import LOOKED_AT, FileTable, differing, headed, one_of, sets_of
from .conversions import is_json, is_number, whole_column
from .description import Description
from .formats.router import choice_by_objects
from .joining import ExposureColumns
from .log_columns import type_in_words
from .names import closeness, parts, words_of
from .opening import Beginning
from .roles.columns import of_values
from .roles.single import TO_LIST, choice_of, costed_choice, lacks_options
from .roles.wide import wide_roles
from .tables import Table, first_rows
from .trec import kind_of_trec, read_trec, size_of_run

_TO_LOG = (
    "log one row for each list shown: "
    '{"impression": "r1", "slate": ["a", "b"], "clicks": [0, 1], "propensity": 0.02}, where the propensity is the '
    "probability with which the list was drawn"
)
_NO_CLICKS = "without clicks: nothing tells what users saw and did"
_BY_JUDGMENTS = "a run can be measured by judgments (`offrank.metrics.ndcg`, `mrr`, `average_precision`)"
_DOCUMENTS, _SHORT = 10, 0.1
"""Documents of each query that `simulate` shows if nothing is said; the share of queries that may have fewer."""


def lacks_lists(beginning: Beginning) -> Description | None:
    """Return the description of a table that is known to tell of no list that was shown; None of any other."""
    rows = beginning.rows
    log = beginning.source if isinstance(beginning.source, str) else "LOG"
    told = (
        None
        if rows is None
        else _by_columns(rows) or _ab_test(rows, log) or _unordered(rows) or _choices(rows) or _of_ubi(rows, log)
    )
    return _judged(beginning) or told


def _by_columns(rows: pa.Table) -> Description | None:
    """Tell a table by what its columns are called."""
    plain = rows.column_names
    if any(pa.types.is_nested(kind) for kind in rows.schema.types) or _first(plain, partial(closeness, "position")):
        return None
    seen = any(
        closeness("click", name) >= 2 or (closeness("impression", name) >= 3 and not _user([name])) for name in plain
    )
    roles = ("shown", "click", "item", "query", "time", "kind")
    shown, click, item, query, time, kind = (_first(plain, partial(closeness, role)) for role in roles)
    user, rating, told = _user(plain), _first(plain, partial(_has, words_of("RATING"))), exposure_columns(plain)
    if told is not None:
        what = f"exposures of an experiment ({told.user!r} saw {told.variation!r} of {told.experiment!r})"
    elif seen and shown and click and (item or query) and not user:
        what = f"sums ({shown!r}, {click!r}) for each {item or query!r}"
    elif not seen and rating and user and item:
        what = f"ratings ({rating!r} by {user!r} of {item!r})"
    elif not seen and user and item and (time or kind):
        what = f"what each {user!r} did with each {item!r}"
    else:
        return None
    return Description("none", lacks=f"it has {what}, but not the lists that were shown", instead=_TO_LOG)


def _ab_test(rows: pa.Table, log: str) -> Description | None:
    """Tell an A/B test without lists: a column called as an arm, with values called so, and what each row earned."""
    names = rows.column_names
    numbers = [one.name for one in rows.schema if is_number(one.type)]
    column = _first(names, partial(_has, words_of("VARIATION") | {"group"}))
    earned = _first(numbers, partial(closeness, "click")) or _first(numbers, partial(closeness, "outcome"))
    arms = sorted(map(str, rows.column(column).unique().to_pylist())) if column and earned else []
    called, written = {one.lower() for one in arms}, _first(names, partial(closeness, "propensity")) or "p" in names
    if len(arms) < 2 or written or not (called <= {*"abc"} or called & words_of("CONTROL")):
        return None
    lists = [name for name in names if pa.types.is_nested(rows[name].type) or is_json(whole_column(rows[name]))]
    shown = f"with lists ({lists[0]!r}), but not the clicks on their items" if lists else "without lists"
    what = f"it is an A/B test {shown} ({column!r}: {', '.join(arms)}; {earned!r} is what each row earned)"
    law = ", ".join(f"{spell(one)}: top({spell(f'is_{one}')})" for one in arms)
    words = ["compare", log, "--format", f"ab_test(arm={spell(column)}, reward={spell(earned)})"]
    words += ["--logging", f"by({spell(column)}, {{{law}}})", "-e", "snips"]
    user = next((name for name in names if closeness("user", name) >= 3), None)
    words += [] if user is None else ["--cluster", user]
    command = command_line(["offrank", *words])
    return Description("none", lacks=what, instead="compare the means of its arms", command=command)


def _of_ubi(rows: pa.Table, log: str) -> Description | None:
    """Tell the queries of User Behavior Insights that were given without their events."""
    if not {"query_id", "query_response_hit_ids"} <= {*rows.column_names}:
        return None
    lacks = "it has the queries of User Behavior Insights, but not the clicks, which are in its events"
    command = command_line(["offrank", "inspect", log, log.replace("queries", "events")])
    return Description("none", lacks=lacks, instead="give both files", command=command)


def _unordered(rows: pa.Table) -> Description | None:
    """Tell lists without positions: an id whose rows follow each other, with different items and the clicks on them."""
    single = of_values(rows)
    click = _first([*single], partial(closeness, "click"))
    item = _first([*single], partial(closeness, "item")) or _first([*single], partial(closeness, "option"))
    if not (click and item) or any(closeness("position", name) >= 2 for name in single):
        return None
    items, asked = single[item].groups, choice_of(rows) is None  # then positions alone are asked for
    for name in single:
        groups = single[name].groups
        begun = int(np.count_nonzero(np.diff(groups))) + 1
        listed = len(groups) == len(items) >= 2 * begun == 2 * single[name].distinct and not _user([name])
        if not listed or (asked and closeness("impression", name) >= 2):
            continue
        if len(np.unique(groups * (items.max() + 1) + items)) >= _DISTINCT * len(items):
            what = f"it has lists ({name!r}) of items ({item!r}) and clicks, but no positions: which stood where is"
            instead = f"log the position of each item; the click rate of an item is the mean of {click!r} over its rows"
            return Description("none", lacks=f"{what} unknown, so no ranking can be evaluated", instead=instead)
    return None


_DISTINCT = 0.99
"""The least share of items that stand in their list once, where rows are lists."""


def _choices(rows: pa.Table) -> Description | None:
    """Tell a table with a choice of one option in each row, and what it lacks to be read so."""
    found = choice_of(rows)
    if found is None and (told := choice_by_objects(rows)):
        one = "one choice in each row ({chosen!r}) and the probability of each option ({probs!r})".format_map(told)
        instead = "name its column: format='router(chosen={chosen}, reward=NAME, probs={probs})'".format_map(told)
        return Description("none", lacks=f"it has {one}, but it is unclear what that earned", instead=instead)
    if found is None and (costed := costed_choice(rows)) is not None:
        one = f"one choice in each row ({costed.chosen!r}), its probability ({costed.propensity!r}) and its cost"
        instead = _TO_EARN.format(costed.earned, f"chosen={costed.chosen}, reward=NAME, propensity={costed.propensity}")
        return Description("none", lacks=f"it has {one} ({costed.earned!r}), which is not a reward", instead=instead)
    if found is None or not (found.alone or found.propensity):
        return None
    one = f"one choice in each row ({found.chosen!r}) and what it earned ({found.earned!r})"
    if found.called:
        ends = pc.min_max(rows.column(found.called)).as_py()
        lacks = f"it has {one}, but {found.called!r} holds no probabilities: {ends['min']} to {ends['max']}"
        instead = _TO_CONVERT
    elif not found.propensity:
        lacks, instead = f"it has {one}, but not the probability of the choice", _TO_CHOOSE
    elif lacks_options(rows, found):
        lacks = f"it has {one}, but {found.propensity!r} shows that not every row had all options that were ever chosen"
        instead = TO_LIST
    elif not found.alone:
        lacks, instead = f"it may have {one}, but it is not clear whether rows belong together", _IF_ALONE
    else:
        return None
    return Description("none", lacks=lacks, instead=instead.format(found.spelled))


_TO_CHOOSE = (
    "log the probability of each choice, and use format='router({}, propensity=NAME)'; if all options were equally "
    "likely, that is a column of 1 / options"
)
_TO_CONVERT = "write probabilities in (0, 1], exp(x) of logarithms, 1 / x of inverse ones, and use format='router({})'"
_TO_EARN = "a larger reward must be better, so add a column of -{0}, and use format='router({1})' with its name"
_IF_ALONE = "if each row is a separate choice, use format='router({})'; otherwise log an id for every list shown"


def exposure_columns(names: Sequence[str]) -> ExposureColumns | None:
    """Return the columns of exposures of an experiment; None if it is another table."""
    experiment, variation = (_first(names, partial(_has, words_of(one))) for one in ("EXPERIMENT", "VARIATION"))
    user = _user(names)
    if not (experiment and variation and user) or _first(names, partial(closeness, "item")):
        return None
    return ExposureColumns(user, experiment, variation)


def _has(words: frozenset[str], name: str) -> int:
    return 2 * bool(words & {*parts(name)})


def _user(names: Sequence[str]) -> str:
    return _first(
        names, lambda name: max(closeness("user", name), closeness("session", name), 2 * ("anonymous" in parts(name)))
    )


def _first(names: Sequence[str], fits: Callable[[str], int]) -> str:
    """Return the column whose name fits best, empty if none does well."""
    best = max(names, key=fits, default="")
    return best if best and fits(best) >= 2 else ""


def _judged(beginning: Beginning) -> Description | None:
    """Describe runs of TREC, their judgments, or both; None of anything else. Of several runs it is the first."""
    kinds: dict[str, list[str]] = {}
    for each in _files(beginning):
        kinds.setdefault(kind_of_trec(each.text), []).extend(each.paths)
    if not kinds or not kinds.keys() <= {"run", "qrels"}:
        return None
    qrels = [*kinds.get("qrels", ()), ""][0]
    if "run" not in kinds:
        instead = f"{_BY_JUDGMENTS}: give both, `{shlex.join(['offrank', 'inspect', 'RUN', qrels])}`"
        return Description("pairs", lacks=f"these are judgments of TREC, {_NO_CLICKS}", instead=instead)
    try:
        return _of_runs(kinds["run"], qrels)
    except OffrankError as error:
        return Description("pairs", lacks=f"it is a TREC run, {_NO_CLICKS}; {error.message}", instead=error.remedy)


def _files(beginning: Beginning) -> Sequence[Beginning]:
    """Return the beginning of each file; none of too many."""
    if len(beginning.paths) < 2:
        return [beginning]
    return [Beginning(path) for path in beginning.paths] if len(beginning.paths) <= LOOKED_AT else []


def _of_runs(runs: Sequence[str], qrels: str) -> Description:
    """Describe runs, or one with its judgments; most of its queries have as many documents as the command asks for."""
    if not qrels:
        instead = f"{_BY_JUDGMENTS}: give both, `{shlex.join(['offrank', 'inspect', runs[0], 'QRELS'])}`"
        return Description("pairs", lacks=f"{_what(runs, *size_of_run(runs[0]))}, {_NO_CLICKS}", instead=instead)
    found = read_trec(runs[0], qrels)
    documents = min(_DOCUMENTS, int(np.quantile(found.sizes, _SHORT, method="higher")))
    words = ["offrank", "simulate", "--data", runs[0], "--qrels", qrels, "-o", "simulated.parquet"]
    words += ["--documents", str(documents)] if documents < _DOCUMENTS else []
    what = _what(runs, len(found), int(found.sizes.max()))
    return Description(
        "pairs",
        lacks=f"{what}, with judgments, {_NO_CLICKS}",
        instead=f"{_BY_JUDGMENTS}, and clicks can be simulated on it",
        command=shlex.join(words),
    )


def _what(runs: Sequence[str], queries: int, depth: int) -> str:
    it = "it is a TREC run" if len(runs) == 1 else f"these are {len(runs)} runs of TREC, the first"
    return f"{it} of {queries:,} queries with up to {depth:,} documents each"


_DESCRIBED, _CUT = 12, 60
"""Columns, and characters of their first values, that are shown of such a table."""


def not_understood(
    beginning: Beginning, found: Description, said: Mapping[str, str], error: OffrankError
) -> OffrankError:
    """Return the error about a table that could not be read by what was said. error: what failed first."""
    rows, table = beginning.rows, beginning.table
    if rows is None or table is None or not isinstance(error, ColumnError):
        return error
    if found.instead:
        return ColumnError(f"{table.describe()}: {found.lacks}", found.remedy)
    named = {said.get(role, role) for role in ("impression", "item")} <= {*table.names}
    if found.lacks and (named or "slate" in said or nearest("slate", table.names, _NEAR)):
        return error  # which says it better
    more = f", and {len(table.names) - _DESCRIBED} more columns" if len(table.names) > _DESCRIBED else ""
    columns = "; ".join(_column(rows, name) for name in table.names[:_DESCRIBED])
    return ColumnError(
        Wording("{} is not understood: {}. It has {}{}", table.describe(), _open(found), columns, more), _remedy(found)
    )


def not_joined(beginning: Beginning, error: OffrankError) -> OffrankError:
    """Return the error about two tables of which none is a log, and that do not join. error: what failed first."""
    without = lacks_lists(beginning) if isinstance(error, ColumnError) else None
    if without is not None:
        return ColumnError(without.lacks, without.remedy)
    try:
        tables = beginning.tables if isinstance(error, ColumnError | UsageError) else []
        if len(tables) != 2:
            return _of_sets(tables, error)
        for table in tables:
            found = wide_roles(first_rows(table), {})
            if found.instead:
                return ColumnError(f"{table.describe()}: {found.lacks}", found.remedy)
    except OffrankError:
        return error
    mine, theirs = ({*table.names} for table in tables)
    if 2 * len(mine & theirs) >= max(len(mine), len(theirs)):  # they are two logs, not impressions and their clicks
        return _of_sets(tables, error)
    said = [f"{table.describe()} has {', '.join(table.names)}" for table in tables]
    join = "events(impression=NAME, item=NAME, position=NAME, click_impression=NAME, click_item=NAME)"
    return ColumnError(
        f"these are two tables, and it is not clear how clicks in one refer to items in the other: {'; '.join(said)}",
        Wording(
            "give the impressions and their clicks, and name the columns that join them: {}", Option("format", join)
        ),
    )


def _of_sets(tables: Sequence[Table], error: OffrankError) -> OffrankError:
    """Return the error about files whose columns differ; of other tables what failed first."""
    files = [table for table in tables if isinstance(table, FileTable)]
    sets = sets_of((path, table.names) for table in files for path in table.files.paths)
    told = isinstance(error, ColumnError) and len(files) == len(tables) and len(sets) > 1 and headed(sets)
    return ColumnError(differing(sets), one_of(sets)) if told else error


def _open(found: Description) -> str:
    """Return what is not known of a table."""
    known = ", ".join(f"{role}={name}" for role, name in found.roles.items())
    asked = " and ".join(each.what for each in found.unsettled)
    what = "; ".join(part for part in (asked and f"it is not clear {asked}", found.lacks) if part)
    return f"{what} (read so far: {known})" if known else what


def _remedy(found: Description) -> str:
    """Return the options that settle what is open, the likeliest first."""
    if not found.unsettled:
        if {"item", "slate"} & found.roles.keys():
            role = "click" if "item" in found.roles else "clicks"
            return Wording("if a column has it, name it: {}", ColumnNames({role: "NAME"}))
        own = "give every list shown its own id; if it has one, name it: {}"
        return Wording(own, ColumnNames(_EXAMPLE))
    first = {role: name for each in found.unsettled for role, name in each.columns[0].items()}
    others = [option for each in found.unsettled for option in each.options[1:]]
    return Wording("use {}", ColumnNames(first)) + joined("", [Wording(", or {}", one) for one in others])


_NEAR = 0.85
"""How near a name must be to be taken for a slip; `state` is none."""
_EXAMPLE = {"impression": "NAME", "item": "NAME", "position": "NAME", "click": "NAME"}


def _column(rows: pa.Table, name: str) -> str:
    """Describe a column: its type, and its first values."""
    shown = ", ".join(repr(value) for value in flat.in_python(rows.column(name).slice(0, 2)))
    shown = shown if len(shown) <= _CUT else f"{shown[:_CUT]}..."
    return f"{name} ({type_in_words(rows.schema.field(name).type)}): {shown}"
