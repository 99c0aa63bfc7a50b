"""What two aggregators add up: a count, a sum or a histogram, declared in a file that all share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from celosia.collect.oracles.pure import DomainMethod, fingerprint_of
from celosia.collect.protocol import as_key
from celosia.collect.registry import read_declaration
from celosia.collect.secure.circuits import Circuit, CountCircuit, HistogramCircuit, SumCircuit
from celosia.collect.secure.prio3 import NONCE, Prio3, Report
from celosia.core.errors import InputError
from celosia.core.methods import Method, Parameter, method_from_dict, parameter
from celosia.core.numbers import exactly, whole
from celosia.core.randomness import Source, System
from celosia.mechanisms.noise.laws import DiscreteLaplace

EPSILON = Parameter(name="epsilon", kind="exact", least=1e-6, most=100, start=1, is_main=True)


@dataclass(frozen=True, kw_only=True)
class SecureTask(Method, ABC):
    """A secure aggregation by Prio3.

    Guarantee: an aggregator that does not work together with the other one learns nothing of a
    report but whether it is valid. What both publish together is epsilon-differentially private
    when one report changes, even if one of them adds no noise: each adds all of it.

    Reference: draft-irtf-cfrg-vdaf (Prio3Count, Prio3Sum, Prio3Histogram).

    Args:
        epsilon: of the published result, by the noise of one aggregator.
        key: the name of the aggregation.
        least: the fewest valid reports that are added up.
    """

    epsilon: float | Fraction = field(metadata={"parameter": EPSILON})
    key: str = parameter("celosia", kind="text", check=as_key, allowed="collect.allowed.key")
    least: int = parameter(100, least=1)

    @property
    @abstractmethod
    def circuit(self) -> Circuit:
        """What a valid report is."""

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """By how much the result changes, all its figures together, when one report does."""

    @property
    @abstractmethod
    def labels(self) -> tuple[Hashable, ...]:
        """What the figures of the result are called."""

    @abstractmethod
    def encode(self, values: Any) -> list[int]:
        """Values as the circuit wants them.

        Raises:
            InputError: CEL-R051 one of them is not of the task; which one is not told.
        """

    @cached_property
    def fingerprint(self) -> bytes:
        """8 bytes that tell tasks apart."""
        return fingerprint_of(json.loads(json.dumps(self.as_dict())))

    @cached_property
    def algorithm(self) -> Prio3:
        """Prio3 in the context of this task."""
        return Prio3(self.circuit, b"celosia" + self.fingerprint)

    @property
    def noise(self) -> DiscreteLaplace:
        """What each aggregator adds to each figure."""
        price = exactly(self.epsilon)
        return DiscreteLaplace(self.sensitivity / price)

    def share(self, values: Any, *, rng: Source | None = None) -> Iterator[Report]:
        """Reports of values, as devices make them; without `rng` from the operating system."""
        rng = System() if rng is None else rng
        for each in self.encode(values):
            nonce, random = rng.raw(NONCE), rng.raw(self.algorithm.random_bytes)
            yield self.algorithm.shard(each, nonce, random)


def _checked(numbers: Iterable[Any], most: int) -> list[int]:
    found = [whole(each) for each in numbers]
    listed = [each for each in found if each is not None and 0 <= each <= most]
    if len(listed) < len(found):
        raise InputError("CEL-R051")
    return listed


@dataclass(frozen=True, kw_only=True)
class SecureCount(SecureTask):
    """How many devices say 1 rather than 0."""

    method_name: ClassVar[str] = "prio3-count"

    @cached_property
    def circuit(self) -> Circuit:
        return CountCircuit()

    @property
    def sensitivity(self) -> int:
        return 1

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return ("count",)

    def encode(self, values: Any) -> list[int]:
        return _checked(np.asarray(values).tolist(), 1)


@dataclass(frozen=True, kw_only=True)
class SecureSum(SecureTask):
    """The sum of whole numbers from 0 to `most`."""

    method_name: ClassVar[str] = "prio3-sum"

    most: int = parameter(least=1, most=2**40)

    @cached_property
    def circuit(self) -> Circuit:
        return SumCircuit(self.most)

    @property
    def sensitivity(self) -> int:
        return self.most

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return ("sum",)

    def encode(self, values: Any) -> list[int]:
        return _checked(np.asarray(values).tolist(), self.most)


@dataclass(frozen=True, kw_only=True)
class SecureHistogram(DomainMethod, SecureTask):
    """How many devices have each value of a public list."""

    method_name: ClassVar[str] = "prio3-histogram"

    @cached_property
    def circuit(self) -> Circuit:
        return HistogramCircuit(len(self.values))

    @property
    def sensitivity(self) -> int:
        return 2

    @property
    def labels(self) -> tuple[Hashable, ...]:
        return self.values.values

    def encode(self, values: Any) -> list[int]:
        return [int(each) for each in self.values.places(values)]


TASKS: Mapping[str, type[SecureTask]] = {
    each.method_name: each for each in (SecureCount, SecureSum, SecureHistogram)
}
"""The tasks by their names."""


def load_task(path: str | Path) -> SecureTask:
    """The task that a file declares.

    Raises:
        InputError: CEL-R071 the file cannot be read, or is no TOML; or as `method_from_dict`.
    """
    return method_from_dict(TASKS, read_declaration(path), what="task")
