"""Distance-based record linkage: is the nearest original record the one that was masked?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables
from celosia.assess.labels import label
from celosia.core.messages import Message, say_of
from celosia.core.methods import PlainValues, derived
from celosia.core.progress import Progress, Step, silent

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

_PIECE = 20_000
"""Queries answered between two steps of progress."""
_MOST_TREES = 500
"""Combinations of categories up to which each has a tree of its own."""
TIE = 1e-9
"""Distances whose ratio is this close to 1 are equal: they differ by rounding only."""


class NearestRecords(NamedTuple):
    """For each query, what lies nearest."""

    squared: Matrix
    """Squared distance; infinite where the query shares no column with any point."""
    first: NDArray[np.int64]
    """The first of the nearest points."""
    ties: NDArray[np.int64]
    """How many points are as near as that."""


class _Points(NamedTuple):
    """Different points, the first row of each in the table, and how many rows each has."""

    places: Matrix
    first: NDArray[np.int64]
    weights: NDArray[np.int64]

    def at(self, chosen: Mask | NDArray[np.int64]) -> _Points:
        return _Points(self.places[chosen], self.first[chosen], self.weights[chosen])


Search = Callable[[Matrix], NearestRecords]


def standardise(reference: Matrix, other: Matrix, nominal: Mask) -> tuple[Matrix, Matrix]:
    """Amounts in standard deviations of the reference from its mean; codes stay as they are.

    A column without any spread is left in its own unit: it is as far from every point.
    """
    scaled = reference.copy(), other.copy()
    for column in np.flatnonzero(~nominal):
        known = reference[:, column][~np.isnan(reference[:, column])]
        mean, deviation = (known.mean(), known.std()) if known.size else (0.0, 0.0)
        for side in scaled:
            side[:, column] = (side[:, column] - mean) / (deviation or 1.0)
    return scaled


def nearest(
    queries: Matrix,
    points: Matrix,
    nominal: Mask,
    *,
    progress: Progress = silent,
    stage: str | None = None,
) -> NearestRecords:
    """The points nearest to each query: Euclidean, with 0 or 1 for a category.

    Two records are compared on the columns that both have, and the squared distance is scaled up
    by the columns over those compared, as in Gower's coefficient. A query that shares no column
    with any point is equally near to all of them.

    >>> near = nearest(np.array([[1.0]]), np.array([[0.0], [2.0], [5.0]]), np.array([False]))
    >>> near.squared.tolist(), near.first.tolist(), near.ties.tolist()
    ([1.0], [0], [2])
    """
    asked, back = np.unique(queries, axis=0, return_inverse=True)
    places, first, weights = np.unique(points, axis=0, return_index=True, return_counts=True)
    search = _searcher(_Points(places, first.astype(np.int64), weights.astype(np.int64)), nominal)
    pieces = []
    stage = stage or Message("assess.stage.nearest")
    progress(Step(stage, 0, len(asked)))
    for start in range(0, len(asked), _PIECE):
        pieces.append(search(asked[start : start + _PIECE]))
        progress(Step(stage, min(start + _PIECE, len(asked)), len(asked)))
    squared, origin, ties = (np.concatenate(part) for part in zip(*pieces, strict=True))
    lost = np.isinf(squared)
    origin[lost], ties[lost] = 0, len(points)
    row = back.reshape(-1)
    return NearestRecords(squared[row], origin[row], ties[row])


def squared_distances(one: Matrix, other: Matrix, nominal: Mask) -> Matrix:
    """The squared distance of each record of one matrix to its fellow in the other."""
    gaps = one - other
    shared = (~np.isnan(gaps)).sum(axis=1)
    parts = np.where(nominal, gaps != 0, gaps**2)
    total = np.where(np.isnan(gaps), 0.0, parts).sum(axis=1)
    far = np.full(len(one), np.inf)
    return np.asarray(np.divide(total * one.shape[1], shared, out=far, where=shared > 0))


def is_as_near(true: Matrix, best: Matrix) -> Mask:
    """Whether a squared distance is the best one, but for rounding."""
    return np.asarray(true <= best * (1 + 3 * TIE))


def _searcher(points: _Points, nominal: Mask) -> Search:
    """Trees for what is whole, a scan for records with gaps, whichever side has them."""
    gappy = np.asarray(np.isnan(points.places).any(axis=1))
    whole, rest = points.at(~gappy), points.at(gappy)
    in_whole = _search_trees(whole, nominal) if len(whole.places) else None
    in_rest = _search_by_scan(rest, nominal) if len(rest.places) else None
    in_all = _search_by_scan(points, nominal)

    def search(queries: Matrix) -> NearestRecords:
        found = _nothing(len(queries))
        has_gaps = np.isnan(queries).any(axis=1)
        for wanted, part in ((~has_gaps, in_whole), (~has_gaps, in_rest), (has_gaps, in_all)):
            chosen = np.flatnonzero(wanted)
            if part is not None and chosen.size:
                _take(found, chosen, part(queries[chosen]))
        return found

    return search


def _nothing(count: int) -> NearestRecords:
    return NearestRecords(
        np.full(count, np.inf), np.zeros(count, np.int64), np.zeros(count, np.int64)
    )


def _take(found: NearestRecords, at: NDArray[np.int64], new: NearestRecords) -> None:
    """Take what was found among further points where it is nearer, or as near."""
    old = found.squared[at]
    nearer = new.squared < old * (1 - TIE)
    equal = ~nearer & (new.squared <= old * (1 + TIE)) & np.isfinite(old)
    found.ties[at[equal]] += new.ties[equal]
    found.first[at[equal]] = np.minimum(found.first[at[equal]], new.first[equal])
    for mine, other in zip(found, new, strict=True):
        mine[at[nearer]] = other[nearer]


def _search_trees(points: _Points, nominal: Mask) -> Search:
    """Search by k-d trees, one for each combination of categories, those most alike first."""
    combinations, member = np.unique(points.places[:, nominal], axis=0, return_inverse=True)
    member = member.reshape(-1)
    if nominal.all() or len(combinations) > _MOST_TREES:
        return _search_by_scan(points, nominal)
    trees = [
        _search_tree(points.at(np.flatnonzero(member == group)), ~nominal)
        for group in range(len(combinations))
    ]

    def search(queries: Matrix) -> NearestRecords:
        found = _nothing(len(queries))
        looks, look = np.unique(queries[:, nominal], axis=0, return_inverse=True)
        for number, own in enumerate(looks):
            at = np.flatnonzero(look.reshape(-1) == number)
            differ = (combinations != own).sum(axis=1)
            for group in np.argsort(differ, kind="stable").tolist():
                # A tree cannot hold anything nearer than its categories are.
                at = at[found.squared[at] * (1 + TIE) >= differ[group]]
                if not at.size:
                    break
                inside = trees[group](queries[at])
                _take(found, at, inside._replace(squared=inside.squared + differ[group]))
        return found

    return search


def _search_tree(points: _Points, amounts: Mask) -> Search:
    from scipy.spatial import cKDTree

    # Points are different, so sliding midpoints cannot degenerate, and they are quicker to build.
    tree = cKDTree(points.places[:, amounts], balanced_tree=False)

    def search(queries: Matrix) -> NearestRecords:
        where = queries[:, amounts]
        distance, place = tree.query(where, k=[1, 2])
        best, at = distance[:, 0], place[:, 0]
        first, ties = points.first[at], points.weights[at]
        # Only where the second is as near as the first are there more points to look for.
        shared = np.flatnonzero(distance[:, 1] <= best * (1 + TIE))
        found = tree.query_ball_point(where[shared], best[shared] * (1 + TIE))
        for query, places in zip(shared.tolist(), found, strict=True):
            first[query] = points.first[places].min()
            ties[query] = points.weights[places].sum()
        return NearestRecords(best**2, first, ties)

    return search


def _search_by_scan(points: _Points, nominal: Mask) -> Search:
    """Search along a sorted column."""
    # Categories first: where one differs, a pair is mostly too far already.
    turn = np.argsort(~nominal, kind="stable")
    points, is_code = points._replace(places=points.places[:, turn]), nominal[turn]
    # The column of amounts with the most values ends the search soonest.
    values = [
        0 if code else np.unique(cells).size
        for cells, code in zip(points.places.T, is_code.tolist(), strict=True)
    ]
    column = int(np.argmax(values))
    line = points.at(np.argsort(points.places[:, column], kind="stable"))  # NaN goes last

    def search(queries: Matrix) -> NearestRecords:
        from celosia.assess.linkage._kernels import scan  # compiled on first use

        return NearestRecords(
            *scan(
                np.ascontiguousarray(queries[:, turn]),
                np.ascontiguousarray(line.places),
                line.weights,
                line.first,
                is_code,
                column,
            )
        )

    return search


Measure = Literal["distance", "rank"]


class LinkedRecords(PlainValues):
    """What an attack that links records finds."""

    __slots__ = ()
    chances: NDArray[np.float64]
    """For each masked record, the chance that its link is right."""

    @property
    @derived
    def records(self) -> int:
        """Masked records."""
        return int(self.chances.size)

    @property
    @derived
    def share(self) -> float:
        """The expected share of masked records that are linked correctly (DLD)."""
        return float(self.chances.mean())


@dataclass(frozen=True, slots=True, eq=False)
class Linkage(LinkedRecords):
    """The masked records that an attacker with the original links correctly."""

    measure: Measure
    columns: tuple[str, ...]
    chances: NDArray[np.float64] = field(repr=False)
    """For each masked record, the chance that the link is right: 1/t where t original records are
    nearest and the true one is among them, else 0."""
    candidates: NDArray[np.int64] = field(repr=False)
    """For each masked record, how many original records are nearest."""
    nearest: NDArray[np.int64] = field(repr=False)
    """For each masked record, the first of them."""

    @property
    @derived
    def certain(self) -> int:
        """Masked records whose only nearest original record is the true one."""
        return int((self.chances == 1).sum())

    @property
    @derived
    def tied(self) -> int:
        """Masked records whose true record is one of several nearest ones."""
        return int(((self.chances > 0) & (self.chances < 1)).sum())

    def exposed(self, most: int = 10) -> tuple[int, ...]:
        """The rows of the masked table (from 0) with the surest links, at most `most`."""
        order = np.argsort(-self.chances, kind="stable")[:most]
        return tuple(order[self.chances[order] > 0].tolist())

    def __str__(self) -> str:
        return say_of("assess.line.linkage", self, measure=label(self.measure))

    def __repr__(self) -> str:
        return f"Linkage({self.measure!r}, records={self.records}, share={self.share:.4f})"


def distance_linkage(tables: AlignedTables, *, progress: Progress = silent) -> Linkage:
    """Link each masked record to the nearest original one.

    Amounts are in standard deviations of the original column and the distance is Euclidean;
    categories count 0 where they agree and 1 where not. A pair of records is compared on the
    columns that both have, its squared distance scaled up to all columns; a masked record without
    any value is as near to all of them.

    Raises:
        InputError: CEL-A206 the table is synthetic.

    >>> from celosia.assess.alignment import align
    >>> tables = align({"pay": [10, 20, 30]}, {"pay": [11, 25, 29]})
    >>> print(distance_linkage(tables))
    distance linkage: 83.33% of 3 masked records, 2 of them certain

    Reference: Pagliuca & Seri 1999; Domingo-Ferrer & Torra 2001.
    """
    scaled = standardise(tables.before, tables.after, tables.nominal)
    return _link(tables, "distance", *scaled, progress)


def rank_linkage(tables: AlignedTables, *, progress: Progress = silent) -> Linkage:
    """Link each masked record to the original one whose ranks are most like its own.

    Each amount is replaced by its rank within its own table, ties by their mean rank, in parts of
    the table, so that tables of different lengths compare. Ranks see through every masking that
    keeps the order, whatever it does to the scale. Categories and gaps count as in
    `distance_linkage`.

    Raises:
        InputError: CEL-A206 the table is synthetic.

    >>> from celosia.assess.alignment import align
    >>> tables = align({"pay": [10, 20, 30]}, {"pay": [100, 400, 900]})
    >>> distance_linkage(tables).share < rank_linkage(tables).share == 1
    True

    Reference: Nin, Herranz & Torra 2008.
    """
    return _link(
        tables,
        "rank",
        ranks(tables.before, tables.nominal),
        ranks(tables.after, tables.nominal),
        progress,
    )


def ranks(matrix: NDArray[np.float64], nominal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Amounts as mean ranks between 0 and 1; codes and gaps stay as they are.

    >>> ranks(np.array([[5.0], [7.0], [5.0], [9.0]]), np.array([False])).ravel().tolist()
    [0.25, 0.625, 0.25, 0.875]
    """
    ranked = matrix.copy()
    for column in np.flatnonzero(~nominal):
        known = ~np.isnan(matrix[:, column])
        if known.any():
            _, place, counts = np.unique(
                matrix[known, column], return_inverse=True, return_counts=True
            )
            middle = np.cumsum(counts) - counts / 2
            ranked[known, column] = middle[place] / known.sum()
    return ranked


def _link(
    tables: AlignedTables,
    measure: Measure,
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    progress: Progress,
) -> Linkage:
    origins = tables.origins()
    found = nearest(
        after,
        before,
        tables.nominal,
        progress=progress,
        stage=Message("assess.stage.linkage", measure=label(measure)),
    )
    true = squared_distances(after, before[origins], tables.nominal)
    right = is_as_near(true, found.squared)
    return Linkage(
        measure=measure,
        columns=tables.columns,
        chances=np.where(right, 1.0 / found.ties, 0.0),
        candidates=found.ties,
        nearest=found.first,
    )
