"""The bases of log methods and of set methods: declared parameters, one function of the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from celosia.core.methods import Method
from celosia.core.progress import Progress, silent
from celosia.core.randomness import Source, System
from celosia.logs.log import Log
from celosia.logs.sets.item_tree import ItemTree
from celosia.logs.sets.transactions import Transactions

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodResult(Generic[Result]):
    """What a method makes, and facts about the change."""

    data: Result
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Counts and losses for the report, as plain values; never a value of a record."""


class LogMethod(Method, ABC):
    """A way to protect the records of a log; a frozen dataclass whose fields are its parameters."""

    @abstractmethod
    def apply(self, log: Log, *, rng: Source, progress: Progress = silent) -> MethodResult[Log]:
        """Protect a log; the given one stays as it is.

        Raises:
            InputError: a parameter does not fit the log.
            PrivacyError: what is asked cannot be reached on this log.
        """

    def promise(self) -> str | None:
        """What is guaranteed of the result; None where nothing is."""
        return None

    def leaves_open(self) -> tuple[str, ...]:
        """What a reader of the release must know that the method does not do."""
        return ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SetContext:
    """What a set method knows besides the transactions."""

    tree: ItemTree | None = None
    """The hierarchy of the items."""
    sensitive: frozenset[str] = frozenset()
    """Items that must not be learnt of a person; the others are public."""
    rng: Source = field(default_factory=System)
    """Where orders are drawn from."""
    progress: Progress = silent
    """Called as the work proceeds; may raise `Cancelled`."""


class SetMethod(Method, ABC, Generic[Result]):
    """A way to protect transactions; a frozen dataclass whose fields are its parameters."""

    @abstractmethod
    def apply(self, data: Transactions, context: SetContext) -> MethodResult[Result]:
        """Protect transactions; the given ones stay as they are.

        Raises:
            InputError: the hierarchy or a parameter does not fit the data.
            PrivacyError: what is asked cannot be reached on this data.
        """

    @abstractmethod
    def promise(self) -> str:
        """What is guaranteed of the result."""

    def leaves_open(self) -> tuple[str, ...]:
        """What a reader of the release must know that the method does not do."""
        return ()
