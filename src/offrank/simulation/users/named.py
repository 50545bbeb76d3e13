"""Users by their spelling: `dbn`, `dbn(gamma=0.9, preset='published-code')`."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

from ...spelling import parse
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
