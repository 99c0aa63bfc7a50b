"""Noise for several points of a person: draws that a key keeps, and draws that a test saves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.core.errors import PrivacyError
from celosia.core.pseudonyms.keys import Key
from celosia.core.randomness import Source
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.noise._kernels import OUT
from celosia.traces.planar.exact import one_draw
from celosia.traces.planar.law import DiscretePlanarLaplace

Whole = NDArray[np.int64]
WORDS = 64
"""Words of a key that one draw begins with; nearly all draws need fewer."""


def keyed_draws(
    law: DiscretePlanarLaplace, key: Key, labels: Iterable[tuple[str, ...]]
) -> tuple[Whole, Whole]:
    """One exact draw for each label: the same for the same label and key, whenever it is asked.

    Without the key, draws of different labels look independent and of the given law.
    """
    found = [_keyed_draw(law, key, label) for label in labels]
    places = np.array(found, dtype=np.int64).reshape(-1, 2)
    return places[:, 0], places[:, 1]


def _keyed_draw(law: DiscretePlanarLaplace, key: Key, label: tuple[str, ...]) -> tuple[int, int]:
    p, q = law.rate.numerator, law.rate.denominator
    words = WORDS
    while True:  # a longer stream begins with the shorter one: the draw stays the same
        units = np.frombuffer(key.stream(4 * words, "planar", str(p), str(q), *label), np.uint32)
        a, b, after = one_draw(units, 0, p, q)
        if after >= 0:
            return a, b
        if after != OUT:
            raise PrivacyError("CEL-M021")
        words *= 2


class Predicted(NamedTuple):
    """The places that are published, whether each point is, and how many draws there were."""

    x: Whole
    y: Whole
    shown: NDArray[np.bool_]
    draws: int


def predictive_draws(
    person: Whole,
    x: Whole,
    y: Whole,
    *,
    law: DiscretePlanarLaplace,
    test: DiscreteLaplace,
    reach: int,
    draws: int,
    rng: Source,
) -> Predicted:
    """The last place of a person is published again while a private test finds the person near it.

    The test compares max(|dx|, |dy|), a whole number of steps that moves by at most the distance
    that the person moves, with `reach` under noise. So n points and m draws of a person cost n
    tests and m draws. Once the draws are used up, points whose test fails are not published.

    Reference: Chatzikokolakis, Palamidessi, Stronati 2014, with the last output as prediction.

    Args:
        person: of each point, sorted; a person's points in the order of time.
        x: lattice coordinates.
        y: lattice coordinates.
        law: of the noise of a place.
        test: of the noise of a test.
        reach: the distance up to which the last place serves, in steps.
        draws: the most for one person.
        rng: where noise is drawn from.
    """
    size = person.size
    rank = np.arange(size) - np.searchsorted(person, person, side="left")
    order = np.argsort(rank, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(rank[order], prepend=-1)), size)
    last = np.zeros((2, int(person.max(initial=-1)) + 1), dtype=np.int64)
    used = np.zeros(last.shape[1], dtype=np.int64)
    out, shown = np.zeros((2, size), dtype=np.int64), np.zeros(size, dtype=np.bool_)
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        rows = order[begin:end]
        who = person[rows]
        far = np.ones(rows.size, dtype=np.bool_)
        if begin:  # the first point of a person has no prediction
            apart = np.maximum(abs(x[rows] - last[0, who]), abs(y[rows] - last[1, who]))
            far = apart + test.draw(rows.size, rng) > reach
        fresh = far & (used[who] < draws)
        east, north = law.draw(int(fresh.sum()), rng)
        last[0, who[fresh]] = x[rows[fresh]] + east
        last[1, who[fresh]] = y[rows[fresh]] + north
        used[who[fresh]] += 1
        out[:, rows] = last[:, who]
        shown[rows] = ~far | fresh
    return Predicted(out[0], out[1], shown, int(used.sum()))
