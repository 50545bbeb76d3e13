"""What was measured, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from . import WORLDS, World
from .measure import CARE, NONE, SOUND, Outcome, Share, most_frequent

Found = Mapping[tuple[str, int], Sequence[Outcome]]
"""(world, rows) -> what was said of its logs."""


def table(found: Found, sizes: Sequence[int]) -> Iterator[str]:
    """Lines of the table: a world each."""
    columns = [*(f"{rows:,} rows" for rows in sizes), "named first", "right", "holds", "off", "decides", "astray"]
    yield f"| World | {' | '.join(columns)} |"
    yield "|---|" + "--:|" * len(sizes) + "---|--:|--:|--:|--:|--:|"
    for name, world in WORLDS.items():
        by_size = [found.get((name, rows), ()) for rows in sizes]
        if any(by_size):
            cells = [name, *map(words, by_size), *_judgement(world, found, sizes)]
            yield f"| {' | '.join(cells)} |"


def words(outcomes: Sequence[Outcome]) -> str:
    """How often the trust is sound, with care and none, in per cent."""
    counts = [Share.that(one.trust == word for one in outcomes) for word in (SOUND, CARE, NONE)]
    if not outcomes:
        return ""
    return " / ".join(f"{100 * count.count / count.of:.0f}" for count in counts)


def _judgement(world: World, found: Found, sizes: Sequence[int]) -> list[str]:
    """What is named first and whether that is right; how often the interval of a *sound* holds, and is far off."""
    every = [one for rows in sizes for one in found.get((world.name, rows), ())]
    known = list(_known(world, found))
    used = [one for one in every if one.trust == SOUND]
    answered = [one for one in every if one.trust != NONE]
    right = "cannot be known" if world.causes is None else str(Share.that(one.right for one in known))
    first = most_frequent(known or every)
    return [
        f"`{first}`" if first else "",
        "" if world.healthy else right,
        str(Share.that(one.held for one in used)),
        str(Share.that(one.off for one in used)),
        str(Share.that(one.decided for one in answered)),
        str(Share.that(one.astray for one in answered)),
    ]


def _known(world: World, found: Found) -> Iterator[Outcome]:
    """The logs of a broken world that ought to name a cause."""
    for other, rows, one in _flat(found):
        if other is world and world.causes and rows >= world.known_from and not one.spared:
            yield one


def totals(found: Found) -> Iterator[str]:
    """What is promised, and what was measured."""
    healthy = [one for world, _, one in _flat(found) if world.healthy]
    long = [one for world, rows, one in _flat(found) if world.healthy and rows >= world.known_from]
    broken = [one for world, _, one in _flat(found) if not world.healthy]
    knowable = [one for world, _, one in _flat(found) if world.causes]
    telling = [one for world, rows, one in _flat(found) if world.causes and rows >= world.known_from]
    shares = {
        "healthy logs: *sound*, where the log is long enough": Share.that(one.trust == SOUND for one in long),
        "the same: *none*, at most 2 %": Share.that(one.trust == NONE for one in long),
        "healthy logs of any length: *none*": Share.that(one.trust == NONE for one in healthy),
        "healthy logs: the interval of a *sound* holds the truth, at least 93 %": Share.that(
            one.held for one in healthy if one.trust == SOUND
        ),
        "healthy logs: the interval of a *with care* holds the truth": Share.that(
            one.held for one in healthy if one.trust == CARE
        ),
        "broken logs: *sound*": Share.that(one.trust == SOUND for one in broken),
        "broken logs: the error of a *sound* exceeds three standard errors, at most 2 %": Share.that(
            one.off for one in broken if one.trust == SOUND
        ),
        "the same, without the worlds in which no log can tell": Share.that(
            one.off for one in knowable if one.trust == SOUND
        ),
        "the same, where a log of that size can tell": Share.that(one.off for one in telling if one.trust == SOUND),
        "healthy logs: a decision that is wrong": Share.that(one.astray for one in healthy if one.trust != NONE),
        "broken logs that can tell: a decision that is wrong": Share.that(
            one.astray for one in telling if one.trust != NONE
        ),
        "broken logs that can tell: the right cause is named first, at least 80 %": Share.that(
            one.right for world in WORLDS.values() for one in _known(world, found)
        ),
    }
    yield from ("| Promised | Measured | Logs |", "|---|--:|--:|")
    for promised, share in shares.items():
        yield f"| {promised} | {100 * share.count / max(share.of, 1):.1f} % | {share.of:,} |"


def _flat(found: Found) -> Iterator[tuple[World, int, Outcome]]:
    """Every log by itself, with its world and size."""
    yield from ((WORLDS[name], rows, one) for (name, rows), outcomes in found.items() for one in outcomes)
