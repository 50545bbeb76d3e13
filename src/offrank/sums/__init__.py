"""Sums of columns over a log, which merge in any order, and means: smooth functions of them with their errors."""

from .base import Fold as Fold
from .base import OptionalFold as OptionalFold
from .base import Sample as Sample
from .base import Tee as Tee
from .base import Unavailable as Unavailable
from .clusters import BucketsFold as BucketsFold
from .estimate import Caution as Caution
from .estimate import Estimate as Estimate
from .estimate import Interval as Interval
from .group_by import GroupBy as GroupBy
from .histogram import Histogram as Histogram
from .histogram import HistogramFold as HistogramFold
from .largest import LargestFold as LargestFold
from .mean import Mean as Mean
from .mean import adjusted as adjusted
from .mean import combined as combined
from .mean import excess as excess
from .mean import mean_by_block as mean_by_block
from .mean import ratio as ratio
from .mean import relative as relative
from .mean import with_control as with_control
from .moments import Moments as Moments
from .moments import MomentsFold as MomentsFold
from .named_sums import ByName as ByName
from .named_sums import NamedColumns as NamedColumns
from .named_sums import Sums as Sums
from .totals import BootstrapFold as BootstrapFold

_NAMES = """
    BootstrapFold BucketsFold ByName Caution Estimate Fold GroupBy Histogram HistogramFold Interval LargestFold
    Mean Moments MomentsFold NamedColumns OptionalFold Sample Sums Tee Unavailable adjusted combined excess
    mean_by_block ratio relative with_control
"""
__all__ = [*_NAMES.split()]  # noqa: PLE0604
