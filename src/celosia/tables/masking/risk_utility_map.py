"""The risk-utility map: many methods and parameters on one table, to choose among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from celosia.assess.risk_utility import (
    Candidate,
    LossName,
    RiskName,
    RiskUtilityMap,
    risk_utility_map,
)
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.core.progress import Progress, Step, silent
from celosia.core.randomness import Source, System
from celosia.frames import TableLike, as_frame, pick
from celosia.tables.masking.account import evenly_spaced
from celosia.tables.masking.method import MaskingMethod
from celosia.tables.masking.recipe import method_from

USUAL: dict[str, dict[str, list[Any]]] = {
    "mdav": {"k": [3, 5, 10, 25]},
    "microaggregation": {"k": [3, 5, 10, 25]},
    "noise": {"amount": [0.05, 0.1, 0.2, 0.5]},
    "probabilistic-k": {"k": [3, 5, 10, 25]},
    "rank-swap": {"percent": [1, 5, 10, 20]},
}
"""What is tried on numbers where nothing else is asked for."""

MOST_MAPPED = 10_000
"""Records that each masking is measured on, evenly over the table."""


def variants(name: str, parameters: Mapping[str, Sequence[Any]]) -> dict[str, MaskingMethod]:
    """A method with every combination of some values of its parameters, by a short name.

    >>> list(variants("mdav", {"k": [3, 5]}))
    ['mdav k=3', 'mdav k=5']
    """
    keys = list(parameters)
    return {
        " ".join([name, *(f"{key}={value}" for key, value in zip(keys, chosen, strict=True))]): (
            method_from(name, dict(zip(keys, chosen, strict=True)))
        )
        for chosen in product(*parameters.values())
    }


def map_methods(
    data: TableLike,
    columns: Iterable[str],
    methods: Mapping[str, MaskingMethod] | None = None,
    *,
    risk: RiskName = "distance",
    loss: LossName = "il1s",
    rng: Source | None = None,
    progress: Progress = silent,
) -> RiskUtilityMap:
    """Mask the columns in many ways, and place each by the risk it leaves and what it loses.

    Args:
        data: the table (never changed).
        columns: what is masked, and what an attacker links by.
        methods: by name; by default usual methods for numbers with four strengths each, as far
            as they fit the table.
        risk: how records are linked (see `assess.risk_utility_map`).
        loss: what counts as lost.
        rng: where the methods draw from.
        progress: called before each masking; may raise `Cancelled`.

    Raises:
        InputError: a method refuses the columns; CEL-V020 a method that makes new rows, which
            cannot be linked.
    """
    rng = System() if rng is None else rng
    names = list(columns)
    tried = default_methods() if methods is None else dict(methods)
    frame = pick(as_frame(data), names)
    frame = frame[evenly_spaced(frame.height, MOST_MAPPED)]
    masked: dict[str, Candidate] = {"none": (frame, None)}
    for number, (label, method) in enumerate(tried.items()):
        progress(Step(Message("masking.stage.masking", method=label), number, len(tried)))
        try:
            done = method.apply(frame, names, rng=rng)
        except InputError:
            if methods is not None:  # of the usual ones, those that fit this table are tried
                raise
            continue
        if done.synthetic:
            raise InputError("CEL-V020", method=method.method_name)
        masked[label] = (done.frame, np.arange(frame.height) if done.rows is None else done.rows)
    return risk_utility_map(frame, masked, names, risk=risk, loss=loss, progress=progress)


def default_methods() -> dict[str, MaskingMethod]:
    """The usual methods for numbers, each in several strengths."""
    found: dict[str, MaskingMethod] = {}
    for name, parameters in USUAL.items():
        found |= variants(name, parameters)
    return found
