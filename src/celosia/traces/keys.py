"""The key of a release: the person of each published trace. Keep it secret."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from celosia.core.errors import InputError
from celosia.core.files import replacing
from celosia.frames.readers import read as read_table
from celosia.traces.points import Traces
from celosia.traces.samples import Samples

COLUMNS = ("trace", "person")


@contextmanager
def write_key(
    samples: Samples, traces: Traces, path: Path, *, overwrite: bool = False
) -> Iterator[None]:
    """Write a key as CSV that only its owner can read; it takes its name if the block ends well."""
    with replacing(path, overwrite=overwrite, secret=True) as draft:
        owner = traces.names.gather(samples.owner)
        pl.DataFrame({"trace": np.arange(samples.traces), "person": owner}).write_csv(draft)
        yield
    path.chmod(0o600)


def with_key(samples: Samples, path: Path, traces: Traces) -> Samples:
    """The samples of a published table with the owners that a key tells.

    Raises:
        InputError: CEL-J013 the key is not one of these traces.
    """
    table = read_table(path, types=dict.fromkeys(COLUMNS, "string"))
    if tuple(table.columns) != COLUMNS:
        raise InputError("CEL-J013.key", path=path.name)
    numbers = dict(zip(traces.names.to_list(), range(traces.people), strict=True))
    size = max(samples.traces, table.height)
    owner = np.full(size, -1, dtype=np.int64)
    for trace, person in table.iter_rows():
        if not trace.isdigit() or int(trace) >= size or person not in numbers:
            raise InputError("CEL-J013.key", path=path.name)
        owner[int(trace)] = numbers[person]
    if (owner[np.unique(samples.trace)] < 0).any():
        raise InputError("CEL-J013.key", path=path.name)
    return replace(samples, owner=owner)


def read_owners(path: Path) -> dict[int, str]:
    """The person of each trace that a key names.

    Raises:
        InputError: CEL-J013 it is no key.
    """
    table = read_table(path, types=dict.fromkeys(COLUMNS, "string"))
    if tuple(table.columns) != COLUMNS or not table["trace"].str.contains(r"^\d+$").all():
        raise InputError("CEL-J013.key", path=path.name)
    return {int(trace): person for trace, person in table.iter_rows()}
