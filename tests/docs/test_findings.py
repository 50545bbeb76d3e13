"""The page of all codes is what the source says of them today."""

from __future__ import annotations

from offrank import findings
from tests.docs.scripts import script


def test_the_page_is_what_the_source_says() -> None:
    made = script("findings")
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run scripts/findings"


def test_a_number_is_told_by_the_comment_beside_it() -> None:
    made = script("findings")
    [kind] = [one for one in findings.all_findings() if one.code == "support"]
    assert list(made.numbers([kind])) == ["- 0.05: share of the target's items at a rank."]
    kinds = [one for one in findings.all_findings() if one.code == "few-clusters"]
    assert list(made.numbers(kinds)) == ["- 20 and 5: effective number of clusters."]
