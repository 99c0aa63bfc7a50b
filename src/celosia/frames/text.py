"""The one text of a cell, by which it is matched with the leaves of a hierarchy."""

from __future__ import annotations

import polars as pl

_WHOLE_LIMIT = 2.0**63
"""Whole floats below this bound are written through an integer; beyond it they do not fit one."""


def as_text(series: pl.Series) -> pl.Series:
    """The canonical text of each value; missing values stay missing.

    Numbers lose a fraction of zero, so that a column of whole numbers has the same text whether it
    came as integers or as floats. Dates and times are ISO 8601, booleans `true` and `false`, and
    text is kept as it is.

    >>> as_text(pl.Series("age", [39.0, 0.5, None])).to_list()
    ['39', '0.5', None]
    """
    dtype = series.dtype
    if dtype == pl.String:
        return series
    if dtype.is_float():
        return _float_text(series)
    if dtype.is_decimal():
        text = series.cast(pl.String)
        return text.str.replace(r"(\.[0-9]*?)0+$", "$1").str.strip_suffix(".")
    if isinstance(dtype, pl.Datetime):
        zone = "%:z" if dtype.time_zone else ""
        return series.dt.strftime(f"%Y-%m-%dT%H:%M:%S%.f{zone}")
    if isinstance(dtype, pl.Duration | pl.Time):
        return series.dt.to_string("iso")
    return series.cast(pl.String)


def _float_text(series: pl.Series) -> pl.Series:
    value = pl.col("value")  # not its own name, which could be a pattern
    whole = value.is_finite() & (value == value.floor()) & (value.abs() < _WHOLE_LIMIT)
    text = (
        pl.when(whole)
        .then(value.cast(pl.Int64, strict=False).cast(pl.String))
        .otherwise(value.cast(pl.String))
    )
    return series.to_frame("value").select(text.alias(series.name)).to_series()
