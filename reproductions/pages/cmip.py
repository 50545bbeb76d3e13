"""Write the tables and verdicts of docs/ from the results of `offrank reproduce cmip`.

offrank reproduce cmip --scale small
python -m reproductions.pages.cmip [reproduce-cmip] [--record]

--record: also write each verdict into offrank_papers/expected/cmip.json, as that found at scale small with seed 4.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from reproductions.pages._markdown import arguments, section, write

SCRIPT = "reproductions/pages/cmip.py"
EXPECTED = Path(__file__).resolve().parents[1] / "src" / "offrank_papers" / "expected" / "cmip.json"

CHARTS = ("dctr, temperature .1", "pbm, temperature .1")
"""Beginnings of the titles of the charts that are shown; the others are on the page of the reproduction."""

LEFT_OUT = "All measurements"


def main() -> None:
    parser = arguments("cmip", __doc__)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    sections = write(given, SCRIPT, written)
    if given.record:
        record([claim for one in sections for claim in one["claims"]])


def written(one: dict[str, Any]) -> str:
    """Return a section as Markdown; empty for the table of all measurements."""
    if one["heading"] == LEFT_OUT:
        return ""
    charts = [chart for chart in one["charts"] if chart["title"].startswith(CHARTS)]
    return section({**one, "charts": charts}, digits)


def digits(title: str) -> str:
    """Return the format of a column: perplexities are near each other."""
    return ".4f" if "perplexity" in title and "CMIP" not in title else ".3f"


def record(claims: list[dict[str, Any]], expected: Path = EXPECTED) -> None:
    """Write the verdict of each claim into the expectations, in their order."""
    verdicts = iter(claim["status"] for claim in claims)
    text = expected.read_text(encoding="utf-8")
    recorded, count = re.subn(r'"found": (?:null|"[a-z ]+")', lambda _: f'"found": "{next(verdicts, "")}"', text)
    if count != len(claims):
        raise SystemExit(f"{expected} has {count} verdicts, the results have {len(claims)} claims")
    expected.write_text(recorded, encoding="utf-8")


if __name__ == "__main__":
    main()
