"""A question of Flight SQL: its text in the command, its price and other options in the headers.

Headers have the names of the options in Python: `epsilon`, `delta`, `method`, `confidence`,
`fresh`, `rank_intervals`, and `intervals` for two more columns beside each number. What was read is
written into tickets and handles of prepared statements, so the server keeps nothing between calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from celosia.core.errors import InputError
from celosia.queries.post_processing import KINDS
from celosia.queries.request import QueryRequest

_TRUTHS = {"true": True, "false": False}
_LONGEST_METHOD = 40


def _amount(text: str) -> float:
    number = float(text)
    if not isfinite(number) or number < 0:
        raise ValueError
    return number


def _share(text: str) -> float:
    number = _amount(text)
    if not 0 <= number < 1:
        raise ValueError
    return number


def _method(text: str) -> str:
    if len(text) > _LONGEST_METHOD:
        raise ValueError
    return text


OPTIONS: Mapping[str, Callable[[str], Any]] = {
    "epsilon": _amount,
    "delta": _share,
    "method": _method,
    "confidence": _share,
    "fresh": lambda text: _TRUTHS[text.lower()],
    "rank_intervals": lambda text: _TRUTHS[text.lower()],
    "intervals": lambda text: _TRUTHS[text.lower()],
}
"""How each option is read."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A question with the options that were given for it, as texts."""

    query: str
    options: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] | None = None
    """The columns of its answer, once it was planned: they do not depend on the options."""

    def asked(self, headers: Mapping[str, Sequence[str]]) -> Statement:
        """The same with the options among the headers of a call."""
        given = {name: headers[name][-1] for name in OPTIONS if headers.get(name)}
        return replace(self, options=given)

    @classmethod
    def read(cls, handle: bytes) -> Statement:
        """What `handle` wrote.

        Raises:
            InputError: CEL-Q347 it was not written by this service.
        """
        try:
            facts = json.loads(handle)
            query, options, kinds = facts["query"], facts["options"], facts["kinds"]
            fits = (
                isinstance(query, str)
                and all(name in OPTIONS and isinstance(text, str) for name, text in options.items())
                and (kinds is None or set(kinds.values()) <= set(KINDS))
            )
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fits = False
        if not fits:
            raise InputError("CEL-Q347.unreadable")
        return cls(query, dict(options), kinds)

    @property
    def handle(self) -> bytes:
        """The bytes that stand for it between calls; the driver may not look inside."""
        kinds = None if self.kinds is None else dict(self.kinds)
        facts = {"query": self.query, "options": dict(self.options), "kinds": kinds}
        return json.dumps(facts).encode("ascii")

    @property
    def intervals(self) -> bool:
        """Whether each number has the columns of its bounds beside it."""
        return bool(self._option("intervals", default=False))

    def request(self, analyst: str, *, is_priced: bool = True) -> QueryRequest:
        """The same for the vault.

        Args:
            analyst: who asks.
            is_priced: whether it is to be answered, and so needs a price.

        Raises:
            InputError: CEL-Q347 an option is wrong, or there is no price.
        """
        if is_priced and "epsilon" not in self.options:
            raise InputError("CEL-Q347.no_price")
        return QueryRequest(
            self.query,
            epsilon=self._option("epsilon", default=1.0),
            delta=self._option("delta", default=0.0),
            method=self._option("method", default=None),
            confidence=self._option("confidence", default=0.95),
            analyst=analyst,
            fresh=self._option("fresh", default=False),
            rank_intervals=self._option("rank_intervals", default=False),
        )

    def _option(self, name: str, *, default: Any) -> Any:
        if name not in self.options:
            return default
        try:
            return OPTIONS[name](self.options[name])
        except (ValueError, KeyError, OverflowError):
            raise InputError("CEL-Q347.option", option=name) from None
