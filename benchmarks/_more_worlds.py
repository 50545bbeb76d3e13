"""Requests, items and clicks behind the further tables of strangers; how the items were drawn is known."""

import datetime as dt
import hashlib
import uuid
from dataclasses import dataclass, field

import numpy as np

START = dt.datetime(2025, 3, 3, 6, tzinfo=dt.UTC)
WORDS = ("boots", "rain jacket", "tent", "red shoes", "lamp", "usb c hub", "desk", "mug", "yoga mat", "novel")


@dataclass
class Shown:
    """One item in one place of one request."""

    key: int
    rank: int
    score: float
    other: float
    price: float
    distance: float
    click: int
    order: int
    dwell: float
    chance: float


@dataclass
class Request:
    """One request: who asked, when, by which arm, what could have been shown and what was."""

    n: int
    user: int
    at: dt.datetime
    arm: str
    explored: int
    query: str
    chance: float
    candidates: list[int]
    scores: list[float]
    shown: list[Shown] = field(default_factory=list)


def requests(how: str, seed: int, n: int = 400, k: int = 5, pool: int = 24, choice: int | None = None) -> list[Request]:
    """`n` requests for `k` of `choice` candidates, drawn `how` says: uniform, softmax, epsilon, or a fixed order."""
    rng = np.random.default_rng([seed, 26])
    base = rng.normal(size=pool)
    prices = np.round(np.exp(rng.normal(3, 0.6, pool)), 2)
    found = []
    for number in range(n):
        candidates = rng.choice(pool, choice or pool, replace=False)
        score = np.round(base[candidates] + rng.normal(0, 0.7, len(candidates)), 4)
        other = np.round(rng.normal(size=len(candidates)), 4)
        distance = np.round(rng.gamma(2, 400, len(candidates)), 1)
        arm = "AB"[int(rng.integers(2))]
        user = int(rng.integers(n // 4 + 1))
        hidden = base[candidates] + 0.8 * np.sin(candidates * (user % 7 + 1))
        explored = int(rng.random() < 0.1)
        keys = {
            "top": score,
            "hidden": hidden,
            "shuffle3": hidden,
            "rotate": -((candidates + number) % pool).astype(float),
            "names": -candidates.astype(float),
            "cheapest": -prices[candidates],
            "nearest": -distance,
            "ab": score if arm == "A" else other,
            "hidden_ab": hidden if arm == "A" else base[candidates],
            "uniform": 0 * score,
        }.get(how, score)
        order, chances = _drawn(how, keys, k, explored, rng)
        at = START + dt.timedelta(seconds=int(number * 67 + rng.integers(60)))
        word, chance = str(rng.choice(WORDS)), float(np.prod(chances))
        request = Request(number, user, at, arm, explored, word, chance, candidates.tolist(), score.tolist())
        for rank, (place, chance) in enumerate(zip(order, chances, strict=True)):
            liked = 1 / (1 + np.exp(1.2 - hidden[place])) / (1 + 0.4 * rank)
            click = int(rng.random() < liked)
            bought = int(click and rng.random() < 0.25)
            dwell = round(float(rng.exponential(40)), 1) if click else 0.0
            item = int(candidates[place])
            request.shown.append(
                Shown(
                    item,
                    rank,
                    float(score[place]),
                    float(other[place]),
                    float(prices[item]),
                    float(distance[place]),
                    click,
                    bought,
                    dwell,
                    float(chance),
                )
            )
        found.append(request)
    return found


def _drawn(
    how: str, keys: np.ndarray, k: int, explored: int, rng: np.random.Generator
) -> tuple[list[int], list[float]]:
    """The places shown, and the chance of each given those above it."""
    law = {"softmax": np.exp(keys), "cool": np.exp(2 * keys), "uniform": np.ones(len(keys))}.get(how)
    if how == "bucket" and explored:
        law = np.ones(len(keys))
    left = list(np.argsort(-keys, kind="stable"))
    order, chances = [], []
    for _ in range(k):
        if law is not None:
            share = law[left] / law[left].sum()
        elif how == "epsilon":
            share = np.full(len(left), 0.2 / len(left))
            share[0] += 0.8
        elif how == "shuffle3" and len(order) < 3:
            share = np.repeat([1.0, 0.0], [3 - len(order), len(left) - 3 + len(order)]) / (3 - len(order))
        else:
            share = np.eye(1, len(left))[0]
        place = int(rng.choice(len(left), p=share))
        chances.append(float(share[place]))
        order.append(int(left.pop(place)))
    return order, chances


def uid(*parts: object) -> str:
    """A UUID that the parts decide."""
    return str(uuid.UUID(hashlib.md5(repr(parts).encode()).hexdigest()))


def hashed(*parts: object) -> int:
    """A signed 64-bit hash that the parts decide."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8], "big", signed=True)


def ms(at: dt.datetime) -> int:
    """Milliseconds since 1970."""
    return int(at.timestamp() * 1000)
