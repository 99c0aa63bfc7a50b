"""The account of a published table: how it was recoded, guarantee, warnings, risk before and after.

Sensitive and insensitive columns leave the table unchanged. If many records are unique on them, an
attacker who knows those values finds the records whatever the quasi-identifiers show. So they are
measured before anything is written, and such a release is refused unless the officer accepts the
columns in writing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypedDict

import numpy as np

from celosia.assess.risk import RiskProfile
from celosia.assess.risk.combinations import (
    FEWEST_TOGETHER,
    MOST_ALONE,
    Count,
    Uniqueness,
    protected_first,
)
from celosia.assess.utility.aggregates import FRACTIONS, Aggregates
from celosia.core.errors import InputError, PrivacyError, PrivacyWarning
from celosia.core.messages import Message, joined, number, quoted_names, say
from celosia.core.methods import PlainValues
from celosia.core.progress import Timings
from celosia.core.release import Guarantee, Provenance
from celosia.tables.history.joint import JointOutcome
from celosia.tables.models import SensitiveModel
from celosia.tables.models.model import HOMOGENEITY
from celosia.tables.options import PublishOptions
from celosia.tables.protection import Protection
from celosia.tables.recoding.search import Certificate
from celosia.tables.schema import Role, Schema
from celosia.tables.units import UnitOutcome


@dataclass(frozen=True, slots=True)
class ColumnOutcome(PlainValues):
    """How far one quasi-identifier was generalised, and what that and suppression cost it."""

    name: str
    level: int | None
    """None where records have levels or ranges of their own."""
    height: int
    loss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution(PlainValues):
    """How the table was recoded, as facts about the release."""

    rows: int
    suppressed: int
    loss: float
    """Information lost, in [0, 1]: 0 is the raw table, 1 tells nothing."""
    method: str
    """`lattice`, `mondrian` or `mondrian-relaxed`."""
    metric: str
    score: float
    """By the metric that was kept least, from 0 to 1; the loss by default. Records that an empty
    cell suppresses before the search count in `loss` only."""
    rounds: int
    """1 for one node; more where suppressed records were recoded again by themselves."""
    columns: tuple[ColumnOutcome, ...]
    smallest_allowed: int
    """The fewest records that the models allow a class to have."""
    class_sizes: dict[int, int]
    """How many kept classes have each size."""
    search: Certificate | None
    """The account of the lattice search; Mondrian and local recoding have none."""
    units: UnitOutcome | None = None
    """What becomes of people or households, where these are counted instead of records."""
    joint: JointOutcome | None = None
    """What the release is worth together with earlier ones of the same source."""

    @property
    def levels(self) -> tuple[int | None, ...]:
        """The node: a level for each quasi-identifier, where all records share one."""
        return tuple(column.level for column in self.columns)

    @property
    def suppressed_share(self) -> float:
        """Share of the records that were suppressed."""
        return self.suppressed / self.rows


MOST_DIGITS = 10**15
"""Larger numbers of nodes are rounded."""


def describe_search(solution: Solution, *, chosen: bool = False) -> Message:
    """Whether the solution is the best there is, and else how much better another could be.

    Args:
        solution: what was found.
        chosen: whether the officer chose the levels.
    """
    search = solution.search
    if solution.rounds > 1:
        return Message("tables.report.local_rounds", rounds=solution.rounds)
    if search is None:
        return Message("tables.report.greedy")
    if chosen:
        others = format_count(search.nodes - 1)
        return Message("tables.report.by_hand", others=others)
    if search.is_optimal:
        return Message("tables.report.optimal", nodes=format_count(search.nodes))
    return Message(
        "tables.report.not_proven",
        metric=metric_name(solution.metric),
        score=solution.score,
        at_least=search.at_least,
        gap=gap_of(solution),
    )


def gap_of(solution: Solution) -> float:
    """By how much another solution could be better, where the search was cut short."""
    assert solution.search is not None, "a search was cut short"
    return max(0.0, solution.score - solution.search.at_least)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RawColumn(PlainValues):
    """A column that is published as it is."""

    name: str
    role: str
    uniqueness: Uniqueness
    accepted: str | None = None
    """The reason that the officer gave for publishing it as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawColumns(PlainValues):
    """The columns of a release that are published as they are."""

    columns: tuple[RawColumn, ...]
    together: Uniqueness
    """All of them, as an attacker may know them all."""
    published: Uniqueness | None = None
    """All published columns, generalised and raw; None where an engine did not count them."""

    def with_published(self, published: Uniqueness) -> RawColumns:
        """The same with the figures of all published columns."""
        return replace(self, published=published)


def raw_names(names: Sequence[str], schema: Schema) -> list[str]:
    """Those of some columns that are published as they are."""
    kept = (Role.SENSITIVE, Role.INSENSITIVE)
    return [name for name in names if schema.role_of(name) in kept]


def measure_raw(names: Sequence[str], options: PublishOptions, count: Count) -> RawColumns | None:
    """How far the raw columns of a table single records out; None if it has none.

    Args:
        names: all columns of the table.
        options: the roles, and what the officer has accepted.
        count: counts the combinations of some columns.

    Raises:
        InputError: CEL-P081.not_raw a column was accepted that is not published as it is.
        PrivacyError: CEL-P080 records are unique or nearly so on columns that were not accepted.
    """
    raw = raw_names(names, options.schema)
    accepted = options.accept_raw
    if strange := [name for name in accepted if name not in raw]:
        raise InputError("CEL-P081.not_raw", names=quoted_names(strange, raw), columns=strange)
    if not raw:
        return None
    sets = raw_sets(names, options)
    measured = dict(zip(map(tuple, sets), count(sets), strict=True))
    _check([name for name in raw if name not in accepted], measured, count)
    columns = (
        RawColumn(
            name=name,
            role=str(options.schema.role_of(name)),
            uniqueness=measured[name,],
            accepted=accepted.get(name),
        )
        for name in raw
    )
    return RawColumns(columns=tuple(columns), together=measured[tuple(raw)])


def raw_sets(names: Sequence[str], options: PublishOptions) -> list[list[str]]:
    """The sets of columns that `measure_raw` asks for at first: each, all, those not accepted."""
    raw = raw_names(names, options.schema)
    rest = [name for name in raw if name not in options.accept_raw]
    sets = [*([name] for name in raw), raw, rest]
    return [list(names) for names in dict.fromkeys(map(tuple, sets)) if names]


def _check(names: list[str], measured: Mapping[tuple[str, ...], Uniqueness], count: Count) -> None:
    """Refuse columns that single records out, and name those without which the rest would not."""
    if not names or not (found := measured[tuple(names)]).too_high:
        return
    raise PrivacyError(
        "CEL-P080",
        alone=found.alone,
        records=found.records,
        share=found.alone_share,
        combinations=found.combinations,
        number=len(names),
        columns=list(protected_first(names, count)),
        most=MOST_ALONE,
        fewest=FEWEST_TOGETHER,
    )


def format_count(count: int) -> Message:
    """A number of nodes: those of wide tables have hundreds of digits.

    >>> format_count(12_960), format_count(7**300)
    ('12,960', '3.4e+253')
    """
    if count < MOST_DIGITS:
        return Message("reports.number", value=count, form=",")
    return Message("reports.number", value=Decimal(count), form=".1e")


_METRICS = {
    "loss": "tables.metric.loss",
    "arithmetic-loss": "tables.metric.arithmetic_loss",
    "precision": "tables.metric.precision",
    "height": "tables.metric.height",
    "ambiguity": "tables.metric.ambiguity",
    "discernibility": "tables.metric.discernibility",
    "average-class-size": "tables.metric.average_class_size",
    "entropy": "tables.metric.entropy",
}


def metric_name(name: str) -> str:
    """The name of a metric as a reader knows it; that of a metric of one's own as it is."""
    return Message(_METRICS[name]) if name in _METRICS else name


STATISTICS = {
    "mean_lower": Message("tables.intervals.mean_lower"),
    "mean_midpoint": Message("tables.intervals.mean_midpoint"),
    "mean_upper": Message("tables.intervals.mean_upper"),
    "minimum": Message("tables.intervals.minimum"),
    "maximum": Message("tables.intervals.maximum"),
    "mode": Message("tables.intervals.mode"),
    "mode_count": Message("tables.intervals.mode_count"),
}
"""What is told of numbers that are released as intervals, as in the published experiments."""


def interval_rows(intervals: Mapping[str, Aggregates]) -> list[list[str]]:
    """For each statistic, its name and its value in each column."""
    return [
        [str(title), *(_statistic(each, name) for each in intervals.values())]
        for name, title in STATISTICS.items()
    ]


def _statistic(found: Aggregates, name: str) -> str:
    value = getattr(found, name)
    if value is None:
        return say("tables.report.none")
    if name in FRACTIONS:
        return number(float(value), ",.6g")
    return number(value) if name == "mode_count" else str(value)


STAGES = {
    "reading": Message("tables.timing.reading"),
    "coding": Message("tables.timing.coding"),
    "search": Message("tables.timing.search"),
    "recoding": Message("tables.timing.recoding"),
    "measuring": Message("tables.timing.measuring"),
    "writing": Message("tables.timing.writing"),
    "total": Message("tables.timing.total"),
}
"""The stages of a run, as a reader knows them."""


def timing_rows(timings: Timings) -> list[tuple[str, str]]:
    """For each stage its name and its seconds."""
    return [
        (str(STAGES[stage]), say("tables.timing.seconds", seconds=seconds))
        for stage, seconds in timings.as_dict().items()
    ]
