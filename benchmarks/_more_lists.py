"""Further tables of strangers with lists in them."""

import json

from benchmarks._more_tables import TEN, listed
from benchmarks._more_worlds import hashed, ms, uid

listed(
    "lists of uniform slates",
    "wide",
    "uniform",
    "uniform",
    "- shown_items - clicks candidates=eligible_items",
    lambda r: {
        "request_id": uid(r.n),
        "eligible_items": [f"i{c}" for c in r.candidates],
        "shown_items": [f"i{i.key}" for i in r.shown],
        "clicks": [i.click for i in r.shown],
    },
    n=700,
    k=3,
    pool=14,
    choice=7,
)
listed(
    "results as objects",
    "wide",
    "top",
    "sorted",
    "- results.id - results.clicked score=results.score",
    lambda r: {
        "queryId": uid(r.n),
        "queryText": r.query,
        "results": [{"id": i.key, "score": i.score, "clicked": bool(i.click)} for i in r.shown],
    },
    **TEN,
)
listed(
    "BigQuery hits",
    "wide",
    "hidden",
    "fixed",
    "- hits.product.sku - hits.is_click",
    lambda r: {
        "visit_id": hashed(r.n),
        "visit_start": r.at,
        "device": {"category": "mobile" if r.user % 2 else "desktop", "os": "x"},
        "hits": [
            {"product": {"sku": f"SKU{i.key}", "price": i.price}, "position": i.rank + 1, "is_click": bool(i.click)}
            for i in r.shown
        ],
    },
    form="parquet",
    **TEN,
)
listed(
    "a struct of lists",
    "wide",
    "top",
    "sorted",
    "- slate.item - slate.click score=slate.score",
    lambda r: {
        "req": r.n,
        "slate": {
            "item": [i.key for i in r.shown],
            "score": [i.score for i in r.shown],
            "click": [i.click for i in r.shown],
        },
    },
    form="parquet",
    **TEN,
)
listed(
    "pipes, and what was clicked",
    "wide",
    "hidden",
    "fixed",
    "- docs_shown - docs_clicked",
    lambda r: {
        "query_time": r.at.isoformat(),
        "session": uid(r.n),
        "query": r.query,
        "docs_shown": "|".join(f"D{i.key}" for i in r.shown),
        "docs_clicked": "|".join(f"D{i.key}" for i in r.shown if i.click),
    },
    form="csv",
    **TEN,
)
listed(
    "JSON lists in CSV",
    "wide",
    "softmax",
    "written",
    "- skus - clicks slot_propensity=probs",
    lambda r: {
        "rid": r.n,
        "skus": json.dumps([f"{i.key:06d}" for i in r.shown]),
        "probs": json.dumps([i.chance for i in r.shown]),
        "clicks": json.dumps([i.click for i in r.shown]),
    },
    form="csv",
    **TEN,
)
listed(
    "JSON objects in CSV",
    "wide",
    "top",
    "sorted",
    "- payload.itemId - payload.clicked score=payload.rankScore",
    lambda r: {
        "request_uuid": uid(r.n),
        "created_at": r.at.isoformat(),
        "payload": json.dumps(
            [{"itemId": f"it-{i.key}", "pos": i.rank, "rankScore": i.score, "clicked": bool(i.click)} for i in r.shown]
        ),
    },
    form="csv",
    **TEN,
)
listed(
    "the place of the click",
    "wide",
    "hidden",
    "fixed",
    "- ranked_items - clicked_position:from1",
    lambda r: {
        "search_id": r.n,
        "ranked_items": [i.key for i in r.shown],
        "clicked_position": next((i.rank + 1 for i in r.shown if i.click), None),
    },
    form="parquet",
    **TEN,
)
listed(
    "the item clicked, or none",
    "wide",
    "hidden",
    "fixed",
    "- impressions - reference",
    lambda r: {
        "session_id": uid(r.n),
        "ts": ms(r.at),
        "impressions": [f"{i.key}" for i in r.shown],
        "prices": [i.price for i in r.shown],
        "reference": next((f"{i.key}" for i in r.shown if i.click), None),
    },
    form="jsonl",
    **TEN,
)
listed(
    "documents of Elasticsearch",
    "wide",
    "top",
    "sorted",
    "- _source.hits.doc_id - _source.hits.clicked score=_source.hits.score",
    lambda r: {
        "_index": "search-logs-2025.03",
        "_id": uid(r.n),
        "_source": {
            "@timestamp": r.at.isoformat(),
            "query": r.query,
            "hits": [{"doc_id": f"d{i.key}", "score": i.score, "clicked": bool(i.click)} for i in r.shown],
        },
    },
    **TEN,
)
listed(
    "a column a place",
    "wide",
    "hidden",
    "fixed",
    "- item - click",
    lambda r: (
        {"req_id": r.n}
        | {f"item_{i.rank + 1}": f"p{i.key}" for i in r.shown}
        | {f"click_{i.rank + 1}": i.click for i in r.shown}
    ),
    form="csv",
    **TEN,
)
listed(
    "one propensity a slate",
    "wide",
    "softmax",
    "written",
    "- recommended_items - item_clicks propensity=slate_propensity",
    lambda r: {
        "rec_id": uid(r.n),
        "recommended_items": [i.key for i in r.shown],
        "item_clicks": [i.click for i in r.shown],
        "slate_propensity": r.chance,
    },
    form="parquet",
    k=3,
    choice=6,
)
listed(
    "candidates and their scores",
    "wide",
    "top",
    "sorted",
    "- top5 - clicks candidates=candidate_ids score=candidate_scores",
    lambda r: {
        "request": r.n,
        "candidate_ids": r.candidates,
        "candidate_scores": r.scores,
        "top5": [i.key for i in r.shown],
        "clicks": [i.click for i in r.shown],
    },
    form="parquet",
    **TEN,
)
listed(
    "Plackett-Luce, nothing written",
    "wide",
    "softmax",
    "score",
    "- slate - clicked candidates=pool score=logits",
    lambda r: {
        "decision_id": uid(r.n),
        "pool": r.candidates,
        "logits": r.scores,
        "slate": [i.key for i in r.shown],
        "clicked": [bool(i.click) for i in r.shown],
    },
    form="jsonl",
    n=700,
    k=3,
    choice=8,
)
listed(
    "lists of commas in TSV",
    "wide",
    "hidden",
    "fixed",
    "- doc_ids - click_flags",
    lambda r: {
        "log_id": r.n,
        "uid": f"u{r.user}",
        "doc_ids": ",".join(str(70000 + i.key) for i in r.shown),
        "click_flags": ",".join(str(i.click) for i in r.shown),
    },
    form="tab",
    **TEN,
)
listed(
    "hashes in lists, epsilon",
    "wide",
    "epsilon",
    "written",
    "- items_shown - clicks slot_propensity=slot_probs",
    lambda r: {
        "imp_id": hashed(r.n),
        "user_id": hashed(r.user),
        "items_shown": [hashed("x", i.key) for i in r.shown],
        "slot_probs": [i.chance for i in r.shown],
        "clicks": [i.click for i in r.shown],
    },
    form="parquet",
    **TEN,
)
listed(
    "one JSON array",
    "wide",
    "hidden",
    "fixed",
    "- slate - outcomes",
    lambda r: {
        "id": r.n,
        "slate": [f"m{i.key}" for i in r.shown],
        "outcomes": [i.click for i in r.shown],
        "watch_seconds": [i.dwell for i in r.shown],
    },
    form="json",
    **TEN,
)
listed(
    "flags behind dashes",
    "sessions",
    "hidden",
    "fixed",
    "- impressions - -",
    lambda r: {
        "impression_id": r.n + 1,
        "user": f"U{r.user}",
        "time": r.at.strftime("%m/%d/%Y %I:%M:%S %p"),
        "history": " ".join(f"N{(r.user * 3 + j) % 24}" for j in range(4)),
        "impressions": " ".join(f"N{i.key}-{i.click}" for i in r.shown),
    },
    form="tab",
    **TEN,
)
listed(
    "flags behind colons",
    "sessions",
    "hidden",
    "fixed",
    "- slate_log - -",
    lambda r: {
        "sid": uid(r.n),
        "country": ("DE", "FR", "ES")[r.user % 3],
        "slate_log": ",".join(f"{4000 + i.key}:{i.click}" for i in r.shown),
    },
    form="csv",
    **TEN,
)
listed(
    "slates in lists, two rankers",
    "wide",
    "ab",
    "arms",
    "- hits - clicks arm=bucket",
    lambda r: {
        "qid": r.n,
        "bucket": r.arm,
        "hits": [i.key for i in r.shown],
        "bm25": [i.score for i in r.shown],
        "semantic": [i.other for i in r.shown],
        "clicks": [i.click for i in r.shown],
    },
    form="parquet",
    **TEN,
)
