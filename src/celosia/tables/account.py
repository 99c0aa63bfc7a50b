"""What is told of a published table: guarantee, solution, warnings, risk before and after."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.assess.risk import RiskProfile
from celosia.core.errors import InputError, PrivacyWarning
from celosia.core.guarantee import Guarantee
from celosia.core.provenance import Provenance
from celosia.core.randomness import Source, System
from celosia.core.wording import counted
from celosia.tables.models import Model
from celosia.tables.recoding import Found, Lattice, allowance
from celosia.tables.schema import Role, Schema
from celosia.tables.solution import ColumnOutcome, Solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of a release, checked before any data is read."""

    models: Sequence[Model]
    suppression: float
    keep_order: bool = False
    drop_suppressed: bool = False
    randomness: Source = field(default_factory=System)

    def __post_init__(self) -> None:
        if not self.models:
            raise InputError(
                "CEL-P014", "no privacy model was given.", fix="Add one: KAnonymity(5)."
            )
        for model in self.models:
            if not isinstance(model, Model):
                raise InputError(
                    "CEL-P016",
                    f"a {type(model).__name__} is not a privacy model.",
                    fix="Write KAnonymity(5), or a list of models.",
                )
        if not isinstance(self.randomness, Source):
            raise InputError(
                "CEL-I006",
                f"a {type(self.randomness).__name__} is not a source of randomness.",
                fix="Leave it out for a real release, or write Seeded(7) for a simulation.",
            )
        allowance(self.suppression, 0)

    @property
    def smallest(self) -> int:
        """The fewest records that a class needs under all models."""
        return max(model.smallest for model in self.models)

    @property
    def simulation(self) -> bool:
        """Whether a seed had a part in the release: it has none where nothing is shuffled."""
        return self.randomness.simulation and not self.keep_order

    def as_dict(self) -> dict[str, Any]:
        """The parameters as plain values."""
        return {
            "models": [model.as_dict() for model in self.models],
            "suppression": self.suppression,
            "keep_order": self.keep_order,
            "drop_suppressed": self.drop_suppressed,
        }


def account(  # noqa: PLR0913 - the facts of a release, one by one
    made_by: str,
    wish: Wish,
    schema: Schema,
    lattice: Lattice,
    found: Found,
    *,
    kept_sizes: NDArray[np.int64],
) -> dict[str, Any]:
    """Everything that a `TableRelease` says beside its data, as its keyword arguments.

    Warnings are raised here as well as recorded.
    """
    notes = _warnings(wish, found.best.suppressed)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=3)
    names = schema.named(Role.QUASI_IDENTIFIER)
    parameters = {"quasi_identifiers": list(names)} | wish.as_dict()
    raw = lattice.class_table((0,) * len(names))
    return {
        "guarantee": _guarantee(wish, names),
        "provenance": Provenance.now(made_by, parameters, seed=wish.randomness.seed),
        "warnings": notes,
        "solution": _solution(lattice, found, kept_sizes),
        "risk": RiskProfile.of_sizes(kept_sizes, suppressed=found.best.suppressed),
        "risk_before": RiskProfile.of_sizes(raw.sizes),
    }


def _warnings(wish: Wish, suppressed: int) -> tuple[str, ...]:
    notes = []
    if wish.keep_order:
        notes.append(
            "The rows are in their original order: another release of the same table in the same "
            "order can be joined to this one row by row."
        )
    if 0 < suppressed < wish.smallest and not wish.drop_suppressed:
        notes.append(
            f"Only {counted(suppressed, 'record is', 'records are')} suppressed: whoever fits no "
            f"class must be among them, a crowd of fewer than {wish.smallest}. Drop suppressed "
            "records to close this."
        )
    return tuple(notes)


def _guarantee(wish: Wish, names: Sequence[str]) -> Guarantee:
    listed = ", ".join(names)
    gaps = [gap for model in wish.models for gap in model.leaves_open()]
    return Guarantee(
        promise=f"{' and '.join(model.promise() for model in wish.models)} over {listed}",
        unit="record",
        protects="; ".join(model.protects() for model in wish.models),
        assumes=(
            "each person has at most one record",
            f"of what the table holds, an attacker knows nothing of a person but {listed}",
        ),
        leaves_open=tuple(dict.fromkeys(gaps)),
        simulation=wish.simulation,
    )


def _solution(lattice: Lattice, found: Found, kept_sizes: NDArray[np.int64]) -> Solution:
    sizes, numbers = np.unique(kept_sizes, return_counts=True)
    best = found.best
    return Solution(
        rows=lattice.rows,
        suppressed=best.suppressed,
        loss=lattice.loss.total(best.leaf_sums),
        columns=tuple(
            ColumnOutcome(
                column.name,
                best.node[number],
                column.hierarchy.height,
                lattice.loss.column(number, best.leaf_sums[number]),
            )
            for number, column in enumerate(lattice.columns)
        ),
        class_sizes=dict(zip(sizes.tolist(), numbers.tolist(), strict=True)),
        search=found.certificate,
    )
