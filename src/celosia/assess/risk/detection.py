"""Detection of columns that identify people, by their cells and their names.

After the identifiers of the Safe Harbor rule of HIPAA (45 CFR 164.514(b)(2)), with those of Spain
and Chile. A finding is a suspicion to look at, not a proof, and quotes no cell. What is not
suspected may still identify together with other columns, so it is a quasi-identifier: see `roles`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk.content import (
    LIKELY,
    PATTERNS,
    Pattern,
    is_of_things,
    suggested,
    suggests,
)
from celosia.assess.risk.finding import IN_DOUBT, Finding, Role
from celosia.assess.risk.roles import weigh
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.frames import as_frame, as_text, without_marks

_LOOKED_AT = 20_000
"""Of a column with more distinct values only so many cells, evenly spread, are matched."""
_FEW = 3
"""Below so many distinct values a pattern may be chance, unless the name says the same."""
_CODES = 20
"""Up to so many different whole numbers are taken for the codes of categories."""
_MANY_EACH = 0.02
"""The least distinctness of a key of people: that of fifty records each."""
_OLD = 89
"""The Safe Harbor rule asks to merge all ages above this one."""
_QUASI = frozenset(
    (
        *("birth date", "admission or discharge date", "date", "age", "age over 89"),
        *("postal code", "geographic", "demographic"),
    )
)
_DATES = ("birth date", "admission or discharge date")
_BY_NAME = ("demographic", "geographic", "sensitive attribute")


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The distinct texts of a column, how often each comes, and what was counted beside."""

    texts: pl.Series
    counts: NDArray[np.int64]
    filled: int
    distinct: int

    @property
    def distinctness(self) -> float:
        return self.distinct / self.filled if self.filled else 0.0

    def share(self, flags: NDArray[np.bool_]) -> float:
        return float(self.counts[flags].sum() / self.counts.sum()) if flags.size else 0.0


def detect(data: Any, *, progress: Progress = silent) -> tuple[Finding, ...]:
    """One finding for each column: what it seems to hold, why, and the role that this suggests.

    >>> table = pl.DataFrame({"contact": ["a@x.org", "b@x.org", "c@y.cl"], "sex": ["F", "M", "F"]})
    >>> [(finding.kind, finding.role) for finding in detect(table)]
    [('e-mail address', 'identifier'), ('demographic', 'quasi-identifier')]
    """
    frame = as_frame(data)
    found = []
    for place, column in enumerate(frame, 1):
        # Under a name of ours: Polars would read some of a user's names as patterns.
        found.append(_finding(column.name, column.alias("cell")))
        progress(Step(Message("assess.stage.columns"), place, frame.width))
    return weigh(frame, found)


def _finding(name: str, column: pl.Series) -> Finding:
    cells = _cells(column)
    kind, share, why = _judge(name, column, cells)
    if (kind in IN_DOUBT or kind == "empty") and (rest := without_marks(column)) is not column:
        # Many cells that hold NA must not hide what the others are.
        others = _cells(rest)
        kind, share, why = _judge(name, rest, others)
        share *= others.filled / cells.filled
    return Finding(
        column=name,
        kind=kind,
        role=_role(kind),
        share=share,
        distinctness=cells.distinctness,
        why=why,
        empty=column.null_count(),
    )


def _judge(name: str, column: pl.Series, cells: _Cells) -> tuple[str, float, str]:
    """What a column seems to hold, the share of cells that look so, and why."""
    return (
        _by_pattern(name, cells)
        or _by_age(name, cells)
        or _by_birth_year(name, cells)
        or _by_structure(name, column, cells)
        or _by_name(name, column, cells)
    )


def _cells(column: pl.Series) -> _Cells:
    present = column.drop_nulls()
    distinct = present.n_unique()
    looked_at = present if distinct <= _LOOKED_AT else present.gather(_spread(len(present)))
    counted = looked_at.value_counts(name="count")
    return _Cells(
        texts=as_text(counted["cell"]).str.strip_chars(),
        counts=counted["count"].to_numpy().astype(np.int64),
        filled=len(present),
        distinct=distinct,
    )


def _spread(rows: int) -> NDArray[np.int64]:
    """Rows spread evenly, at steps of no period: a table may well have one of its own."""
    golden = (np.sqrt(5) - 1) / 2
    return np.unique(np.floor(np.arange(_LOOKED_AT) * golden % 1 * rows).astype(np.int64))


def _by_pattern(name: str, cells: _Cells) -> tuple[str, float, str] | None:
    """The surest pattern that enough cells have; those that the name confirms come first."""
    if not cells.filled:
        return None
    for pattern in PATTERNS:
        if _is_named(name, pattern):
            share = cells.share(pattern.flags(cells.texts))
            if share >= pattern.named:
                return _date_kind(name, pattern.kind), share, Message("assess.why.name_and_cells")
    for pattern in PATTERNS:
        if pattern.alone is not None and cells.distinct >= _FEW:
            share = cells.share(pattern.flags(cells.texts))
            if share >= pattern.alone:
                return _date_kind(name, pattern.kind), share, Message("assess.why.cells")
    for pattern in LIKELY:
        if _is_named(name, pattern):
            share = cells.share(pattern.flags(cells.texts))
            if share >= pattern.named:
                return pattern.kind, share, Message("assess.why.name_maybe_cells")
    return None


def _is_named(name: str, pattern: Pattern) -> bool:
    if pattern.kind == "date":
        return suggested(name, (*_DATES, "date")) is not None
    return suggests(name, pattern.kind)


def _date_kind(name: str, kind: str) -> str:
    return suggested(name, _DATES) or kind if kind == "date" else kind


def _by_age(name: str, cells: _Cells) -> tuple[str, float, str] | None:
    if not suggests(name, "age"):
        return None
    years = cells.texts.cast(pl.Float64, strict=False)
    likely = years.is_between(0, 125).fill_null(value=False).to_numpy()
    share = cells.share(likely)
    if share < 0.5:
        return "age", share, Message("assess.why.name")
    old = cells.share(likely & (years > _OLD).fill_null(value=False).to_numpy())
    if old:
        return "age over 89", old, Message("assess.why.rare_ages")
    return "age", share, Message("assess.why.name_and_cells")


def _by_birth_year(name: str, cells: _Cells) -> tuple[str, float, str] | None:
    """Years alone, which no pattern takes for dates: the name must speak of birth."""
    if not suggests(name, "birth date"):
        return None
    years = cells.texts.cast(pl.Float64, strict=False)
    share = cells.share(years.is_between(1850, 2100).fill_null(value=False).to_numpy())
    return ("birth date", share, Message("assess.why.name_and_cells")) if share >= 0.5 else None


def _by_structure(name: str, column: pl.Series, cells: _Cells) -> tuple[str, float, str] | None:
    """Free text and keys, which no pattern tells."""
    if column.dtype.is_float() or cells.filled < 10:
        return None
    if column.dtype.is_integer():
        return _whole_key(name, column, cells) or _repeated_key(name, cells)
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return None
    spaces = cells.texts.str.count_matches(r"\S\s+\S").to_numpy()
    long = (spaces >= 4) & (cells.texts.str.len_chars().to_numpy() >= 25)
    if cells.share(long) >= 0.3 and cells.distinctness >= 0.3:
        return "free text", cells.share(long), Message("assess.why.long_texts")
    if cells.distinctness >= 0.95:
        return "unique key", cells.distinctness, Message("assess.why.own_value")
    return _repeated_key(name, cells)


def _whole_key(name: str, column: pl.Series, cells: _Cells) -> tuple[str, float, str] | None:
    if cells.distinct < cells.filled:
        return None
    if suggests(name, "key"):
        return "unique key", 1.0, Message("assess.why.name_unique")
    low, high = column.min(), column.max()
    if isinstance(low, int) and isinstance(high, int) and high - low + 1 == cells.filled:
        return "unique key", 1.0, Message("assess.why.numbers")
    return None


def _repeated_key(name: str, cells: _Cells) -> tuple[str, float, str] | None:
    """A key of people, households or firms that have several records each."""
    several = cells.distinctness >= 0.1
    # Twelve months of each are usual. So are as many records of a product or a school, whose keys
    # are not of people.
    many = cells.distinctness >= _MANY_EACH and cells.distinct > _CODES and not is_of_things(name)
    if (several or many) and suggests(name, "key"):
        return "key", 0.0, Message("assess.why.name_few_share")
    return None


def _by_name(name: str, column: pl.Series, cells: _Cells) -> tuple[str, float, str]:
    """What only the name of the column tells; nothing, for most."""
    named = suggested(name, _BY_NAME)
    if named is not None:
        return named, 0.0, Message("assess.why.name")
    if not cells.filled:
        return "empty", 0.0, Message("assess.why.empty")
    return _in_doubt(name, column, cells), 0.0, Message("assess.why.in_doubt")


def _in_doubt(name: str, column: pl.Series, cells: _Cells) -> str:
    """What to call a column that nothing explains."""
    if not column.dtype.is_numeric():
        return "category"
    if suggests(name, "amount"):
        return "amount"
    coded = column.dtype.is_integer() and cells.distinct <= _CODES
    return "coded category" if coded else "number"


def _role(kind: str) -> Role:
    if kind in _QUASI:
        return "quasi-identifier"
    if kind == "sensitive attribute":
        return "sensitive"
    if kind in IN_DOUBT:
        return "quasi-identifier"
    return "insensitive" if kind == "empty" else "identifier"
