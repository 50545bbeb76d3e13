"""What a kind of click model says of itself: its tables, and what they mean for clicks, relevance and examination."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ..log.batch import Floats, Integers
from .covariates import FeatureColumns
from .documents import SlateDocuments
from .features import Regression
from .laws import ClickLaw
from .parameters import Parameters, Roles


class ModelKind(ABC):
    """What predictions and judgements need to know of a click model; `ClickModel` learns besides."""

    relevance_table: ClassVar[str | None] = "attraction"
    """The table that is its relevance; None in classes that define `relevance` otherwise."""

    def __init_subclass__(cls) -> None:
        if "relevance" in vars(cls) and "relevance_table" not in vars(cls):
            cls.relevance_table = None

    @property
    def regressions(self) -> Mapping[str, Regression]:
        """The regression on features of each table that has one."""
        return {}

    @property
    def columns(self) -> FeatureColumns | None:
        """The columns of the features; None where no table depends on any."""
        return None

    @property
    def context(self) -> str | None:
        """The column of the context that examination depends on; None where there is none."""
        return None

    @abstractmethod
    def roles(self) -> Roles:
        """The role of each of its tables, by name."""

    @abstractmethod
    def law(self, parameters: Parameters, slots: SlateDocuments) -> ClickLaw:
        """The distribution of clicks on slates; document -1 is an unseen document, shown = False is none at all."""

    def relevance(self, parameters: Parameters, document: Integers) -> Floats:
        """The model's relevance of each document (any shape), as its paper defines it; by default one table."""
        assert self.relevance_table is not None
        return np.asarray(parameters[self.relevance_table][document])

    def relevance_on(self, parameters: Parameters, slots: SlateDocuments) -> Floats:
        """[n, k] the relevance of each document of slates; by default it does not depend on the query of a slate."""
        return self.relevance(parameters, slots.document)

    def examination(self, parameters: Parameters) -> Floats | None:
        """[k] probability that each rank is examined, whatever is shown; None where it depends on more."""
        return None
