"""`python -m tests.fuzz`: judge cases, and tell of those that fail."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from . import judging, workers


def main() -> int:
    """Read the arguments, run, and return the exit code: 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="how many")
    parser.add_argument("--seed", default="1", help="cases of another seed are others")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--only", metavar="SEED", help="judge one case, by the seed that was printed, and show it")
    parser.add_argument("--json", metavar="FILE", help="where to write what was counted")
    said = parser.parse_args()
    if said.only is not None:
        case = judging.draw_case(said.only)
        found = judging.judge_case(case)
        print(case, found.outcome, found.why, found.where, sep="\n")
        return int(found.outcome == "failed")
    tally = workers.run_cases(range(said.first, said.first + said.cases), said.seed, said.workers, _say)
    failed = {kind: [one.partition("\n")[0] for one in found] for kind, found in tally.failures.items()}
    counted = {"seed": said.seed, "first": said.first, "cases": said.cases, "outcomes": dict(tally.outcomes)}
    counted |= {"asked": dict(tally.asked), "failed": failed, "slowest": tally.slowest, "largest": tally.largest}
    if said.json:
        Path(said.json).write_text(json.dumps(counted, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({name: value for name, value in counted.items() if name != "failed"}))
    print(*(f"{len(seeds)} times: {kind}: {seeds[:5]}" for kind, seeds in failed.items()), sep="\n")
    return int(bool(failed))


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
