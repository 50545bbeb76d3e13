"""Tiny files of named standards, made from their published schemas, each with the same log in our own form."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import offrank

Made = tuple[Any, str, pa.Table]
"""A source in a standard, the policy that drew it, and the same log in our own form."""

N, K = 300, 5


def bandit(**more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    chances = rng.dirichlet(np.ones(K), N)
    action = np.array([rng.choice(K, p=each) for each in chances])
    expected = rng.random((N, K))
    reward = (rng.random(N) < expected[np.arange(N), action]).astype(int)
    return {
        "n_rounds": N,
        "n_actions": K,
        "context": rng.normal(size=(N, 2)),
        "action_context": np.eye(K),
        "action": action,
        "position": None,
        "reward": reward,
        "expected_reward": expected,
        "pi_b": chances[:, :, None],
        "pscore": chances[np.arange(N), action],
    } | more


def own_bandit(feedback: dict[str, Any]) -> pa.Table:
    columns = {
        "slate": feedback["action"][:, None].tolist(),
        "candidates": [list(range(K))] * N,
        "propensity": feedback["pscore"],
        "score": feedback["expected_reward"].tolist(),
    }
    return pa.table(columns | {"clicks": feedback["reward"][:, None].tolist()})


def as_lists(feedback: dict[str, Any]) -> str:
    return json.dumps({name: one.tolist() if hasattr(one, "tolist") else one for name, one in feedback.items()})


def of_dict(_folder: Path) -> Made:
    return bandit(), "logged", own_bandit(bandit())


def of_npz(folder: Path) -> Made:
    np.savez(folder / "log.npz", **bandit())  # with `position`, None, as a pickle inside
    return folder / "log.npz", "logged", own_bandit(bandit())


def of_json(folder: Path) -> Made:
    (folder / "log.json").write_text(as_lists(bandit()), encoding="utf-8")
    return folder / "log.json", "logged", own_bandit(bandit())


def of_slates(_folder: Path) -> Made:
    rng = np.random.default_rng(3)
    slates = np.argsort(rng.random((N, K)), axis=1)[:, :3]
    clicks = (rng.random((N, 3)) < 0.4).astype(float)
    slots = np.tile([1 / 5, 1 / 4, 1 / 3], (N, 1))
    shuffled = rng.permutation(3 * N)
    feedback = {
        "n_rounds": N,
        "n_unique_action": K,
        "slate_id": np.repeat(np.arange(N), 3)[shuffled],
        "action": slates.ravel()[shuffled],
        "position": np.tile(np.arange(3), N)[shuffled],
        "reward": clicks.ravel()[shuffled],
        "pscore": np.full(3 * N, 1 / 60),
        "pscore_cascade": np.cumprod(slots, axis=1).ravel()[shuffled],
    }
    own = {"slate": slates.tolist(), "clicks": clicks.tolist(), "candidates": [list(range(K))] * N}
    return feedback, "logged", pa.table(own | {"propensity": np.full(N, 1 / 60), "slot_propensity": slots.tolist()})


def of_expedia(folder: Path) -> Made:
    rng = np.random.default_rng(11)
    lines, slates, clicks = (
        ["srch_id,date_time,prop_id,prop_starrating,position,random_bool,click_bool,booking_bool"],
        [],
        [],
    )
    for search in range(N):
        hotels = rng.choice(1000, K, replace=False)
        clicked, random = rng.random(K) < 0.3, search % 3 == 0
        places = np.array([1, 2, 3, 4, 6])  # an offer that is not in the file stood at 5
        lines += [
            f"{search},2013-04-04 08:32:15,{hotels[one]},{one},{places[one]},{int(random)},{int(clicked[one])},0"
            for one in rng.permutation(K)
        ]
        if random:
            slates.append(hotels.tolist())
            clicks.append(clicked.astype(int).tolist())
    (folder / "train.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder / "train.csv", "uniform", pa.table({"slate": slates, "clicks": clicks})


def of_trivago(folder: Path) -> Made:
    rng = np.random.default_rng(12)
    lines, slates, clicks = ["user_id,session_id,timestamp,step,action_type,reference,city,impressions,prices"], [], []
    for session in range(N):
        hotels = rng.choice(1000, K, replace=False)
        place = int(rng.integers(K))
        around = "|".join(map(str, hotels)), "|".join(map(str, rng.integers(50, 300, K)))
        lines.append(f"U{session},S{session},154103746{session % 10},1,search for destination,Rome,Rome,,")
        lines.append(
            f"U{session},S{session},154103746{session % 10},2,clickout item,{hotels[place]},Rome,{','.join(around)}"
        )
        slates.append(hotels.tolist())
        clicks.append([int(one == place) for one in range(K)])
    (folder / "train.csv").write_text("\n".join(lines), encoding="utf-8")
    return folder / "train.csv", "uniform", pa.table({"slate": slates, "clicks": clicks})


def of_diginetica(folder: Path) -> Made:
    rng = np.random.default_rng(13)
    queries = ["queryId;sessionId;userId;timeframe;duration;eventdate;searchstring.tokens;categoryId;items;is.test"]
    lines, slates, clicks = ["queryId;timeframe;itemId"], [], []
    for query in range(N):
        items, test = rng.choice(1000, K, replace=False), query % 4 == 0
        clicked = (rng.random(K) < 0.3) & ~np.full(K, test)
        listed = ",".join(map(str, items))
        queries.append(f"{query};{query // 2};;1632;31;2016-05-09;;{query % 7};{listed};{str(test).upper()}")
        lines += [f"{query};99;{item}" for item in items[clicked]]
        if not test:
            slates.append(items.tolist())
            clicks.append(clicked.astype(int).tolist())
    (folder / "train-queries.csv").write_text("\n".join(queries), encoding="utf-8")
    (folder / "train-clicks.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "products.csv").write_text("itemId;pricelog2;product.name.tokens\n1;8;1,2\n", encoding="utf-8")
    return folder, "uniform", pa.table({"slate": slates, "clicks": clicks})


def of_kuairand(folder: Path) -> Made:
    rng = np.random.default_rng(14)
    video, click, drawn = rng.permutation(np.arange(N) % K), rng.random(N) < 0.4, rng.random(N) < 0.8
    header = "user_id,video_id,date,hourmin,time_ms,is_click,is_like,long_view,is_rand,tab\n"
    rows = [
        f"{n % 9},{100 + video[n]},20220422,1100,165055{n},{int(click[n])},0,1,{int(drawn[n])},1\n" for n in range(N)
    ]
    (folder / "log_random_4_22_to_5_08_pure.csv").write_text(header + "".join(rows), encoding="utf-8")
    (folder / "video_features_basic_pure.csv").write_text("video_id,author_id\n100,1\n", encoding="utf-8")
    many, pool = int(drawn.sum()), [list(range(100, 100 + K))]
    own = {"slate": 100 + video[drawn, None], "clicks": click[drawn, None].astype(int)}
    own = {name: one.tolist() for name, one in own.items()} | {"candidates": pool * many}
    return folder, "logged", pa.table(own | {"propensity": np.full(many, 1 / K)})


def of_finn(folder: Path) -> Made:
    rng = np.random.default_rng(15)
    users, times = 40, 6
    slate, click = np.zeros((users, times, K + 1), int), np.ones((users, times), int)
    lengths = rng.integers(0, K + 2, (users, times))
    slates, clicks = [], []
    for user, time in np.ndindex(users, times):
        shown = rng.choice(np.arange(3, 99), max(lengths[user, time] - 1, 0), replace=False)
        slate[user, time, : lengths[user, time]] = [1, *shown][: lengths[user, time]]
        if len(shown) and rng.random() < 0.6:
            click[user, time] = rng.choice(shown)
        if len(shown):
            slates.append(shown.tolist())
            clicks.append((shown == click[user, time]).astype(int).tolist())
    arrays = {"userId": np.arange(users), "slate": slate, "click": click, "slate_lengths": lengths}
    np.savez(folder / "data.npz", **arrays, interaction_type=np.ones((users, times), int))
    return folder / "data.npz", "uniform", pa.table({"slate": slates, "clicks": clicks})


def of_finn_rows(folder: Path) -> Made:
    """A row per slate: the item 1, which stands for no click, then what was shown, then zeros."""
    rng = np.random.default_rng(18)
    slates, clicks, rows, clicked = [], [], [], []
    for _ in range(N):
        shown = rng.choice(np.arange(2, 99), int(rng.integers(1, K + 1)), replace=False)
        click = int(rng.choice([1, *shown]))
        rows.append([1, *shown.tolist(), *[0] * (K - len(shown))])
        clicked.append(click)
        slates.append(shown.tolist())
        clicks.append([int(one == click) for one in shown])
    users, kind = np.arange(N) % 40, np.full(N, 2)
    table = pa.table({"userId": users, "slate": rows, "click": clicked, "interaction_type": kind})
    pq.write_table(table, folder / "slates.parquet")
    return folder / "slates.parquet", "uniform", pa.table({"slate": slates, "clicks": clicks})


def of_avito(folder: Path) -> Made:
    """Contextual ads stand at 1 and 7 of each search, and a click is written for them alone."""
    rng = np.random.default_rng(19)
    lines, slates, clicks = ["SearchID\tAdID\tPosition\tObjectType\tHistCTR\tIsClick"], [], []
    for search in range(N):
        ads, clicked = rng.choice(900, 5, replace=False), rng.integers(0, 2, 2)
        of_place = dict(zip((1, 7), clicked.tolist(), strict=True))
        for place, ad in zip((1, 2, 6, 7, 8), ads, strict=True):
            context = place in of_place
            written = f"{0.01 * place:.3f}\t{of_place[place]}" if context else "\t"
            lines.append(f"{search}\t{ad}\t{place}\t{3 if context else 1 + place % 2}\t{written}")
        slates.append(ads[[0, 3]].tolist())
        clicks.append(clicked.tolist())
    (folder / "trainSearchStream.tsv").write_text("\n".join(lines), encoding="utf-8")
    return folder / "trainSearchStream.tsv", "uniform", pa.table({"slate": slates, "clicks": clicks})


def of_svmlight(folder: Path) -> Made:
    rng = np.random.default_rng(17)
    lines, positions, slates, clicks = [], [], [], []
    for query in range(60):
        shown, clicked = rng.permutation(K), (rng.random(K) < 0.4).astype(int)
        lines += [f"{clicked[one]} qid:{query} 1:{one}.5 3:{query}" for one in range(K)]
        positions += (2 * shown + 1).tolist()
        order = np.argsort(shown)
        slates.append((order + query * K).tolist())
        clicks.append(clicked[order].tolist())
    (folder / "rank.train").write_text("\n".join(lines), encoding="utf-8")
    (folder / "rank.train.position").write_text("\n".join(map(str, positions)), encoding="utf-8")
    return folder / "rank.train", "uniform", pa.table({"slate": slates, "clicks": clicks})


def of_router(folder: Path, how: str = "probs") -> Made:
    rng, models = np.random.default_rng(16), [f"model-{one}" for one in "abcde"]
    chances = rng.dirichlet(np.ones(K), N)
    chosen = [int(rng.choice(K, p=each)) for each in chances]
    score = rng.normal(size=N)
    rows = [{"request_id": f"r{n}", "model": models[chosen[n]], "score": score[n], "cost": 0.1} for n in range(N)]
    for n, row in enumerate(rows):
        if how == "probs":
            row["probs"] = dict(zip(models, chances[n].tolist(), strict=True))
        else:
            row["propensity"] = float(chances[n, chosen[n]])
        if how == "candidates":
            row["candidates"] = models
    (folder / f"{how}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    own = {"slate": [[models[one]] for one in chosen], "candidates": [models] * N, "reward": score}
    return folder / f"{how}.jsonl", "logged", pa.table(own | {"propensity": chances[np.arange(N), chosen]})


def of_dsjson(folder: Path) -> Made:
    """Events of Vowpal Wabbit: `a` are the actions, from 1, that which was taken first, and `p` beside them."""
    rng, lines = np.random.default_rng(20), []
    own: dict[str, list[Any]] = {name: [] for name in ("slate", "candidates", "propensity", "reward")}
    for n in range(N):
        chances = rng.dirichlet(np.ones(K)).round(6) + 1e-6
        order = np.argsort(rng.random(K) ** (1 / chances))[::-1]
        cost, first = -int(rng.random() < 0.4), int(order[0])
        lines.append(
            {
                "_label_cost": cost,
                "_label_probability": chances[first],
                "_label_Action": first + 1,
                "_labelIndex": first,
                "Timestamp": "2026-03-01T10:00:00Z",
                "EventId": f"e{n}",
                "a": (order + 1).tolist(),
                "c": {"User": {"segment": f"s{n % 3}"}, "_multi": [{"A": {"id": k}} for k in range(K)]},
                "p": chances[order].tolist(),
                "VWState": {"m": "model"},
            }
        )
        values = [first + 1], (order + 1).tolist(), chances[first], -cost
        for column, value in zip(own.values(), values, strict=True):
            column.append(value)
    (folder / "log.dsjson").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder / "log.dsjson", "logged", pa.table(own)


def of_dsjson_slots(folder: Path) -> Made:
    """Slots that are filled in turn: `_a` are the actions that are left, from 0, that which was taken first."""
    rng, lines = np.random.default_rng(21), []
    own: dict[str, list[Any]] = {name: [] for name in ("slate", "candidates", "slot_propensity", "clicks")}
    for n in range(N):
        left, outcomes = list(range(K)), []
        for slot in range(3):
            chances = rng.dirichlet(np.ones(len(left)))
            at = int(rng.choice(len(left), p=chances))
            order = [at, *(one for one in range(len(left)) if one != at)]
            actions, cost = [left[one] for one in order], -int(rng.random() < 0.3)
            outcomes.append({"_label_cost": cost, "_id": f"e{n}-{slot}", "_a": actions, "_p": chances[order].tolist()})
            left.pop(at)
        lines.append({"Timestamp": "2026-03-01", "c": {"_slots": [{"S": 1}] * 3}, "_outcomes": outcomes})
        values = (
            [one["_a"][0] for one in outcomes],
            outcomes[0]["_a"],
            [one["_p"][0] for one in outcomes],
            [-one["_label_cost"] for one in outcomes],
        )
        for column, value in zip(own.values(), values, strict=True):
            column.append(value)
    (folder / "slots.json").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder / "slots.json", "logged", pa.table(own)


def of_router_with_candidates(folder: Path) -> Made:
    return of_router(folder, "candidates")


def of_router_alone(folder: Path) -> Made:
    return of_router(folder, "alone")


MAKERS: Mapping[str, Callable[[Path], Made]] = {
    "obp": of_dict,
    "obp of npz": of_npz,
    "obp of json": of_json,
    "obp of slates": of_slates,
    "expedia": of_expedia,
    "trivago2019": of_trivago,
    "diginetica": of_diginetica,
    "kuairand": of_kuairand,
    "finn_slates": of_finn,
    "finn_slates of parquet": of_finn_rows,
    "avito": of_avito,
    "svmlight": of_svmlight,
    "dsjson": of_dsjson,
    "dsjson of slots": of_dsjson_slots,
    "router": of_router,
    "router with candidates": of_router_with_candidates,
    "router alone": of_router_alone,
}


def numbers(log: Any, logging: str, target: str = "uniform") -> list[float]:
    found = offrank.evaluate(log, target, logging, ["ips", "snips"], cluster=None)
    return [number for one in ("ips", "snips") for number in (found[one].value, found[one].low, found[one].n)]
