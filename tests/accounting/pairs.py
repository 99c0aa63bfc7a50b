"""Plain oracles: finite pairs of laws, written out, and their divergences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from math import exp, log

Law = Mapping[Hashable, float]


def hockey_stick(one: Law, other: Law, epsilon: float) -> float:
    """Sum of (P - e^epsilon Q)^+."""
    return sum(max(0.0, mass - exp(epsilon) * other.get(at, 0.0)) for at, mass in one.items())


def worst(one: Law, other: Law, epsilon: float) -> float:
    """The larger of the two directions."""
    return max(hockey_stick(one, other, epsilon), hockey_stick(other, one, epsilon))


def renyi(one: Law, other: Law, order: float) -> float:
    """Of one from the other."""
    total = sum(
        exp(order * log(mass) + (1 - order) * log(other[at])) for at, mass in one.items() if mass
    )
    return log(total) / (order - 1)


def mixed(parts: list[tuple[float, Law]]) -> Law:
    """A mixture."""
    found: dict[Hashable, float] = defaultdict(float)
    for weight, law in parts:
        for at, mass in law.items():
            found[at] += weight * mass
    return found


def discrete_laplace(scale: float, shift: int = 0, reach: int = 200) -> Law:
    """P(x) proportional to e^(-|x - shift| / scale)."""
    base = exp(-1 / scale)
    return {x: (1 - base) / (1 + base) * base ** abs(x - shift) for x in range(-reach, reach + 1)}


def discrete_gaussian(variance: float, shift: int = 0, reach: int = 60) -> Law:
    """P(x) proportional to e^(-(x - shift)^2 / (2 variance))."""
    total = sum(exp(-(x**2) / (2 * variance)) for x in range(-reach, reach + 1))
    return {x: exp(-((x - shift) ** 2) / (2 * variance)) / total for x in range(-reach, reach + 1)}


Strategy = Callable[[tuple[int, ...]], float]
"""From the answers so far to the epsilon of the next randomised response; 0 asks nothing."""


def transcripts(
    strategy: Strategy, admit: Callable[[tuple[float, ...], float], bool], rounds: int
) -> list[tuple[tuple[float, ...], float, float]]:
    """All transcripts of an adaptive adversary that asks for randomised responses.

    Returns the epsilons that were admitted, and the probability under either hidden bit.
    """
    done: list[tuple[tuple[float, ...], float, float]] = []

    def walk(answers: tuple[int, ...], spent: tuple[float, ...], p: float, q: float) -> None:
        if len(answers) == rounds:
            done.append((spent, p, q))
            return
        epsilon = strategy(answers)
        if epsilon == 0 or not admit(spent, epsilon):
            walk((*answers, -1), spent, p, q)
            return
        truth = 1 / (1 + exp(-epsilon))
        walk((*answers, 1), (*spent, epsilon), p * truth, q * (1 - truth))
        walk((*answers, 0), (*spent, epsilon), p * (1 - truth), q * truth)

    walk((), (), 1.0, 1.0)
    return done
