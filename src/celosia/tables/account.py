"""The account of a published table: guarantee, solution, warnings, risk before and after."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TypedDict

import numpy as np

from celosia.assess.risk import RiskProfile
from celosia.assess.utility.aggregates import Aggregates
from celosia.core.errors import PrivacyWarning
from celosia.core.messages import Message, joined
from celosia.core.release import Guarantee, Provenance
from celosia.tables.models import SensitiveModel
from celosia.tables.models.model import HOMOGENEITY
from celosia.tables.options import PublishOptions
from celosia.tables.protection import Protection
from celosia.tables.raw_columns import RawColumns
from celosia.tables.schema import Role
from celosia.tables.solution import ColumnOutcome, Solution
from celosia.tables.units import UnitOutcome


class Account(TypedDict):
    """Everything that a `PublishedTable` says beside its data, as its keyword arguments."""

    guarantee: Guarantee
    provenance: Provenance
    warnings: tuple[str, ...]
    solution: Solution
    risk: RiskProfile
    risk_before: RiskProfile
    raw: RawColumns | None
    intervals: Mapping[str, Aggregates]


def account(
    made_by: str, options: PublishOptions, protection: Protection, raw: RawColumns | None
) -> Account:
    """The guarantee, the solution and the risk of a release.

    Warnings are raised here as well as recorded.
    """
    units = protection.units
    # Suppressed records that show the same as a kept class are counted in it.
    apart = protection.records - int(protection.kept_sizes.sum())
    if units is not None:
        apart = units.suppressed
    notes = _warnings(options, protection)
    for note in notes:
        warnings.warn(note, PrivacyWarning, stacklevel=4)  # who called `publish`
    names = options.schema.named(Role.QUASI_IDENTIFIER)
    parameters = {"quasi_identifiers": list(names)} | options.as_dict()
    return {
        "guarantee": _guarantee(options),
        "provenance": Provenance.now(made_by, parameters, seed=options.rng.seed),
        "warnings": notes,
        "solution": _solution(protection, options),
        "risk": RiskProfile.of_sizes(protection.kept_sizes, suppressed=apart),
        "risk_before": RiskProfile.of_sizes(protection.raw_sizes),
        "raw": raw,
        "intervals": protection.intervals,
    }


def _warnings(options: PublishOptions, protection: Protection) -> tuple[str, ...]:
    notes = []
    if options.keep_order:
        notes.append(Message("tables.warning.original_order"))
    joint = protection.joint
    if joint is not None and joint.below:
        notes.append(
            Message("tables.warning.joint_below", units=joint.below, required=joint.required)
        )
    if joint is not None and joint.earlier and not joint.known:
        notes.append(Message("tables.warning.nobody_known", earlier=joint.earlier))
    if protection.units is not None and protection.units.singled_out:
        notes.append(_followed(protection.units))
    suppressed = protection.suppressed
    if options.drop_suppressed or not protection.crowd_fails:
        return tuple(notes)
    if suppressed < options.smallest and protection.units is None:
        notes.append(
            Message("tables.warning.few_suppressed", records=suppressed, smallest=options.smallest)
        )
    else:
        notes.append(
            Message(
                "tables.warning.suppressed_class",
                promises=joined("reports.joined.and", protection.crowd_fails),
            )
        )
    return tuple(notes)


def _guarantee(options: PublishOptions) -> Guarantee:
    names = list(options.schema.named(Role.QUASI_IDENTIFIER))
    promises = joined("reports.joined.and", (model.promise() for model in options.models))
    return Guarantee(
        promise=Message("tables.promise.over", promises=promises, columns=names),
        unit=_UNITS[options.schema.unit or "record"],
        protects=joined("reports.joined.semicolon", (model.protects() for model in options.models)),
        assumes=_assumes(options, names),
        leaves_open=_gaps(options),
        simulation=options.simulation,
    )


_UNITS = {
    "record": Message("tables.unit.record"),
    "person": Message("tables.unit.person"),
    "household": Message("tables.unit.household"),
}
"""What is protected, as the guarantee calls it."""


def _assumes(options: PublishOptions, names: list[str]) -> tuple[str, ...]:
    knows = Message("tables.assumes.knows", columns=names)
    if options.schema.unit_column is None:
        return Message("tables.assumes.one_record"), knows
    unit = _UNITS[options.schema.unit or "record"]
    return Message("tables.assumes.one_known_record", unit=unit), knows


def _followed(units: UnitOutcome) -> Message:
    """The warning that an attacker who knows all records of a unit may find it."""
    word = _UNITS[units.unit]
    return Message(
        "tables.warning.singled_out", unit=word, number=units.number, units=units.singled_out
    )


def _gaps(options: PublishOptions) -> tuple[str, ...]:
    """What the models leave open together: not what one of them closes for every column."""
    gaps = [gap for model in options.models for gap in model.leaves_open()]
    if options.schema.unit_column is not None:
        gaps.append(Message("tables.gaps.several_records"))
    closed = {gap for model in options.models for gap in model.closes()}
    diverse = {
        model.column
        for model in options.models
        if isinstance(model, SensitiveModel) and HOMOGENEITY in model.closes()
    }
    if not set(options.schema.named(Role.SENSITIVE)) <= diverse:
        closed.discard(HOMOGENEITY)
    return tuple(dict.fromkeys(gap for gap in gaps if gap not in closed))


def _solution(protection: Protection, options: PublishOptions) -> Solution:
    scale = protection.scale
    sizes, numbers = np.unique(protection.kept_sizes, return_counts=True)
    return Solution(
        rows=protection.records,
        suppressed=protection.suppressed,
        loss=scale.total(protection.leaf_sums),
        method=options.method,
        metric=options.metric.method_name,
        score=protection.score,
        rounds=protection.rounds,
        columns=tuple(
            ColumnOutcome(
                column.name,
                None if protection.levels is None else protection.levels[number],
                column.hierarchy.height,
                scale.column(number, protection.leaf_sums[number]),
            )
            for number, column in enumerate(protection.columns)
        ),
        smallest_allowed=options.smallest,
        class_sizes=dict(zip(sizes.tolist(), numbers.tolist(), strict=True)),
        search=protection.certificate,
        units=protection.units,
        joint=protection.joint,
    )
