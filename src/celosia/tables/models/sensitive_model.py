"""What models about the values of a sensitive column share."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.tables.models.classes import Classes, Histogram
from celosia.tables.models.model import Model


class SensitiveModel(Model):
    """A model about the values of one sensitive column."""

    column: str | None
    """The column; None stands for every sensitive column until `for_column` names one."""

    def for_column(self, column: str) -> Self:
        """The same model for one column."""
        return replace(self, column=column)  # type: ignore[type-var]  # every model is a dataclass

    def histogram(self, classes: Classes) -> Histogram:
        """The sensitive values of the classes.

        Raises:
            InputError: CEL-P032 the model names no column; CEL-P033 the classes know no such one.
        """
        if self.column is None:
            raise InputError("CEL-P032", promise=self.promise())
        if self.column not in classes.histograms:
            raise InputError("CEL-P033", promise=self.promise(), column=self.column)
        return classes.histograms[self.column]

    def named(self, promise: str) -> str:
        """A promise with the column that it is about."""
        if self.column is None:
            return promise
        return Message("models.shared.of_column", promise=promise, column=self.column)
