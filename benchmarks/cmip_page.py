"""Write docs/cmip-reproduction.md from the results of `offrank reproduce cmip`.

offrank reproduce cmip --scale small
python benchmarks/cmip_page.py [reproduce-cmip] [docs/cmip-reproduction.md] [--record]

--record: also write each verdict into src/offrank/papers/expected/cmip.json, as that found at scale small with seed 4.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from _page import section, write

EXPECTED = Path("src/offrank/papers/expected/cmip.json")

INTRODUCTION = """\
# The paper on CMIP, reproduced

```sh
offrank reproduce cmip --scale small            # a quarter of an hour on two cores
offrank reproduce cmip MSLR-WEB10K/Fold1        # the published size, on your copy of the data: days
```

simulates what *An offline metric for the debiasedness of click models* (Deffayet, Hager, Renders and de Rijke, 2023)
simulated: four users, two logging policies and two other policies to test on, seven click models (DCTR, RDCTR, PBM,
UBM, DBN, NCM, CACM), and asks whether perplexity, nDCG and [CMIP](cmip.md) under the logging policy tell how a model
will do under the others. Figures 1 and 2, Tables 1 and 2 and every claim stand on one page beside what was found; all
numbers are in `result.json` and CSV files beside it. It needs the extra `models`, and `neural` for NCM and CACM, which
are left out without it.

At every scale a query has the paper's 850 sessions: smaller scales have fewer queries, fewer runs and, for the neural
models, fewer still. How the findings change with fewer sessions a query is a table of its own, the last one. **CMIP by
posterior draws** stands beside CMIP of point estimates, which is the paper's, and the published estimator of it.

Each claim says by which rule it is **confirmed** or confirmed **in part**; one that the paper does not make, and that
no rule judges, is **new**. Published cells stand beside those found, with a verdict for each row. What the paper says,
with every rule and tolerance, is data: `offrank/papers/expected/cmip.json` in the package.

It says first what it will cost. It can be interrupted: each of its studies (a user, a logging policy, a run) is kept in
the folder once it is done, and the same command goes on with the others. Other data, another seed or another size have
a folder of their own; more runs go on from fewer. Studies of an earlier version of the package are not told apart: give
a new version a new folder.

The published code differs from the text; `offrank reproduce cmip-published-code` follows the code:

| | text, and `cmip` | published code, and `cmip-published-code` |
|---|---|---|
| test policies | Plackett-Luce, like those that logged | temperature 0: one ranking per query, also for `uniform` |
| the policy's relevance in CMIP | expected rank, computed exactly | raw score |
| noise of the oracle | variance .5 | variance .25 |
| DBN users | leave when satisfied or bored | never leave: attention fades |
| carousel | one row is read | every row is read |

Three things are our own, in both. **Perplexity** is Eq. 2 and 3, of P(click | ranking), for every model; the published
code tells UBM, DBN, NCM and CACM the clicks above, and with 25 ranks so do we, to all models, since NCM and CACM have
too many histories to sum over. What is clicked in the tests is not drawn: the loss is averaged over the user's exact
chances, so that few slates say as much as many clicks. **CMIP** is `binned`; the published estimator, which is far too
low for few documents, stands beside it. And **Table 1 has an honest twin**: runs of one model are near copies of each
other, so that a regression tested on random rows needs only to recognise the model. Predicting each model from the
others asks what a reader wants to know.

This page is written from the results by `benchmarks/cmip_page.py`.
"""

CHARTS = ("dctr, temperature .1", "pbm, temperature .1")
"""Beginnings of the titles of the charts that are shown; the others are on the page of the reproduction."""

LEFT_OUT = "All measurements"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("reproduce-cmip"))
    parser.add_argument("page", nargs="?", type=Path, default=Path("docs/cmip-reproduction.md"))
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    write(given.folder, given.page, INTRODUCTION, written)
    if given.record:
        result = json.loads((given.folder / "result.json").read_text(encoding="utf-8"))
        record([claim for one in result["sections"] for claim in one["claims"]])


def written(one: dict[str, Any]) -> str:
    """Return a section as Markdown; empty for the table of all measurements."""
    if one["heading"] == LEFT_OUT:
        return ""
    charts = [chart for chart in one["charts"] if chart["title"].startswith(CHARTS)]
    return section({**one, "charts": charts}, digits)


def digits(title: str) -> str:
    """Return the format of a column: perplexities are near each other."""
    return ".4f" if "perplexity" in title and "CMIP" not in title else ".3f"


def record(claims: list[dict[str, Any]]) -> None:
    """Write the verdict of each claim into the expectations, in their order."""
    verdicts = iter(claim["status"] for claim in claims)
    text = EXPECTED.read_text(encoding="utf-8")
    recorded, count = re.subn(r'"found": (?:null|"[a-z ]+")', lambda _: f'"found": "{next(verdicts)}"', text)
    if count != len(claims):
        raise SystemExit(f"{EXPECTED} has {count} verdicts, the results have {len(claims)} claims")
    EXPECTED.write_text(recorded, encoding="utf-8")


if __name__ == "__main__":
    main()
