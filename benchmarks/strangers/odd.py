"""Tables that the spelling of strangers does not tell: other people's standards, and events unlike each other."""

from datetime import timedelta
from pathlib import Path

from benchmarks.strangers.files import Row, Table, Truth, saved
from benchmarks.strangers.worlds import DAY, Random, Request, fresh, ms, ranked, uid


def open_bandit(rng: Random, folder: Path) -> Table:
    rows: list[Row] = []
    for at in range(2400):
        item, place = int(rng.integers(20)), int(rng.integers(1, 4))
        rows.append({"": at, "timestamp": (DAY + timedelta(seconds=at)).isoformat(), "item_id": item})
        rows[-1] |= {"position": place, "click": int(rng.random() < 0.05), "propensity_score": 0.05}
        rows[-1] |= {f"user_feature_{k}": f"{at % (k + 2):x}" for k in range(4)}
        rows[-1] |= {f"user-item_affinity_{k}": 0.0 for k in range(20)}
    items: list[Row] = [{"": item, "item_id": item, "item_feature_0": 0.1 * item} for item in range(20)]
    saved(items, folder, "plain", "item_context")
    return saved(rows, folder, "plain", "all"), Truth("open_bandit", {}, "written")


def trec_run(_: Random, folder: Path) -> Table:
    lines = [f"{q} Q0 doc{(q * 31 + r * 7) % 500} {r + 1} {20 - r * 0.5} bm25\n" for q in range(40) for r in range(10)]
    (folder / "bm25.run").write_text("".join(lines))
    return folder / "bm25.run", Truth("pairs", asked=True)


def trec_qrels(rng: Random, folder: Path) -> Table:
    lines = [f"{q} 0 doc{d} {int(rng.integers(0, 3))}\n" for q in range(40) for d in range(12)]
    (folder / "qrels.txt").write_text("".join(lines))
    return folder / "qrels.txt", Truth("pairs", asked=True)


def _judged(folder: Path, run: bool) -> Path:
    found = list(fresh("hidden", 4 if run else 5))
    (folder / "trec").mkdir()
    judged = [f"{r.n} 0 D{i.key} {i.click + i.order}\n" for r in found for i in r.shown]
    (path := folder / "trec/qrels.txt").write_text("".join(judged))
    if not run:
        return path
    lines = [f"{r.n} Q0 D{i.key} {i.rank + 1} {10 - i.rank} mine\n" for r in found for i in r.shown]
    (folder / "trec/bm25.run").write_text("".join(lines))
    return folder / "trec"


def a_run_and_its_judgements(_: Random, folder: Path) -> Table:
    return _judged(folder, True), Truth("pairs", asked=True)


def judgements_alone(_: Random, folder: Path) -> Table:
    return _judged(folder, False), Truth("pairs", asked=True)


def a_run_alone(_: Random, folder: Path) -> Table:
    found = fresh("hidden", 23)
    lines = [f"q{r.n} Q0 D{i.key} {i.rank + 1} {9.5 - i.rank} bm25\n" for r in found for i in r.shown]
    (folder / "bm25.trec").write_text("".join(lines))
    return folder / "bm25.trec", Truth("pairs", asked=True)


def views_and_selections_of_GA4(_: Random, folder: Path) -> Table:  # noqa: N802  as the table is called
    rows: list[Row] = []
    for r in fresh("hidden", 20):
        items = [
            {"item_id": f"sku{i.key}", "item_name": f"Thing {i.key}", "index": i.rank + 1, "price": i.price}
            | {"item_list_id": f"list_{r.n}"}
            for i in r.shown
        ]
        session = {"key": "ga_session_id", "value": {"string_value": None, "int_value": 10**9 + r.n}}
        base = {"event_date": r.at.strftime("%Y%m%d"), "user_pseudo_id": f"{r.user}.77", "event_params": [session]}

        def event(name: str, items: list[Row], later: int = 0, r: Request = r, base: Row = base) -> Row:
            return base | {"event_timestamp": ms(r.at) * 1000 + later, "event_name": name, "items": items}

        rows.append(event("view_item_list", items))
        rows += [event("select_item", [items[i.rank]], 5 * 10**6) for i in r.shown if i.click]
    return saved(rows, folder, "jsonl"), Truth("ga4", {}, "fixed")


def slates_served_items_clicked(_: Random, folder: Path) -> Table:
    rows: list[Row] = []
    for r in fresh("hidden", 21):

        def event(name: str, payload: Row, later: int = 0, r: Request = r) -> Row:
            return {"eventType": name, "eventTime": ms(r.at) + later, "payload": {"slateId": uid(r.n)} | payload}

        rows.append(event("SLATE_SERVED", {"items": [f"v{i.key}" for i in r.shown]}))
        rows += [event("ITEM_CLICKED", {"itemId": f"v{i.key}"}, 3000) for i in r.shown if i.click]
    return saved(rows, folder, "jsonl"), Truth("events", {}, "fixed")


def views_clicks_and_carts(_: Random, folder: Path) -> Table:
    rows: list[Row] = []
    kinds = {"list_view": lambda _: True, "product_click": lambda i: i.click, "add_to_cart": lambda i: i.order}
    for name, meant in kinds.items():
        for r in fresh("hidden", 22):
            time = (r.at if name == "list_view" else r.at.replace(second=59)).isoformat()
            rows += [
                {"eventName": name, "listId": uid("cv", r.n), "sku": f"s{i.key}"}
                | {"index": None if name == "add_to_cart" else i.rank + 1, "time": time}
                for i in r.shown
                if meant(i)
            ]
    return saved(sorted(rows, key=lambda row: str(row["time"])), folder, "jsonl"), Truth("events", {}, "fixed")


def tests_in_events(rng: Random, folder: Path) -> Table:
    rows: list[Row] = []
    for r in ranked("arms", rng, n=4000, items=7, queries=120):
        own = {"serp": f"S{r.n}", "uid": r.user}
        seen: Row = {"variant": ("control", "treatment")[r.explored], "term": f"term{r.query}"}
        seen |= {"docs": [f"x{i.key}" for i in r.shown], "pool": [f"x{key}" for key in r.candidates]}
        seen |= {"score_control": r.scores, "score_treatment": r.others}
        rows.append({"type": "serp_view", "t": 10**6 + 60 * r.n, **own, **seen})
        clicked = [i for i in r.shown if i.click]
        rows += [{"type": "doc_click", "t": 10**6 + 60 * r.n + i.rank, **own, "doc": f"x{i.key}"} for i in clicked]
    return saved(rows, folder, "jsonl"), Truth("events", {}, "arms")
