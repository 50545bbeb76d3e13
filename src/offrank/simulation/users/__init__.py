"""Users of simulated worlds, a file each: who looks at a slate, and what is clicked."""

from .base import GRADE, Places, User, needs
from .carousel import CarouselUser
from .dbn import DBNUser, MixtureDBNUser
from .named import USERS, user
from .pbm import PBMUser
from .trust import TrustUser

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
    "needs",
    "user",
]
