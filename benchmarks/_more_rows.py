"""Further tables of strangers with a row an item."""

import numpy as np

from benchmarks._more_tables import TEN, long
from benchmarks._more_worlds import hashed, ms, uid

long(
    "jobs in German",
    "top",
    "sorted",
    "suchanfrage_id stellen_nr platz geklickt score=relevanz",
    lambda r, i: {
        "suchanfrage_id": 500000 + r.n,
        "stellen_nr": f"S{i.key:05d}",
        "platz": i.rank + 1,
        "relevanz": i.score,
        "gehalt": round(i.price * 100, 2),
        "geklickt": "ja" if i.click else "nein",
        "beworben": "ja" if i.order else "nein",
        "datum": r.at.strftime("%d.%m.%Y %H:%M"),
    },
    form="semicolon",
    **TEN,
)
long(
    "shop in French",
    "hidden",
    "fixed",
    "id_recherche ref_produit rang clic",
    lambda r, i: {
        "id_recherche": uid("f", r.n),
        "horodatage": r.at.isoformat(),
        "ref_produit": 33000 + i.key,
        "rang": i.rank + 1,
        "prix": i.price,
        "clic": i.click,
        "achat": i.order,
    },
    form="semicolon",
    **TEN,
)
long(
    "shop in pinyin",
    "hidden",
    "fixed",
    "qingqiu_id shangpin_id weizhi dianji",
    lambda r, i: {
        "yonghu_id": hashed("u", r.user),
        "qingqiu_id": hashed("q", r.n),
        "shangpin_id": 8100000 + i.key,
        "weizhi": i.rank,
        "jiage": i.price,
        "dianji": i.click,
        "goumai": i.order,
    },
    form="parquet",
    **TEN,
)
long(
    "hotels in Spanish by price",
    "cheapest",
    "sorted",
    "busqueda hotel posicion clic",
    lambda r, i: {
        "busqueda": r.n + 1,
        "hotel": i.key + 9000,
        "posicion": i.rank + 1,
        "precio": i.price,
        "estrellas": 1 + i.key % 5,
        "noches": 1 + r.n % 4,
        "clic": i.click,
        "reserva": i.order,
    },
    **TEN,
)
long(
    "ads from Kafka",
    "top",
    "sorted",
    "requestUuid adCreativeId slotIndex wasClicked score=eCpm",
    lambda r, i: {
        "requestUuid": uid("a", r.n),
        "eventTimeMs": ms(r.at),
        "publisherId": r.user % 9,
        "adCreativeId": hashed("ad", i.key),
        "slotIndex": i.rank,
        "bidPrice": i.price,
        "eCpm": i.score,
        "isNewUser": r.user % 3 == 0,
        "wasClicked": bool(i.click),
    },
    form="jsonl",
    **TEN,
)
long(
    "softmax with each item's chance",
    "softmax",
    "written",
    "imp_hash item_hash pos click slot_propensity=p_item",
    lambda r, i: {
        "imp_hash": hashed("i", r.n),
        "item_hash": hashed("it", i.key),
        "pos": i.rank + 1,
        "model_score": i.score,
        "p_item": i.chance,
        "click": i.click,
    },
    form="parquet",
    **TEN,
)
long(
    "uniform from pandas",
    "uniform",
    "uniform",
    "query_id doc_id rank click",
    lambda r, i: {
        "query_id": r.n,
        "doc_id": f"d{i.key}",
        "rank": i.rank + 1,
        "bm25": i.score,
        "click": i.click,
    },
    form="pandas",
    n=700,
    k=4,
    pool=12,
)
long(
    "playlists",
    "hidden",
    "fixed",
    "session_id track_uri track_position played",
    lambda r, i: {
        "session_id": uid("s", r.n),
        "track_uri": f"spotify:track:{i.key:04x}",
        "track_position": i.rank + 1,
        "is_explicit": i.key % 4 == 0,
        "is_new": i.key % 3 == 0,
        "played": bool(i.click),
        "ms_played": int(i.dwell * 1000),
        "hour_of_day": r.at.hour,
    },
    **TEN,
)
long(
    "many ids",
    "top",
    "sorted",
    "request_id item_id position is_click score=ctr_pred",
    lambda r, i: {
        "user_id": r.user,
        "session_id": 70000 + r.n // 2,
        "request_id": 900000 + r.n,
        "campaign_id": i.key % 6,
        "category_id": i.key % 4,
        "item_id": i.key,
        "position": i.rank,
        "ctr_pred": round(1 / (1 + np.exp(-i.score)), 5),
        "is_ad": int(i.key % 5 == 0),
        "is_new": int(i.key % 3 == 0),
        "is_click": i.click,
    },
    **TEN,
)
long(
    "pages of results",
    "hidden",
    "fixed",
    "search_key listing_id overall_rank clicked",
    lambda r, i: {
        "search_key": uid("p", r.n),
        "page": i.rank // 3 + 1,
        "rank_on_page": i.rank % 3 + 1,
        "overall_rank": i.rank + 1,
        "listing_id": i.key,
        "quantity": 1 + i.key % 7,
        "clicked": i.click,
    },
    k=9,
    choice=14,
)
long(
    "places as words",
    "hidden",
    "fixed",
    "search listing place opened",
    lambda r, i: {
        "search": f"Q-{r.n:06d}",
        "place": ("1st", "2nd", "3rd", "4th", "5th")[i.rank],
        "listing": f"L{i.key}",
        "opened": "Y" if i.click else "N",
    },
    **TEN,
)
long(
    "clicks as times",
    "top",
    "sorted",
    "serve_id article_id slot clicked_at score=rank_score",
    lambda r, i: {
        "serve_id": uid("n", r.n),
        "served_at": r.at.isoformat(),
        "article_id": 4000 + i.key,
        "slot": i.rank + 1,
        "rank_score": i.score,
        "clicked_at": r.at.replace(second=59).isoformat() if i.click else None,
    },
    form="gz",
    **TEN,
)
long(
    "only what was in view",
    "hidden",
    "fixed",
    "view_id card_id idx tapped",
    lambda r, i: {
        "view_id": 31 * r.n + 7,
        "card_id": f"card_{i.key}",
        "idx": i.rank,
        "tapped": i.click,
        "viewport_h": 600 + 20 * (r.user % 9),
    },
    k=8,
    choice=12,
    seen=lambda i: (i.key + i.rank) % 4 != 0,
)
long(
    "scores with ties",
    "top",
    "sorted",
    "qid docno rank clk score=score",
    lambda r, i: {
        "qid": f"q{r.n}",
        "docno": f"doc-{i.key}",
        "rank": i.rank + 1,
        "score": round(i.score, 1),
        "clk": i.click,
    },
    form="tab",
    **TEN,
)
long(
    "an item twice",
    "hidden",
    "fixed",
    "render_id tile_id tile_position tile_clicked",
    lambda r, i: {
        "render_id": r.n,
        "tile_id": f"t{i.key // 2}",
        "tile_position": i.rank + 1,
        "tile_clicked": i.click,
        "surface": "home" if r.n % 2 else "search",
    },
    k=6,
    choice=10,
)
long(
    "false propensities",
    "top",
    "fixed",
    "request_id item_id rank click propensity=propensity score=score",
    lambda r, i: {
        "request_id": r.n,
        "item_id": i.key,
        "rank": i.rank + 1,
        "score": i.score,
        "propensity": 0.2,
        "click": i.click,
    },
    **TEN,
)
long(
    "propensities of one",
    "hidden",
    "fixed",
    "reco_id sku position clicked propensity=propensity",
    lambda r, i: {
        "reco_id": uid("one", r.n),
        "sku": f"{i.key:08d}",
        "position": i.rank + 1,
        "propensity": 1.0,
        "clicked": i.click,
    },
    form="parquet",
    **TEN,
)
long(
    "a propensity that is a score",
    "top",
    "sorted",
    "request product rank click score=propensity_to_buy",
    lambda r, i: {
        "request": r.n,
        "product": i.key,
        "rank": i.rank + 1,
        "propensity_to_buy": round(i.score * 2 + 1, 3),
        "click": i.click,
    },
    **TEN,
)
