"""How special each record is: SUDA scores, and the chance that a match with it is right (DIS).

A record that is alone on few columns, and in many ways, is likely to be alone in the population as
well. Its score adds up a weight for each of its minimal sample uniques (see `subsets`); a smaller
set weighs more. DIS is the chance that a unique match of the sample with the population is right:
of the uniques n1 and the pairs n2 (classes of two) of a sample that took the share p,

    DIS = n1 p / (n1 p + 2 n2 (1 - p)).

DIS-SUDA spreads it over the uniques by their scores S, with q = 1 + (8 - columns) / 20:

    1 / (1 + n1 (1 / DIS - 1) / (S^q sum of S^-q)).

References: Elliot, Manning, Ford 2002 (SUDA); Manning, Haglin, Keane 2008 (SUDA2); Skinner, Elliot
2002 (DIS); the exponent is that of sdcMicro's `suda2`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk.attackers import check_fraction
from celosia.assess.risk.profile import check_known
from celosia.assess.risk.subsets import MOST_SUBSETS, Subsets, check_sets, suda_weight
from celosia.core.errors import InputError
from celosia.core.messages import Message, say
from celosia.core.progress import Progress, Step, silent
from celosia.frames import as_frame, encode

Floats = NDArray[np.float64]
LEAST_EXPONENT = 0.05
"""From 28 columns on the exponent would be 0 or less, and special records would count less."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SudaScores:
    """The score of each record of a table, and what the columns have to do with it."""

    columns: tuple[str, ...]
    at_most: int
    """The largest sets of columns that were looked at."""
    score: Floats = field(repr=False)
    """0 for a record that is not unique, or on no set of at most so many columns."""
    dis: Floats = field(repr=False)
    """DIS-SUDA: the chance that a match with the record is right."""
    smallest: NDArray[np.int64] = field(repr=False)
    """The size of the smallest minimal sample unique of each record; 0 for none."""
    contributions: Floats = field(repr=False)
    """For each record and column, the share of the score from sets with the column."""
    uniques: int
    """Records that are alone on all columns."""
    pairs: int
    """Classes of two records."""
    sampling_fraction: float

    @property
    def dis_of_file(self) -> float:
        """DIS: the chance that a unique match with the sample is right."""
        alone = self.uniques * self.sampling_fraction
        others = 2 * self.pairs * (1 - self.sampling_fraction)
        return alone / (alone + others) if alone else 0.0

    def column_shares(self) -> dict[str, float]:
        """For each column, the share of all scores from sets with the column."""
        total = float(self.score.sum())
        shares = self.score @ self.contributions / total if total else np.zeros(len(self.columns))
        return dict(zip(self.columns, map(float, shares), strict=True))

    def frame(self) -> pl.DataFrame:
        """One row a record, in the order of the table."""
        return pl.DataFrame(
            {"suda": self.score, "dis_suda": self.dis, "smallest_unique_set": self.smallest}
        )

    def as_dict(self) -> dict[str, Any]:
        """The figures of the file as plain values; none of a single record."""
        return {
            "records": int(self.score.size),
            "columns": list(self.columns),
            "at_most": self.at_most,
            "special_records": int((self.score > 0).sum()),
            "sample_uniques": self.uniques,
            "pairs": self.pairs,
            "sampling_fraction": self.sampling_fraction,
            "dis": self.dis_of_file,
            "highest_score": float(self.score.max(initial=0.0)),
            "highest_dis_suda": float(self.dis.max(initial=0.0)),
            "expected_matches": float(self.dis.sum()),
            "column_shares": self.column_shares(),
        }

    def __str__(self) -> str:
        return say(
            "assess.line.suda",
            special=int((self.score > 0).sum()),
            records=self.score.size,
            at_most=self.at_most,
            dis=self.dis_of_file,
            highest=float(self.dis.max(initial=0.0)),
        )


def suda(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    at_most: int | None = None,
    sampling_fraction: float = 0.01,
    most_subsets: int = MOST_SUBSETS,
    progress: Progress = silent,
) -> SudaScores:
    """The SUDA and DIS-SUDA score of each record.

    Args:
        data: the table.
        columns: what an attacker may know; all columns unless some are named.
        at_most: the size of the largest sets of columns; all sizes unless given.
        sampling_fraction: the share of the population that is in the table.
        most_subsets: more sets of columns than this are refused.
        progress: called as the work proceeds.

    Raises:
        InputError: CEL-A003 no such column, CEL-A021 not a fraction, CEL-A024 and CEL-A025 sets of
            columns that make no sense or are too many.

    >>> table = pl.DataFrame({"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]})
    >>> found = suda(table)
    >>> found.score.tolist(), found.column_shares()
    ([2.0, 4.0, 2.0], {'a': 0.5, 'b': 0.375, 'c': 0.375})
    """
    frame = as_frame(data)
    fraction = check_fraction(sampling_fraction)
    names = list(dict.fromkeys(frame.columns if columns is None else columns))
    largest, total = check_sets(names, len(names) if at_most is None else at_most, most_subsets)
    check_known(names, frame.columns)
    if not frame.height:
        raise InputError("CEL-A292")
    codes = [encode(frame.get_column(name).alias("cell")).codes for name in names]
    lattice = Subsets.of(codes, frame.height)
    scores = np.zeros(lattice.rows)
    smallest = np.zeros(lattice.rows, dtype=np.int64)
    parts = np.zeros((lattice.rows, len(names)))
    for place, looked_at in enumerate(lattice.walk(largest), 1):
        rows, size = looked_at.minimal, len(looked_at.columns)
        weight = suda_weight(size, largest, len(names))
        scores[rows] += weight
        for column in looked_at.columns:
            parts[rows, column] += weight
        smallest[rows] = np.where(smallest[rows] == 0, size, smallest[rows])
        progress(Step(Message("assess.stage.columns"), place, total))
    sizes = lattice.weights
    uniques, pairs = int((sizes == 1).sum()), int((sizes == 2).sum())
    shares = np.divide(parts, scores[:, None], out=parts, where=scores[:, None] > 0)
    record = lattice.row_of
    found = SudaScores(
        columns=tuple(names),
        at_most=largest,
        score=scores[record],
        dis=np.zeros(record.size),
        smallest=smallest[record],
        contributions=shares[record],
        uniques=uniques,
        pairs=pairs,
        sampling_fraction=fraction,
    )
    found.dis[:] = dis_suda(found.score, found.dis_of_file, uniques, len(names))
    return found


def dis_suda(score: Floats, dis: float, uniques: int, columns: int) -> Floats:
    """The chance that a match is right, spread over the unique records by their scores.

    >>> dis_suda(np.array([0.0, 4.0, 4.0]), 0.25, 2, 8).tolist()
    [0.0, 0.25, 0.25]
    """
    chances = np.zeros(score.size)
    special = score > 0
    if not special.any() or dis == 0:
        return chances
    exponent = max(LEAST_EXPONENT, 1 + (8 - columns) / 20)
    power = score[special] ** exponent
    chances[special] = 1 / (1 + uniques * (1 / dis - 1) / (power * (1 / power).sum()))
    return chances
