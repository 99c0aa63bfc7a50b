"""Views: an output as one number or one category, from which events are made.

Whatever a view does is a fixed function of the output, that is post-processing: it can hide a leak
but never make one up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.assess.audit.outputs import (
    MappingPattern,
    Outputs,
    Path,
    SequencePattern,
    Values,
    path_words,
    pattern_words,
)
from celosia.core.messages import Message

MOST_CATEGORIES = 4096
MOST_COLUMNS = 48
MOST_SYMBOLS = 48
MOST_PREFIXES = 24
MOST_PAIRED = 6
"""How many of each are looked at, the most frequent first: time, not validity, is at stake."""


class View(ABC):
    """One number for each output; NaN where it has none."""

    words: str
    ordered: bool = True
    """Whether neighbouring values belong together, so that intervals are worth trying."""

    @abstractmethod
    def values(self, outputs: Outputs) -> Values:
        """The number of each output."""

    absent: str = Message("assess.view.absent")
    """What is said of outputs without a number."""
    detour: int = 1
    """How far it is from the output itself: of near equals the plainer view wins."""

    def name(self, value: float) -> str:
        """One value in words."""
        return f"{value:.12g}"

    def names(self, first: int, last: int) -> list[str]:
        """Categories that follow each other, in words."""
        return [self.name(code) for code in range(first, last + 1)]


@dataclass(frozen=True, slots=True, eq=False)
class ColumnView(View):
    """A number at one place of the output."""

    words: str
    path: Path
    detour: int = 0

    @classmethod
    def at(cls, path: Path) -> ColumnView:
        """The number at a place."""
        return cls(path_words(path), path)

    def values(self, outputs: Outputs) -> Values:
        return outputs.column(self.path)


@dataclass(frozen=True, slots=True, eq=False)
class LastBitView(View):
    """The place of the last binary digit of a float: noise made of floats betrays itself there.

    Sums of floats keep the coarser grid of their larger part, so some outputs are possible under
    one input only (Mironov 2012).
    """

    words: str
    path: Path

    @classmethod
    def at(cls, path: Path) -> LastBitView:
        """The last digit of the number at a place."""
        return cls(Message("assess.view.last_digit", place=path_words(path)), path)

    def values(self, outputs: Outputs) -> Values:
        numbers = outputs.column(self.path)
        usable = np.isfinite(numbers) & (numbers != 0)
        mantissa, exponent = np.frexp(np.where(usable, numbers, 1.0))
        digits = np.abs(mantissa * 2.0**53).astype(np.int64)  # exact: a mantissa has 53 bits
        place = exponent - 53 + np.log2((digits & -digits).astype(np.float64))
        return np.where(usable, place, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class SummaryView(View):
    """One number from all columns: their sum, greatest or least, or which is the greatest."""

    words: str
    paths: tuple[Path, ...]
    combine: Callable[[Values], Values]
    ordered: bool = True

    def values(self, outputs: Outputs) -> Values:
        table = np.column_stack([outputs.column(path) for path in self.paths])
        empty = np.isnan(table).all(axis=1)
        table[empty] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers may have no sum
            return np.where(empty, np.nan, self.combine(table))


@dataclass(frozen=True, slots=True, eq=False)
class CategoryView(View):
    """A property of the pattern of an output, among those that were seen often enough."""

    words: str
    known: dict[Hashable, int]
    of_pattern: Callable[[Hashable], Hashable]
    ordered: bool = False
    absent: str = Message("assess.view.unseen")
    detour: int = 0

    def values(self, outputs: Outputs) -> Values:
        codes = [self.known.get(self.of_pattern(pattern), np.nan) for pattern in outputs.patterns]
        return np.array(codes, dtype=np.float64)[outputs.codes]

    def name(self, value: float) -> str:
        return pattern_words(list(self.known)[int(value)])


@dataclass(frozen=True, slots=True, eq=False)
class TallyView(View):
    """How often a symbol or a key is in an output."""

    words: str
    symbol: Hashable

    def values(self, outputs: Outputs) -> Values:
        counts = [symbols(pattern).count(self.symbol) for pattern in outputs.patterns]
        return np.array(counts, dtype=np.float64)[outputs.codes]


@dataclass(frozen=True, slots=True, eq=False)
class PairedView(View):
    """A category together with the part of the line that a number lies in."""

    words: str
    category: CategoryView
    column: ColumnView
    edges: Values
    ordered: bool = False
    detour: int = 2

    def values(self, outputs: Outputs) -> Values:
        numbers = self.column.values(outputs)
        parts = np.searchsorted(self.edges, numbers, side="right")
        joint = self.category.values(outputs) * (self.edges.size + 1) + parts
        return np.where(np.isnan(numbers), np.nan, joint)

    def name(self, value: float) -> str:
        return self.names(int(value), int(value))[0]

    def names(self, first: int, last: int) -> list[str]:
        found: list[str] = []
        parts = self.edges.size + 1
        for code in range(first // parts, last // parts + 1):
            start, stop = max(first - code * parts, 0), min(last - code * parts, parts - 1)
            category = self.category.name(code)
            part = self._part(start, stop)
            found.append(
                Message("assess.view.pair", category=category, column=self.column.words, part=part)
            )
        return found

    def _part(self, start: int, stop: int) -> Message:
        """The part of the line between two edges."""
        low = high = None
        if start:
            low = Message("assess.event.at_least", value=f"{self.edges[start - 1]:.6g}")
        if stop < self.edges.size:
            high = Message("assess.event.below", value=f"{self.edges[stop]:.6g}")
        if low is not None and high is not None:
            return Message("assess.event.and", one=low, other=high)
        return low or high or Message("assess.view.any_number")


def symbols(pattern: Hashable) -> tuple[Hashable, ...]:
    """What a pattern is made of: the entries of a sequence, the keys of a dictionary."""
    if isinstance(pattern, SequencePattern):
        return pattern.items
    if isinstance(pattern, MappingPattern):
        return tuple(key for key, _ in pattern.items)
    return (pattern,)


def views(outputs: Outputs, *, last_bits: bool) -> Iterator[View]:
    """The views that make sense for outputs of this shape, apart from learned ones."""
    paths = tuple(frequent_paths(outputs))
    for path in paths:
        yield ColumnView.at(path)
        if last_bits and _has_fractions(outputs.column(path)):
            yield LastBitView.at(path)
    if len(paths) > 1:
        yield SummaryView(Message("assess.view.sum"), paths, lambda table: np.nansum(table, axis=1))
        yield SummaryView(
            Message("assess.view.greatest"), paths, lambda table: np.nanmax(table, axis=1)
        )
        yield SummaryView(
            Message("assess.view.least"), paths, lambda table: np.nanmin(table, axis=1)
        )
        yield SummaryView(Message("assess.view.place"), paths, _place_of_greatest, ordered=False)
    counts = np.bincount(outputs.codes, minlength=len(outputs.patterns))
    if np.count_nonzero(counts) > 1 or not paths:
        yield from _pattern_views(outputs, counts, paths)


def frequent_paths(outputs: Outputs) -> list[Path]:
    """The places at which outputs have a number, the most frequent first."""
    present = {path: int((~np.isnan(column)).sum()) for path, column in outputs.columns.items()}
    found = sorted((path for path in present if present[path]), key=lambda path: -present[path])
    return found[:MOST_COLUMNS]


def _pattern_views(
    outputs: Outputs, counts: NDArray[np.int64], paths: tuple[Path, ...]
) -> Iterator[View]:
    whole = _category("output", lambda pattern: pattern, outputs.patterns, counts)
    yield whole
    sequences = [pattern for pattern in outputs.patterns if isinstance(pattern, SequencePattern)]
    longest = max((len(pattern.items) for pattern in sequences), default=0)
    for length in _spread(longest - 1, MOST_PREFIXES):
        of = _prefix(length)
        yield _category(Message("assess.view.first", length=length), of, outputs.patterns, counts)
    tally: Counter[Hashable] = Counter()
    for pattern, count in zip(outputs.patterns, counts.tolist(), strict=True):
        if isinstance(pattern, SequencePattern | MappingPattern):
            tally.update(dict.fromkeys(symbols(pattern), count))
    for symbol, _ in tally.most_common(MOST_SYMBOLS):
        yield TallyView(Message("assess.view.often", symbol=pattern_words(symbol)), symbol)
    for path in paths[:MOST_PAIRED]:
        numbers = outputs.column(path)
        numbers = numbers[~np.isnan(numbers)]
        edges = np.unique(np.quantile(numbers, np.arange(1, 16) / 16, method="inverted_cdf"))
        column = ColumnView.at(path)
        yield PairedView(
            Message("assess.view.with", whole=whole.words, column=column.words),
            whole,
            column,
            edges,
        )


def _category(
    words: str,
    of_pattern: Callable[[Hashable], Hashable],
    patterns: list[Hashable],
    counts: NDArray[np.int64],
) -> CategoryView:
    tally: Counter[Hashable] = Counter()
    for pattern, count in zip(patterns, counts.tolist(), strict=True):
        tally[of_pattern(pattern)] += count
    known = [name for name, count in tally.most_common(MOST_CATEGORIES) if count]
    return CategoryView(words, {name: code for code, name in enumerate(known)}, of_pattern)


def _prefix(length: int) -> Callable[[Hashable], Hashable]:
    def of_pattern(pattern: Hashable) -> Hashable:
        return (
            SequencePattern(pattern.items[:length])
            if isinstance(pattern, SequencePattern)
            else pattern
        )

    return of_pattern


def _spread(most: int, count: int) -> list[int]:
    """At most `count` lengths from 1 to `most`."""
    if most < 1:
        return []
    return sorted({int(length) for length in np.linspace(1, most, min(most, count))})


def _place_of_greatest(table: Values) -> Values:
    places: Values = np.nanargmax(table, axis=1).astype(np.float64)
    return places


def _has_fractions(numbers: Values) -> bool:
    finite = numbers[np.isfinite(numbers)]
    return bool(np.any(finite != np.rint(finite)))


BINS = 32
MOST_CLASSES = 2**16
"""Patterns that a score tells apart; the rarer ones add nothing to it."""


@dataclass(frozen=True, slots=True, eq=False)
class LikelihoodRatioView(View):
    """The log-likelihood ratio as if all places of the output were independent.

    That is the best score there is for independent noise on every coordinate (Neyman & Pearson
    1933), and a fair one otherwise.
    """

    edges: dict[Path, Values]
    gains: dict[Path, Values]
    pattern_gains: Values
    words: str = Message("assess.view.likelihood")
    detour: int = 2

    @classmethod
    def learn(cls, first: Outputs, second: Outputs, paths: Sequence[Path]) -> LikelihoodRatioView:
        """From samples of both inputs."""
        edges, gains = {}, {}
        for path in paths:
            pooled = np.concatenate([first.column(path), second.column(path)])
            pooled = pooled[~np.isnan(pooled)]
            cuts = np.quantile(pooled, np.arange(1, BINS) / BINS, method="inverted_cdf")
            edges[path] = np.unique(cuts)
            parts = edges[path].size + 2
            gains[path] = _gain(
                _cells(first.column(path), edges[path]),
                _cells(second.column(path), edges[path]),
                parts,
            )
        known = min(len(first.patterns), MOST_CLASSES)
        pattern = _gain(np.minimum(first.codes, known), np.minimum(second.codes, known), known + 1)
        return cls(edges, gains, pattern)

    def values(self, outputs: Outputs) -> Values:
        score = self.pattern_gains[np.minimum(outputs.codes, self.pattern_gains.size - 1)]
        for path, edges in self.edges.items():
            score = score + self.gains[path][_cells(outputs.column(path), edges)]
        return score


@dataclass(frozen=True, slots=True, eq=False)
class DiscriminantView(View):
    """A weighted sum of the numbers: Fisher's discriminant, for coordinates that depend."""

    paths: tuple[Path, ...]
    centre: Values
    scale: Values
    weights: Values
    words: str = Message("assess.view.linear")
    detour: int = 2

    @classmethod
    def learn(cls, first: Outputs, second: Outputs, paths: Sequence[Path]) -> DiscriminantView:
        """From samples of both inputs."""
        tables = [np.column_stack([part.column(p) for p in paths]) for part in (first, second)]
        both = np.vstack(tables)
        finite = np.where(np.isfinite(both), both, 0.0)
        centre = np.median(finite / 2, axis=0) * 2  # halves: the mean of two may not be a float
        scale = np.maximum(np.abs(finite).max(axis=0), 1e-300)
        left, right = (_fill(table, centre, scale) for table in tables)
        spread = np.cov(np.vstack([left - left.mean(axis=0), right - right.mean(axis=0)]).T)
        gap = left.mean(axis=0) - right.mean(axis=0)
        weights = np.linalg.pinv(np.atleast_2d(spread)) @ gap
        return cls(tuple(paths), centre, scale, weights)

    def values(self, outputs: Outputs) -> Values:
        table = np.column_stack([outputs.column(path) for path in self.paths])
        score: Values = _fill(table, self.centre, self.scale) @ self.weights
        return score


def learned_views(first: Outputs, second: Outputs, paths: Sequence[Path]) -> Iterator[View]:
    """Scores for outputs that are more than one number, from those at some places."""
    if len(paths) > 1 or (paths and len(first.patterns) > 1):
        yield LikelihoodRatioView.learn(first, second, paths)
    if len(paths) > 1:
        yield DiscriminantView.learn(first, second, paths)


def _cells(numbers: Values, edges: Values) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The part of the line that each number lies in; the last one is for none."""
    cells = np.searchsorted(edges, numbers, side="right")
    return np.where(np.isnan(numbers), edges.size + 1, cells)


def _gain(
    first: np.ndarray[tuple[int], np.dtype[np.int64]],
    second: np.ndarray[tuple[int], np.dtype[np.int64]],
    parts: int,
) -> Values:
    """The log-ratio of each part; half a sample more keeps an empty one finite."""
    ours = np.bincount(first, minlength=parts) + 0.5
    theirs = np.bincount(second, minlength=parts) + 0.5
    gain: Values = np.log(ours / theirs)
    return gain


def _fill(table: Values, centre: Values, scale: Values) -> Values:
    """Missing and infinite numbers at the centre, so that they weigh nothing; others to scale.

    Numbers that were not learned from may be far larger: clipped, no sum of them overflows.
    """
    filled = np.where(np.isfinite(table), table, centre) / scale - centre / scale
    return np.clip(filled, -1e100, 1e100)
