"""The two reference tables of microaggregation: published losses of MDAV, and ours below them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.methods import PlainValues, derived
from celosia.core.progress import Progress, Step
from celosia.lab.findings import Row, compare
from celosia.lab.tolerance import Tolerance, at_most
from celosia.tables.masking.microaggregation.multivariate import mdav_groups, refined_groups
from celosia.tables.masking.microaggregation.scale import information_loss

FILES = {
    "census": ("CASCrefmicrodata.csv", (1080, 13)),
    "tarragona": ("Tarragona.csv", (834, 13)),
}
"""By table: its file, and how many records and columns it has."""
PUBLISHED: Mapping[str, Mapping[int, float]] = MappingProxyType(
    {
        "census": MappingProxyType({3: 5.692, 4: 7.495, 5: 9.088, 10: 14.156}),
        "tarragona": MappingProxyType({3: 16.933, 4: 19.546, 5: 22.461, 10: 33.192}),
    }
)
"""100 SSE/SST of MDAV by k on standardised columns: 1,080 x 13 and 834 x 13 records."""
GAINS = {3: 0.95, 5: 0.95}
"""By k: how much of the published loss the refinement may leave; elsewhere, none more."""


def rows(progress: Progress, *, path: Path | None) -> Iterator[Row]:
    """The losses for k = 3, 4, 5 and 10 on both tables.

    Raises:
        InputError: CEL-L010 no folder, CEL-L011 a file that is not there, CEL-L012 another table.
    """
    if path is None:
        raise InputError("CEL-L010")
    tables = {name: _table(path, *FILES[name]) for name in PUBLISHED}
    for done, (name, published) in enumerate(PUBLISHED.items()):
        progress(Step(Message("lab.masking.grouping", name=name), done, len(PUBLISHED)))
        for found in losses(tables[name], list(published)):
            run, loss = f"{name}, k={found.k}", published[found.k]
            near = Tolerance(absolute=0.01, why=Message("lab.tolerance.ties_of_mdav"))
            cell = Message("lab.masking.loss_of_mdav")
            yield compare(run, cell, loss, found.mdav, near)
            most = GAINS.get(found.k, 1.0) * loss
            cell = Message("lab.masking.loss_of_refined_mdav_at_most")
            yield compare(run, cell, round(most, 4), found.refined, at_most(most), kind="promise")


def _table(folder: Path, name: str, shape: tuple[int, int]) -> NDArray[np.float64]:
    path = folder / name
    try:
        frame = pl.read_csv(path.read_bytes(), infer_schema_length=None)
    except OSError as error:
        raise InputError("CEL-L011", path=path, reason=error.strerror, name=name) from error
    except pl.exceptions.PolarsError:
        frame = pl.DataFrame()  # the reader's own message may quote a cell; ours must not
    numeric = all(kind.is_numeric() for kind in frame.dtypes)
    if frame.shape != shape or not numeric or any(frame.null_count().row(0)):
        raise InputError("CEL-L012", path=path, records=shape[0], columns=shape[1])
    return frame.to_numpy().astype(np.float64)


@dataclass(frozen=True, slots=True)
class Losses(PlainValues):
    """The information loss of MDAV and of its refinement for one k, in percent."""

    k: int
    mdav: float
    refined: float

    @property
    @derived
    def gain(self) -> float:
        """The percentage of the squared error of MDAV that the refinement saves."""
        return 100.0 * (1.0 - self.refined / self.mdav) if self.mdav > 0 else 0.0

    def __str__(self) -> str:
        return f"k = {self.k}: {self.mdav:.3f} %, refined {self.refined:.3f} % (-{self.gain:.1f} %)"


def losses(matrix: ArrayLike, sizes: Sequence[int] = (3, 4, 5, 10)) -> tuple[Losses, ...]:
    """The losses of a table, one row a record, for each group size.

    >>> ages = [[29], [48], [21], [36], [45], [58], [72], [22], [25], [43]]
    >>> print(*losses(ages, [3]))
    k = 3: 18.376 %, refined 15.006 % (-18.3 %)
    """
    return tuple(
        Losses(
            k,
            information_loss(matrix, mdav_groups(matrix, k)),
            information_loss(matrix, refined_groups(matrix, k)),
        )
        for k in sizes
    )
