"""Raw tables of other people, read by `inspect`: how many rightly, and what it takes a new user to an answer.

python -m benchmarks.strangers.tables tables [--batch unseen] [--write]
python -m benchmarks.strangers.tables trial [--write]
"""

from __future__ import annotations

import csv
import json
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import offrank
from benchmarks._page import markdown_head, markdown_row, run
from benchmarks.strangers.spelling import BATCHES, Maker, Truth

LAWS = {
    "uniform": "uniform",
    "score": "plackett_luce({})",
    "sharp": "plackett_luce({}, ",
    "epsilon": "epsilon(top({}), ",
    "law": "{}",
}
"""How the spelling of a law begins; of `law` it is said instead of a score."""
FIXED = {"fixed", "personal", "daily", "sorted", "arms", "refuted"}
CERTAIN = {"written", "agrees"}


def _law(truth: Truth) -> str:
    """How the spelling of the law that drew a log begins."""
    quoted = "." in truth.score and truth.drawn != "law"
    return LAWS[truth.drawn].format(repr(truth.score) if quoted else truth.score)


def layout_of(found: Any, truth: Truth) -> str:
    """Whether a table was read as it is: right, asked, or wrong."""
    if isinstance(found, Exception):
        return "failed"
    if found.logging is None:
        return "right" if truth.asked else "asked"
    if truth.layout not in ("wide", "long"):
        return "right" if (found.format or found.layout or "").startswith(truth.layout) else "wrong"
    read = {role: name for role, name in found.renamed.items() if role in truth.columns}
    read |= {role: role for role, name in truth.columns.items() if role not in read and name == role}
    core = {"slate", "clicks", "impression", "item", "position", "click", "candidates", "propensity", "slot_propensity"}
    wrong = {role for role, name in truth.columns.items() if role in core and read.get(role) != name}
    if wrong and wrong <= {one.like for one in found.columns if one.name == truth.columns.get(one.like)}:
        return "asked"  # which the page does under its columns
    if truth.asked and not truth.columns:
        return "read"
    return "wrong" if wrong else "right"


def drawn_of(found: Any, truth: Truth) -> str:
    """Whether what is said of who drew a log is true: right, open, wrong, or scandal: certain and false."""
    law = None if isinstance(found, Exception) else found.logging
    if law is None:
        return "right" if truth.asked or not truth.drawn else "open"
    certain = law.status in CERTAIN
    if truth.drawn in FIXED:
        believed = law.policy and law.named and (law.departure or 1) <= 0.2
        known = law.status in ("not random", "refuted", "arms")
        return "scandal" if certain else "right" if known or not believed else "open"
    if truth.drawn == "written":
        return "right" if law.status in ("written", "written, not tested") else "wrong" if certain else "open"
    if truth.drawn in ("hidden", "bucket", ""):
        return "wrong" if certain or law.status == "not random" else "right"
    same = (law.policy or "").startswith(_law(truth))
    return "wrong" if law.status == "not random" or (certain and not same) else "right" if same else "open"


def judged(makers: dict[str, Maker], seed: int) -> tuple[Counter[str], Counter[str]]:
    """Print what was not found of a table; count whether layouts and laws were right."""
    layouts, laws = Counter[str](), Counter[str]()
    for number, (name, make) in enumerate(makers.items()):
        with tempfile.TemporaryDirectory() as folder:
            path, truth = make(np.random.default_rng((seed, number)), Path(folder))
            try:
                found: Any = offrank.inspect(path)
            except Exception as error:  # noqa: BLE001  a failure is counted, whatever it is
                found = error
            layout, law = layout_of(found, truth), drawn_of(found, truth)
        layouts[layout] += 1
        laws[law] += 1
        if (layout, law) != ("right", "right"):
            said = found if isinstance(found, Exception) else found.why or found.command
            print(f"{name}: layout {layout}, {truth.drawn or 'nothing'} drawn {law}; {said}", file=sys.stderr)
    return layouts, laws


DATA = Path(__file__).resolve().parents[3] / "shared/data"
COPY = re.compile(r"^  (offrank .*)$", re.MULTILINE)
"""A command that is printed to be copied."""


class Trial(NamedTuple):
    """A table and what a reader of it wants.

    - make: writes it into the folder, and returns what is typed first. says: what the last answer must contain.
    - before, after: wrong turns that a reader met on 26 November 2026 before and after mending, counted by hand.
    """

    make: Callable[[], str]
    says: str
    before: str
    after: str = "0"


def demo() -> str:
    return "offrank demo"


def public(name: str, place: str) -> Callable[[], str]:
    def made() -> str:
        shutil.copy(DATA / place, name)
        return f"offrank inspect {name}"

    return made


def sessions() -> str:
    """A row per session: its arm, and what it earned."""
    drawn = random.Random(1)
    with Path("ab.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["date", "user_id", "variant", "device", "clicks", "revenue"])
        for _ in range(20_000):
            user, day = drawn.randrange(6_000), 1 + drawn.randrange(14)
            arm = ("control", "treatment")[user * 2_654_435_761 % 97 % 2]
            clicks = sum(drawn.random() < (0.1 if arm == "control" else 0.115) for _ in range(10))
            device = drawn.choice(["phone", "desktop"])
            out.writerow([f"2026-10-{day:02}", f"u{user}", arm, device, clicks, round(clicks * drawn.random(), 2)])
    return "offrank inspect ab.csv"


def lists() -> str:
    """A row per item of two rankers that sort: B has the better items higher."""
    drawn = random.Random(2)
    with Path("ab_lists.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["date", "session_id", "user_id", "variant", "query", "item_id", "position", "clicked"])
        for session in range(8_000):
            user, query = drawn.randrange(900), drawn.randrange(30)
            arm = "AB"[(user * 40_503 >> 4) % 2]
            ranked = sorted(range(8), key=lambda item: (item * 5 + query) % 8 if arm == "A" else item)
            for place, item in enumerate(ranked[:5], 1):
                clicked = int(drawn.random() < (0.35 if item < 3 else 0.15) / place**0.5)
                row = [f"s{session}", f"u{user}", arm, f"q{query}", f"i{query}_{item}", place, clicked]
                out.writerow([f"2026-10-{1 + session % 14:02}", *row])
    return "offrank inspect ab_lists.csv"


def insights() -> str:
    """OpenSearch's User Behavior Insights, as the two indices are exported; the queries are given alone first."""
    drawn = random.Random(3)
    with Path("ubi_queries.ndjson").open("w") as queries, Path("ubi_events.ndjson").open("w") as events:
        for number in range(3_000):
            word = drawn.randrange(8)
            hits = [f"SKU{word}{place}" for place in range(10)]
            known = {"application": "shop", "query_id": f"{number:032x}", "client_id": f"c{drawn.randrange(700)}"}
            known |= {"user_query": f"word {word}", "timestamp": f"2026-10-01T{number % 24:02}:00:00Z"}
            print(json.dumps({**known, "query_attributes": {}, "query_response_hit_ids": hits}), file=queries)
            for place, item in enumerate(hits, 1):
                if drawn.random() < 0.4 / place:
                    told = {"position": {"ordinal": place}, "object": {"object_id": item, "object_id_field": "sku"}}
                    event = {**known, "action_name": "click", "message": None, "event_attributes": told}
                    print(json.dumps(event), file=events)
    return "offrank inspect ubi_queries.ndjson"


def structs() -> str:
    """A row per request with `results: list<struct<id, score, clicked>>`, drawn from the scores."""
    drawn = random.Random(4)
    rows = []
    for number in range(5_000):
        group = drawn.randrange(60)
        score = {group * 10 + item: item * 37 % 11 / 5 for item in range(6)}
        shown = sorted(score, key=lambda item: drawn.expovariate(1) / 2.718281828 ** score[item])
        hit = [drawn.random() < (0.6 if item % 2 else 0.3) / place for place, item in enumerate(shown, 1)]
        results = [{"id": i, "score": score[i], "clicked": c} for i, c in zip(shown, hit, strict=True)]
        rows.append({"request_id": f"r{number}", "query": f"q{group}", "results": results})
    pq.write_table(pa.Table.from_pylist(rows), "results.parquet")
    return "offrank inspect results.parquet"


def analytics() -> str:
    """Google Analytics 4 as BigQuery exports it; nothing tells by which scores its lists were drawn."""
    drawn = random.Random(5)
    with Path("ga4_events.json").open("w") as out:
        for session in range(4_000):
            term, sku = drawn.randrange(20), {}
            for item in range(8):
                sku[f"SKU_{term}_{item}"] = drawn.expovariate(1) / 2.718281828 ** (item * 5 % 8 / 4)
            items = [{"item_id": one, "index": at} for at, one in enumerate(sorted(sku, key=sku.__getitem__)[:6])]
            params = [{"key": "ga_session_id", "value": {"int_value": 10**9 + session}}]
            known = {"user_pseudo_id": f"{drawn.randrange(900)}.7", "event_params": params}
            known |= {"event_date": f"202610{1 + session // 300:02}", "event_timestamp": 179 * 10**13 + session * 10**7}
            print(json.dumps({**known, "event_name": "view_item_list", "items": items}), file=out)
            for at, one in enumerate(items):
                if drawn.random() < (0.5 if int(one["item_id"][-1]) % 2 else 0.25) / (at + 1):
                    print(json.dumps({**known, "event_name": "select_item", "items": [one]}), file=out)
    return "offrank inspect ga4_events.json"


def routes() -> str:
    """What a router of language models chose, with the probabilities of all, the thumbs of users, and costs."""
    drawn = random.Random(6)
    with Path("router.jsonl").open("w") as out:
        for number in range(8_000):
            hard = drawn.random()
            probs = {"large": 0.2 + 0.5 * hard, "medium": 0.5 - 0.3 * hard, "small": 0.3 - 0.2 * hard}
            chosen = drawn.choices([*probs], [*probs.values()])[0]
            liked = drawn.random() < {"large": 0.8, "medium": 0.7, "small": 0.7 - 0.2 * hard}[chosen]
            row = {"ts": f"2026-10-{1 + number // 600:02}T10:{number % 60:02}:00Z", "request_id": f"req-{number}"}
            row |= {"routed_to": chosen, "routing_probs": probs, "thumbs_up": int(liked), "cost_usd": 0.01 * hard}
            print(json.dumps(row), file=out)
    return "offrank inspect router.jsonl"


def apart() -> str:
    """A folder with a table of what was shown for each day, and the clicks in others."""
    drawn = random.Random(7)
    for day in ("2026-10-01", "2026-10-02", "2026-10-03"):
        shown, clicks = [], []
        for number in range(2_500):
            query, request = drawn.randrange(50), f"{day}-{number}"
            score = {query * 10 + item: item * 37 % 11 / 5 for item in range(7)}
            new = [item * 23 % 7 / 3 for item in range(7)]
            slate = sorted(score, key=lambda item, of=score: drawn.expovariate(1) / 2.718281828 ** of[item])[:5]
            row = {"request_id": request, "time": f"{day} 12:00:00", "query": f"q{query}", "candidates": [*score]}
            shown.append({**row, "ranker_score": [*score.values()], "new_ranker_score": new, "shown": slate})
            hit = (item for at, item in enumerate(slate, 1) if drawn.random() < (0.5 if item % 3 else 0.2) / at)
            clicks += [{"request_id": request, "item_id": item, "click_time": f"{day} 12:00:09"} for item in hit]
        for name, rows in (("impressions", shown), ("clicks", clicks)):
            Path("logs", name).mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(rows), Path("logs", name, f"{day}.parquet"))
    return "offrank inspect logs"


TRIALS = {
    "demo": Trial(demo, "would have", "0"),
    "Criteo": Trial(public("criteo.txt.gz", "criteo-nips17/criteo_first2000.txt.gz"), "With care", "0"),
    "Open Bandit, its CSV alone": Trial(
        public("bandit.csv", "open-bandit/bts/all/all.csv"),
        "No clear difference",
        "2: the position was looked for among the affinities; of random's log, its own policy was proposed",
    ),
    "Yandex": Trial(public("sessions.txt", "yandex-relpred/trainSample"), "Rank 10 is examined", "0"),
    "A/B test, a row per session": Trial(
        sessions, "Better", "1: taken for a router's log that lacks probabilities; no command"
    ),
    "A/B test, a row per item": Trial(lists, "Better", "1: the command fitted a click model, and compared no arms"),
    "UBI, the queries first": Trial(insights, "Rank 10 is examined", "1: clicks were asked for, their file not named"),
    "Parquet of list&lt;struct>": Trial(structs, "would have earned", "0"),
    "GA4's events": Trial(analytics, "Rank 6 is examined", "1: a uniform order was certified, which it was not"),
    "Router of models": Trial(routes, "Better", "1: positions were asked for, where thumbs are the reward"),
    "Folder, clicks apart": Trial(apart, "would have earned", "0"),
}


def asked(command: str) -> str:
    """Run a command that was typed or copied, in a process of its own; return what it printed."""
    words = shlex.split(command)
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def followed(first: str) -> Iterator[str]:
    """Yield what each command prints: the first, then the one it prints to be copied, until there is no other."""
    done, ahead = set[str](), [first]
    while ahead:
        command = ahead.pop(0)
        done.add(command)
        yield (printed := asked(command))
        ahead += [one for one in COPY.findall(printed) if one not in done and one not in ahead]


def tried(trial: Trial) -> tuple[int, float, float]:
    """Return how many commands led to the answer, and their seconds and CPU seconds."""
    first = trial.make()
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    answers = list(followed(first))
    seconds, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if trial.says not in " ".join(answers[-1].split()):
        raise SystemExit(f"{first}: {trial.says!r} is not in the answer\n{answers[-1]}")
    return len(answers), seconds, sum(after[:2]) - sum(before[:2])


def tables(*, batch: str = "", seed: int = 1) -> Iterator[str]:
    """How many raw tables of other people `inspect` reads rightly, and of how many it says rightly who drew them.

    batch: the only one, such as `unseen`.
    """
    heads = ("read rightly", "asked about", "read wrongly", "who drew it: rightly said", "left open", "wrongly")
    yield from markdown_head("Tables", *heads, "called drawn, and were not")
    for name, makers in BATCHES.items():
        if batch in ("", name):
            layouts, laws = judged(makers, seed)
            others = layouts.total() - layouts["right"] - layouts["asked"]
            counts = [layouts["right"], layouts["asked"], others]
            counts += [laws[one] for one in ("right", "open", "wrong", "scandal")]
            yield markdown_row(f"{layouts.total()} {name}", *counts)


def trial() -> Iterator[str]:
    """Tables as other systems write them, asked about as a new user would: `inspect`, then what it prints.

    Each command runs in a process of its own. It must end well and say what is expected. The public logs are tried
    where they are, in ../shared/data; those of other systems are made here, by code that knows nothing of offrank.
    """
    yield "| Table | commands | seconds | CPU seconds | wrong turns before | after |"
    yield "|---|--:|--:|--:|---|--:|"
    for name, one in TRIALS.items():
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            try:
                count, seconds, cpu = tried(one)
            except FileNotFoundError as error:
                print(f"{name}: not tried, {error}", file=sys.stderr)
                continue
        yield markdown_row(name, count, f"{seconds:.0f}", f"{cpu:.0f}", one.before, one.after)


COMMANDS = {tables: "tables of strangers", trial: "strangers trial"}
if __name__ == "__main__":
    run(__file__, COMMANDS)
