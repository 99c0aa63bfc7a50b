"""Tables in and out: any table or file as a Polars frame, and columns as integer codes."""

from celosia.frames.chunk_writer import Writer, writer
from celosia.frames.codes import Codes, encode
from celosia.frames.columns import pick, unused_name
from celosia.frames.convert import ArrowStream, TableLike, as_frame
from celosia.frames.dialect import Dialect, sniff
from celosia.frames.formats import SUFFIXES, Format, format_of
from celosia.frames.options import ColumnType
from celosia.frames.reading import read, read_chunks
from celosia.frames.text import as_text
from celosia.frames.writing import write

__all__ = [
    "SUFFIXES",
    "ArrowStream",
    "Codes",
    "ColumnType",
    "Dialect",
    "Format",
    "TableLike",
    "Writer",
    "as_frame",
    "as_text",
    "encode",
    "format_of",
    "pick",
    "read",
    "read_chunks",
    "sniff",
    "unused_name",
    "write",
    "writer",
]
