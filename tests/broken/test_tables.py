"""The tables of what was measured."""

from __future__ import annotations

from benchmarks.trust import Found, by_world, totals, words
from benchmarks.trust_worlds.world import CARE, NONE, SOUND, Outcome

RIGHT = Outcome(SOUND, "", right=False, held=True, off=False)
WRONG = Outcome(SOUND, "", right=False, held=False, off=True, decided=True, astray=True)
NAMED = Outcome(NONE, "mean-weight", right=True)
OTHER = Outcome(NONE, "low-ess", right=False)
HEALTHY, LONG = "Plackett-Luce, 1 slot", "Plackett-Luce, 3 slots"  # the second needs 5,000 rows
BROKEN, SMALL = "propensities twice too large", "propensities a tenth too large"
HOPELESS = "robots click everything in 1 of 20 rows"
FOUND: Found = {
    (HEALTHY, 1000): [RIGHT, RIGHT, RIGHT, WRONG],
    (LONG, 1000): [OTHER] * 4,
    (LONG, 5000): [RIGHT, RIGHT, RIGHT, OTHER],
    (BROKEN, 1000): [NAMED, NAMED, OTHER, WRONG],
    (SMALL, 1000): [OTHER] * 4,
    (SMALL, 5000): [NAMED] * 4,
    (HOPELESS, 1000): [WRONG, WRONG, RIGHT, RIGHT],
}


def test_totals() -> None:
    assert [[f"{100 * one.count / max(one.of, 1):.1f} %", str(one.of)] for one in totals(FOUND).values()] == [
        ["87.5 %", "8"],  # 4 + 3 of the 8 healthy logs that are long enough
        ["12.5 %", "8"],
        ["41.7 %", "12"],  # 4 + 1 of the 12 of any length
        ["85.7 %", "7"],  # 6 of 7
        ["0.0 %", "0"],
        ["31.2 %", "16"],  # 1 + 4 of 16 broken ones
        ["60.0 %", "5"],  # 1 + 2 of those 5
        ["100.0 %", "1"],
        ["100.0 %", "1"],
        ["14.3 %", "7"],  # 1 of 7
        ["100.0 %", "1"],
        ["75.0 %", "8"],  # 2 + 4 of 8; nothing can be known of four that are too short, and of four of robots
    ]


def test_a_line_for_each_world() -> None:
    lines = list(by_world(FOUND, [1000, 5000]))
    assert len(lines) == 5
    assert [HOPELESS, "100 / 0 / 0", "", "", "cannot be known", "50 %", "50 %", "50 %", "50 %"] in lines
    assert [SMALL, "0 / 0 / 100", "0 / 0 / 100", "`mean-weight`", "100 %", "", "", "", ""] in lines


def test_words() -> None:
    assert words([RIGHT, Outcome(CARE, "", right=False), OTHER, OTHER]) == "25 / 25 / 50"
