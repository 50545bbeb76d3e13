"""Users of paper cmip-debiasedness whom offrank has not, and all of them as the code published with it has them.

They are users for `offrank.simulate` and `JudgedWorld`, as are those of `offrank.simulation.users`.
"""

from .carousel import CarouselUser
from .dbn import MixtureDBNUser, PublishedDBNUser

__all__ = ["CarouselUser", "MixtureDBNUser", "PublishedDBNUser"]
