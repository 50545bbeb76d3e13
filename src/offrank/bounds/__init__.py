"""Between what values a mean reward lies that a log cannot tell: what is known of contexts, and both ends of the rest.

Worst-case bounds of Manski (1990, American Economic Review 80): what a context showed is known, and the rest may be
anything that is possible.
"""

from .ends import Bounds

__all__ = ["Bounds"]
