"""Rules, sentences and tables of a page: what they say of facts, on both sides of every threshold."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import pytest

from offrank.sums.estimate import Interval
from offrank_papers.expectations import Expectations, half_of, holds, same_size, times, verdict
from offrank_papers.registry import REPRODUCTIONS

GAP = Interval(2.0, 1.0, 3.0, 0.5)
FACTS = {"bias": 0.1, "best": 8, "other": 9, "gap": GAP, "unknown": float("nan")}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("bias < 0.1", False),
        ("bias <= 0.1", True),
        ("bias > 0.1", False),
        ("bias >= 0.1", True),
        ("bias = 0.1", True),
        ("best = 8.5 ± 0.5", True),
        ("best = 8.5 ± 0.499", False),
        ("best < other", True),
        ("other < best", False),
        ("gap > 1.999", True),
        ("gap low > 1", False),
        ("gap low > 0.999", True),
        ("gap high < 3", False),
        ("unknown < 1", False),
        ("unknown >= 1", False),
        ("unknown = 1 ± 5", False),
    ],
)
def test_a_rule_holds_up_to_its_limit(rule: str, expected: bool) -> None:
    assert holds(rule, FACTS) is expected


@pytest.mark.parametrize("rule", ["bias", "bias ! 1", "nothing < 1", "bias < nothing", "best low > 1"])
def test_what_is_no_rule_is_refused(rule: str) -> None:
    with pytest.raises((ValueError, AttributeError)):
        holds(rule, FACTS)


def test_all_rules_of_a_verdict_must_hold() -> None:
    assert verdict(["best = 8", "bias < 1"], ["best = 7"], FACTS) == "confirmed"
    assert verdict(["best = 8", "bias > 1"], ["best = 8"], FACTS) == "in part"
    assert verdict(["best = 7"], ["best = 8", "bias > 1"], FACTS) == "not confirmed"
    assert verdict(["best = 7"], [], FACTS) == "not confirmed"


def paper(**content: Any) -> Expectations:
    return Expectations({"title": "t", "lead": "l", "sections": {}, "tables": {}, **content})


def test_a_claim_says_what_was_found_and_by_which_rule() -> None:
    claim = {
        "text": "The best is {best}.",
        "confirmed": ["best = 9"],
        "in part": ["best > 7", "bias < 1"],
        "evidence": "It is {best}; gaps {gap:+.1f}, {by power:.2f}; {none}.",
        "found": "confirmed",
    }
    made = paper(sections={"s": {"heading": "h", "prose": ["{best}", "{empty}"], "claims": [claim]}})
    facts = {**FACTS, "by power": {"1:": 0.5, "2:": 1.25}, "none": [], "empty": ""}
    section = made.section("s", facts)
    assert section.prose == ("8",)
    (found,) = section.claims
    assert (found.text, found.status) == ("The best is 8.", "in part")
    assert found.evidence == (
        "It is 8; gaps +2.0\u00a0(±\u00a01.0), 1: 0.50, 2: 1.25; none. Confirmed if best = 9; in part if best > 7 and "
        "bias < 1. At scale small, with seed 4, it was confirmed."
    )
    (again,) = made.claims("s", facts, "windowed")
    assert again.text == "Windowed: The best is 8."
    assert "it was" not in again.evidence


def test_claims_that_need_what_is_not_known_are_left_out() -> None:
    claims = [{"text": "a", "evidence": "e", "needs": "truth"}, {"text": "b", "evidence": "e"}]
    made = paper(sections={"s": {"heading": "h", "claims": claims}})
    assert [claim.text for claim in made.claims("s", {})] == ["b"]
    assert [(claim.text, claim.status) for claim in made.claims("s", {"truth": 1})] == [("a", "new"), ("b", "new")]


TABLE = {
    "caption": "T",
    "row": "policy",
    "columns": ["ips", "weight"],
    "tolerance": 0.5,
    "rows": {"a": [[10.0, 3.0], 1.0], "b": [[20.0, 0.0], 2.0]},
}


def test_published_cells_stand_beside_those_found() -> None:
    found = {"a": (Interval(15.5, 11.5, 19.5, 2.0), 1.6), "b": (20.5, 1.5), "c": (1.0, None)}
    table = paper(tables={"t": TABLE}).table("t", found, {"n": [1, 2, 3], "empty": [None] * 3})
    columns = ("policy", "ips", "± of ips", "ips, published", "± of ips, published", "weight", "weight, published")
    assert table.header == (*columns, "n", "verdict")
    # |15.5 - 10| is the tolerance and the root of 3 ^ 2 + 4 ^ 2; |1.6 - 1| is more than the tolerance
    assert table.rows[0] == ("a", 15.5, 4.0, 10.0, 3.0, 1.6, 1.0, 1, "in part")
    assert table.rows[1] == ("b", 20.5, None, 20.0, 0.0, 1.5, 2.0, 2, "confirmed")
    assert table.rows[2] == ("c", 1.0, None, None, None, None, None, 3, None)
    assert "within 0.5" in table.caption


@pytest.mark.parametrize(
    ("cells", "expected"), [((15.51, 1.5), "in part"), ((16.0, 1.6), "not confirmed"), ((13.5, 0.5), "confirmed")]
)
def test_a_row_is_confirmed_in_part_where_half_of_its_cells_agree(cells: tuple[float, float], expected: str) -> None:
    assert paper(tables={"t": TABLE}).table("t", {"a": cells}).rows[0][-1] == expected


def test_a_tolerance_may_be_relative() -> None:
    made = paper(tables={"t": {**TABLE, "tolerance": 0.0, "relative": 0.25, "rows": {"a": [8.0, 1.0]}}})
    assert made.table("t", {"a": (10.0, 0.75)}).rows[0][-1] == "confirmed"
    assert made.table("t", {"a": (10.01, 0.74)}).rows[0][-1] == "not confirmed"


def test_what_is_another_log_has_no_verdict() -> None:
    table = paper(tables={"t": TABLE}).table("t", {"a": (10.0, 1.0)}, compared=False)
    assert "verdict" not in table.header
    assert "within" not in table.caption
    assert table.rows[0][:4] == ("a", 10.0, 10.0, 3.0)


def test_half_of_a_lopsided_interval_is_half_of_its_length() -> None:
    assert half_of(Interval(2.0, 1.0, 7.0, 0.5)) == 3.0


def test_only_a_log_as_long_as_the_published_one_is_compared() -> None:
    assert [same_size(rows, 1000.0) for rows in (990, 1010)] == [True, True]
    assert [same_size(rows, 1000.0) for rows in (989, 1011)] == [False, False]


def test_an_interval_in_another_unit() -> None:
    assert times(10.0, GAP) == Interval(20.0, 10.0, 30.0, 5.0)


def test_every_reproduction_has_its_expectations_in_the_package() -> None:
    names = {path.name for path in (files("offrank_papers") / "expected").iterdir()}
    parts = {"slates-tables.json"}  # of a page with several files
    assert names - parts == {f"{name}.json" for name in REPRODUCTIONS if name != "cmip-published-code"}
    for name in names:
        content = Expectations.of(name.removesuffix(".json")).content
        claims = [claim for section in content["sections"].values() for claim in section.get("claims", ())]
        assert claims
        for claim in claims:
            rules = [*claim.get("confirmed", ()), *claim.get("in part", ())]
            assert all(re.search(r" (<|<=|>|>=|=) ", rule) for rule in rules)
            assert claim.get("found") in {None, "confirmed", "in part", "not confirmed", "new"}
            assert (claim.get("found") == "new") <= (not rules)
        for table in content.get("tables", {}).values():
            assert all(len(row) == len(table["columns"]) for row in table["rows"].values())
            assert table.get("tolerance", 0) > 0 or table.get("relative", 0) > 0


def test_criteos_tables_are_whole() -> None:
    checks, learning = (Expectations.of(f"criteo-{name}").content["tables"] for name in ("checks", "learning"))
    assert list(checks["propensities"]["rows"]) == ["1", "2", "3", "4", "5", "6"]
    assert len(checks["slots"]["rows"]) == 6 * 12
    for (weight, _), (ips, _), snips in checks["slots"]["rows"].values():
        assert ips / weight == pytest.approx(snips, rel=1.5e-3)  # C has three digits
    for (ips, _), (snips, _), (weight, _) in learning["learnt"]["rows"].values():
        assert ips / weight == pytest.approx(snips, rel=1.5e-3)
