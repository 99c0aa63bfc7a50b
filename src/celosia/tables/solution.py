"""What was done to a table: the levels chosen, the records suppressed, and the loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from celosia.core.messages import Message, number, say, sentence
from celosia.core.methods import PlainValues
from celosia.core.release import Provenance
from celosia.core.release_report import seed_text
from celosia.core.report import Block, Details, Facts, Heading, Paragraph
from celosia.tables.history.joint import JointOutcome
from celosia.tables.recoding.search import Certificate
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

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Solution:
        """The inverse of `as_dict`; JSON has made the sizes into texts."""
        return cls(
            **values
            | {
                "columns": tuple(ColumnOutcome(**column) for column in values["columns"]),
                "class_sizes": {int(k): v for k, v in values["class_sizes"].items()},
                "search": values["search"] and Certificate(**values["search"]),
                "units": (units := values.get("units")) and UnitOutcome(**units),
                "joint": (joint := values.get("joint")) and JointOutcome(**joint),
            }
        )


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
        gap=_gap(solution, search.at_least),
    )


def _gap(solution: Solution, at_least: float) -> float:
    return max(0.0, solution.score - at_least)


def method_blocks(solution: Solution, provenance: Provenance) -> list[Block]:
    """The section on method, metric, search and parameters."""
    chosen = provenance.parameters.get("levels") is not None
    search = solution.search
    bound: list[tuple[str, str]] = []
    if search is not None and not (search.is_optimal or chosen):
        bound = [
            (say("tables.report.no_solution_below"), number(search.at_least, ".3%")),
            (
                say("tables.report.gap"),
                say("tables.report.gap_at_most", gap=_gap(solution, search.at_least)),
            ),
        ]
    score = number(solution.score, ".3%")
    return [
        Heading(say("reports.made.heading")),
        Facts(
            [
                (say("tables.report.method"), solution.method),
                (say("tables.report.metric", metric=metric_name(solution.metric)), score),
                (
                    say("tables.report.search"),
                    sentence(describe_search(solution, chosen=chosen)),
                ),
                *bound,
                (say("tables.report.made_by"), provenance.made_by),
                (say("tables.report.made_at"), provenance.created),
                (say("reports.made.seed"), seed_text(provenance)),
                *(
                    (say("tables.report.parameter", name=name), _format(value))
                    for name, value in provenance.parameters.items()
                ),
            ]
        ),
        Details(
            say("tables.report.how_chosen"),
            [Paragraph(_search(solution, chosen=chosen)), Facts(list(provenance.versions.items()))],
        ),
    ]


def _search(solution: Solution, *, chosen: bool) -> str:
    search = solution.search
    if solution.rounds > 1:
        return say("tables.report.search_local", rounds=solution.rounds - 1)
    if search is None:
        return say("tables.report.search_mondrian")
    nodes, evaluated = format_count(search.nodes), format_count(search.evaluated)
    if chosen:
        return say("tables.report.search_by_hand", nodes=nodes, evaluated=evaluated)
    if not search.is_optimal:
        return say("tables.report.search_cut", nodes=nodes, evaluated=evaluated)
    return say(
        "tables.report.search_optimal",
        nodes=nodes,
        evaluated=evaluated,
        by_bound=format_count(search.closed_by_bound),
        infeasible=format_count(search.closed_as_infeasible),
        forced=format_count(search.closed_by_forced_suppression),
    )


def _format(value: Any) -> str:
    """A parameter as a person would write it."""
    none = say("tables.report.none")
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format(each)}" for name, each in value.items()) or none
    if isinstance(value, list | tuple):
        return "; ".join(map(_format, value)) or none
    if isinstance(value, bool):
        return say("tables.report.yes" if value else "tables.report.no")
    if isinstance(value, int | float):
        return number(value, ",.6g")
    return none if value is None else str(value)


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
