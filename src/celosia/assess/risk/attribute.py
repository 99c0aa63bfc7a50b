"""What classes of equal keys give away about a sensitive column: l and t of each class and record.

An attacker who finds the class of a person learns how its sensitive values are spread. *Distinct l*
is how many values there are, *entropy l* how many equally frequent ones would be as uncertain, the
*certainty* the share of the most frequent one, and *t* how far the spread is from that of the whole
table: the most that probability moves (equal distance), or the least work to move it along the
order of the values (ordered distance, for numbers and dates).

References: Machanavajjhala et al. 2007 (l-diversity); Li, Li, Venkatasubramanian 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk.individual import identify
from celosia.assess.risk.profile import check_known
from celosia.core.errors import InputError
from celosia.core.messages import say
from celosia.frames import as_frame, encode

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
_BLOCK = 4_000_000
"""Cells of a table of classes by values that are held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeRisk:
    """The spread of one sensitive column in each class, and what it means for each record."""

    sensitive: str
    ordered: bool
    """Whether t is the ordered distance."""
    class_of: Counts = field(repr=False)
    """The class of each record."""
    sizes: Counts = field(repr=False)
    distinct: Counts = field(repr=False)
    """Distinct sensitive values of each class."""
    entropy: Floats = field(repr=False)
    """Entropy l of each class: exp of the Shannon entropy in nats."""
    certainty: Floats = field(repr=False)
    """Share of the most frequent value of each class."""
    t: Floats = field(repr=False)
    """Distance of each class from the whole table, from 0 to 1."""
    own_value: Floats = field(repr=False)
    """For each record, the share of its own sensitive value in its class."""

    def classes(self) -> pl.DataFrame:
        """One row a class, without its values."""
        return pl.DataFrame(
            {
                "records": self.sizes,
                "distinct_l": self.distinct,
                "entropy_l": self.entropy,
                "certainty": self.certainty,
                "t": self.t,
            }
        )

    def frame(self) -> pl.DataFrame:
        """One row a record, in the order of the table."""
        shown = self.classes().drop("records")[self.class_of]
        return shown.with_columns(pl.Series("own_value", self.own_value))

    def as_dict(self) -> dict[str, Any]:
        """The figures of the file as plain values."""
        return {
            "sensitive": self.sensitive,
            "distance": "ordered" if self.ordered else "equal",
            "classes": int(self.sizes.size),
            "smallest_distinct_l": int(self.distinct.min()),
            "smallest_entropy_l": float(self.entropy.min()),
            "highest_certainty": float(self.certainty.max()),
            "largest_t": float(self.t.max()),
            "average_t": float(self.t @ self.sizes / self.sizes.sum()),
            "records_without_diversity": int(self.sizes[self.distinct == 1].sum()),
            "correct_guesses": float(self.certainty @ self.sizes),
        }

    def __str__(self) -> str:
        return say(
            "assess.line.sensitive_values",
            column=self.sensitive,
            distinct=int(self.distinct.min()),
            entropy=float(self.entropy.min()),
            t=float(self.t.max()),
            alone=int(self.sizes[self.distinct == 1].sum()),
        )


def attribute_risk(
    data: Any, *, keys: Sequence[str], sensitive: str, ordered: bool | None = None
) -> AttributeRisk:
    """How much each class of equal keys gives away about a sensitive column.

    Args:
        data: the table, raw or released.
        keys: what an attacker may know of a person.
        sensitive: the column that must not be learnt; an empty cell is a value of its own.
        ordered: whether t is the ordered distance; for numbers and dates unless it is given.

    Raises:
        InputError: CEL-A003 no such column, CEL-A290 no keys, CEL-A292 no rows.

    >>> table = pl.DataFrame({"age": [1, 1, 2, 2], "ill": ["flu", "flu", "flu", "cold"]})
    >>> found = attribute_risk(table, keys=["age"], sensitive="ill")
    >>> found.distinct.tolist(), found.t.tolist(), found.own_value.tolist()
    ([1, 2], [0.25, 0.25], [1.0, 1.0, 0.5, 0.5])
    """
    frame = as_frame(data)
    if isinstance(keys, str) or not keys:
        raise InputError("CEL-A290.individual_risk")
    check_known([*keys, sensitive], frame.columns)
    if not frame.height:
        raise InputError("CEL-A292")
    cells = [frame.get_column(name).alias("cell") for name in (*keys, sensitive)]
    codes = [encode(each).codes.astype(np.int64) for each in cells[:-1]]
    class_of = np.unique(identify(np.column_stack(codes)), return_inverse=True)[1].reshape(-1)
    value_of = cells[-1].rank("dense").fill_null(0).to_numpy().astype(np.int64)
    value_of = np.unique(value_of, return_inverse=True)[1].reshape(-1)
    kind = cells[-1].dtype
    by_order = (kind.is_numeric() or kind.is_temporal()) if ordered is None else ordered
    width = int(value_of.max()) + 1
    pair_of = class_of * width + value_of
    pairs, place, counts = np.unique(pair_of, return_inverse=True, return_counts=True)
    owner, sizes = pairs // width, np.bincount(class_of)
    shares = counts / sizes[owner]
    whole = np.bincount(value_of, minlength=width) / frame.height
    certainty = np.zeros(sizes.size)
    np.maximum.at(certainty, owner, shares)
    measure = _ordered if by_order else _equal
    return AttributeRisk(
        sensitive=sensitive,
        ordered=by_order,
        class_of=class_of,
        sizes=sizes,
        distinct=np.bincount(owner),
        entropy=np.exp(np.bincount(owner, weights=-shares * np.log(shares))),
        certainty=certainty,
        t=measure(owner, pairs % width, shares, whole),
        own_value=shares[place.reshape(-1)],
    )


def _equal(owner: Counts, values: Counts, shares: Floats, whole: Floats) -> Floats:
    """The probability that must move: only values of the class can have too much of it."""
    excess = np.maximum(0.0, shares - whole[values])
    return np.asarray(np.bincount(owner, weights=excess), dtype=np.float64)


def _ordered(owner: Counts, values: Counts, shares: Floats, whole: Floats) -> Floats:
    """The work to move it one value at a time, where the whole way counts 1; block by block."""
    classes = int(owner.max()) + 1
    if whole.size < 2:
        return np.zeros(classes)
    found = np.empty(classes)
    step = max(1, _BLOCK // whole.size)
    for start in range(0, classes, step):
        inside = slice(*np.searchsorted(owner, [start, start + step]))
        block = np.tile(-whole, (min(step, classes - start), 1))
        block[owner[inside] - start, values[inside]] += shares[inside]
        found[start : start + step] = np.abs(np.cumsum(block, axis=1)).sum(axis=1)
    return found / (whole.size - 1)
