"""A release as an attacker sees it: classes of people who look alike, and the values in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.attacks.result import Attack, Members
from celosia.assess.meaning import SUPPRESSED
from celosia.core.errors import InputError
from celosia.core.messages import Message, quoted_names
from celosia.frames import as_frame, as_text, encode

TOLERANCE = 1e-12
"""Shares this near to each other are the same."""

_LARGEST = 2**62
"""Beyond this, numbers made of several codes would not fit a word."""


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The equivalence classes of a table; suppressed records are in none.

    An empty cell is a label of its own, as it is when risk is measured.
    """

    labels: pl.DataFrame
    """The text of each class, one row a class, the columns in the order asked for."""
    of_row: NDArray[np.int64]
    """The class of each row; -1 where the record is suppressed."""
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, texts: pl.DataFrame) -> Classes:
        """The classes of a table of text (see `texts_of`).

        Records with `*` in every column are suppressed, unless all records are so: then the table
        was generalised fully and is one class.

        >>> table = pl.DataFrame({"age": ["2*", "*", "2*"], "sex": ["F", "*", "F"]})
        >>> Classes.of(table).of_row.tolist(), Classes.of(table).sizes.tolist()
        ([0, -1, 0], [2])
        """
        of_row = number_combinations(
            [encode(column).codes.astype(np.int64) + 1 for column in texts]
        )
        hidden = np.ones(texts.height, dtype=np.bool_)
        for column in texts:
            hidden &= (column == SUPPRESSED).fill_null(value=False).to_numpy()
        if hidden.any() and not hidden.all():
            star = of_row[np.argmax(hidden)]
            of_row = np.where(hidden, -1, of_row - (of_row > star))
        kept = np.flatnonzero(of_row >= 0)
        _, first, sizes = np.unique(of_row[kept], return_index=True, return_counts=True)
        return cls(texts[kept[first].tolist()], of_row, sizes.astype(np.int64))

    @property
    def suppressed(self) -> int:
        """How many records are suppressed."""
        return self.of_row.size - int(self.sizes.sum())


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """How often each value of a column occurs in each class; one entry a pair that occurs.

    An empty cell counts in the size of its class, for it may be the record of the person sought,
    but it is no value that could be learnt.
    """

    owner: NDArray[np.int64]
    """The class of each entry."""
    value: NDArray[np.int64]
    """The value of each entry, as its place in `values`."""
    count: NDArray[np.int64]
    values: pl.Series
    """The distinct values as text."""
    sizes: NDArray[np.int64]
    """Records in each class, empty cells included."""
    overall: NDArray[np.float64]
    """The share of each value in the whole table, suppressed records included."""

    @classmethod
    def of(cls, classes: Classes, column: pl.Series) -> ValueCounts:
        """Count the values of a column of text in each class."""
        coded = encode(column)
        codes = coded.codes.astype(np.int64)
        width = max(len(coded.values), 1)
        there = (classes.of_row >= 0) & (codes >= 0)
        keys, count = np.unique(classes.of_row[there] * width + codes[there], return_counts=True)
        overall = np.bincount(codes[codes >= 0], minlength=len(coded.values))
        return cls(
            owner=keys // width,
            value=keys % width,
            count=count.astype(np.int64),
            values=coded.values,
            sizes=classes.sizes,
            overall=overall / max(codes.size, 1),
        )

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of each entry in its class."""
        return self.count / self.sizes[self.owner]

    @property
    def distinct(self) -> NDArray[np.int64]:
        """How many different values each class has."""
        return np.bincount(self.owner, minlength=self.sizes.size)

    @property
    def empty(self) -> NDArray[np.int64]:
        """How many records of each class have no value."""
        return self.sizes - self.total(self.count)

    def total(self, amount: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sum over each class of something that each entry has."""
        sums = np.zeros(self.sizes.size, dtype=np.int64)
        np.add.at(sums, self.owner, amount)
        return sums

    def ranked(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The entries, class by class and the most frequent first; and the rank of each of them."""
        order = np.lexsort((self.value, -self.count, self.owner))
        starts = np.searchsorted(self.owner[order], np.arange(self.sizes.size))
        return order, np.arange(order.size) - starts[self.owner[order]]

    def best(
        self, score: NDArray[np.float64], keep: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """The entry of each class with the greatest score; -1 for a class that has none."""
        entries = np.arange(score.size) if keep is None else np.flatnonzero(keep)
        order = entries[np.lexsort((self.value[entries], -score[entries], self.owner[entries]))]
        owners, first = np.unique(self.owner[order], return_index=True)
        found = np.full(self.sizes.size, -1, dtype=np.int64)
        found[owners] = order[first]
        return found


def pick(amount: NDArray[Any], entries: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the chosen entries have; 0 where none was chosen.

    >>> pick(np.array([5, 7]), np.array([1, -1])).tolist()
    [7.0, 0.0]
    """
    return np.append(amount, 0).astype(np.float64)[entries]


def number_combinations(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number for each different combination of codes, dense and from 0, in sorted order.

    >>> number_combinations([np.array([0, 1, 0]), np.array([2, 0, 2])]).tolist()
    [0, 1, 0]
    """
    number, bound = np.zeros(columns[0].size, dtype=np.int64), 1
    for codes in columns:
        width = int(codes.max(initial=0)) + 1
        if bound * width > _LARGEST:  # sorting is dear, so only where the numbers would not fit
            number, bound = _dense(number), number.size
        number, bound = number * width + codes, bound * width
    return _dense(number)


def _dense(number: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(number, return_inverse=True)[1].reshape(-1).astype(np.int64)


def texts_of(data: Any, columns: str | Sequence[str], *, table: str | None = None) -> pl.DataFrame:
    """These columns of a table as text, refused if there are none or one is not there."""
    frame = as_frame(data)
    names = list(dict.fromkeys([columns] if isinstance(columns, str) else columns))
    if not names:
        raise InputError("CEL-A051")
    absent = [name for name in names if name not in frame.columns]
    if absent:
        shown = table or Message("assess.table.release")
        quoted = quoted_names(absent, frame.columns)
        raise InputError("CEL-A050", table=shown, names=quoted, columns=absent)
    texts = (as_text(frame.get_column(name)) for name in names)
    return pl.DataFrame([text.alias(name) for text, name in zip(texts, names, strict=True)])


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveView:
    """A sensitive column of a release as an attacker sees it: its values in each class."""

    column: str
    classes: Classes
    spread: ValueCounts

    @classmethod
    def of(
        cls, release: Any, quasi_identifiers: str | Sequence[str], sensitive: str
    ) -> SensitiveView:
        """The view of one column, by the classes of a release."""
        classes = Classes.of(texts_of(release, quasi_identifiers))
        return cls.within(classes, release, sensitive)

    @classmethod
    def within(cls, classes: Classes, release: Any, sensitive: str) -> SensitiveView:
        """The view of one column, by classes that are known."""
        column = texts_of(release, sensitive).get_column(sensitive)
        return cls(sensitive, classes, ValueCounts.of(classes, column))

    def attack(
        self,
        *,
        name: Message,
        assumption: Message,
        mitigation: Message,
        confidence: NDArray[np.float64],
        hit: NDArray[np.bool_],
        learnt: pl.Series,
        prior: NDArray[np.float64],
        **facts: Any,
    ) -> Attack:
        """What an attack found, class by class."""
        sizes = self.classes.sizes
        return Attack(
            name=name,
            assumption=assumption,
            mitigation=mitigation,
            column=self.column,
            people=int(sizes.sum()),
            sizes=sizes,
            confidence=confidence,
            hit=hit,
            learnt=learnt,
            members=Members.of(self.classes.of_row, sizes.size),
            prior=prior,
            facts={"classes": int(sizes.size), **facts},
        )
