r"""Exact whole noise whose scale depends on the data.

Let S be a beta-smooth bound on the L1 sensitivity of d whole numbers f, and let each get discrete
Laplace noise of scale s = max(2 S / epsilon, 7/10), independently. Claim: with the beta of
`smooth_sensitivity.choose_beta` this is (epsilon, delta)-differentially private.

Proof. Let x, y be neighbours with scales s, t, and n the noise that gives an output on x. The law
has mass tanh(1/2s) exp(-|n|/s), so the loss is at most

    |f(x) - f(y)| / t  +  d ln(tanh(1/2s) / tanh(1/2t))  +  |n| (1/t - 1/s),

norms in L1. The first term (sliding) is at most S(y) / t <= epsilon/2. The others (dilation):

1. s < t. The last term is negative; tanh is concave with tanh(0) = 0, so the middle one is at most
   d ln(t/s) <= d beta <= epsilon/2, because rho >= d.
2. s >= t. With u = 1/s, the derivative of ln tanh(u/2) by ln u is u / sinh(u), which is at least
   u/2 where sinh(u) <= 2, that is for scales of at least 1/asinh(2) = 0.6927. So the middle term is
   at most -(d/2) (1/t - 1/s), and both together (|n| - d/2) (1/t - 1/s), which is at most
   (|n| - d/2) (e^beta - 1) / s. For q = exp(-1/s), P(|n_i| >= m) = 2 q^m / (1 + q) <= q^(m - 1/2):
   |n_i| - 1/2 is stochastically below an exponential variable of mean s, and |n| - d/2 below s
   times one of Gamma(d, 1). That exceeds rho', its 1 - delta quantile, with chance at most delta;
   else the term is at most rho' (e^beta - 1) <= epsilon/2, as beta <= ln(1 + epsilon / (2 rho')).

So the loss exceeds epsilon with chance at most delta. Scales are rational and may be rounded up by
2^-49 of themselves: s <= e^beta t still holds, as S was smoothed with a beta lowered by 2^-48.

Reference: Nissim, Raskhodnikova & Smith 2007, Lemma 2.6, which is for continuous noise.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from celosia.core.messages import Message
from celosia.core.randomness import Source
from celosia.mechanisms.noise import DiscreteLaplace
from celosia.mechanisms.noise.laws import MOST
from celosia.mechanisms.parameters import check_epsilon, check_whole

LEAST_SCALE = Fraction(7, 10)
"""Just above 1/asinh(2): see the proof."""


def smooth_scale(bound: Fraction, *, epsilon: object) -> Fraction:
    """The scale of the noise for a smooth bound in steps of the answer's grid.

    For the curator's eyes only.

    >>> smooth_scale(Fraction(270), epsilon=0.1)
    Fraction(5400, 1)
    """
    return max(2 * bound / check_epsilon(epsilon), LEAST_SCALE)


def smooth_noise(
    bound: Fraction, *, epsilon: object, size: int = 1, rng: Source
) -> tuple[int, ...]:
    """Exact noise for each of `size` cells of an answer that has a smooth bound.

    Guarantee: (epsilon, delta)-differential privacy for all cells together, under the neighbours
    of the bound, if it is `smooth(..., beta=beta(epsilon, delta, cells=size))`, at least `size`
    cells were meant there, and the bound itself stays secret.

    Args:
        bound: in steps of the grid that the answer is a whole multiple of. No noise is drawn only
            for 0, which no question about a private table has.
        epsilon: the one that beta was computed from.
        size: the number of cells.
        rng: where randomness comes from.

    Raises:
        InputError: CEL-I060 epsilon or the size is out of range.
    """
    count = check_whole(size, name=Message("queries.bounds.number_of_cells"))
    scale = smooth_scale(bound, epsilon=epsilon)
    if bound == 0:
        return (0,) * count
    if scale <= MOST:
        return tuple(DiscreteLaplace(scale).draw(count, rng).tolist())
    # Refusing here would tell that the frequencies are high, so wider noise is drawn as well.
    return tuple(wide_laplace(ceil(scale), rng) for _ in range(count))


def wide_laplace(scale: int, rng: Source) -> int:
    """One exact draw of discrete Laplace noise of any whole scale, without size limits.

    Reference: Canonne, Kamath & Steinke 2020, Algorithm 2 with s = 1.
    """
    while True:
        rest = _below(scale, rng)
        if not _exp(rest, scale, rng):
            continue
        turns = 0
        while _exp(1, 1, rng):
            turns += 1
        size = rest + scale * turns
        negative = _below(2, rng) == 1
        if not (negative and size == 0):
            return -size if negative else size


def _exp(top: int, bottom: int, rng: Source) -> bool:
    """A coin that shows heads with chance exp(-top/bottom), top <= bottom: Algorithm 1."""
    turn = 1
    while _below(bottom * turn, rng) < top:
        turn += 1
    return turn % 2 == 1


def _below(bound: int, rng: Source) -> int:
    """A uniform whole number from 0 to bound - 1, of any size."""
    bits = (bound - 1).bit_length()
    length = (bits + 7) // 8
    while True:
        found = int.from_bytes(rng.raw(length), "big") >> (8 * length - bits)
        if found < bound:
            return found
