"""Functions of rows that are sent to workers: which may be, and what is done with them there."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.engines.spark.execution import sent
from celosia.engines.spark.recoding import place
from celosia.engines.spark.types import plain_table, plain_type
from celosia.engines.tables import Batch

if TYPE_CHECKING:
    import pyarrow as pa


def check_draws(function: object) -> None:
    """Refuse a function that holds a seeded source: every worker would draw the same from it.

    Raises:
        InputError: CEL-E078 see above.
    """
    from pyspark.cloudpickle import CloudPickler

    found = []

    class Watching(CloudPickler):
        def persistent_id(self, each: object) -> None:
            if isinstance(each, Source) and each.simulation:
                found.append(each)

    pickler: Any = Watching
    pickler(io.BytesIO()).dump(function)
    if found:
        raise InputError("CEL-E078")


def map_rows(
    function: Batch,
    types: dict[str, pl.DataType],
    columns: dict[str, pl.DataType],
    word: str,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """On a worker: what a function makes of batches; its errors in a form that comes through."""
    try:
        for batch in batches:
            frame = pl.DataFrame(pl.from_arrow(batch))
            given = pl.DataFrame(
                [
                    frame.to_series(n).cast(kind).alias(name)
                    for n, (name, kind) in enumerate(types.items())
                ]
            )
            made = function(given)
            shown = [made[name].cast(plain_type(kind)) for name, kind in columns.items()]
            named = [each.alias(place(number)) for number, each in enumerate(shown)]
            yield from plain_table(pl.DataFrame(named)).to_batches()
    except Exception as error:
        failure = sent(error, word)
    else:
        return
    raise failure
