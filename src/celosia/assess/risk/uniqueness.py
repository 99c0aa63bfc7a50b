"""How many people are unique in the population, estimated from a sample of it.

A record that is alone in a sample need not be alone in the population, and only the latter is
surely found by an attacker who knows the population. Four ways to estimate, from the sizes of the
sample's classes and the share of the population that was sampled:

- Zayatz 1991: the population's class sizes are spread as the sample's are; Bayes gives the chance
  that a sample unique is a population unique.
- Pitman: the two-parameter Ewens-Pitman model fitted by maximum likelihood (Hoshino 2001).
- SNB: population classes have 1 + negative binomial members (Chen, Keller-McNulty 1998). Their
  number is estimated by the modified Shlosser estimator (Haas, Stokes 1998), their shape by the
  expected numbers of sample classes of one and of two.
- Dankar et al. 2012: Pitman up to a sampling fraction of 0.1; above, the lower of Zayatz and SNB.

No estimate exceeds sample uniques / sampling fraction: every population unique that was sampled is
a sample unique.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.assess.risk import _kernels
from celosia.assess.risk.attackers import check_fraction
from celosia.core.errors import InputError
from celosia.core.messages import say_of
from celosia.core.methods import PlainValues

Estimator = Literal["zayatz", "pitman", "snb"]
ESTIMATORS: tuple[Estimator, ...] = ("zayatz", "pitman", "snb")

_SMALL_FRACTION = 0.1
"""Up to this sampling fraction Dankar et al. found Pitman's model the most accurate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationUniqueness(PlainValues):
    """How many people are unique in the population, by each estimator and by the decision rule."""

    sample_records: int
    sample_uniques: int
    sampling_fraction: float
    estimates: dict[Estimator, float | None]
    """Population uniques by each model; None where no parameters of the model fit the sample."""
    chosen: Estimator
    """The model that the decision rule picks."""
    uniques: float
    """Population uniques by the model chosen."""
    share: float
    """The same as a share of the population, in [0, 1]."""

    def __str__(self) -> str:
        return say_of("assess.line.uniqueness", self)


def population_uniques(sizes: ArrayLike, sampling_fraction: float) -> PopulationUniqueness:
    """Estimates of population uniqueness from the sizes of the sample's classes.

    A sample without uniques gives 0, one in which all are unique gives the whole population, and a
    sample that is the population gives its own uniques, by every model.

    >>> found = population_uniques([1] * 60 + [2] * 15 + [10], 0.25)
    >>> found.chosen, round(found.share, 3)
    ('snb', 0.318)
    """
    fraction = check_fraction(sampling_fraction)
    distinct, counts = np.unique(_whole(sizes), return_counts=True)
    estimates = {name: _estimate(name, distinct, counts, fraction) for name in ESTIMATORS}
    chosen = _rule(estimates, fraction)
    records = int((distinct * counts).sum())
    uniques = estimates[chosen] or 0.0
    return PopulationUniqueness(
        sample_records=records,
        sample_uniques=_alone(distinct, counts),
        sampling_fraction=fraction,
        estimates=estimates,
        chosen=chosen,
        uniques=uniques,
        share=uniques * fraction / records if records else 0.0,
    )


def population_unique_share(
    size_counts: Mapping[int, int] | tuple[ArrayLike, ArrayLike], sampling_fraction: float
) -> float:
    """The share of the population that is unique, by the rule of Dankar et al.

    Takes how many classes there are of each size, as a mapping or as two arrays (sizes, how many),
    and computes only what the rule needs: well below a millisecond for a search that asks often.

    >>> round(population_unique_share({1: 60, 2: 15, 10: 1}, 0.25), 3)
    0.318
    """
    fraction = check_fraction(sampling_fraction)
    pair = (
        (list(size_counts), list(size_counts.values()))
        if isinstance(size_counts, Mapping)
        else size_counts
    )
    sizes, counts = _whole(pair[0]), _whole(pair[1], least=0)
    if sizes.size != counts.size:
        raise InputError("CEL-A023.counts", sizes=sizes.size, counts=counts.size)
    records = int((sizes * counts).sum())
    if not records:
        return 0.0
    wanted: tuple[Estimator, ...] = (
        ("pitman",) if fraction <= _SMALL_FRACTION else ("zayatz", "snb")
    )
    estimates = {name: _estimate(name, sizes, counts, fraction) for name in wanted}
    return (estimates[_rule(estimates, fraction)] or 0.0) * fraction / records


def _rule(estimates: Mapping[Estimator, float | None], fraction: float) -> Estimator:
    """The decision rule of Dankar et al.: which of the estimates to believe."""
    if fraction <= _SMALL_FRACTION:
        return "pitman"
    zayatz, snb = estimates["zayatz"], estimates["snb"]
    return "snb" if snb is not None and zayatz is not None and snb < zayatz else "zayatz"


def _estimate(
    name: Estimator, sizes: NDArray[np.int64], counts: NDArray[np.int64], fraction: float
) -> float | None:
    """Population uniques by one model; the cases without a choice are the same for all."""
    alone = _alone(sizes, counts)
    records = int((sizes * counts).sum())
    if alone == 0 or fraction == 1:
        return float(alone)
    if alone == records:
        return alone / fraction
    if name == "zayatz":
        found = _kernels.zayatz(sizes, counts, fraction)
    elif name == "pitman":
        theta, alpha = _kernels.fit_pitman(sizes, counts)
        found = _kernels.pitman_uniques(theta, alpha, records / fraction)
    else:
        total = _kernels.shlosser(sizes, counts, fraction)
        pairs = int(counts[sizes == 2].sum())
        found = _kernels.snb_uniques(total, alone, pairs, records / fraction, fraction)
    return None if found < 0 else min(float(found), alone / fraction)


def _alone(sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
    return int(counts[sizes == 1].sum())


def _whole(values: ArrayLike, *, least: int = 1) -> NDArray[np.int64]:
    """Whole numbers of at least `least`."""
    array = np.asarray(values)
    empty = array.size == 0
    if array.ndim != 1 or not (empty or array.dtype.kind in "iu") or (array < least).any():
        raise InputError("CEL-A023.sizes", least=least)
    return array.astype(np.int64)
