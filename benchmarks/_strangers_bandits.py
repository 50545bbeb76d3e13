"""Raw tables of bandits, and of what is no log of lists."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from benchmarks._strangers_files import (
    DAY,
    Table,
    Truth,
    guid,
    none,
    table,
    to_csv,
    to_lines,
    to_parquet,
    wide,
)
from benchmarks._strangers_visits import Random, World


@table
def llm_router(rng: Random, to: Path) -> Table:
    visits = World("score", slots=1, pool=4, queries=12, items=4, visits=2500).draw(rng)
    rows = [
        {
            "trace_id": guid(v.number),
            "prompt_class": f"k{v.query}",
            "model": ["haiku", "mini", "flash", "large"][v.shown[0]],
            "routing_prob": v.chance,
            "thumbs_up": v.clicks[0],
            "latency_ms": int(rng.gamma(2, 300)),
        }
        for v in visits
    ]
    return to_lines(rows, to / "router.jsonl"), Truth("router", {}, "written")


@table
def open_bandit(rng: Random, to: Path) -> Table:
    rows = []
    for at_ in range(2400):
        item, place = int(rng.integers(20)), int(rng.integers(1, 4))
        rows.append(
            {
                "": at_,
                "timestamp": (DAY + timedelta(seconds=at_)).isoformat(),
                "item_id": item,
                "position": place,
                "click": int(rng.random() < 0.05),
                "propensity_score": 0.05,
                **{f"user_feature_{k}": f"{at_ % (k + 2):x}" for k in range(4)},
                **{f"user-item_affinity_{k}": 0.0 for k in range(20)},
            }
        )
    to_csv([{"": item, "item_id": item, "item_feature_0": 0.1 * item} for item in range(20)], to / "item_context.csv")
    return to_csv(rows, to / "all.csv"), Truth("open_bandit", {}, "written")


@table
def bandit_no_probability(rng: Random, to: Path) -> Table:
    visits = World("fixed", slots=1, visits=2000).draw(rng)
    rows = [
        {"event": guid(v.number), "context": v.query, "arm_pulled": v.shown[0], "reward": v.clicks[0]} for v in visits
    ]
    return to_csv(rows, to / "pulls.csv"), Truth("wide", {}, "fixed", asked=True)


@table
def slot_propensities(rng: Random, to: Path) -> Table:
    visits = World("uniform", slots=3, pool=6).draw(rng)
    rows = [
        {
            "rid": guid(v.number),
            "actions": v.shown,
            "rewards": v.clicks,
            "action_set": v.pool,
            "action_probs": [1 / 6, 1 / 5, 1 / 4],
        }
        for v in visits
    ]
    return to_parquet(rows, to / "probs.parquet"), wide(
        "actions", "rewards", "written", candidates="action_set", slot_propensity="action_probs"
    )


@table
def trec_run(_: Random, to: Path) -> Table:
    path = to / "bm25.run"
    path.write_text(
        "".join(
            f"{q} Q0 doc{(q * 31 + r * 7) % 500} {r + 1} {20 - r * 0.5} bm25\n" for q in range(40) for r in range(10)
        )
    )
    return path, Truth("pairs", asked=True)


@table
def trec_qrels(rng: Random, to: Path) -> Table:
    path = to / "qrels.txt"
    path.write_text("".join(f"{q} 0 doc{d} {int(rng.integers(0, 3))}\n" for q in range(40) for d in range(12)))
    return path, Truth("pairs", asked=True)


@table
def movie_ratings(rng: Random, to: Path) -> Table:
    rows = [
        {"userId": u, "movieId": int(m), "rating": float(rng.integers(1, 11)) / 2, "timestamp": 964982703 + 100 * u}
        for u in range(200)
        for m in rng.choice(400, 12, replace=False)
    ]
    return to_csv(rows, to / "ratings.csv"), none()


@table
def clicks_only(rng: Random, to: Path) -> Table:
    rows = [
        {
            "session_id": s,
            "timestamp": (DAY + timedelta(seconds=60 * s + k)).isoformat(),
            "item_id": int(rng.integers(300)),
            "category": int(rng.integers(9)),
        }
        for s in range(600)
        for k in range(int(rng.integers(1, 6)))
    ]
    return to_csv(rows, to / "clicks.dat"), none()


@table
def retail_events(rng: Random, to: Path) -> Table:
    rows = [
        {
            "timestamp": 1433221332117 + 1000 * k,
            "visitorid": int(rng.integers(400)),
            "event": str(rng.choice(["view", "view", "view", "addtocart", "transaction"])),
            "itemid": int(rng.integers(500)),
            "transactionid": "",
        }
        for k in range(2500)
    ]
    return to_csv(rows, to / "events.csv"), none()


@table
def order_lines(rng: Random, to: Path) -> Table:
    rows = [
        {"order_id": o, "product_id": int(p), "add_to_cart_order": k + 1, "reordered": int(rng.random() < 0.5)}
        for o in range(400)
        for k, p in enumerate(rng.choice(300, int(rng.integers(2, 9)), replace=False))
    ]
    return to_csv(rows, to / "order_products.csv"), none()


@table
def search_console(rng: Random, to: Path) -> Table:
    rows = [
        {
            "Top queries": f"query {k}",
            "Clicks": int(rng.integers(0, 40)),
            "Impressions": int(rng.integers(40, 900)),
            "CTR": "3.1%",
            "Position": round(float(rng.gamma(2, 4)), 1),
        }
        for k in range(300)
    ]
    return to_csv(rows, to / "Queries.csv"), none()


@table
def letor_csv(rng: Random, to: Path) -> Table:
    rows = [
        {
            "qid": q,
            "docid": f"D{q}-{d}",
            "label": int(rng.integers(0, 5)),
            "f1": round(float(rng.random()), 4),
            "f2": round(float(rng.random()), 4),
        }
        for q in range(100)
        for d in range(9)
    ]
    return to_csv(rows, to / "letor.csv"), none()


@table
def sensor(rng: Random, to: Path) -> Table:
    rows = [
        {
            "device": f"d{k % 7}",
            "t": k,
            "temp": round(float(rng.normal(20, 2)), 2),
            "hum": round(float(rng.random()), 3),
            "fault": int(rng.random() < 0.02),
        }
        for k in range(900)
    ]
    return to_csv(rows, to / "sensors.csv"), none()


@table
def leaderboard(rng: Random, to: Path) -> Table:
    rows = [
        {
            "race_id": r,
            "driver": int(d),
            "rank": k + 1,
            "fastest_lap": int(rng.random() < 0.08),
            "points": max(0, 25 - 3 * k),
        }
        for r in range(150)
        for k, d in enumerate(rng.choice(40, 10, replace=False))
    ]
    return to_csv(rows, to / "races.csv"), Truth("none", drawn="fixed", asked=True)
