"""What a kind of click model says of itself: its tables, and what they mean for clicks, relevance and examination."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ..errors import UsageError
from ..log.batch import Floats, Integers
from .base import Parameters, Role, Roles
from .covariates import FeatureColumns, Regression
from .documents import SlateDocuments
from .laws import ClickLaw


class ModelSpec(ABC):
    """What predictions and judgements need to know of a click model; `ClickModel` learns besides."""

    learns_examination: ClassVar[bool] = True
    """Whether the order of the clicks says anything to it; click rates only count."""

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
        """The model's relevance of each document (any shape), as its paper defines it: by default `relevance_table`."""
        if self.relevance_table is None:
            what = (
                f"{type(self).__name__} does not define relevance, because it has more or fewer than one table "
                "of documents"
            )
            raise UsageError(what, "give it a method relevance")
        return np.asarray(parameters[self.relevance_table][document])

    @property
    def relevance_table(self) -> str | None:
        """The table that is the relevance: the only one of documents. None in classes that define `relevance`."""
        tables = [name for name, role in self.roles().items() if role is Role.DOCUMENT]
        defined = type(self).relevance is not ModelSpec.relevance
        return None if defined or len(tables) != 1 else tables[0]

    def relevance_on(self, parameters: Parameters, slots: SlateDocuments) -> Floats:
        """[n, k] the relevance of each document of slates; by default it does not depend on the query of a slate."""
        return self.relevance(parameters, slots.document)

    def examination(self, parameters: Parameters) -> Floats | None:
        """[k] probability that each rank is examined, whatever is shown; None where no table is that.

        By value of a context, it is that of an unknown value. A model whose curve is a function of other tables returns
        it by a method of its own.
        """
        for name, role in self.roles().items():
            if role is Role.EXAMINATION or (role is Role.RANK and name == "examination"):
                return parameters[name]
            if role is Role.CONTEXT_AND_RANK:
                return np.asarray(parameters[name][-1])
        return None
