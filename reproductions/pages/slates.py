"""Write the tables and verdicts of docs/ from the results of `offrank reproduce slates`.

offrank reproduce slates --scale small
python -m reproductions.pages.slates [reproduce-slates]
"""

from __future__ import annotations

from typing import Any

from reproductions.pages._markdown import arguments, section, write

SCRIPT = "reproductions/pages/slates.py"

PICTURES = (
    "Figure 3: uniform logging, (10, 5)",
    "Figure 12: tree_title, alpha 1 logging, (100, 10)",
)
"""Sections whose charts are shown; the others are on the page of the reproduction."""


def main() -> None:
    write(arguments("slates", __doc__).parse_args(), SCRIPT, written)


def written(one: dict[str, Any]) -> str:
    """Return a section as Markdown; empty for a figure that is not among those shown here."""
    return "" if one["heading"].startswith("Figure ") and one["heading"] not in PICTURES else section(one)


if __name__ == "__main__":
    main()
