"""What a privacy model is: a condition that each equivalence class must meet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.methods import Method
from celosia.tables.models.classes import Classes


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
    @abstractmethod
    def smallest(self) -> int:
        """No class with fewer records can meet the model."""

    @abstractmethod
    def judge(self, classes: Classes) -> Verdict:
        """For each class, whether it meets the model, and how many of its records must go."""

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
    """What all models together say: kept is who meets every one of them."""
    satisfied = np.ones(classes.sizes.size, dtype=np.bool_)
    must_go = np.zeros(classes.sizes.size, dtype=np.int64)
    for model in models:
        if not model.judges_table:
            verdict = model.judge(classes)
            satisfied &= verdict.satisfied
            np.maximum(must_go, verdict.must_go, out=must_go)
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
