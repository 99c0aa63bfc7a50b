"""Models that suppress items: (h, k, p)-coherence and rho-uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import parameter
from celosia.core.progress import Progress, Step
from celosia.logs.method import MethodResult, SetContext, SetMethod
from celosia.logs.sets import _kernels
from celosia.logs.sets.km_anonymity import MOST_KNOWN, check_count
from celosia.logs.sets.transactions import Transactions

_AT_ONCE = 1_000_000
"""Violations that are collected before items are suppressed."""


@dataclass(frozen=True, kw_only=True)
class Coherence(SetMethod[Transactions]):
    """(h, k, p)-coherence: up to p public items lead to at least k transactions, and to no secret.

    Every set of up to p public items that occurs has at least k transactions, and at most a share h
    of them has any one sensitive item. Public items are suppressed everywhere, always the one that
    breaks most violating sets for each occurrence that is lost (Xu, Wang, Fu & Yu 2008).

    Guarantee: (h, k, p)-coherence of the published transactions. Suppressing an item changes the
    support of no set without it, so that no new violation appears.
    """

    method_name: ClassVar[str] = "coherence"

    h: Fraction = parameter(Fraction(1, 2), above=0, most=1, is_main=True)
    k: int = parameter(least=2, start=5, is_main=True)
    p: int = parameter(2, least=1, most=MOST_KNOWN, is_main=True)

    def promise(self) -> str:
        return Message("logs.promise.coherence", h=float(self.h), k=self.k, p=self.p)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("logs.open.more_items", m=self.p),)

    def apply(self, data: Transactions, context: SetContext) -> MethodResult[Transactions]:
        """Suppress public items until no set breaks the condition.

        Raises:
            PrivacyError: CEL-U040 fewer than k transactions.
            InputError: CEL-U035 no item is declared sensitive.
        """
        check_count(data, self.k)
        private = _private_numbers(data, context)
        top, bottom = self.h.numerator, self.h.denominator
        count = int(private.max()) + 1

        def violations(now: Transactions, size: int) -> NDArray[np.int32]:
            return _kernels.rare_sets(
                now.offsets, now.items, len(now.labels), size, self.k,
                private, count, top, bottom, False, _AT_ONCE,
            )  # fmt: skip

        gone = suppressed(data, violations, self.p, context.progress)
        return MethodResult(data=_without(data, gone), facts=_facts(data, gone))


@dataclass(frozen=True, kw_only=True)
class RhoUncertainty(SetMethod[Transactions]):
    """rho-uncertainty up to p: no up to p items lead to a sensitive one with a confidence of rho.

    `suppress`: items, public or sensitive, are suppressed everywhere, always the one that breaks
    most rules for each occurrence that is lost (Cao, Karras, Raissi & Tan 2010, SuppressControl).
    `top-down`: public items start as the root of their hierarchy and become as fine as pays for
    what must be suppressed then (TDControl).

    Guarantee: for every set q of 1 to p published items and every sensitive item a outside q, fewer
    than a share rho of the transactions with q have a. The model of the paper has no bound on the
    size of q; checking all sets takes exponential time.
    """

    method_name: ClassVar[str] = "rho-uncertainty"

    rho: Fraction = parameter(Fraction(1, 2), above=0, most=1, is_main=True)
    p: int = parameter(2, least=1, most=MOST_KNOWN, is_main=True)
    search: Literal["suppress", "top-down"] = parameter("suppress")

    def promise(self) -> str:
        return Message("logs.promise.rho", rho=float(self.rho), p=self.p)

    def leaves_open(self) -> tuple[str, ...]:
        return (Message("logs.open.more_items", m=self.p), Message("logs.open.singled_out"))

    def apply(self, data: Transactions, context: SetContext) -> MethodResult[Transactions]:
        """Suppress items, or generalise public ones, until no rule is too certain.

        Raises:
            InputError: CEL-U035 no item is declared sensitive; for `top-down` CEL-U033 there is no
                hierarchy, CEL-U031 and CEL-U032 it does not fit.
        """
        secrets = np.flatnonzero(_private_numbers(data, context) >= 0)
        if self.search == "top-down":
            from celosia.logs.sets.top_down_control import refined

            return refined(data, secrets, context, self.certain_rules, self.p)

        def violations(now: Transactions, size: int) -> NDArray[np.int32]:
            return self.certain_rules(now, secrets, size)

        gone = suppressed(data, violations, self.p, context.progress)
        return MethodResult(data=_without(data, gone), facts=_facts(data, gone))

    def certain_rules(
        self, data: Transactions, secrets: NDArray[np.integer], size: int
    ) -> NDArray[np.int32]:
        """Rules of `size` items that lead to a secret too surely; the secret is the last item."""
        top, bottom = self.rho.numerator, self.rho.denominator
        rules = []
        for one in secrets.tolist():
            alone = np.full(len(data.labels), -1, dtype=np.int32)
            alone[one] = 0
            found = _kernels.rare_sets(
                data.offsets, data.items, len(data.labels), size, 0,
                alone, 1, top, bottom, True, _AT_ONCE,
            )  # fmt: skip
            rules.append(np.column_stack([found, np.full(len(found), one, np.int32)]))
        return np.concatenate(rules)


def _private_numbers(data: Transactions, context: SetContext) -> NDArray[np.int32]:
    """For each item its number among the sensitive ones, or -1.

    Raises:
        InputError: CEL-U035 none of the items is declared sensitive.
    """
    is_private = np.array([label in context.sensitive for label in data.labels], dtype=bool)
    if not is_private.any():
        raise InputError("CEL-U035")
    return np.where(is_private, np.cumsum(is_private) - 1, -1).astype(np.int32)


def suppressed(
    data: Transactions,
    violations: Callable[[Transactions, int], NDArray[np.int32]],
    most: int,
    progress: Progress,
) -> NDArray[np.bool_]:
    """Which items the greedy rule takes, size by size, until no set is a violation."""
    supports = data.supports
    gone = np.zeros(len(data.labels), dtype=bool)
    now = data
    for size in range(1, most + 1):
        while True:
            progress(Step(Message("logs.stage.sets", size=size), size - 1, most))
            found = violations(now, size)
            if not len(found):
                break
            gone[_greedy(found, supports)] = True
            now = _without(data, gone)
    return gone


def _without(data: Transactions, gone: NDArray[np.bool_]) -> Transactions:
    """The data without some items."""
    return data.recoded(np.where(gone, -1, np.arange(len(gone))), data.labels)


def _facts(data: Transactions, gone: NDArray[np.bool_]) -> dict[str, int | float]:
    """How much is suppressed."""
    lost = int(data.supports[gone].sum())
    return {
        "items_suppressed": int(gone.sum()),
        "occurrences_suppressed": lost,
        "share_suppressed": lost / max(1, len(data.items)),
    }


def _greedy(sets: NDArray[np.int32], supports: NDArray[np.int64]) -> list[int]:
    """Items that meet every set, each chosen for the sets that it breaks by what it costs."""
    chosen = []
    left = sets
    while len(left):
        counts = np.bincount(left.ravel(), minlength=len(supports))
        item = int(np.argmax(counts / np.maximum(supports, 1)))
        chosen.append(item)
        left = left[~(left == item).any(axis=1)]
    return chosen
