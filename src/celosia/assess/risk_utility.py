"""The risk-utility map: many maskings of one table, each by the risk it leaves and its loss."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from celosia.assess.alignment import AlignedTables, align
from celosia.assess.linkage import distance_linkage, interval_disclosure, rank_linkage
from celosia.assess.utility.numeric import information_loss, marginals, moments, propensity
from celosia.core.errors import InputError
from celosia.core.messages import Message, did_you_mean, say
from celosia.core.methods import PlainValues
from celosia.core.progress import Progress, Step, silent
from celosia.frames import TableLike, as_frame

if TYPE_CHECKING:
    from celosia.core.figures import Svg

Rows = Sequence[int] | NDArray[np.int64] | None
Candidate = tuple[TableLike, Rows]
"""A masked table, and the original row of each of its rows (None: the same)."""
RiskName = Literal["distance", "rank", "interval", "highest"]
LossName = Literal["il1s", "squares", "pmse", "correlations", "total variation"]

_RISK_WORDS: dict[RiskName, str] = {
    "distance": Message("assess.measure.linked_distance"),
    "rank": Message("assess.measure.linked_rank"),
    "interval": Message("assess.measure.in_interval"),
    "highest": Message("assess.measure.linked_highest"),
}
_LOSS_WORDS: dict[LossName, str] = {
    "il1s": Message("assess.measure.il1s"),
    "squares": Message("assess.measure.squares"),
    "pmse": Message("assess.measure.pmse"),
    "correlations": Message("assess.measure.correlations"),
    "total variation": Message("assess.measure.mean_variation"),
}


@dataclass(frozen=True, slots=True)
class MapPoint(PlainValues):
    """One masking of the table."""

    name: str
    risk: float
    loss: float
    is_best: bool
    """No other has less risk and no more loss, or less loss and no more risk."""


@dataclass(frozen=True, slots=True)
class RiskUtilityMap:
    """Maskings of one table by risk and loss."""

    points: tuple[MapPoint, ...]
    risk: RiskName
    loss: LossName

    @property
    def best(self) -> tuple[MapPoint, ...]:
        """The Pareto front, by growing loss."""
        front = [point for point in self.points if point.is_best]
        return tuple(sorted(front, key=lambda point: (point.loss, point.risk)))

    def within(self, most_risk: float) -> MapPoint | None:
        """The masking of least loss with at most this risk; None where there is none."""
        fitting = [point for point in self.points if point.risk <= most_risk]
        return min(fitting, key=lambda point: (point.loss, point.risk), default=None)

    def plot(self, *, title: str = "") -> Svg:
        """A drawing: a look for each method (the first word of a name), rings at the best."""
        from celosia.core.figures import risk_map  # matplotlib is slow to load

        return risk_map(
            [(point.name, point.loss, point.risk) for point in self.points],
            title=title or say("assess.report.map_title"),
            x_label=str(_LOSS_WORDS[self.loss]),
            y_label=str(_RISK_WORDS[self.risk]),
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "risk": self.risk,
            "loss": self.loss,
            "points": [point.as_dict() for point in self.points],
            "best": [point.name for point in self.best],
        }

    def __str__(self) -> str:
        names = ", ".join(point.name for point in self.best)
        return say("assess.line.map", maskings=len(self.points), names=names)


def risk_utility_map(
    original: TableLike,
    candidates: Mapping[str, Candidate],
    columns: Sequence[str] | None = None,
    *,
    risk: RiskName = "distance",
    loss: LossName = "il1s",
    nominal: Collection[str] = (),
    progress: Progress = silent,
) -> RiskUtilityMap:
    """Measure maskings of one table by the risk that they leave and what they lose.

    Args:
        original: the table before.
        candidates: by name, the masked table and the original row of each of its rows; the first
            word of a name is its method, the rest its parameters ("mdav k=5").
        columns: what is compared; by default every column that a masked table shares.
        risk: `distance` or `rank` linkage, the `highest` of both, or `interval` disclosure by rank.
        loss: `il1s`, `squares` (SSE/SST), `pmse`, `correlations` or `total variation`.
        nominal: columns of numbers that are only names.
        progress: called as the work proceeds; may raise `Cancelled`.

    Raises:
        InputError: CEL-A240 no candidates, CEL-A241 a measure that does not exist, and those of
            `align` and of the measures.

    >>> ages = {"age": [21, 22, 25, 29]}
    >>> tried = {"none": (ages, None), "mdav k=2": ({"age": [21.5, 21.5, 27, 27]}, None)}
    >>> [(point.name, point.risk, round(point.loss, 3)) for point in
    ...  risk_utility_map(ages, tried).points]
    [('none', 1.0, 0.0), ('mdav k=2', 0.5, 0.246)]

    Reference: Duncan, Keller-McNulty & Stokes 2001.
    """
    if not candidates:
        raise InputError("CEL-A240")
    _check_measure("CEL-A241.risk", risk, get_args(RiskName))
    _check_measure("CEL-A241.loss", loss, get_args(LossName))
    before = as_frame(original)
    found: list[tuple[str, float, float]] = []
    for done, (name, (masked, rows)) in enumerate(candidates.items()):
        progress(Step(Message("assess.stage.map"), done, len(candidates)))
        tables = align(before, masked, columns, rows=rows, nominal=nominal)
        found.append((name, RISKS[risk](tables), LOSSES[loss](tables)))
    progress(Step(Message("assess.stage.map"), len(candidates), len(candidates)))
    return RiskUtilityMap(
        tuple(MapPoint(name, r, x, not _is_beaten(r, x, found)) for name, r, x in found),
        risk,
        loss,
    )


def _is_beaten(risk: float, loss: float, points: Sequence[tuple[str, float, float]]) -> bool:
    return any(r <= risk and x <= loss and (r < risk or x < loss) for _, r, x in points)


def _check_measure(key: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise InputError(key, known=known, name=name, hint=did_you_mean(name, known))


RISKS: dict[RiskName, Callable[[AlignedTables], float]] = {
    "distance": lambda tables: distance_linkage(tables).share,
    "rank": lambda tables: rank_linkage(tables).share,
    "interval": lambda tables: interval_disclosure(tables).by_rank,
    "highest": lambda tables: max(distance_linkage(tables).share, rank_linkage(tables).share),
}
LOSSES: dict[LossName, Callable[[AlignedTables], float]] = {
    "il1s": lambda tables: information_loss(tables).il1s,
    "squares": lambda tables: information_loss(tables).squares,
    "pmse": lambda tables: propensity(tables).pmse,
    "correlations": lambda tables: moments(tables).correlation_change,
    "total variation": lambda tables: float(
        np.mean([each.total_variation for each in marginals(tables)])
    ),
}
