"""The two reference tables of microaggregation: published losses of MDAV, and ours below them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.progress import Progress, Step
from celosia.lab.findings import Row
from celosia.tables.masking.microaggregation.published import PUBLISHED, losses

FILES = {
    "census": ("CASCrefmicrodata.csv", (1080, 13)),
    "tarragona": ("Tarragona.csv", (834, 13)),
}
"""By table: its file, and how many records and columns it has."""
GAINS = {3: 0.95, 5: 0.95}
"""By k: how much of the published loss the refinement may leave; elsewhere, none more."""
TO_GET = (
    'In R with sdcMicro: data(CASCrefmicrodata); write.csv(CASCrefmicrodata, "CASCrefmicrodata.csv"'
    ", row.names = FALSE), the same for Tarragona; then give the folder with --path."
)


def rows(folder: Path | None, progress: Progress) -> Iterator[Row]:
    """The losses for k = 3, 4, 5 and 10 on both tables.

    Raises:
        InputError: CEL-L010 no folder, CEL-L011 a file that is not there, CEL-L012 another table.
    """
    if folder is None:
        raise InputError(
            "CEL-L010",
            "the reference tables of microaggregation are not part of Celosía.",
            why="Published losses hold for these records only.",
            fix=TO_GET,
        )
    tables = {name: _table(folder, *FILES[name]) for name in PUBLISHED}
    for done, (name, published) in enumerate(PUBLISHED.items()):
        progress(Step(f"Grouping {name}", done, len(PUBLISHED)))
        for found in losses(tables[name], list(published)):
            run, loss = f"{name}, k={found.k}", published[found.k]
            near = abs(found.mdav - loss) < 0.01
            yield Row(run, "loss of MDAV %", loss, found.mdav, near)
            most = GAINS.get(found.k, 1.0) * loss
            below = found.refined <= most
            yield Row(run, "loss of refined MDAV % (at most)", round(most, 4), found.refined, below)


def _table(folder: Path, name: str, shape: tuple[int, int]) -> NDArray[np.float64]:
    path = folder / name
    try:
        frame = pl.read_csv(path.read_bytes(), infer_schema_length=None)
    except OSError as error:
        raise InputError(
            "CEL-L011",
            f"{path} cannot be read ({error.strerror}).",
            fix=f"Put {name} into that folder. {TO_GET}",
            path=str(path),
        ) from error
    except pl.exceptions.PolarsError:
        frame = pl.DataFrame()  # the reader's own message may quote a cell; ours must not
    numeric = all(kind.is_numeric() for kind in frame.dtypes)
    if frame.shape != shape or not numeric or any(frame.null_count().row(0)):
        raise InputError(
            "CEL-L012",
            f"{path} is not the reference table of {shape[0]:,} records of {shape[1]} numbers.",
            why="Published losses would not be reproduced on it.",
            fix=TO_GET,
            path=str(path),
        )
    return frame.to_numpy().astype(np.float64)
