"""Hot loops of risk: estimators of population uniqueness, and the grouping of column subsets.

Every kernel takes arrays and scalars only; `tests/assess/risk` holds a plain twin of each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.core.kernels import njit

Array = NDArray[Any]


@njit(cache=True, nogil=True)
def digamma_step(start: float, step: float) -> float:
    """digamma(start + step) - digamma(start), without the loss of a difference of large numbers."""
    total = 0.0
    while start < 10.0:
        total += 1.0 / start - 1.0 / (start + step)
        start += 1.0
    low, high = 1.0 / start, 1.0 / (start + step)
    total += math.log1p(step / start) - 0.5 * (high - low)
    low, high = low * low, high * high
    total -= (high - low) / 12.0
    total += (high * high - low * low) / 120.0
    total -= (high**3 - low**3) / 252.0
    return total + (high**4 - low**4) / 240.0


@njit(cache=True, nogil=True)
def log_gamma_step(start: float, step: float) -> float:
    """The same for the logarithm of the gamma function."""
    if start < 1e4:
        return math.lgamma(start + step) - math.lgamma(start)
    end = start + step
    curve = step * math.log(start) + (end - 0.5) * math.log1p(step / start) - step
    return curve + (1.0 / end - 1.0 / start) / 12.0 - (1.0 / end**3 - 1.0 / start**3) / 360.0


@njit(cache=True, nogil=True)
def zayatz(sizes: Array, counts: Array, fraction: float) -> float:
    """Expected population uniques if population classes were spread as those of the sample are."""
    records = 0.0
    for place in range(sizes.size):
        records += sizes[place] * counts[place]
    people = records / fraction
    weight, alone = 0.0, 0.0
    for place in range(sizes.size):
        size = float(sizes[place])
        left = people - records - size + 2.0
        if size == 1.0:
            chance = fraction
            alone = counts[place]
        elif left < 1.0:
            continue  # so many would be in the sample that never just one is
        else:
            drawn = log_gamma_step(left, size - 1.0)
            drawn -= log_gamma_step(people - size + 1.0, size - 1.0)
            chance = size * fraction * math.exp(drawn)
        weight += counts[place] * chance
    return alone * alone / weight if weight > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _theta_slope(theta: float, alpha: float, classes: float, records: float) -> float:
    """Derivative of the Ewens-Pitman log-likelihood by theta."""
    if alpha == 0.0:
        gain = (classes - 1.0) / theta
    else:
        gain = digamma_step(theta / alpha + 1.0, classes - 1.0) / alpha
    return gain - digamma_step(theta + 1.0, records - 1.0)


@njit(cache=True, nogil=True)
def _best_theta(alpha: float, classes: float, records: float) -> float:
    """The theta of highest likelihood for an alpha: above -alpha, and finite if not all differ."""
    low, high = math.log(1e-12), math.log(1e4 * records * records)
    for _ in range(52):
        middle = 0.5 * (low + high)
        if _theta_slope(math.exp(middle) - alpha, alpha, classes, records) > 0.0:
            low = middle
        else:
            high = middle
    return math.exp(0.5 * (low + high)) - alpha


@njit(cache=True, nogil=True)
def _alpha_slope(theta: float, alpha: float, classes: float, sizes: Array, counts: Array) -> float:
    """Derivative of the Ewens-Pitman log-likelihood by alpha."""
    last = classes - 1.0
    if alpha * classes < 1e-4 * theta:
        ratio = alpha / theta
        squares = last * classes * (2.0 * last + 1.0) / 6.0
        cubes = (0.5 * last * classes) ** 2
        gain = (0.5 * last * classes - ratio * squares + ratio * ratio * cubes) / theta
    else:
        gain = (last - theta / alpha * digamma_step(theta / alpha + 1.0, last)) / alpha
    for place in range(sizes.size):
        if sizes[place] > 1:
            gain -= counts[place] * digamma_step(1.0 - alpha, sizes[place] - 1.0)
    return gain


@njit(cache=True, nogil=True)
def fit_pitman(sizes: Array, counts: Array) -> tuple[float, float]:
    """Theta and alpha of highest likelihood; needs at least two classes and one above size 1."""
    classes, records = 0.0, 0.0
    for place in range(sizes.size):
        classes += counts[place]
        records += sizes[place] * counts[place]
    theta = _best_theta(0.0, classes, records)
    if _alpha_slope(theta, 0.0, classes, sizes, counts) <= 0.0:
        return theta, 0.0
    low, high = 0.0, 1.0
    for _ in range(40):
        alpha = 0.5 * (low + high)
        theta = _best_theta(alpha, classes, records)
        if _alpha_slope(theta, alpha, classes, sizes, counts) > 0.0:
            low = alpha
        else:
            high = alpha
    alpha = 0.5 * (low + high)
    return _best_theta(alpha, classes, records), alpha


@njit(cache=True, nogil=True)
def pitman_uniques(theta: float, alpha: float, people: float) -> float:
    """Expected classes of size 1 among `people` drawn from an Ewens-Pitman model."""
    start = log_gamma_step(theta + alpha, 1.0 - alpha)
    return people * math.exp(start - log_gamma_step(theta + alpha + people - 1.0, 1.0 - alpha))


@njit(cache=True, nogil=True)
def shlosser(sizes: Array, counts: Array, fraction: float) -> float:
    """How many classes the population has: Haas and Stokes' modified Shlosser estimator."""
    missed, once, square, twice = 0.0, 0.0, 0.0, 0.0
    classes, alone = 0.0, 0.0
    rest = 1.0 - fraction
    for place in range(sizes.size):
        size, count = float(sizes[place]), float(counts[place])
        classes += count
        if size == 1.0:
            alone = count
        missed += rest**size * count
        once += size * fraction * rest ** (size - 1.0) * count
        square += size * fraction**2 * (1.0 - fraction**2) ** (size - 1.0) * count
        twice += rest**size * math.expm1(size * math.log1p(fraction)) * count
    return classes + alone * square / twice * (missed / once) ** 2


@njit(cache=True, nogil=True)
def _snb_start(variance: float, ratio: float, fraction: float) -> tuple[float, float, float]:
    """For a shape of the thinned part: its rate, its chance of 0, and the chance of one record."""
    rest = 1.0 - fraction
    slope = rest * (variance - 2.0 * ratio) + 2.0 * fraction
    root = math.sqrt(slope * slope + 8.0 * rest * ratio * fraction)
    rate = 4.0 * ratio * fraction / (slope + root) if slope > 0.0 else (root - slope) / (2 * rest)
    weight = -1.0 if variance == 0.0 else math.log1p(-variance) / variance
    return rate, weight, math.exp(rate * weight) * (fraction + rest * rate)


@njit(cache=True, nogil=True)
def snb_uniques(
    classes: float, alone: float, pairs: float, people: float, fraction: float
) -> float:
    """Population uniques by the shifted negative binomial; -1 if no shape has these moments.

    A population class has 1 + NB(a, b) members, so its sample has Bernoulli(f) + NB(a, c). With
    v = 1 - c and t = a v, the expected classes of one and of two records give t for every v, and
    one equation in v is left. Of several roots the one whose mean size fits the population best
    is taken.
    """
    ratio = pairs / alone
    if ratio == 0.0:
        return classes
    target = alone / classes
    wanted = people / classes - 1.0
    best, nearest = -1.0, math.inf
    steps = 200
    before = _snb_start(0.0, ratio, fraction)[2] - target
    for step in range(1, steps + 1):
        edge = step / steps * (1.0 - 1e-9)
        after = _snb_start(edge, ratio, fraction)[2] - target
        if (before > 0.0) != (after > 0.0):
            low, high = (step - 1) / steps * (1.0 - 1e-9), edge
            for _ in range(48):
                middle = 0.5 * (low + high)
                value = _snb_start(middle, ratio, fraction)[2] - target
                if (value > 0.0) == (before > 0.0):
                    low = middle
                else:
                    high = middle
            variance = 0.5 * (low + high)
            rate = _snb_start(variance, ratio, fraction)[0]
            mean = rate / (1.0 - variance) / fraction
            if abs(mean - wanted) < nearest:
                nearest = abs(mean - wanted)
                chance = 1.0 - variance
                beta = chance * fraction / (1.0 - chance * (1.0 - fraction))
                best = classes * math.exp(rate / variance * math.log(beta))
        before = after
    return best


@njit(cache=True, nogil=True)
def refine(
    groups: Array, codes: Array, weights: Array, keys: Array, owners: Array
) -> tuple[Array, Array]:
    """Split groups by one more column: the new group of each row, and the weight of each group.

    Groups are numbered by first appearance. `keys` and `owners` are slots, a power of two and at
    least twice as many as rows; `owners` is all -1 and is left so.
    """
    rows = groups.size
    mask = owners.size - 1
    bits = 0
    while 1 << bits < owners.size:
        bits += 1
    shift = np.uint64(64 - bits)
    split = np.empty(rows, dtype=np.int32)
    used = np.empty(rows, dtype=np.int64)
    sizes = np.empty(rows, dtype=np.int64)
    found = 0
    for row in range(rows):
        key = (np.int64(groups[row]) << 32) | np.int64(codes[row])
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while owners[slot] >= 0 and keys[slot] != key:
            slot = (slot + 1) & mask
        if owners[slot] < 0:
            keys[slot] = key
            owners[slot] = found
            used[found] = slot
            sizes[found] = 0
            found += 1
        split[row] = owners[slot]
        sizes[owners[slot]] += weights[row]
    for place in range(found):
        owners[used[place]] = -1
    return split, sizes[:found]
