"""Files of SPSS, Stata and SAS as frames: coded values become the labels that the file has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from celosia.core.errors import InputError
from celosia.frames.columns import as_text, check_names

if TYPE_CHECKING:
    from celosia.frames.formats import ReadOptions

_NUMBERS = ("integer", "decimal")
ALL = "*"
"""In place of a name of a column: all of them."""


def read_statistical(path: Path, options: ReadOptions) -> pl.DataFrame:
    """The table, its codes turned into their labels except where the options keep them.

    A code without a label stays as it is written, and two codes with one label keep apart:
    `other (8)`, `other (9)`. Values that the file declares as missing are missing, and so are
    empty texts. A column that is declared as a number keeps its codes.

    Raises:
        InputError: CEL-F014 not a file of this kind, CEL-F029 the extra is not installed.
    """
    frame, labels = _load(path)
    return _shown(frame, _labels(path, frame.columns, labels, options))


def statistical_chunks(path: Path, options: ReadOptions, rows: int) -> Iterator[pl.DataFrame]:
    """The same table in frames of so many rows; a first pass settles the types of its columns.

    A portable file of SPSS (.por) can only be read whole.
    """
    if path.suffix.lower() == ".por":
        yield from read_statistical(path, options).iter_slices(rows)
        return
    kinds: dict[str, pl.DataType] = {}
    for frame, labels in _parts(path, rows):
        shown = _shown(frame, _labels(path, frame.columns, labels, options))
        for series in shown:
            kinds[series.name] = _joined(kinds.get(series.name), series)
    for frame, labels in _parts(path, rows):
        shown = _shown(frame, _labels(path, frame.columns, labels, options))
        yield pl.DataFrame([series.cast(kinds[series.name]) for series in shown])


def _joined(kind: pl.DataType | None, part: pl.Series) -> pl.DataType:
    """The type of a column, from that of its parts so far and of one more; empty ones have none."""
    if kind is None or (part.dtype != kind and kind == pl.Null):
        return pl.Null() if part.null_count() == part.len() > 0 else part.dtype
    if part.dtype == kind or part.null_count() == part.len():
        return kind
    return pl.Float64() if part.dtype.is_numeric() and kind.is_numeric() else pl.String()


Labels = Mapping[str, Mapping[Any, str]]


def _labels(path: Path, columns: Sequence[str], labels: Labels, options: ReadOptions) -> Labels:
    """The labels of the columns whose codes are not kept."""
    names = check_names(columns, path=path)
    options.check_names(names)
    kept = _kept(names, options)
    return {name: labels[name] for name in names if name in labels and name not in kept}


def _shown(frame: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    return pl.DataFrame([_column(series, labels.get(series.name, {})) for series in frame])


def _parts(path: Path, rows: int) -> Iterator[tuple[pl.DataFrame, Labels]]:
    """Parts of the file as they are, at least one."""
    found = _load(path, row_offset=0, row_limit=rows)
    yield found
    first = rows
    while found[0].height == rows:
        found = _load(path, row_offset=first, row_limit=rows)
        if found[0].height:
            yield found
        first += rows


def _kept(names: Collection[str], options: ReadOptions) -> set[str]:
    """The columns whose codes are kept."""
    asked = set(names) if ALL in options.codes else set(options.codes)
    return asked | {name for name, wanted in options.types.items() if wanted in _NUMBERS}


def _load(path: Path, **part: int) -> tuple[pl.DataFrame, Labels]:
    """The table of a file, or the part of it that is asked for, and its labels by column."""
    try:
        import pyreadstat
    except ImportError:
        raise InputError("CEL-F029.statistical", path=str(path)) from None
    readers: dict[str, Any] = {
        ".sav": pyreadstat.read_sav,
        ".zsav": pyreadstat.read_sav,
        ".por": pyreadstat.read_por,
        ".dta": pyreadstat.read_dta,
        ".sas7bdat": pyreadstat.read_sas7bdat,
        ".xpt": pyreadstat.read_xport,
    }
    reader = readers.get(path.suffix.lower(), pyreadstat.read_sav)
    catalogue = path.with_suffix(".sas7bcat")
    further = {"catalog_file": str(catalogue)} if _has_catalogue(path, catalogue) else {}
    try:
        frame, facts = reader(str(path), output_format="polars", **further, **part)
    except Exception:  # it has errors of its own for each kind of damage, which may quote cells
        frame = facts = None
    if frame is None or facts is None:
        raise InputError("CEL-F014.statistical", path=str(path))
    return frame, facts.variable_value_labels


def _has_catalogue(path: Path, catalogue: Path) -> bool:
    """Whether the labels of a SAS file are in a catalogue beside it."""
    return path.suffix.lower() == ".sas7bdat" and catalogue.is_file()


def _column(series: pl.Series, labels: Mapping[Any, str]) -> pl.Series:
    """One column in its narrowest type, its codes as labels."""
    plain = _narrowed(series)
    if not labels:
        return plain
    texts = as_text(plain.alias("code"))
    codes = as_text(_narrowed(pl.Series("code", list(labels), strict=False)))
    shared = Counter(labels.values())
    shown = [
        label if shared[label] == 1 else f"{label} ({code})"
        for code, label in zip(codes, labels.values(), strict=True)
    ]
    return texts.replace_strict(codes, shown, default=texts).alias(series.name)


def _narrowed(series: pl.Series) -> pl.Series:
    """Whole numbers as integers, empty texts as missing: these files have one type for each."""
    if series.dtype == pl.Object:
        series = pl.Series(series.name, series.to_list(), strict=False)
    if series.dtype == pl.String:
        return series.set((series == "").fill_null(value=False), None)
    if not series.dtype.is_float():
        return series
    values = series.fill_nan(None)
    present = values.drop_nulls()
    whole = (present == present.floor()) & (present.abs() <= 2.0**53)
    return values.cast(pl.Int64) if len(present) and whole.all() else values
