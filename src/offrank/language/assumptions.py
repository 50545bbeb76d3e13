"""The assumptions of estimators about users, as sets of names, so that they are partially ordered."""

FROM_TOP = "reads from the top"
ADDITIVE = "additive"
OWN_ITEM = "own item and rank"
EVERYWHERE = "examination everywhere"
MODEL = "click model"
REWARD_MODEL = "reward model"
ADDITIVE_MODEL = "additive reward model"
CLIPPED = "clipped weight"
LOGGED = "earns what was logged"
LISTS_ALONE = "arms differ in their lists alone"
HISTORY = "clicks by history"
_NEAR = "examination within "
_AS = "clicks as "
_FARTHEST = 99
"""Ranks; a wider window assumes no more, and the position-based model assumes all of these."""

ITEM_POSITION = frozenset({FROM_TOP, ADDITIVE, OWN_ITEM})
"""A click depends only on its own item and rank: so not on items below, and a slate's clicks are a sum over items."""

_WORDS = {
    FROM_TOP: "users read from the top",
    ADDITIVE: "a slate's reward is a sum over its items",
    OWN_ITEM: "a click depends on its own item and rank only",
    EVERYWHERE: "the examination curve is right at every rank",
    MODEL: "the click model is right",
    REWARD_MODEL: "the reward model is right",
    ADDITIVE_MODEL: "the model's prediction for a slate is such a sum too",
    CLIPPED: "the clipped weight contributes little",
    LOGGED: "the policy earns the logged rewards",
    LISTS_ALONE: "the arms differ only in the lists that they show",
    HISTORY: "clicks depend on the clicks above as the model says",
}
_IMPLIED = {
    OWN_ITEM: {FROM_TOP, ADDITIVE},
    EVERYWHERE: set(),
    MODEL: {FROM_TOP, ADDITIVE, OWN_ITEM, EVERYWHERE},
    REWARD_MODEL: {FROM_TOP, ADDITIVE, OWN_ITEM, EVERYWHERE, ADDITIVE_MODEL},
}


def window(ranks: int) -> frozenset[str]:
    """The assumption that examination is right between items up to `ranks` ranks from each other."""
    return ITEM_POSITION | {f"{_NEAR}{step}" for step in range(1, min(ranks, _FARTHEST) + 1)}


POSITION_BASED = window(_FARTHEST) | {EVERYWHERE}
RIGHT_MODEL = POSITION_BASED | {ADDITIVE_MODEL, REWARD_MODEL}
"""A model that is right needs nothing else; every weighting counts as assuming less, since it looks at the log."""


def clicks_as(model: str, *, own_item: bool) -> frozenset[str]:
    """The assumption that users click as a model says. own_item: whether clicks depend on their own item and rank only.

    Counts as assuming more than any examination curve; but where items influence each other, what is right for items
    and ranks alone is no weaker assumption, and cannot contradict it.
    """
    what = POSITION_BASED if own_item else POSITION_BASED - {ADDITIVE, OWN_ITEM}
    return what | {MODEL, f"{_AS}{model}"}


def as_model(assumed: frozenset[str]) -> str | None:
    """The model that users have to click as; None where there is none."""
    return next((name.removeprefix(_AS) for name in sorted(assumed) if name.startswith(_AS)), None)


def needs_curve(assumed: frozenset[str]) -> bool:
    """Whether an examination curve has to be right, by itself and not as part of a click model."""
    return as_model(assumed) is None and any(name == EVERYWHERE or name.startswith(_NEAR) for name in assumed)


def in_words(assumed: frozenset[str]) -> str:
    """The assumptions as a clause, without those that follow from others."""
    steps = [int(name.removeprefix(_NEAR)) for name in assumed if name.startswith(_NEAR)]
    implied = set().union(*(_IMPLIED.get(name, set()) for name in assumed))
    model = as_model(assumed)
    if model is not None:
        implied |= POSITION_BASED | {MODEL}
    said = [] if model is None else [f"users click as `{model}` says"]
    said += [words for name, words in _WORDS.items() if name in assumed and name not in implied]
    if steps and EVERYWHERE not in assumed:
        said.append(f"the examination curve is right within {max(steps)} rank{'s' * (max(steps) > 1)}")
    return " and ".join(said) if said else "nothing about users"
