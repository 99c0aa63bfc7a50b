"""The result of an attack: exposed people, and the confidence of the attacker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.messages import Message, say_of

SHOWN = 100
"""How many exposures a dictionary of plain values lists, the surest first."""


@dataclass(frozen=True, slots=True)
class Exposure:
    """People about whom the attacker learns the same, because they look equal."""

    group: int
    """The number of the class, or of the combination by which the attacker knows them."""
    people: int
    column: str | None
    """The column learnt; None if it is which record is theirs."""
    confidence: float
    """The confidence of the attacker, in [0, 1]."""
    prior: float | None
    """The confidence without the release, where that makes sense."""
    learnt: tuple[str, ...] = field(repr=False)
    """The value, or the few that are left; values of private data, so never in a log."""
    rows: tuple[int, ...] = ()
    """Their rows, counted from 0: of the release, or of the table that has their names."""

    @property
    def gain(self) -> float | None:
        """What the release added to the attacker's confidence."""
        return None if self.prior is None else self.confidence - self.prior

    def as_dict(self, *, values: bool = False) -> dict[str, Any]:
        """Plain values for JSON; what was learnt only if asked for."""
        facts = {
            "group": self.group,
            "people": self.people,
            "column": self.column,
            "confidence": self.confidence,
            "prior": self.prior,
            "gain": self.gain,
            "rows": list(self.rows),
        }
        return {**facts, "learnt": list(self.learnt)} if values else facts


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The rows of each group, one group after the other."""

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Where each group begins in `rows`, and at last where the last one ends."""

    @classmethod
    def of(cls, group_of_row: NDArray[np.int64], groups: int) -> Members:
        """From the group of each row; a negative one is no group.

        >>> Members.of(np.array([1, 0, -1, 1]), 2).of_group(1)
        (0, 3)
        """
        rows = np.argsort(group_of_row, kind="stable")
        rows = rows[np.count_nonzero(group_of_row < 0) :]
        sizes = np.bincount(group_of_row[rows], minlength=groups)
        return cls(rows, np.concatenate([[0], np.cumsum(sizes)]))

    def of_group(self, group: int) -> tuple[int, ...]:
        """The rows of one group."""
        return tuple(self.rows[self.starts[group] : self.starts[group + 1]].tolist())


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Attack:
    """One attack on a release. People who look equal to the attacker are one group.

    The arrays have one entry a group, so that a large table stays small here; `exposed` makes
    objects of the groups that were exposed.
    """

    name: str
    assumption: str
    """What the attacker must know or have."""
    mitigation: str
    """How to prevent it."""
    column: str | None
    """The column that the attacker wants to learn; None for the identity of records."""
    people: int
    """How many people were tried."""
    sizes: NDArray[np.int64]
    """People in each group."""
    confidence: NDArray[np.float64]
    hit: NDArray[np.bool_]
    """Whether the group counts as exposed."""
    learnt: pl.Series
    """A list of values for each group."""
    members: Members
    prior: NDArray[np.float64] | None = None
    facts: Mapping[str, int | float | None] = field(default_factory=dict)
    """Figures of this attack alone."""

    @property
    def exposed(self) -> tuple[Exposure, ...]:
        """The groups that were exposed, the surest first."""
        return self._exposures(None)

    @property
    def exposed_groups(self) -> int:
        """How many groups were exposed."""
        return int(self.hit.sum())

    @property
    def exposed_people(self) -> int:
        """How many people were exposed."""
        return int(self.sizes[self.hit].sum())

    @property
    def share(self) -> float:
        """The share of the people who were exposed."""
        return self.exposed_people / self.people if self.people else 0.0

    @property
    def greatest(self) -> float:
        """The greatest confidence about a person."""
        return float(self.confidence.max(initial=0.0))

    @property
    def average(self) -> float:
        """The mean confidence about a person drawn at random from those tried."""
        total = int(self.sizes.sum())
        return float(self.confidence @ self.sizes) / total if total else 0.0

    @property
    def greatest_gain(self) -> float | None:
        """The most that the release added to the confidence about a person."""
        if self.prior is None:
            return None
        return float((self.confidence - self.prior).max(initial=0.0))

    def as_dict(self, *, values: bool = False, limit: int = SHOWN) -> dict[str, Any]:
        """Plain values for JSON; cell values only if asked for, and the surest exposures only."""
        return {
            "name": self.name,
            "assumption": self.assumption,
            "mitigation": self.mitigation,
            "column": self.column,
            "people": self.people,
            "exposed_people": self.exposed_people,
            "share": self.share,
            "greatest_confidence": self.greatest,
            "average_confidence": self.average,
            "greatest_gain": self.greatest_gain,
            "facts": dict(self.facts),
            "exposed_groups": self.exposed_groups,
            "exposed": [one.as_dict(values=values) for one in self._exposures(limit)],
        }

    def _exposures(self, limit: int | None) -> tuple[Exposure, ...]:
        hits = np.flatnonzero(self.hit)
        surest = hits[np.argsort(-self.confidence[hits], kind="stable")][:limit]
        return tuple(
            Exposure(
                group=group,
                people=int(self.sizes[group]),
                column=self.column,
                confidence=float(self.confidence[group]),
                prior=None if self.prior is None else float(self.prior[group]),
                learnt=tuple(learnt),
                rows=self.members.of_group(group),
            )
            for group, learnt in zip(
                surest.tolist(), self.learnt.gather(surest).to_list(), strict=True
            )
        )

    def __str__(self) -> str:
        aim = Message("assess.attack.identity") if self.column is None else f"'{self.column}'"
        return say_of("assess.attack.line", self, aim=aim, exposed=self.exposed_people)

    def __repr__(self) -> str:
        # What was learnt is private data; a representation ends up in logs and tracebacks.
        return f"Attack({self})"


def singles(values: pl.Series, places: NDArray[np.int64]) -> pl.Series:
    """A list of one value for each place; an empty list where the place is negative.

    >>> singles(pl.Series(["flu", "cold"]), np.array([1, -1])).to_list()
    [['cold'], []]
    """
    picked = values.gather(pl.Series(places).replace(-1, None)).cast(pl.String)
    return picked.to_frame("value").select(pl.concat_list("value").list.drop_nulls()).to_series()


def lists(owner: NDArray[np.int64], values: pl.Series, groups: int) -> pl.Series:
    """The values of each group as a list, from one row for each pair of group and value.

    >>> lists(np.array([1, 1, 0]), pl.Series(["b", "c", "a"]), 3).to_list()
    [['a'], ['b', 'c'], []]
    """
    members = Members.of(owner, groups)
    texts = values.gather(members.rows).to_list()
    ends = members.starts.tolist()
    return pl.Series([texts[a:b] for a, b in pairwise(ends)], dtype=pl.List(pl.String))
