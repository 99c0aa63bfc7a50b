"""Files of SPSS, Stata and SAS as frames: coded values become the labels that the file has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
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
    names = check_names(frame.columns, path=path)
    options.check_names(names)
    kept = _kept(names, options)
    return pl.DataFrame(
        [
            _column(series, {} if series.name in kept else labels.get(series.name, {}))
            for series in frame
        ]
    )


def _kept(names: Collection[str], options: ReadOptions) -> set[str]:
    """The columns whose codes are kept."""
    asked = set(names) if ALL in options.codes else set(options.codes)
    return asked | {name for name, wanted in options.types.items() if wanted in _NUMBERS}


def _load(path: Path) -> tuple[pl.DataFrame, Mapping[str, Mapping[Any, str]]]:
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
        frame, facts = reader(str(path), output_format="polars", **further)
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
