"""Users by their spelling: `dbn`, `dbn(gamma=0.9, preset='published-code')`."""

from __future__ import annotations

import dataclasses
import os
from typing import Any, cast

from ...clicks.model import load
from ...language.spelling import parse
from ..judged_queries import Preset
from .base import User
from .by_rank import PBMUser, TrustUser
from .carousel import CarouselUser
from .dbn import DBNUser, MixtureDBNUser

USERS = {user.name: user for user in (CarouselUser, DBNUser, MixtureDBNUser, PBMUser, TrustUser)}


def user(spelling: str | User, **settings: Any) -> User:
    """Return the user that a spelling names, with these further settings; a user is returned as it is.

    Raises:
        SpellingError: the text is not a user's spelling.
    """
    if not isinstance(spelling, str):
        return spelling
    return cast(User, dataclasses.replace(parse(spelling, USERS, "user"), **settings))


def user_or_model(given: str | os.PathLike[str] | User, preset: Preset) -> User:
    """Return the user of a spelling, or of the file of a fitted click model."""
    if isinstance(given, os.PathLike) or (isinstance(given, str) and given.endswith((".json", ".npz"))):
        return load(given)
    # A spelling that names its own preset keeps it.
    return user(given) if "preset" in str(given) else user(given, preset=preset)


def documents_for(who: User) -> int:
    """Return how many documents a query has by default."""
    return 25 if isinstance(who, CarouselUser) else 10
