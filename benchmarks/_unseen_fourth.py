"""Tables of strangers, a fourth batch that was written before the detector was read: two dozen trades, and traps."""

import csv
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather, orc

from benchmarks._strangers_files import Maker, Table, Truth, guid, long, none, to_lines, wide
from benchmarks._strangers_visits import Random, Row
from benchmarks._terse import terse

Grid = np.ndarray[Any, np.dtype[Any]]
LOOKED = np.array([1, 0.6, 0.42, 0.33, 0.27, 0.22])
FOURTH: dict[str, Maker] = {}


@dataclass
class World:
    """Rows [n] of candidates with what they earn, and what two rankers think of them; contexts repeat by `queries`."""

    rng: Random
    query: Grid
    relevance: Grid
    old: Grid
    new: Grid

    @classmethod
    def of(cls, rng: Random, rows: int, items: int, queries: int = 0, noise: float = 0.5) -> "World":
        log_odds = rng.normal(-1.2, 1, (queries or rows, items))
        old, new = (log_odds + noise * part * rng.normal(size=log_odds.shape) for part in (1.6, 1.0))
        query = rng.integers(0, queries, rows) if queries else np.arange(rows)
        return cls(rng, query, (1 / (1 + np.exp(-log_odds)))[query], old[query].round(4), new[query].round(4))

    def drawn(self, scores: Grid, slots: int, temperature: float = 1.0) -> Grid:
        """Slates drawn from the softmax of scores."""
        return best(scores / temperature + self.rng.gumbel(size=scores.shape), slots)

    def mixed(self, share: float, slots: int) -> tuple[Grid, Grid]:
        """Sorted slates, of which a share is random, and which ones are."""
        chosen = self.rng.random(len(self.query)) < share
        return np.where(chosen[:, None], self.drawn(0 * self.old, slots), best(self.old, slots)), chosen

    def clicks(self, slates: Grid) -> Grid:
        seen = np.take_along_axis(self.relevance, slates, axis=1) * LOOKED[: slates.shape[1]]
        return (self.rng.random(slates.shape) < seen).astype(int)

    def ids(self, spelled: str | Callable[[int], str], slates: Grid | None = None) -> list[list[Any]]:
        """The items of slates, or all candidates, as a stranger calls them."""
        places = np.tile(np.arange(self.old.shape[1]), (len(self.query), 1)) if slates is None else slates
        codes = (self.query[:, None] * self.old.shape[1] + places).tolist()
        call = spelled.format if isinstance(spelled, str) else spelled
        return codes if spelled == "int" else [[call(code) for code in row] for row in codes]

    def names(self, spelled: str, of: Grid | None = None) -> list[str]:
        return [spelled.format(one) for one in (np.arange(len(self.query)) if of is None else of).tolist()]

    def beside(self, slates: Grid, values: Any) -> Grid:
        """Values of slots beside all candidates, nothing beside those that were not shown."""
        found = np.full(self.old.shape, None, object)
        np.put_along_axis(found, slates, np.broadcast_to(np.asarray(values, object), slates.shape), axis=1)
        return found

    def long(self, columns: Row, slates: Grid | None = None) -> Row:
        """A row per candidate, or per item of slates, of columns with a value per row or per candidate."""
        shape = self.old.shape
        spread = {name: np.asarray(one, object) for name, one in columns.items()}
        spread = {name: np.broadcast_to(one.reshape(len(one), -1), shape) for name, one in spread.items()}
        kept = np.tile(np.arange(shape[1]), (shape[0], 1)) if slates is None else slates
        return {name: np.take_along_axis(one, kept, axis=1).ravel().tolist() for name, one in spread.items()}


def best(scores: Grid, slots: int) -> Grid:
    return np.argsort(-scores, axis=1)[:, :slots]


def chances(scores: Grid, slates: Grid) -> Grid:
    """The probability of each slot's item given those above it."""
    weights = np.take_along_axis(np.exp(scores), slates, axis=1)
    left = np.exp(scores).sum(axis=1, keepdims=True) - np.cumsum(weights, axis=1) + weights
    return weights / left


def structs(each: Row) -> list[list[Row]]:
    """The fields of each row's items, from a list for each row of each field."""
    rows = zip(*(one if isinstance(one, list) else one.tolist() for one in each.values()), strict=True)
    return [[dict(zip(each, item, strict=True)) for item in zip(*row, strict=True)] for row in rows]


def glued(lists: Any) -> list[str]:
    return ["|".join(map(str, one)) for one in (lists if isinstance(lists, list) else lists.tolist())]


def saved(path: Path, columns: Row, delimiter: str = ",", comma: bool = False) -> Path:
    """Write a file of the kind that its name tells. comma: write decimal commas."""
    columns = {name: one.tolist() if isinstance(one, np.ndarray) else one for name, one in columns.items()}
    writers = {".parquet": pq.write_table, ".arrow": feather.write_feather, ".orc": orc.write_table}
    if path.suffix in writers:
        writers[path.suffix](pa.table(columns), str(path))
        return path
    rows = list(zip(*columns.values(), strict=True))
    if path.suffix == ".jsonl":
        return to_lines([dict(zip(columns, row, strict=True)) for row in rows], path)
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w", newline="") as file:
        cells = ([str(one).replace(".", ",") if isinstance(one, float) else one for one in row] for row in rows)
        csv.writer(file, delimiter=delimiter).writerows([list(columns), *(cells if comma else rows)])
    return path


def fourth(make: Maker) -> Maker:
    FOURTH[make.__name__.replace("_", " ")] = make
    return make


@fourth
def german_search(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 3000, 8, 100)
    clicks = made.clicks(shown := made.drawn(made.old, 5))
    columns = {"anfrage_id": made.names("A{:06d}"), "suchbegriff": made.names("Suche {}", made.query)}
    columns |= {"dokument": made.ids("{:07d}"), "platz": made.beside(shown, range(1, 6))}
    columns |= {"klick": made.beside(shown, np.where(clicks, "ja", "nein")), "punkte_alt": made.old}
    columns |= {"punkte_neu": made.new, "wahrscheinlichkeit": made.beside(shown, chances(made.old, shown).round(8))}
    told = long("anfrage_id", "dokument", "platz", "klick", "law", "plackett_luce(punkte_alt, log=True)")
    return saved(folder / "suche.csv.gz", made.long(columns)), told


@fourth
def ads_in_slots(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 8000, 6, 60)
    shown, explored = made.mixed(0.2, 3)
    clicks, ads = made.clicks(shown), made.ids("ad-{}", shown)
    columns = {"auction_id": made.names("1{:09d}"), "keyword": made.names("kw{}", made.query)}
    columns |= {f"ad_slot_{at + 1}": [row[at] for row in ads] for at in range(3)}
    columns |= {"clicked_slot": np.where(clicks.any(axis=1), clicks.argmax(axis=1) + 1, 0), "explored": explored * 1}
    columns |= {"eligible_ads": glued(made.ids("ad-{}")), "quality_score": glued(made.old)}
    told = wide("ad_slot", "clicked_slot:from1", "law", "epsilon(top(quality_score), 0.2)", candidates="eligible_ads")
    return saved(folder / "ads.tsv", columns, "\t"), told


@fourth
def marketplace_structs(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 6000, 5, 200)
    shown = made.drawn(0 * made.old, 5)
    clicks, scores = made.clicks(shown) > 0, np.take_along_axis(made.new, shown, axis=1)
    each = {"listing": made.ids(guid, shown), "slot": np.tile(np.arange(5), (6000, 1)), "contacted": clicks}
    results = structs(each | {"message_sent": clicks & (rng.random(clicks.shape) < 0.3), "v2": scores})
    columns = {"page_view": made.names("p-{}"), "search": made.names("cat{}", made.query), "results": results}
    return saved(folder / "market.parquet", columns), wide("results.listing", "results.contacted", "uniform")


@fourth
def music_shelf(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 4000, 10, 120)
    shown = made.drawn(made.old, 4)
    each = {"track": made.ids("{:06d}", shown), "played": made.clicks(shown), "p": chances(made.old, shown)}
    columns = {"listener": [{"id": one} for one in made.names("{:08d}")], "mood": made.names("m{}", made.query)}
    columns |= {"shelf": [{"cards": one} for one in structs(each)], "challenger": made.ids("{:06d}", best(made.new, 4))}
    told = wide("shelf.cards.track", "shelf.cards.played", "written", slot_propensity="shelf.cards.p")
    return saved(folder / "music.jsonl", columns), told


@fourth
def news_by_day(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 5000, 7)
    views = rng.integers(3, 40, made.old.shape)
    liked = 1 + rng.binomial(views, made.relevance)
    shown = best(rng.beta(liked, 2 + views - liked), 3)
    columns = {"pool": made.ids("int"), "headlines": made.ids("int", shown), "clicked": made.clicks(shown)}
    columns |= {"alpha": liked, "beta": 2 + views - liked, "editor_model": made.new}
    for day in range(5):
        (part := folder / "news" / f"dt=2026-04-0{day + 1}").mkdir(parents=True)
        saved(part / "part-0.parquet", {name: one[day * 1000 : day * 1000 + 1000] for name, one in columns.items()})
    return folder / "news", wide("headlines", "clicked", "law", "thompson(alpha, beta)", candidates="pool")


@fourth
def food_swapped(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 5000, 6, 100)
    shown = best(made.old, 4)
    for at, swapped in zip((0, 2), rng.random((2, len(shown))) < 0.5, strict=True):
        shown[swapped, at : at + 2] = shown[swapped, at : at + 2][:, ::-1]
    clicks = np.where(made.clicks(shown), "t", "f")
    columns = {
        "session": made.names("s{}"),
        "area": made.names("zip{}", made.query),
        "restaurant_id": made.ids("{:05d}"),
    }
    columns |= {"rank": made.beside(shown, range(1, 5)), "clicked": made.beside(shown, clicks)}
    columns |= {"eta_min": (40 - 6 * made.old).round(3)}
    told = long("session", "restaurant_id", "rank", "clicked", "law", "shuffled(top(eta_min, ascending=True))")
    return saved(folder / "food.csv", made.long(columns, shown), ";", comma=True), told


@fourth
def jobs_opened(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 5000, 8)
    shown = made.drawn(made.old, 3, 0.7)
    jobs, clicks = made.ids(guid, shown), made.clicks(shown)
    columns = {"eligible": made.ids(guid), "jobs": jobs, "relevance_v1": made.old, "ltr_v3": made.new}
    columns |= {"opened_jobs": [[jobs[n][at] for at in np.flatnonzero(row)] for n, row in enumerate(clicks)]}
    columns |= {"logp": np.log(chances(made.old / 0.7, shown)).sum(axis=1)}
    told = wide("jobs", "opened_jobs", "law", "plackett_luce(relevance_v1, ", candidates="eligible")
    return saved(folder / "jobs.arrow", columns), told


@fourth
def home_page_features(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 3000, 8)
    shown = made.drawn(made.old, 6)
    plays = made.clicks(shown) * (1 + (rng.random(shown.shape) < 0.2))
    shelves = np.tile([f"shelf_{one:02d}" for one in range(8)], (3000, 1))
    columns = {"home_id": made.names("{:08d}"), "shelf_id": shelves, "shelf_rank": made.beside(shown, range(6))}
    columns |= {"plays": made.beside(shown, plays), "p_above": made.beside(shown, chances(made.old, shown))}
    columns |= {"affinity": made.old} | {f"f{n:02d}": rng.normal(size=(3000, 8)).round(3) for n in range(40)}
    told = long("home_id", "shelf_id", "shelf_rank", "plays", "law", "plackett_luce(affinity, log=True)")
    return saved(folder / "home.parquet", made.long(columns | {"surface": ["home"] * 3000})), told


@fourth
def mail_order(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 8000, 4)
    shown, explored = made.mixed(0.1, 4)
    old, new = (np.take_along_axis(each, shown, axis=1) for each in (made.old, made.new))
    columns = {"emails_shown": made.ids("msg{}", shown), "opened": made.clicks(shown), "prio_old": old, "prio_new": new}
    lists = {name: glued(one) for name, one in columns.items()} | {"random_order": np.where(explored, "Y", "N")}
    return saved(folder / "mail.txt", lists, "\t"), wide("emails_shown", "opened", "law", "epsilon(top(prio_old), 0.1)")


@fourth
def router_of_models(rng: Random, folder: Path) -> Table:
    models, odds = np.array(["nano", "mini", "large"]), rng.integers(1, 9, (3000, 3))
    odds = odds / odds.sum(axis=1, keepdims=True)
    chosen = best(np.log(odds) + rng.gumbel(size=odds.shape), 1)[:, 0]
    objects = [[dict(zip(models.tolist(), row, strict=True)) for row in each.tolist()] for each in (odds, odds**2)]
    columns = {"req": [f"{n:x}-{n * 31 % 997}" for n in range(3000)], "tenant": [f"t{n % 40}" for n in range(3000)]}
    columns |= {"routed_to": models[chosen], "routing_probs": objects[0], "cost_usd": 0.004 * 6.0**chosen}
    columns |= {"judge_score": (rng.random(3000) < 0.3 + chosen / 5).astype(int), "v2_scores": objects[1]}
    return saved(folder / "router.jsonl", columns), Truth("router", {}, "law", "plackett_luce(probs)")


@fourth
def related_in_maps(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 5000, 6, 200)
    shown = made.drawn(made.old, 3)
    clicks, ids = made.clicks(shown), made.ids("P{}", shown)
    far = [[*zip(*row, strict=True)] for row in zip(made.ids("P{}"), (3 - made.old).tolist(), strict=True)]
    clicked = [ids[n][row.argmax()] if row.any() else None for n, row in enumerate(clicks)]
    columns = {"shown_items": ids, "clicked_item": clicked, "anchor": made.names("A{}", made.query)}
    columns |= {"distance": pa.array(far, pa.map_(pa.string(), pa.float64()))}
    return saved(folder / "related.parquet", columns), wide("shown_items", "clicked_item", "hidden")


@fourth
def tests_in_events(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 4000, 7, 120)
    arm = (rng.random(900) < 0.5)[user := rng.integers(0, 900, 4000)]
    shown = np.where(arm[:, None], best(made.new, 4), best(made.old, 4))
    clicks, ids, pool, rows = made.clicks(shown), made.ids("x{}", shown), made.ids("x{}"), []
    for n, docs in enumerate(ids):
        own = {"serp": f"S{n}", "uid": int(user[n])}
        seen = {"variant": ("control", "treatment")[int(arm[n])], "term": f"term{made.query[n]}", "docs": docs}
        seen |= {"pool": pool[n], "score_control": made.old[n].tolist(), "score_treatment": made.new[n].tolist()}
        rows.append({"type": "serp_view", "t": 10**6 + 60 * n, **own, **seen})
        at = np.flatnonzero(clicks[n]).tolist()
        rows += [{"type": "doc_click", "t": 10**6 + 60 * n + one, **own, "doc": docs[one]} for one in at]
    return to_lines(rows, folder / "events.jsonl"), Truth("events", {}, "arms")


@fourth
def interleaved_ranks(rng: Random, folder: Path) -> Table:
    made, shown = World.of(rng, 5000, 6, 150), np.zeros((5000, 4), int)
    orders = [best(each, 6).tolist() for each in (made.old, made.new)]
    for n in range(5000):
        picked: list[int] = []
        while len(picked) < 4:
            for team in rng.permutation(2):
                picked.append(next(item for item in orders[team][n] if item not in picked))
        shown[n] = picked
    ranks = [np.argsort(each, axis=1) + 1 for each in orders]
    columns = {
        "impression_id": made.names("imp{}"),
        "query_id": made.names("q{}", made.query),
        "item_id": made.ids("i{}"),
    }
    columns |= {"display_rank": made.beside(shown, range(1, 5)), "click": made.beside(shown, made.clicks(shown))}
    told = "interleaved(top(rank_cand, ascending=True), top(rank_prod, ascending=True))"
    path = saved(folder / "teams.csv", made.long(columns | {"rank_prod": ranks[0], "rank_cand": ranks[1]}))
    return path, long("impression_id", "item_id", "display_rank", "click", "law", told)


@fourth
def two_tables_of_lists(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 5000, 6)
    shown = made.drawn(made.old, 4, 0.5)
    ids, names = made.ids("int", shown), made.names("r-{}")
    columns = {"rid": names, "served": ids, "retrieved": made.ids("int"), "prod_logit": made.old}
    saved(folder / "impressions.parquet", columns | {"shadow_logit": made.new})
    at = np.argwhere(made.clicks(shown)).tolist()
    saved(folder / "clicks.parquet", {"rid": [names[n] for n, _ in at], "doc_id": [ids[n][k] for n, k in at]})
    return folder, Truth("events", {}, "law", "plackett_luce(prod_logit, temperature=0.5, log=True)")


@fourth
def top_three_shuffled(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 6000, 7, 150)
    shown, chosen = best(made.old, 5), rng.random(6000) < 0.3
    shown[chosen, :3] = rng.permuted(shown[chosen, :3], axis=1)
    columns = {"q": made.query, "serp_docs": made.ids("int", shown), "serp_clicks": made.clicks(shown)}
    columns |= {"pool_docs": made.ids("int"), "rank_score": made.old, "rank_score_b": made.new}
    told = wide("serp_docs", "serp_clicks", "law", "mixture(", candidates="pool_docs")
    return saved(folder / "top.orc", columns), told


@fourth
def dirty_lines(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 3000, 6, 100)
    shown = made.drawn(made.old, 4)
    clicks = np.where(rng.random(shown.shape) < 0.01, None, made.clicks(shown).astype(float))  # type: ignore[call-overload]
    columns = {"RequestId": made.names("R{}"), "Query": made.names("query {}", made.query), "Sku": made.ids("SKU-{}")}
    columns |= {"Position": made.beside(shown, range(1, 5)), "Clicked": made.beside(shown, clicks)}
    columns |= {"SlotProb": made.beside(shown, chances(made.old, shown)), "ScoreProd": made.old, "ScoreNew": made.new}
    lines = (path := saved(folder / "dirty.csv", made.long(columns))).read_text().splitlines()
    path.write_text("\n".join([*lines[:900], *lines[895:900], "R150,bro", *lines[900:]]))
    law = "plackett_luce(ScoreProd, log=True)"
    return path, long("RequestId", "Sku", "Position", "Clicked", "law", law, slot_propensity="SlotProb")


@fourth
def chance_of_a_longer_list(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 5000, 8, 150)
    shown = (whole := made.drawn(made.old, 8))[:, :3]
    columns = {"query": made.names("q{}", made.query), "top3": made.ids("int", shown), "clk": made.clicks(shown)}
    columns |= {"cands": made.ids("int"), "list_propensity": chances(made.old, whole).prod(axis=1)}
    told = wide("top3", "clk", "refuted", candidates="cands", propensity="list_propensity")
    return saved(folder / "truncated.parquet", columns | {"s_live": np.exp(made.old), "s_next": np.exp(made.new)}), told


@fourth
def trap_without_clicks(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 2000, 6, 100)
    shown = made.drawn(made.old, 4)
    columns = {"query": made.query, "docs": made.ids("d{}", shown), "pool": made.ids("d{}"), "score": made.old}
    columns |= {"pctr": np.take_along_axis(made.relevance, shown, axis=1)}
    return saved(folder / "no.parquet", columns | {"propensity": chances(made.old, shown).prod(axis=1)}), none()


@fourth
def trap_stale_score(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 6000, 6, noise=0.3)
    shown, stale = best(made.old, 4), made.old + 0.8 * rng.normal(size=made.old.shape)
    columns = {"list": made.ids("int", shown), "is_clicked": made.clicks(shown), "candidates": made.ids("int")}
    told = wide("list", "is_clicked", "personal", candidates="candidates")
    return saved(folder / "stale.parquet", columns | {"model_score": stale, "new_model_score": made.new}), told


@fourth
def trap_shares_that_are_no_chances(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 6000, 6)
    shown, shares = made.drawn(made.old, 3), np.exp(made.old) / np.exp(made.old).sum(axis=1, keepdims=True)
    columns = {"slate": made.ids("n{}", shown), "clicks": made.clicks(shown), "candidates": made.ids("n{}")}
    columns |= {"propensity": np.take_along_axis(shares, shown, axis=1).prod(axis=1), "challenger": made.new}
    return saved(folder / "shares.jsonl", columns), Truth("wide", {}, "refuted")


@fourth
def trap_score_of_clicks(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 4000, 6)
    clicks = made.beside(shown := made.drawn(made.old, 4), made.clicks(shown))
    columns = {"request_id": made.query, "item_id": made.ids("int"), "position": made.beside(shown, range(1, 5))}
    columns |= {"click": clicks, "pl_weight": np.exp(made.old), "engagement_score": made.new + 1.5 * (clicks == 1)}
    told = long("request_id", "item_id", "position", "click", "law", "plackett_luce(pl_weight)")
    return saved(folder / "leak.csv", made.long(columns)), told


@fourth
def trap_only_clicked(rng: Random, folder: Path) -> Table:
    made = World.of(rng, 8000, 5, 100)
    clicks = made.clicks(shown := made.drawn(0 * made.old, 4))
    columns: Row = {"query": made.names("q{}", made.query), "shown": made.ids("int", shown)}
    columns |= {"clicks": clicks.tolist(), "candidates": made.ids("int"), "new_score": made.new.tolist()}
    kept = {name: [one[n] for n in np.flatnonzero(clicks.any(axis=1))] for name, one in columns.items()}
    return saved(folder / "clicked.parquet", kept), wide("shown", "clicks", "hidden", candidates="candidates")


terse(
    """
pushes in words: router csv softmax written k=1 choice=0 pool=4
send_time=at device_id=user.hex template=D.word propensity=K opened=C.yn

trap sorted: long csv top sorted
view=I.req query=q doc=D.sku slot=P.0 click=C.01 score=s score_b=other
""",
    FOURTH,
)
