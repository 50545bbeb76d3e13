"""Write docs/slates-reproduction.md from the results of `offrank reproduce slates`.

offrank reproduce slates --scale small
python benchmarks/slates_page.py [reproduce-slates] [docs/slates-reproduction.md]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from _page import section, write

INTRODUCTION = """\
# The paper on slates, reproduced

```sh
offrank reproduce slates --scale small          # within twenty minutes on two cores
offrank reproduce slates MSLR-WEB30K/Fold1      # the published size, on your copy of the data
```

simulates what *Off-policy evaluation for slate recommendation* (Swaminathan, Krishnamurthy, Agarwal, Dudík, Langford,
Jose and Zitouni, 2017) simulated: two metrics, two spaces of slates and ten pairs of logging and target policies, and
asks how far [`wpi`](pseudoinverse.md), whole-slate importance weights and regressions of the reward are from the
truth, for logs of all sizes. Figures 2 to 12, Tables 1 and 2 and every claim stand on one page beside what was found;
all numbers are in `result.json` and CSV files beside it. It needs the extra `models`.

It says first what it will cost. It can be interrupted: each simulated log and each fold is kept in the folder once it
is done, and the same command goes on with the others. Other data, another seed or another size have a folder of their
own; more runs go on from fewer. What the paper says, with every rule and tolerance, is data:
`offrank/papers/expected/slates.json` and `slates-tables.json`.

This page is written from the results by `benchmarks/slates_page.py`.
"""

PICTURES = (
    "Figure 3: uniform logging, (10, 5)",
    "Figure 12: tree_title, alpha 1 logging, (100, 10)",
)
"""Sections whose charts are shown; the others are on the page of the reproduction."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("reproduce-slates"))
    parser.add_argument("page", nargs="?", type=Path, default=Path("docs/slates-reproduction.md"))
    given = parser.parse_args()
    write(given.folder, given.page, INTRODUCTION, lambda one: section(one) if shown(one) else "")


def shown(one: dict[str, Any]) -> bool:
    """Whether a section is no figure, or one of those shown here."""
    return not one["heading"].startswith("Figure ") or one["heading"] in PICTURES


if __name__ == "__main__":
    main()
