"""Files of Google's RAPPOR: parameters, counts and the map of candidates, decoded here.

All are CSV. Parameters have the head `k,h,m,p,q,f` and one row. Counts have a row for each cohort:
its number of reports, then how many of them set each of the k bits. The map has a row for each
candidate: its text, then h bits for each cohort, numbered from 1 over all cohorts.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.collect.rappor.decoding import BitCounts, DecodedValues, decode
from celosia.collect.rappor.rappor import Rappor
from celosia.collect.registry import reason_of
from celosia.core.errors import InputError
from celosia.core.progress import Progress, silent

HEAD = ["k", "h", "m", "p", "q", "f"]
Whole = NDArray[np.int64]


def decode_google_rappor(
    params: str | Path,
    counts: str | Path,
    candidates: str | Path,
    *,
    confidence: float = 0.95,
    correction: str = "fdr",
    progress: Progress = silent,
) -> DecodedValues:
    """Which candidates of a map are common, from counts that Google's tools have made.

    Args:
        params: the file of parameters.
        counts: the file of counts.
        candidates: the map file.
        confidence: one minus the chance of a false discovery.
        correction: `fdr` or `bonferroni`, for many candidates.
        progress: called now and then.

    Raises:
        InputError: CEL-R097 a file is not of its form, or does not fit the parameters.
    """
    protocol = read_params(params)
    reports, ones = _read_counts(counts, protocol)
    names, places = _read_map(candidates, protocol)
    counted = BitCounts.of(protocol, ones, reports)
    return decode(
        counted,
        names,
        confidence=confidence,
        correction=correction,
        penalty=None,
        places=places,
        progress=progress,
    )


def read_params(path: str | Path) -> Rappor:
    """The RAPPOR that a file of parameters describes; its hash functions are not ours.

    Raises:
        InputError: CEL-R097 it is no such file; or what `Rappor` refuses.
    """
    rows = [row for row in _rows(path) if row]
    if len(rows) != 2 or [each.strip() for each in rows[0]] != HEAD:
        raise InputError("CEL-R097.params", path=str(path))
    k, h, m, *chances = (each.strip() for each in rows[1])
    try:
        bits, hashes, cohorts = int(k), int(h), int(m)
        p, q, f = (float(each) for each in chances)
    except ValueError:
        raise InputError("CEL-R097.params", path=str(path)) from None
    return Rappor(bits=bits, hashes=hashes, cohorts=cohorts, p=p, q=q, f=f)


def _read_counts(path: str | Path, protocol: Rappor) -> tuple[Whole, Whole]:
    found = _numbers(list(_rows(path)), path)
    shape = (protocol.cohorts, protocol.bits + 1)
    if found.shape != shape or np.any(found < 0) or np.any(found[:, 1:] > found[:, :1]):
        raise InputError("CEL-R097.counts", path=str(path), rows=shape[0], columns=shape[1])
    return found[:, 0], found[:, 1:]


def _read_map(path: str | Path, protocol: Rappor) -> tuple[tuple[str, ...], Whole]:
    rows = {row[0]: row[1:] for row in _rows(path) if row}  # the last of equal texts
    size = protocol.hashes * protocol.cohorts
    places = _numbers(list(rows.values()), path) - 1
    cohorts = np.arange(size) // protocol.hashes
    if places.shape != (len(rows), size) or np.any(places // protocol.bits != cohorts):
        raise InputError("CEL-R097.map", path=str(path), columns=size + 1)
    return tuple(rows), places


def _numbers(rows: list[list[str]], path: str | Path) -> Whole:
    try:
        return np.array([[int(each) for each in row] for row in rows], dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError("CEL-R097.numbers", path=str(path)) from None


def _rows(path: str | Path) -> list[list[str]]:
    try:
        with Path(path).open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))
    except OSError as error:
        raise InputError("CEL-R097.unreadable", path=str(path), reason=reason_of(error)) from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError("CEL-R097.numbers", path=str(path)) from None
