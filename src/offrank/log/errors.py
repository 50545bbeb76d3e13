"""The errors of `offrank.errors`, for the modules that know them by this name."""

from ..errors import *  # noqa: F403
from ..errors import __all__ as __all__  # noqa: PLC0414
