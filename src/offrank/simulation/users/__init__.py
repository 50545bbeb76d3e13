"""Users of simulated worlds: their examination and clicks."""

from .base import GRADE, Places, User
from .by_rank import PBMUser, TrustUser
from .carousel import CarouselUser
from .dbn import DBNUser, MixtureDBNUser
from .named import USERS, user

__all__ = [
    "GRADE",
    "USERS",
    "CarouselUser",
    "DBNUser",
    "MixtureDBNUser",
    "PBMUser",
    "Places",
    "TrustUser",
    "User",
    "user",
]
