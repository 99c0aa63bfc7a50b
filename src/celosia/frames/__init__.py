"""Tables in and out: any table or file as a Polars frame, and columns as integer codes."""

from celosia.frames.chunk_writer import Writer, writer
from celosia.frames.codes import Codes, encode
from celosia.frames.convert import ArrowStream, TableLike, as_frame
from celosia.frames.dialect import Dialect, sniff
from celosia.frames.formats import SUFFIXES, Format
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
    "read",
    "read_chunks",
    "sniff",
    "write",
    "writer",
]
