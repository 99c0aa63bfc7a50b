"""Views learned from samples: scores that grow with the likelihood of one input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.assess.audit.outputs import Outputs, Path, Values
from celosia.assess.audit.views import View
from celosia.core.messages import Message

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
