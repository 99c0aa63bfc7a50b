"""What a quality metric is: a score of each node, and a floor under it that needs no look."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean
from celosia.core.methods import Method, Parameter
from celosia.core.numbers import real

if TYPE_CHECKING:
    from celosia.tables.recoding.lattice import Lattice, Outcome


class Measure(ABC):
    """A metric over one lattice. Scores are compared; the least is best."""

    floors: NDArray[np.float64]
    """For every node, a score that it cannot fall below, whichever records are suppressed."""

    def allow(self, suppressed: int) -> None:  # noqa: B027 - most metrics need not know
        """Called once before a search: how many records may be suppressed at most."""

    @abstractmethod
    def floor(self, node: Sequence[int], must_go: int) -> float:
        """As `floors`, knowing that at least `must_go` records must be suppressed."""

    def forced(
        self, nodes: Sequence[NDArray[np.int64]], must_go: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """`floor` of many nodes, given by their levels column by column."""
        each = zip(zip(*nodes, strict=True), must_go.tolist(), strict=True)
        return np.array([self.floor(node, records) for node, records in each], dtype=np.float64)

    @abstractmethod
    def score(self, outcome: Outcome) -> float:
        """The score of an evaluated node."""

    @abstractmethod
    def share(self, score: float) -> float:
        """The score scaled by its bounds to [0, 1]: 0 is the raw table, 1 tells nothing."""


class Metric(Method, ABC):
    """How the use that a release has lost is measured, and what the search keeps least."""

    measure: ClassVar[type[Measure]]
    """Makes the measure over a lattice, where that needs no parameter."""

    def over(self, lattice: Lattice) -> Measure:
        """The metric for one table."""
        return self.measure(lattice)  # type: ignore[call-arg]  # one that takes a lattice


def _check_weights(weights: Any) -> dict[str, float]:
    """The weights as plain numbers of at least 0."""
    checked = {str(name): real(weight) for name, weight in weights.items()}
    if any(weight is None or not 0 <= weight < float("inf") for weight in checked.values()):
        raise ValueError
    return {name: float(weight) for name, weight in checked.items() if weight is not None}


WEIGHTS = {"parameter": Parameter(check=_check_weights, allowed="words.weights")}
"""Declares the weight of each column in the metric; 1 where none is given."""


def column_weights(weights: Mapping[str, float], names: Sequence[str]) -> NDArray[np.float64]:
    """The weight of each column, 1 if none is given, scaled so that the largest is 1."""
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise InputError(
            "CEL-P018",
            hint=did_you_mean(unknown[0], names),
            names=", ".join(names),
            column=unknown[0],
        )
    given = np.array([weights.get(name, 1.0) for name in names])
    if not given.max() > 0:
        raise InputError("CEL-P019")
    return np.asarray(given / given.max())


def over_all_nodes(
    per_column: Sequence[NDArray[np.float64]], ufunc: np.ufunc
) -> NDArray[np.float64]:
    """A figure for every node from one for each level of each column, by sum or product."""
    result = np.asarray(ufunc.identity, dtype=np.float64)
    for levels in per_column:
        result = ufunc.outer(result, levels)
    return result
