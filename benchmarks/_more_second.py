"""Thirty further tables of strangers, written after the detector was mended by the first."""

import numpy as np

from benchmarks._more_tables import SECOND, TEN, long
from benchmarks._more_worlds import hashed, ms, uid

INTO = {"into": SECOND}

long(
    "hotel list in Italian",
    "hidden",
    "fixed",
    "ricerca_id struttura_id posizione cliccato",
    lambda r, i: {
        "ricerca_id": uid("it", r.n),
        "data": r.at.isoformat(),
        "struttura_id": 5000 + i.key,
        "posizione": i.rank + 1,
        "prezzo": i.price,
        "cliccato": i.click,
        "prenotato": i.order,
    },
    form="semicolon",
    **TEN,
    **INTO,
)
long(
    "shop in Portuguese",
    "top",
    "sorted",
    "id_pedido_busca id_produto ordem clicou score=pontuacao",
    lambda r, i: {
        "id_pedido_busca": r.n + 77,
        "id_produto": i.key,
        "ordem": i.rank + 1,
        "pontuacao": i.score,
        "clicou": "sim" if i.click else "não",
    },
    **TEN,
    **INTO,
)
long(
    "video shelves in Japanese letters",
    "hidden",
    "fixed",
    "リクエスト 動画 順位 click",
    lambda r, i: {"リクエスト": r.n, "動画": f"v{i.key}", "順位": i.rank + 1, "click": i.click},
    form="jsonl",
    **TEN,
    **INTO,
)
long(
    "a rotating carousel",
    "rotate",
    "fixed",
    "page_load_id banner_id carousel_slot clicked",
    lambda r, i: {"page_load_id": r.n, "banner_id": f"b{i.key}", "carousel_slot": i.rank, "clicked": i.click},
    n=800,
    k=5,
    pool=5,
    **INTO,
)
long(
    "sorted by name",
    "names",
    "fixed",
    "list_view_id contact_id row_number opened",
    lambda r, i: {
        "list_view_id": uid("nm", r.n),
        "contact_id": i.key,
        "row_number": i.rank + 1,
        "opened": i.click,
        "starred": int(i.key % 3 == 0),
    },
    **TEN,
    **INTO,
)
long(
    "softmax chances of a sorted list",
    "top",
    "fixed",
    "rid iid rk clk",
    lambda r, i: {
        "rid": r.n,
        "iid": i.key,
        "rk": i.rank + 1,
        "logit": i.score,
        "softmax_prob": round(float(np.exp(i.score) / np.exp(r.scores).sum()), 6),
        "clk": i.click,
    },
    form="parquet",
    **TEN,
    **INTO,
)
long(
    "constant chances of a hidden order",
    "hidden",
    "fixed",
    "request_id item_id position click slot_propensity=propensity",
    lambda r, i: {
        "request_id": uid("ch", r.n),
        "item_id": i.key,
        "position": i.rank + 1,
        "propensity": round(1 / (10 - i.rank), 6),
        "click": i.click,
        "user_id": r.user,
    },
    n=800,
    k=4,
    choice=10,
    pool=10,
    **INTO,
)
long(
    "exploration written per list",
    "softmax",
    "written",
    "searchId offerId rankNo isClicked propensity=listPropensity",
    lambda r, i: {
        "searchId": hashed("w", r.n),
        "offerId": i.key,
        "rankNo": i.rank + 1,
        "isClicked": bool(i.click),
        "listPropensity": r.chance,
        "margin": i.other,
    },
    form="parquet",
    k=3,
    choice=6,
    **INTO,
)
long(
    "uniform of few, by user",
    "uniform",
    "uniform",
    "exposure_id creative_id slot_no clicked",
    lambda r, i: {
        "exposure_id": uid("few", r.n),
        "user_id": f"u{r.user}",
        "creative_id": f"c{i.key}",
        "slot_no": i.rank + 1,
        "clicked": i.click,
        "spend": round(i.price / 100, 4),
    },
    n=900,
    k=3,
    pool=3,
    **INTO,
)
long(
    "ad slots and their bids",
    "top",
    "sorted",
    "bid_request_id line_item_id ad_position is_click score=bid_cpm",
    lambda r, i: {
        "bid_request_id": uid("bid", r.n),
        "line_item_id": 10**12 + i.key,
        "ad_position": i.rank + 1,
        "bid_cpm": round(float(np.exp(i.score)), 4),
        "floor": 0.1,
        "is_viewable": int(i.rank < 3),
        "is_click": i.click,
        "is_conversion": i.order,
    },
    form="gz",
    **TEN,
    **INTO,
)
long(
    "wins of an auction",
    "hidden",
    "fixed",
    "auction ad slot click",
    lambda r, i: {
        "auction": r.n,
        "slot": i.rank,
        "ad": i.key,
        "advertiser": i.key % 6,
        "quality": round(abs(i.other), 3),
        "ad_rank_score": round(i.score, 3),
        "click": i.click,
    },
    **TEN,
    **INTO,
)
long(
    "search with two times",
    "hidden",
    "fixed",
    "query_exec_id result_doc result_no clicked_ts",
    lambda r, i: {
        "query_exec_id": uid("qt", r.n),
        "exec_ts": ms(r.at),
        "result_doc": f"/docs/{i.key}.html",
        "result_no": i.rank + 1,
        "clicked_ts": ms(r.at) + 5000 if i.click else None,
    },
    form="parquet",
    **TEN,
    **INTO,
)
long(
    "recommendations in an email",
    "hidden",
    "fixed",
    "email_id product_ref module_slot clicked",
    lambda r, i: {
        "email_id": hashed("em", r.n),
        "campaign": f"camp{r.n % 5}",
        "module_slot": f"slot{i.rank + 1}",
        "product_ref": f"P-{i.key:03d}",
        "opened": int(r.n % 2),
        "clicked": int(i.click and r.n % 2),
    },
    **TEN,
    **INTO,
)
long(
    "rows of a dashboard export",
    "hidden",
    "fixed",
    "Session_Key Item-Key Row Clicked?",
    lambda r, i: {
        "Session_Key": r.n,
        "Item-Key": f"K{i.key}",
        "Row": i.rank + 1,
        "Clicked?": "Yes" if i.click else "No",
    },
    **TEN,
    **INTO,
)
long(
    "a choice with its policy",
    "softmax",
    "written",
    "",
    lambda r, i: {
        "decision_id": uid("dec", r.n),
        "context_hash": hashed(r.user),
        "action": f"a{i.key}",
        "p": i.chance,
        "reward": i.click + 0.1 * i.order,
    },
    form="jsonl",
    n=800,
    k=1,
    pool=5,
    **INTO,
)
long(
    "thousandths of a chance",
    "softmax",
    "written",
    "",
    lambda r, i: {
        "event_uuid": uid("th", r.n),
        "variant": f"v{i.key}",
        "assignment_probability": round(i.chance, 5),
        "clicked": bool(i.click),
        "country": ("de", "fr")[r.user % 2],
    },
    n=800,
    k=1,
    pool=3,
    **INTO,
)
