"""Reports in Arrow and Parquet files: one column `report` of fixed width, one row for a report.

The metadata of the schema tells the fingerprint of the protocol as `celosia.fingerprint`, in
hexadecimal: a table without it is refused, because its protocol would be unknown.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from celosia.collect.protocol import Protocol
from celosia.collect.reports import Packed, Reports
from celosia.core.errors import InputError
from celosia.core.files import replacing

COLUMN = "report"
FINGERPRINT = b"celosia.fingerprint"
TABLES = (".parquet", ".arrow", ".feather", ".ipc")


def write_table(reports: Reports, path: str | Path, *, overwrite: bool = False) -> None:
    """Write reports as a Parquet or Arrow file, by the ending of its name."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    count, size = reports.packed.shape
    body = pa.py_buffer(np.ascontiguousarray(reports.packed))
    column = pa.Array.from_buffers(pa.binary(size), count, [None, body])
    schema = pa.schema(
        [pa.field(COLUMN, pa.binary(size), nullable=False)],
        metadata={FINGERPRINT: reports.fingerprint.hex()},
    )
    table = pa.Table.from_arrays([column], schema=schema)
    with replacing(Path(path), overwrite=overwrite) as draft:
        if Path(path).suffix == ".parquet":
            parquet.write_table(table, draft)
        else:
            feather.write_feather(table, draft, compression="uncompressed")


def table_pieces(
    file: BinaryIO, protocol: Protocol, *, most: int, suffix: str
) -> Iterator[tuple[str, bytes]]:
    """The reports of a table as numbered batches of at most `most` bytes of reports.

    Raises:
        InputError: CEL-R082 not such a table, CEL-R004 of another protocol.
    """
    import pyarrow as pa

    try:
        yield from _pieces(file, protocol, most=most, suffix=suffix)
    except (pa.ArrowException, ValueError, KeyError):  # what Arrow raises on damaged files
        raise InputError("CEL-R082.damaged") from None


def _pieces(
    file: BinaryIO, protocol: Protocol, *, most: int, suffix: str
) -> Iterator[tuple[str, bytes]]:
    schema, parts = _open_table(file, suffix)
    size = _check_schema(schema, protocol)
    rows = max(1, most // size)
    number, waiting, gathered = 0, np.empty((0, size), dtype=np.uint8), 0
    for part in parts:
        # Cut anew: where a library cuts is its own affair, and ids must not depend on it.
        gathered = waiting.shape[0] + part.num_rows
        waiting = np.concatenate([waiting, _bytes_of(part.column(0), size)])
        begun = 0
        while gathered - begun >= rows:
            yield _piece(number, waiting[begun : begun + rows], protocol)
            number, begun = number + 1, begun + rows
        waiting = waiting[begun:]
    if waiting.shape[0]:
        yield _piece(number, waiting, protocol)


def _piece(number: int, packed: Packed, protocol: Protocol) -> tuple[str, bytes]:
    return str(number), Reports(protocol.fingerprint, packed).to_bytes()


def _open_table(file: BinaryIO, suffix: str) -> tuple[Any, Iterator[Any]]:
    """The schema of a file, and its rows in parts that fit into memory."""
    import pyarrow as pa
    from pyarrow import parquet

    if suffix == ".parquet":
        opened = parquet.ParquetFile(file)
        schema = opened.schema_arrow
        names = [COLUMN] if COLUMN in schema.names else []
        return schema, opened.iter_batches(batch_size=2**18, columns=names)
    if file.read(6) == b"ARROW1":
        file.seek(0)
        whole = pa.ipc.open_file(file)
        return whole.schema, (
            whole.get_batch(each).select([COLUMN]) for each in range(whole.num_record_batches)
        )
    file.seek(0)
    stream = pa.ipc.open_stream(file)
    return stream.schema, (part.select([COLUMN]) for part in stream)


def _check_schema(schema: Any, protocol: Protocol) -> int:
    """The bytes of one report, where a table is of the protocol."""
    import pyarrow as pa

    if COLUMN not in schema.names:
        raise InputError("CEL-R082.no_column", column=COLUMN)
    size = -(-protocol.report_bits // 8)
    if schema.field(COLUMN).type != pa.binary(size):
        raise InputError("CEL-R082.other_width", column=COLUMN, size=size)
    fingerprint = (schema.metadata or {}).get(FINGERPRINT)
    if fingerprint is None:
        raise InputError("CEL-R082.no_fingerprint")
    if fingerprint != protocol.fingerprint.hex().encode():
        raise InputError("CEL-R004.other_parameters")
    return size


def _bytes_of(column: Any, size: int) -> Packed:
    if column.null_count:
        raise InputError("CEL-R082.empty_reports")
    body = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    begin = column.offset * size
    return body[begin : begin + len(column) * size].reshape(-1, size)
