"""Named standards: tiny files by their published schemas, read with no word said, equal to the same log in our form."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import offrank
from offrank.errors import LogError, OffrankError, UsageError
from offrank.log.source import needs
from offrank.readers import READERS
from tests.readers.plain import skipped

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


def of_router_with_candidates(folder: Path) -> Made:
    return of_router(folder, "candidates")


def of_router_alone(folder: Path) -> Made:
    return of_router(folder, "alone")


MAKERS = {
    "obp": of_dict,
    "obp of npz": of_npz,
    "obp of json": of_json,
    "obp of slates": of_slates,
    "expedia": of_expedia,
    "trivago2019": of_trivago,
    "diginetica": of_diginetica,
    "kuairand": of_kuairand,
    "finn_slates": of_finn,
    "router": of_router,
    "router with candidates": of_router_with_candidates,
    "router alone": of_router_alone,
}


def numbers(log: Any, logging: str, target: str = "uniform") -> list[float]:
    found = offrank.evaluate(log, target, logging, ["ips", "snips"], cluster=None)
    return [number for one in ("ips", "snips") for number in (found[one].value, found[one].low, found[one].n)]


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_known_and_answers_as_our_own_form(name: str, tmp_path: Path) -> None:
    make: Callable[[Path], Made] = MAKERS[name]
    source, logging, own = make(tmp_path)
    log = offrank.read_log(source)
    assert log.description is not None
    assert str(log.description.format).partition("(")[0] == name.split(maxsplit=1)[0]
    assert numbers(log, logging) == pytest.approx(numbers(own, logging), rel=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_no_other_standard_knows_it(name: str, tmp_path: Path) -> None:
    beginning = offrank.readers.beginning.Beginning.of(MAKERS[name](tmp_path)[0])
    assert [one for one in READERS if READERS[one].fitting(beginning) is not None] == [name.split(maxsplit=1)[0]]


@pytest.mark.parametrize("name", [name for name in MAKERS if name.split()[0] not in ("obp", "kuairand", "router")])
def test_inspect_calls_nothing_random_that_is_not_said_to_be(name: str, tmp_path: Path) -> None:
    found = offrank.inspect(MAKERS[name](tmp_path)[0])
    assert (found.logging.known, found.logging.confirmed, found.logging.seen) == (False, *2 * [name == "expedia"])


def test_of_obp_every_column_has_its_role() -> None:
    feedback = bandit()
    assert numbers(feedback, "logged", "top(expected_reward)") == pytest.approx(
        numbers(own_bandit(feedback), "logged", "top(score)"), rel=1e-12
    )
    drawn = numbers(feedback, "plackett_luce(pi_b)", "top(expected_reward)")
    assert drawn[0] == pytest.approx(numbers(feedback, "logged", "top(expected_reward)")[0], rel=1e-12)
    row = next(offrank.read_log(feedback).table.pieces(0, ("features", "slate"))).data
    second = row.column("features")[1].as_py()
    assert second == [[*feedback["context"][1], *feedback["action_context"][one]] for one in range(K)]


def test_of_obp_rewards_may_have_any_sign() -> None:
    feedback = bandit(reward=np.linspace(-1, 1, N), position=np.arange(N) % 3, pi_b=None)
    log = offrank.read_log(feedback)
    expected = float((feedback["reward"] / feedback["pscore"]).mean()) / K
    assert offrank.evaluate(log, "uniform", "logged", "ips", cluster=None)["ips"].value == pytest.approx(
        expected, rel=1e-12
    )
    assert "position" in log.table.names
    assert "clicks" not in log.table.names


def test_of_obp_a_pickle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "feedback.pkl"
    path.write_bytes(pickle.dumps(bandit()))
    for how in (None, "obp"):
        with pytest.raises(LogError, match="pickle"):
            offrank.read_log(path, format=how)
    np.savez(tmp_path / "log.npz", **bandit(action=np.array([None, 1, {}], object)))
    with pytest.raises(LogError, match="action is a Python pickle"):
        offrank.read_log(tmp_path / "log.npz", format="obp")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"pscore": np.ones(3)}, "fit"), ({"action": np.full(N, K)}, "0 to 4"), ({"n_actions": None}, "n_actions")],
)
def test_of_obp_arrays_that_do_not_fit_are_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(LogError, match=said):
        offrank.read_log(bandit(**wrong), format="obp")
    with pytest.raises(UsageError, match="no reward"):
        offrank.read_log({"action": [1]}, format="obp")


def test_expedia_keeps_the_searches_that_are_asked_for(tmp_path: Path) -> None:
    path = of_expedia(tmp_path)[0]
    for searches, rows in (("random", N // 3), ("sorted", N - N // 3), ("all", N)):
        log = offrank.read_log(path, format=f"expedia(searches={searches})")
        assert numbers(log, "uniform")[2] == rows
    assert offrank.inspect(path).logging.named == "uniform"
    assert offrank.inspect(path, format="expedia(searches=sorted)").logging.seen is False
    with pytest.raises(UsageError, match="searches"):
        offrank.read_log(path, format="expedia(searches=some)")


def test_clicks_of_trivago_outside_their_list_are_counted(tmp_path: Path) -> None:
    path = of_trivago(tmp_path)[0]
    with path.open("a", encoding="utf-8") as file:
        file.write(
            "\nU,S,1,1,clickout item,5000,Rome,1|2|3|4|5,9|9|9|9|9\nU,S,1,1,clickout item,,Rome,1|2|3|4|5,9|9|9|9|9\n"
        )
    log = offrank.read_log(path)
    assert skipped(log, needs("clicks")) == {"click-outside-slate": 1}
    assert "only lists with a click" in repr(offrank.inspect(path))


def test_of_kuairand_rows_that_were_recommended_are_no_draws(tmp_path: Path) -> None:
    folder = of_kuairand(tmp_path)[0]
    path = next(folder.glob("log_random*"))
    assert numbers(path, "logged") == numbers(folder, "logged")
    recommended = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.endswith(",1,1")]
    (tmp_path / "log_standard.csv").write_text("\n".join(recommended), encoding="utf-8")
    with pytest.raises(LogError, match=r"no row of .* was drawn at random"):
        offrank.read_log(tmp_path / "log_standard.csv")


LACKING = {
    "mind": (
        "behaviors.tsv",
        "1\tU1\t11/11/2019 9:05:58 AM\tN7 N8\tN1-0 N2-1\n2\tU2\t11/12/2019 6:11:30 PM\t\tN3-1\n",
        "sessions",
    ),
    "retailrocket": (
        "events.csv",
        "timestamp,visitorid,event,itemid,transactionid\n1,2,view,3,\n4,2,view,5,\n",
        "none",
    ),
    "recbole": ("ml.inter", "user_id:token\titem_id:token\trating:float\n1\t2\t3\n1\t3\t4\n", "none"),
}


@pytest.mark.parametrize("name", LACKING)
def test_what_tells_of_no_ranking_says_so(name: str, tmp_path: Path) -> None:
    file, text, layout = LACKING[name]
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match=r"no other ranking|no list that was shown") as error:
        offrank.read_log(tmp_path / file)
    found = offrank.inspect(tmp_path / file)
    assert found.layout == layout
    assert str(error.value.message) in found.why


def test_what_is_like_a_standard_is_not_taken_for_it(tmp_path: Path) -> None:
    """A table that lacks what makes it certain is told by its columns, or asked about."""
    rng = np.random.default_rng(0)
    model = {"model": ["a", "b"] * 50, "score": rng.random(100), "latency": rng.random(100)}
    several = model | {"propensity": rng.random(100) / 2 + 0.2, "quality": rng.random(100)}
    ranked = model | {"propensity": rng.random(100) / 2 + 0.2, "position": [1, 2] * 50}
    typed = {"session_id:token": [1, 1], "user_id:token": [1, 1], "item_id:token": [1, 2], "position:float": [1, 2]}
    for columns in (model, several, ranked, typed, {"action": [1], "reward": [2]}):
        table = pa.table(columns)
        beginning = offrank.readers.beginning.Beginning.of(table)
        assert [one for one in READERS if READERS[one].fitting(beginning) is not None] == []
    with pytest.raises(OffrankError):
        offrank.read_log({"action": [1], "reward": [2]})
