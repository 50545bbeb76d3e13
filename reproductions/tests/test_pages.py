"""The pages of findings say what the tables say, and scripts write both from the results of a reproduction."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks._page import DOCS, table
from reproductions.pages import cmip, slates
from reproductions.pages._markdown import section, verdicts

PAGES = ("cmip", "slates")
NUMBER = re.compile(r"(?<![\w.])\d*\.\d+")
"""A number with decimals: what was measured, rather than counted."""
CLAIM = re.compile(r"^- \*\*(confirmed|in part|not confirmed)\*\*: ", re.MULTILINE)


def whole(page: Path) -> str:
    """A page with the tables that it includes."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r'--8<-- "(\S+)"', lambda found: (DOCS / found[1]).read_text(encoding="utf-8"), text)


def findings(name: str) -> str:
    include = f'--8<-- "tables/{table(f"claims of {name}")}"'
    [page] = [one for one in DOCS.rglob("*.md") if include in one.read_text(encoding="utf-8")]
    return whole(page).rpartition("\n## The paper, reproduced\n")[2]


def tables(name: str) -> str:
    return (DOCS / "tables" / table(f"results of {name}")).read_text(encoding="utf-8")


def numbers(text: str) -> set[str]:
    """Numbers with decimals, without the zero before the point."""
    return {number.removeprefix("0") for number in NUMBER.findall(text)}


@pytest.mark.parametrize("name", PAGES)
def test_a_number_of_the_findings_stands_in_the_tables(name: str) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", findings(name), flags=re.DOTALL)
    assert len(numbers(prose)) > 15
    assert numbers(prose) - numbers(tables(name)) == set()


@pytest.mark.parametrize("name", PAGES)
def test_findings_are_short_enough_to_be_read(name: str) -> None:
    assert 600 <= len(re.findall(r"\b[A-Za-z]\w+", findings(name))) <= 1200


@pytest.mark.parametrize("name", PAGES)
def test_every_claim_of_the_tables_is_among_the_findings(name: str) -> None:
    rows = re.findall(r"^\| (.+) \| (confirmed|in part|not confirmed) \|$", findings(name), re.MULTILINE)
    joined = re.sub(r"\n  (?=\S)", " ", tables(name))
    found = [(joined[match.end() :].split("\n", 1)[0], match[1]) for match in CLAIM.finditer(joined)]
    assert [status for _, status in rows] == [status for _, status in found]
    assert all(evidence.startswith(claim) for (claim, _), (evidence, _) in zip(rows, found, strict=True))


RESULT = {
    "sections": [
        {
            "heading": "Set-up",
            "prose": ["Small."],
            "tables": [
                {
                    "caption": "Sizes",
                    "header": ["m", "none", "perplexity"],
                    "rows": [[1, None, 0.12345]],
                    "folded": False,
                },
                {"caption": "Folded", "header": ["m"], "rows": [[7]], "folded": True},
            ],
            "charts": [],
            "claims": [
                {"text": "It rains.", "status": "confirmed", "evidence": "Seen. Confirmed if rain > 0."},
                {"text": "It snows.", "status": "new", "evidence": "Not said."},
            ],
        },
        {"heading": "Figure 7: left out", "prose": ["Hidden."], "tables": [], "charts": [], "claims": []},
        {"heading": "All measurements", "prose": ["Hidden too."], "tables": [], "charts": [], "claims": []},
    ]
}


@pytest.mark.parametrize(
    ("main", "number", "shown", "hidden"),
    [(cmip.main, "0.1235", "Figure 7", "Hidden too"), (slates.main, "0.123", "Hidden too", "Figure 7")],
)
def test_a_script_writes_tables_and_verdicts(
    main: Callable[[], None],
    number: str,
    shown: str,
    hidden: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "result.json").write_text(json.dumps(RESULT), encoding="utf-8")
    name = main.__module__.rpartition(".")[2]
    files = [table(f"{what} of {name}") for what in ("claims", "results")]
    (tmp_path / "tables").mkdir()
    (tmp_path / "page.md").write_text("\n".join(f'--8<-- "tables/{file}"' for file in files), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["page", str(tmp_path), "--docs", str(tmp_path)])
    main()
    claims, results = ((tmp_path / "tables" / file).read_text(encoding="utf-8") for file in files)
    assert "| It rains. | confirmed |\n" in claims
    assert "It snows." not in claims
    assert "- **confirmed**: It rains. Seen.\n- **new**: It snows. Not said.\n" in results
    assert f"Sizes.\n\n| m | perplexity |\n| --- | --- |\n| 1 | {number} |\n" in results
    assert shown in results
    assert hidden not in results
    assert "Folded" not in results


def test_verdicts_are_recorded_in_the_order_of_the_claims(tmp_path: Path) -> None:
    expected = tmp_path / "expected.json"
    expected.write_text('[{"found": null}, {"found": "in part"}]', encoding="utf-8")
    cmip.record([{"status": "confirmed"}, {"status": "not confirmed"}], expected)
    assert json.loads(expected.read_text(encoding="utf-8")) == [{"found": "confirmed"}, {"found": "not confirmed"}]
    with pytest.raises(SystemExit, match="2 verdicts, the results have 1 claims"):
        cmip.record([{"status": "new"}], expected)


def test_the_verdicts_of_a_page_are_those_recorded() -> None:
    expected = json.loads(cmip.EXPECTED.read_text(encoding="utf-8"))["sections"].values()
    recorded = [claim["found"] for one in expected for claim in one.get("claims", ())]
    assert re.findall(r"^- \*\*([a-z ]+)\*\*: ", tables("cmip"), re.MULTILINE) == recorded


def test_what_is_new_is_no_claim_of_the_paper() -> None:
    assert verdicts(RESULT["sections"][0]["claims"])[2:] == ["| It rains. | confirmed |"]
    assert section(RESULT["sections"][1]) == "## Figure 7: left out\n\nHidden."
