"""Roles by what the columns of a table show together, beside what each seems to hold.

A column that no name or pattern explains is in doubt. It is then a quasi-identifier, never
insensitive, and the reason says what the data shows: that it goes with a known quasi-identifier, or
how many records it singles out. A sensitive column that would single records out as it is becomes
a quasi-identifier, too: a draft of a schema must be one that can be published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.assess.risk.combinations import count_in, protected_first
from celosia.assess.risk.finding import IN_DOUBT, Finding
from celosia.core.messages import Message
from celosia.frames import encode

LOOKED_AT = 20_000
"""Of a longer table so many rows, evenly spread, are compared."""
TIED = 0.5
"""A column goes with another that tells this share of its entropy."""
BINS = 20
"""A column with more values is cut into so many parts of equal size before it is compared."""

Codes = NDArray[np.int64]


def weigh(frame: pl.DataFrame, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings with the roles and reasons that the table as a whole gives them."""
    rows = frame[_spread(frame.height)] if frame.height > LOOKED_AT else frame
    weighed = tuple(_explained(rows, findings))
    sensitive = [each.column for each in weighed if each.role == "sensitive"]
    telling = protected_first(sensitive, count_in(frame))
    return tuple(
        replace(each, role="quasi-identifier", why=Message("assess.why.sensitive_unique"))
        if each.column in telling
        else each
        for each in weighed
    )


def _explained(rows: pl.DataFrame, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Each finding; one in doubt with what the data shows of it."""
    known = [
        each.column
        for each in findings
        if each.role == "quasi-identifier" and each.kind not in IN_DOUBT
    ]
    parts = {name: _parts(rows[name]) for name in known}
    count = count_in(rows)
    before = count([known])[0].alone_share if known and rows.height else 0.0
    for each in findings:
        if each.kind not in IN_DOUBT:
            yield each
        elif rows[each.column].n_unique() <= 1:
            yield replace(each, role="insensitive", why=Message("assess.why.constant"))
        elif (tied := _tied(_parts(rows[each.column]), parts)) is not None:
            yield replace(each, why=Message("assess.why.tied", column=tied))
        else:
            alone = count([[*known, each.column]])[0].alone_share
            gain = alone - before >= 0.01
            why = Message("assess.why.singles_out", before=before, after=alone)
            yield replace(each, why=why if gain else each.why)


def _tied(column: Codes, others: dict[str, Codes]) -> str | None:
    """The known quasi-identifier that tells most of a column, if one tells enough."""
    told = {name: _told(column, other) for name, other in others.items()}
    best = max(told, key=told.__getitem__, default=None)
    return best if best is not None and told[best] >= TIED else None


def _told(column: Codes, other: Codes) -> float:
    """The share of the entropy of a column that another tells, less what chance would tell.

    By the mutual information, with the bias of small samples taken off (Miller, Madow 1955).

    >>> letters = np.array([0, 0, 1, 1, 2, 2] * 50)
    >>> round(_told(letters, letters), 2), round(_told(letters, np.tile([0, 1], 150)), 2)
    (0.99, 0.0)
    """
    joint = np.unique(column * (other.max(initial=0) + 1) + other, return_counts=True)[1]
    own, given = (np.unique(each, return_counts=True)[1] for each in (column, other))
    entropy = _entropy(own)
    if not entropy:
        return 0.0
    chance = (own.size - 1) * (given.size - 1) / (2 * column.size)
    return max(0.0, entropy + _entropy(given) - _entropy(joint) - chance) / entropy


def _entropy(counts: NDArray[np.int64]) -> float:
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _parts(column: pl.Series) -> Codes:
    """The values of a column as few whole numbers; empty cells are one of them."""
    encoded = encode(column.alias("cell"))
    codes = encoded.codes.astype(np.int64) + 1
    if encoded.values.len() <= BINS:
        return codes
    places = column.alias("cell").rank("min").fill_null(0).to_numpy().astype(np.int64)
    return np.asarray(places * BINS // (column.len() + 1) + 1, dtype=np.int64)


def _spread(rows: int) -> NDArray[np.int64]:
    """Rows spread evenly, at steps of no period: a table may well have one of its own."""
    golden = (np.sqrt(5) - 1) / 2
    return np.unique(np.floor(np.arange(LOOKED_AT) * golden % 1 * rows).astype(np.int64))
