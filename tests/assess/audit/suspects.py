"""Mechanisms of textbooks on real numbers, right and wrong, as plain vectorised functions.

They are written down from their pseudocode, with floats, to be suspects only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.randomness import Source

Suspect = Callable[[Any, Source, int], Any]

FINE = 2.0**-20


def generator(rng: Source) -> np.random.Generator:
    return np.random.default_rng(rng.words(4))


def laplace(scale: float, *, rounded: bool = True) -> Suspect:
    """Rounded to a grid that both inputs lie on: the last bits of the floats are gone."""

    def draw(data: float, rng: Source, size: int) -> NDArray[np.float64]:
        noisy = data + generator(rng).laplace(scale=scale, size=size)
        return np.round(noisy / FINE) * FINE if rounded else noisy

    return draw


def gaussian(deviation: float) -> Suspect:
    def draw(data: float, rng: Source, size: int) -> NDArray[np.float64]:
        noisy = data + generator(rng).normal(scale=deviation, size=size)
        return np.round(noisy / FINE) * FINE

    return draw


def randomised_response(truth: float) -> Suspect:
    def draw(data: int, rng: Source, size: int) -> list[str]:
        told = np.where(generator(rng).random(size) < truth, data, 1 - data)
        return ["yes" if answer else "no" for answer in told]

    return draw


def sparse(
    *,
    threshold_scale: float,
    query_scale: float,
    positives: int | None,
    numbers: bool = False,
) -> Suspect:
    """Sparse vectors: tuples of 'below', 'above' or the noisy number that was compared."""

    def draw(data: list[float], rng: Source, size: int) -> list[tuple[Any, ...]]:
        numpy = generator(rng)
        secret = numpy.laplace(scale=threshold_scale, size=(size, 1))
        noise = numpy.laplace(scale=query_scale, size=(size, len(data))) if query_scale else 0.0
        noisy = np.asarray(data) + noise + np.zeros((size, 1))
        above = noisy >= secret
        if not numbers:  # few tuples are different: each is made once
            flags, places = np.unique(above, axis=0, return_inverse=True)
            tuples = cut(flags.tolist(), flags.tolist())
            return [tuples[place] for place in places.ravel().tolist()]
        return cut(noisy.tolist(), above.tolist())

    def cut(values_of: list[list[float]], flags_of: list[list[bool]]) -> list[tuple[Any, ...]]:
        found = []
        for values, flags in zip(values_of, flags_of, strict=True):
            answers: list[Any] = []
            left = positives
            for value, flag in zip(values, flags, strict=True):
                if left == 0:
                    break
                answers.append((value if numbers else "above") if flag else "below")
                left = left - 1 if flag and left is not None else left
            found.append(tuple(answers))
        return found

    return draw


def a1(epsilon: float, positives: int) -> Suspect:
    """The right one: Lyu, Su & Li 2017, Algorithm 1."""
    return sparse(
        threshold_scale=2 / epsilon, query_scale=4 * positives / epsilon, positives=positives
    )


def a3(epsilon: float, positives: int) -> Suspect:
    return sparse(
        threshold_scale=2 / epsilon,
        query_scale=2 * positives / epsilon,
        positives=positives,
        numbers=True,
    )


def a4(epsilon: float, positives: int) -> Suspect:
    return sparse(threshold_scale=4 / epsilon, query_scale=4 / (3 * epsilon), positives=positives)


def a5(epsilon: float) -> Suspect:
    return sparse(threshold_scale=2 / epsilon, query_scale=0, positives=None)


def a6(epsilon: float) -> Suspect:
    return sparse(threshold_scale=2 / epsilon, query_scale=2 / epsilon, positives=None)


def resampled_mean(epsilon: float, lower: float, upper: float) -> Suspect:
    """Algorithm 2: noise on the sum, divided by the exact count, drawn again until in range."""

    def draw(data: list[float], rng: Source, size: int) -> NDArray[np.float64]:
        numpy = generator(rng)
        if not data:
            return numpy.uniform(lower, upper, size)
        found = np.empty(0)
        while found.size < size:
            noise = numpy.laplace(scale=(upper - lower) / epsilon, size=size)
            means = (sum(data) + noise) / len(data)
            found = np.concatenate([found, means[(means >= lower) & (means <= upper)]])
        return found[:size]

    return draw


def clamped_mean(epsilon: float, lower: float, upper: float) -> Suspect:
    """Algorithm 3: noise on the sum, divided by the exact count, clamped to the range."""

    def draw(data: list[float], rng: Source, size: int) -> NDArray[np.float64]:
        numpy = generator(rng)
        if not data:
            edge = np.exp(-epsilon / 2)
            where = numpy.random(size)
            inner = numpy.uniform(lower, upper, size)
            return np.where(where < edge / 2, lower, np.where(where < edge, upper, inner))
        noise = numpy.laplace(scale=(upper - lower) / epsilon, size=size)
        return np.clip((sum(data) + noise) / len(data), lower, upper)

    return draw


def key_counts(threshold: float, scale: float) -> Suspect:
    """Counts of the keys in the data, released where the noisy count exceeds a threshold."""

    def draw(data: list[str], rng: Source, size: int) -> list[dict[str, float]]:
        numpy = generator(rng)
        exact = {key: data.count(key) for key in sorted(set(data))}
        noise = np.round(numpy.laplace(scale=scale, size=(size, len(exact))))
        return [
            {
                key: count + extra
                for (key, count), extra in zip(exact.items(), row, strict=True)
                if count + extra > threshold
            }
            for row in noise.tolist()
        ]

    return draw
