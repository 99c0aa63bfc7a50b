"""What a privacy model is: a condition that each equivalence class must meet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import Method, Parameter
from celosia.tables.models.classes import Classes, Histogram

LEAST, MOST = 1e-12, 1_000_000_000
"""Parameters beyond these mean nothing for a table of people, and would overflow the arithmetic."""

TIE = 1e-12
"""Relative difference below which two sides of a condition count as equal."""

SLACK = 1e-9
"""How far the proven bounds stay on the safe side of rounding; larger than `TIE` on purpose."""


GROUP_SIZE = Parameter(least=2, most=MOST, start=5)
"""The `k` of a model: the number of records or people that it asks for."""

SENSITIVE_COLUMN = Parameter(kind="column")
"""The column that a model is about; None stands for every sensitive one."""


ANOTHER_RELEASE = Message("models.gaps.another_release")
SIMILARITY = Message("models.gaps.similarity")
SKEWNESS = Message("models.gaps.skewness")
BACKGROUND = Message("models.gaps.background")
IDENTITY = Message("models.gaps.identity")
HOMOGENEITY = Message("models.gaps.homogeneity")
DOMINANCE = Message("models.gaps.dominance")
KNOWN_MEMBER = Message("models.gaps.known_member")
LACKING_VALUES = Message("models.gaps.lacking_values")
OTHER_POPULATION = Message("models.gaps.other_population")
PUBLIC_TABLE = Message("models.gaps.public_table")
RANDOM_SAMPLE = Message("models.gaps.random_sample")


class Verdict(NamedTuple):
    """What a model says of each class."""

    satisfied: NDArray[np.bool_]
    """Whether the class meets the model; records of one that does not are suppressed."""
    must_go: NDArray[np.int64]
    """The fewest of its records that must be suppressed however the class is split further: what
    lets the search close nodes below without a look. 0 is always true; all records, for a model
    that no part of a failing class can meet."""


class Model(Method, ABC):
    """A condition on equivalence classes; records of a class that fails it are suppressed.

    A model about a sensitive column has an attribute `column`; None stands for every sensitive
    column of the schema.
    """

    @property
    def judges_table(self) -> bool:
        """Whether the verdict depends on all classes together.

        Such a model is asked last, about the classes that all others keep, and says which of them
        may stay.
        """
        return False

    @property
    def needs_population(self) -> bool:
        """Whether the model can only be judged with the sizes of classes in the population."""
        return False

    @property
    def needs_information(self) -> bool:
        """Whether the model asks how much of its information a record of each class keeps."""
        return False

    @property
    def counts_units(self) -> bool:
        """Whether the model can be judged where a unit has several records (see `models.units`).

        Then a class that fails, if units with several values choose among these as they like,
        fails already if all of them choose the same one.
        """
        return not (self.needs_population or self.needs_information)

    @property
    def counts_people_only(self) -> bool:
        """Whether the model refuses classes of records: it is about people who may have several."""
        return False

    @property
    def smallest(self) -> int:
        """No class with fewer records can meet the model."""
        return 1

    @property
    def asks_size_alone(self) -> bool:
        """Whether a class meets the model as soon as it has `smallest` records."""
        return False

    @abstractmethod
    def judge(self, classes: Classes) -> Verdict:
        """For each class, whether it meets the model, and how many of its records must go."""

    def judge_units(self, classes: Classes) -> Verdict:
        """As `judge`, of classes that count units: all records of a class must go, or none.

        Why is said in `models.units`.
        """
        return Verdict(self.holds(classes), self._too_few_units(classes))

    def _too_few_units(self, classes: Classes) -> NDArray[np.int64]:
        must_go = np.where(classes.sizes < self.smallest, classes.sizes, 0)
        return must_go

    @abstractmethod
    def promise(self) -> str:
        """The model and its parameters in words: '5-anonymity'."""

    @abstractmethod
    def protects(self) -> str:
        """What an attacker cannot do, as a sentence."""

    @abstractmethod
    def leaves_open(self) -> tuple[str, ...]:
        """What the model does not protect against."""

    def closes(self) -> tuple[str, ...]:
        """Which gaps of other models this one closes, in their words (see `leaves_open`)."""
        return ()

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        """For each class, whether it meets the model."""
        return self.judge(classes).satisfied

    def why_infeasible(self, one_class: Classes) -> str | None:
        """Why even the whole table as one class does not meet the model; None if it does."""
        if self.holds(one_class).all():
            return None
        return Message("models.shared.one_class_fails", promise=self.promise())


def all_or_none(satisfied: NDArray[np.bool_], sizes: NDArray[np.int64]) -> Verdict:
    """The verdict of a model that no part of a failing class can meet."""
    return Verdict(satisfied, np.where(satisfied, 0, sizes))


def judge_all(classes: Classes, models: Sequence[Model]) -> Verdict:
    """What all models together say: kept is who meets every one of them.

    What is kept of a class, however it is split, is in classes that meet every model. So it is as
    many records as the most demanding model asks for at least, or none.
    """
    satisfied = np.ones(classes.sizes.size, dtype=np.bool_)
    must_go = np.zeros(classes.sizes.size, dtype=np.int64)
    least = max((model.smallest for model in models), default=0)
    if classes.units is None and classes.least < least:
        classes = replace(classes, least=least)
    for model in models:
        if not model.judges_table:
            verdict = model.judge(classes) if classes.units is None else model.judge_units(classes)
            satisfied &= verdict.satisfied
            np.maximum(must_go, verdict.must_go, out=must_go)
    if classes.units is None:
        np.copyto(must_go, classes.sizes, where=classes.sizes - must_go < classes.least)
    return Verdict(_kept_together(classes, satisfied, models), must_go)


def _kept_together(
    classes: Classes, satisfied: NDArray[np.bool_], models: Sequence[Model]
) -> NDArray[np.bool_]:
    """Whom the models of the whole table keep, asked in turn until none sends anybody away."""
    demanding = [model for model in models if model.judges_table]
    agreed = 0
    while agreed < len(demanding) and satisfied.any():
        model = demanding.pop(0)
        demanding.append(model)
        stay = model.holds(classes.where(satisfied))
        agreed = agreed + 1 if stay.all() else 1
        satisfied = satisfied.copy()
        satisfied[satisfied] = stay
    return satisfied


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

    def judge_units(self, classes: Classes) -> Verdict:
        """Whether the model holds whichever values units with several are given."""
        satisfied = np.ones(classes.sizes.size, dtype=np.bool_)
        name = self.histogram(classes).column.name
        assert classes.units is not None
        for chosen, histogram in classes.units[name].worst_cases():
            satisfied[chosen] &= self.holds(Classes(classes.sizes[chosen], {name: histogram}))
        return Verdict(satisfied, self._too_few_units(classes))

    def named(self, promise: str) -> str:
        """A promise with the column that it is about."""
        if self.column is None:
            return promise
        return Message("models.shared.of_column", promise=promise, column=self.column)


def population_of(classes: Classes, model: Model) -> NDArray[np.int64]:
    """The people of the population that fit each class.

    Raises:
        InputError: CEL-P034 no population was given.
    """
    if classes.population is None:
        raise InputError("CEL-P034", promise=model.promise())
    return classes.population
