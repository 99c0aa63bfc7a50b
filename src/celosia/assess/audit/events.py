"""Events: unions of cells of a view of the outputs, and the selection of the best event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from math import exp, inf

import numpy as np
from numpy.typing import NDArray

from celosia.assess.audit.bounds import promise
from celosia.assess.audit.outputs import Outputs, Values
from celosia.assess.audit.result import Claim
from celosia.assess.audit.views import View, frequent_paths, learned_views, views
from celosia.core.messages import Message

CUTS = 48
ATOMS = 32
"""How many single values get a cell of their own: the most frequent, and the most telling."""
PENALTY = 0.003
"""An epsilon that an end of an interval must be worth: of near equals the plainer event wins."""
SHOWN = 3
"""How many parts of an event are put into words."""

Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Outputs whose number, in a view, lies in certain cells."""

    view: View
    edges: Values
    """Cell i goes from edge i-1 to below edge i; one more is for outputs without a number."""
    inside: Mask

    def count(self, outputs: Outputs) -> int:
        """In how many of the outputs it happens."""
        return int(self.inside[cells(self.view.values(outputs), self.edges)].sum())

    @property
    def words(self) -> Message:
        """Which outputs they are."""
        last = self.edges.size + 1
        held = np.flatnonzero(self.inside[:last])
        runs = np.split(held, np.flatnonzero(np.diff(held) > 1) + 1) if held.size else []
        parts: list[str] = [self._run(int(run[0]), int(run[-1])) for run in runs]
        if self.inside[last]:
            parts.append(self.view.absent)
        shown = _any_of(parts[:SHOWN])
        if len(parts) > SHOWN:
            shown = Message("assess.event.more", shown=shown, more=len(parts) - SHOWN)
        return Message("assess.event.whole", view=self.view.words, parts=shown)

    def __str__(self) -> str:
        return str(self.words)

    def _run(self, start: int, stop: int) -> Message:
        low = -inf if start == 0 else float(self.edges[start - 1])
        high = inf if stop == self.edges.size else float(self.edges[stop])
        if not self.view.ordered:
            first = int(np.ceil(max(low, 0.0)))
            names = self.view.names(first, first + stop - start)
            key = "assess.event.is_some" if len(names) > SHOWN else "assess.event.is"
            return Message(key, value=_any_of(names[:SHOWN]))
        if high == np.nextafter(low, inf):
            return Message("assess.event.is", value=self.view.name(low))
        ends = [self._low(start - 1)] if start else []
        ends += [self._high(stop)] if stop < self.edges.size else []
        if not ends:
            return Message("assess.event.any_number")
        both = Message("assess.event.and", one=ends[0], other=ends[-1])
        return Message("assess.event.is", value=both if len(ends) > 1 else ends[0])

    def _low(self, place: int) -> Message:
        # An edge just above a value that has a cell of its own reads better as that value.
        if self._follows(place):
            value = self.view.name(float(self.edges[place - 1]))
            return Message("assess.event.above", value=value)
        return Message("assess.event.at_least", value=self.view.name(float(self.edges[place])))

    def _high(self, place: int) -> Message:
        if self._follows(place):
            value = self.view.name(float(self.edges[place - 1]))
            return Message("assess.event.at_most", value=value)
        return Message("assess.event.below", value=self.view.name(float(self.edges[place])))

    def _follows(self, place: int) -> bool:
        """Whether an edge is the float after the edge before."""
        return place > 0 and bool(np.nextafter(self.edges[place - 1], inf) == self.edges[place])


def _any_of(parts: Sequence[str]) -> str:
    """Several parts with "or" between them."""
    return reduce(lambda one, other: Message("assess.event.or", one=one, other=other), parts)


@dataclass(frozen=True, slots=True, eq=False)
class SelectedEvent:
    """The most telling event, under which input it is likelier, and which claim it speaks to."""

    event: Event
    swapped: bool
    """Whether it is likelier under the second input."""
    claim: Claim
    excess: float
    """What the lower bound may exceed the claim by."""
    leak: SelectedEvent | None = None
    """The most frequent event that the other input never had, if it may contradict a claim."""


def select_event(
    learn: tuple[Outputs, Outputs],
    pick: tuple[Outputs, Outputs],
    claims: Sequence[Claim],
    *,
    error: float,
    confirming: int,
    last_bits: bool,
) -> SelectedEvent:
    """The event that promises the largest lower bound beyond a claim.

    Cells and scores are made from `learn` and judged on `pick`: an event that fits the noise of
    the samples which it was made from would look better than it is.

    Args:
        learn: samples of both inputs.
        pick: other samples of both inputs.
        claims: what the mechanism promises, at one or several deltas.
        error: the chance of error that each bound will be allowed.
        confirming: how many samples of each input will confirm the choice.
        last_bits: whether to look at the last digits of floats.
    """
    best: SelectedEvent | None = None
    leak: SelectedEvent | None = None
    scale = confirming / len(pick[0])
    pooled = _pool(learn)
    scored = learned_views(*learn, frequent_paths(pooled))
    for view in chain(views(pooled, last_bits=last_bits), scored):
        learnt = [view.values(outputs) for outputs in learn]
        edges = _edges(view, *learnt)
        size = edges.size + 2
        first, second = (np.bincount(cells(v, edges), minlength=size) for v in learnt)
        masks = CandidateEvents(first, second, ordered=view.ordered)
        picked = (view.values(outputs) for outputs in pick)
        counts = [masks.counts(np.bincount(cells(v, edges), minlength=size)) for v in picked]
        learned = [masks.counts(first), masks.counts(second)]
        scaled = [np.rint(count * scale).astype(np.int64) for count in counts]
        for swapped in (False, True):
            more, less = scaled[::-1] if swapped else scaled
            leaks = _leaks(learned, counts, swapped=swapped)
            place = int(np.argmax(leaks))
            for claim in claims:
                found = leaks[place] / len(pick[0]) / 2 - exp(claim.epsilon) / confirming
                if found > claim.delta and (leak is None or found - claim.delta > leak.excess):
                    event = Event(view, edges, masks.mask(place))
                    leak = SelectedEvent(event, swapped, claim, float(found - claim.delta))
            for claim in claims:
                excess = promise(more, less, confirming, delta=claim.delta, error=error)
                excess -= PENALTY * (masks.ends + view.detour)
                place = int(np.argmax(excess))
                found = float(excess[place]) - claim.epsilon
                if best is None or found > best.excess:
                    event = Event(view, edges, masks.mask(place))
                    best = SelectedEvent(event, swapped, claim, found)
    assert best is not None, "every output is a number or has a pattern"
    return replace(best, leak=leak)


def _leaks(learned: Sequence[Counts], picked: Sequence[Counts], *, swapped: bool) -> Counts:
    """How often each event was seen where the other input never had it; else 0.

    A rare event is judged by its count alone: for a ratio of chances there are too few of it.
    """
    one, other = (1, 0) if swapped else (0, 1)
    alone = (learned[other] == 0) & (picked[other] == 0)
    return np.where(alone, learned[one] + picked[one], 0)


class CandidateEvents:
    """Unions of cells worth trying, by their counts only; a mask is made for the one chosen."""

    def __init__(self, first: Counts, second: Counts, *, ordered: bool):
        self._cells = first.size
        # The likelihood ratio, by which the best unions are ordered (Neyman & Pearson 1933).
        ratio = np.log((first + 0.5) / (second + 0.5))
        self._order = np.argsort(-ratio, kind="stable")
        numbers = first.size - 1  # the last cell has no number
        self._filled = first + second > 0
        # What was never seen in learning says nothing, and is left out of every event.
        self._seen = np.ones(first.size, dtype=np.bool_)
        self._seen[-1] = first[-1] + second[-1] > 0
        starts, stops = np.triu_indices(numbers) if ordered else (np.arange(numbers),) * 2
        self._starts, self._stops = starts, stops + 1
        inner = (starts > 0).astype(np.int64) + (stops < numbers - 1)
        self.ends = np.concatenate([inner, inner, np.full(2 * numbers, 3)])
        """How many ends each candidate has."""

    def counts(self, cell_counts: Counts) -> Counts:
        """How many samples lie in each candidate."""
        cell_counts = cell_counts * self._seen
        below = np.concatenate([[0], np.cumsum(cell_counts)])
        runs = below[self._stops] - below[self._starts]
        ranked = np.cumsum(cell_counts[self._order])[:-1]
        total = below[-1]
        return np.concatenate([runs, total - runs, ranked, total - ranked])

    def mask(self, place: int) -> Mask:
        """The cells of one candidate."""
        mask = np.zeros(self._cells, dtype=np.bool_)
        runs = self._starts.size
        if place < 2 * runs:
            turned, within = divmod(place, runs)
            start, stop = self._starts[within], self._stops[within]
            if start > 0 and stop < self._cells - 1:  # an interval without its empty ends
                held = start + np.flatnonzero(self._filled[start:stop])
                start, stop = (held[0], held[-1] + 1) if held.size else (start, stop)
            mask[start:stop] = True
        else:
            turned, within = divmod(place - 2 * runs, self._cells - 1)
            mask[self._order[: within + 1]] = True
        return (~mask if turned else mask) & self._seen


def cells(values: Values, edges: Values) -> NDArray[np.int64]:
    """The cell of each number; the last one is for those that are not there."""
    found = np.searchsorted(edges, values, side="right")
    return np.where(np.isnan(values), edges.size + 1, found)


def _edges(view: View, first: Values, second: Values) -> Values:
    """Where to cut: between categories, or at quantiles and around telling values."""
    first, second = first[~np.isnan(first)], second[~np.isnan(second)]
    pooled = np.sort(np.concatenate([first, second]))
    if pooled.size == 0:
        return np.empty(0)
    if not view.ordered:
        return np.arange(pooled[-1]) + 0.5
    values, starts = np.unique(pooled, return_index=True)
    atoms = np.concatenate(list(_atoms(values, starts, first, pooled.size)))
    tails = 2.0 ** -np.arange(7, max(8, np.log2(pooled.size / 20)))
    levels = np.concatenate([np.arange(1, CUTS) / CUTS, tails, 1 - tails])
    cuts = pooled[(levels * pooled.size).astype(np.int64)]
    return np.unique(np.concatenate([cuts, atoms, np.nextafter(atoms, inf)]))


def _atoms(values: Values, starts: Counts, first: Values, total: int) -> Iterator[Values]:
    """Values that come again and again: the most frequent, and the most telling."""
    counts = np.diff(np.append(starts, total))
    repeated = counts >= max(5, total // 5000) if values.size > ATOMS else counts > 0
    values, counts = values[repeated], counts[repeated]
    if values.size == 0:
        yield values
        return
    ordered = np.sort(first)
    ours = np.searchsorted(ordered, values, side="right") - np.searchsorted(ordered, values)
    theirs = counts - ours
    yield values[np.argsort(-counts, kind="stable")[:ATOMS]]
    samples = max(first.size, total - first.size)
    for more, less in ((ours, theirs), (theirs, ours)):
        telling = promise(more, less, samples, delta=0.0, error=0.01)
        yield values[np.argsort(-telling, kind="stable")[: ATOMS // 2]]


def _pool(pair: tuple[Outputs, Outputs]) -> Outputs:
    """Both samples as one table."""
    first, second = pair
    paths = dict.fromkeys([*first.columns, *second.columns])
    columns = {p: np.concatenate([first.column(p), second.column(p)]) for p in paths}
    return Outputs(np.concatenate([first.codes, second.codes]), first.patterns, columns)
