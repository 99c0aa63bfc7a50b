"""Tables in and out: any table or file as a Polars frame, and columns as integer codes.

Readers take CSV, Parquet, Arrow, Excel, JSON lines, files of SPSS, Stata and SAS, and databases,
whole or in chunks, and infer types over all rows. Writers write the first five so that a file holds
no trace of rows that were left out.
"""

from celosia.frames.codes import Codes, encode
from celosia.frames.columns import as_text, pick, unused_name, with_points
from celosia.frames.csv import possible_marks, sniff
from celosia.frames.dialect import Dialect
from celosia.frames.formats import (
    SUFFIXES,
    ColumnType,
    Format,
    Mark,
    ReadKeywords,
    SourceFormat,
    check_readable,
    format_of,
    is_address,
    source_format_of,
)
from celosia.frames.readers import (
    ArrowStream,
    TableLike,
    as_frame,
    read,
    read_chunks,
    stands_for_missing,
    without_marks,
)
from celosia.frames.writers import ARROW_LEVEL, ChunkWriter, bare, open_writer, write

__all__ = [
    "ARROW_LEVEL",
    "SUFFIXES",
    "ArrowStream",
    "ChunkWriter",
    "Codes",
    "ColumnType",
    "Dialect",
    "Format",
    "Mark",
    "ReadKeywords",
    "SourceFormat",
    "TableLike",
    "as_frame",
    "as_text",
    "bare",
    "check_readable",
    "encode",
    "format_of",
    "is_address",
    "open_writer",
    "pick",
    "possible_marks",
    "read",
    "read_chunks",
    "sniff",
    "source_format_of",
    "stands_for_missing",
    "unused_name",
    "with_points",
    "without_marks",
    "write",
]
