"""Published samples: each a box in space and time, of a trace under a pseudonym."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from celosia.core.errors import InputError
from celosia.core.randomness import Source
from celosia.traces.plane import Plane
from celosia.traces.points import Traces
from celosia.traces.zones import iso_texts

POINT_COLUMNS = ("trace", "time", "latitude", "longitude")
BOX_COLUMNS = ("trace", "start", "end", "south", "west", "north", "east")


@dataclass(frozen=True, eq=False, kw_only=True)
class Samples:
    """Samples of traces, sorted by trace and start; a point is a box of one cell and one moment.

    `owner` tells whose each trace is: the curator's key, and never in a file that is published.
    """

    trace: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    box: NDArray[np.int32]
    """West, south, east, north of each sample, in steps of the lattice, both ends included."""
    owner: NDArray[np.int64]
    label: NDArray[np.int64] | None = None
    labels: tuple[str, ...] = ()
    shows_box: bool = False
    """Whether boxes are published, and not their centres and one moment."""

    @property
    def size(self) -> int:
        """The number of samples."""
        return int(self.trace.size)

    @property
    def traces(self) -> int:
        """The number of traces, empty ones too."""
        return int(self.owner.size)

    @property
    def centres(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The middle cell of each sample."""
        middle = (self.box[:, :2].astype(np.int64) + self.box[:, 2:]) // 2
        return middle[:, 0].astype(np.int32), middle[:, 1].astype(np.int32)

    @property
    def moments(self) -> NDArray[np.int64]:
        """The middle of the window of each sample."""
        return (self.start + self.end) // 2

    @property
    def persons(self) -> NDArray[np.int64]:
        """Whose each sample is."""
        return self.owner[self.trace]

    def shuffled(self, rng: Source) -> Samples:
        """The same under random numbers for traces: nothing tells in which order people came."""
        numbers = rng.permutation(self.traces)
        trace = numbers[self.trace]
        order = np.lexsort((self.box[:, 1], self.box[:, 0], self.start, trace))
        owner = np.empty_like(self.owner)
        owner[numbers] = self.owner
        return replace(
            self,
            trace=trace[order],
            start=self.start[order],
            end=self.end[order],
            box=self.box[order],
            owner=owner,
            label=None if self.label is None else self.label[order],
        )

    def frame(self, plane: Plane, zone: str, *, linked: bool = True) -> pl.DataFrame:
        """The table that is published.

        Args:
            plane: where the lattice lies.
            zone: of the times.
            linked: whether the number of the trace is published.
        """
        columns: dict[str, Any] = {"trace": self.trace} if linked else {}
        if self.shows_box:
            columns["start"] = iso_texts(self.start, zone)
            columns["end"] = iso_texts(self.end, zone)
            if self.label is not None:
                columns["place"] = np.array(self.labels, dtype=object)[self.label].tolist()
            columns["south"], columns["west"] = plane.corners(self.box[:, 0], self.box[:, 1])
            columns["north"], columns["east"] = plane.corners(
                self.box[:, 2] + 1, self.box[:, 3] + 1
            )
        else:
            columns["time"] = iso_texts(self.start, zone)
            columns["latitude"], columns["longitude"] = plane.places(*self.centres)
        return pl.DataFrame(columns)


def point_samples(traces: Traces, trace: NDArray[np.int64], owner: NDArray[np.int64]) -> Samples:
    """Points as samples of traces that were numbered before."""
    box = np.stack([traces.x, traces.y, traces.x, traces.y], axis=1)
    return Samples(trace=trace, start=traces.time, end=traces.time, box=box, owner=owner)


def segmented(traces: Traces, period: str) -> Samples:
    """The points as they are, as traces that last so long."""
    trace = traces.segments(period)
    first = np.unique(trace, return_index=True)[1]
    if period == "whole":  # also people without points have their number
        return point_samples(traces, trace, np.arange(traces.people, dtype=np.int64))
    return point_samples(traces, trace, traces.person[first].astype(np.int64))


def samples_from(frame: pl.DataFrame, plane: Plane) -> Samples:
    """The samples of a published table, for attacks on it; nobody's, since no key is known.

    Raises:
        InputError: CEL-J013 the table is no published one.
    """
    from celosia.traces.checks import seconds
    from celosia.traces.declaration import Declaration

    named = Declaration(zone="UTC")
    try:
        if "time" in frame.columns:
            start = end = seconds(frame["time"], named)
            x, y = plane.cells(frame["latitude"].to_numpy(), frame["longitude"].to_numpy())
            box = np.stack([x, y, x, y], axis=1)
        else:
            start, end = seconds(frame["start"], named), seconds(frame["end"], named)
            half = plane.step / 2 / 111_000
            low = plane.cells(frame["south"].to_numpy() + half, frame["west"].to_numpy() + half)
            high = plane.cells(frame["north"].to_numpy() - half, frame["east"].to_numpy() - half)
            box = np.stack([*low, *high], axis=1)
    except (pl.exceptions.ColumnNotFoundError, KeyError):
        raise InputError("CEL-J013.columns") from None
    if "trace" in frame.columns:
        trace = frame["trace"].cast(pl.Int64).to_numpy()
    else:
        trace = np.arange(frame.height, dtype=np.int64)
    size = int(trace.max(initial=-1)) + 1
    return Samples(
        trace=trace,
        start=start,
        end=end,
        box=box,
        owner=np.full(size, -1, dtype=np.int64),
        shows_box="start" in frame.columns,
    )
