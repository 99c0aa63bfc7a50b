"""The section of a report on method, search, bound and parameters; also for the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from celosia.core.provenance import Provenance
from celosia.core.report import Block, Details, Facts, Heading, Paragraph
from celosia.core.wording import sentence
from celosia.tables.solution import Solution

MOST_DIGITS = 10**15
"""Larger numbers of nodes are rounded."""


def describe_search(solution: Solution, *, chosen: bool = False) -> str:
    """Whether the solution is the best there is, and else how much better another could be.

    Args:
        solution: what was found.
        chosen: whether the officer chose the levels.
    """
    search = solution.search
    if solution.rounds > 1:
        return f"local recoding in {solution.rounds} rounds; nothing is proven of other ways"
    if search is None:
        return "greedy partitioning (Mondrian); nothing is proven of other partitions"
    if chosen:
        others = format_count(search.nodes - 1)
        return f"levels chosen by hand, not compared with the other {others} nodes"
    if search.is_optimal:
        return f"optimal among {format_count(search.nodes)} nodes"
    return (
        f"the best found, not proven optimal: {solution.metric} {solution.score:.3%}, no better "
        f"than {search.at_least:.3%} is possible (gap {_gap(solution, search.at_least):.3%})"
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
            ("No solution is below", f"{search.at_least:.3%}"),
            ("Gap", f"{_gap(solution, search.at_least):.3%} at most"),
        ]
    return [
        Heading("How it was made"),
        Facts(
            [
                ("Method", solution.method),
                (f"Metric: {solution.metric}", f"{solution.score:.3%}"),
                ("Search", sentence(describe_search(solution, chosen=chosen))),
                *bound,
                ("Made by", provenance.made_by),
                ("Made at", provenance.created),
                ("Seed", "none" if provenance.seed is None else str(provenance.seed)),
                *(
                    (f"Parameter {name}", _format(value))
                    for name, value in provenance.parameters.items()
                ),
            ]
        ),
        Details(
            "How it was chosen, and the versions used",
            [Paragraph(_search(solution, chosen=chosen)), Facts(list(provenance.versions.items()))],
        ),
    ]


def _search(solution: Solution, *, chosen: bool) -> str:
    search = solution.search
    if solution.rounds > 1:
        return (
            "The best node was found without a limit on suppression; suppressed records were then "
            f"recoded by themselves, in {solution.rounds - 1} rounds, and the labels of all were "
            "checked afterwards."
        )
    if search is None:
        return (
            "Mondrian cut the table into classes one column at a time, as small as the models "
            "allow; the labels were checked afterwards. Another way to cut might lose less."
        )
    nodes, evaluated = format_count(search.nodes), format_count(search.evaluated)
    tried = f"Of {nodes} ways to generalise, {evaluated} were tried"
    if chosen:
        return f"{tried}: the levels were chosen by hand."
    if not search.is_optimal:
        return f"{tried}; not all others were ruled out."
    by_bound = format_count(search.closed_by_bound)
    infeasible = format_count(search.closed_as_infeasible)
    forced = format_count(search.closed_by_forced_suppression)
    return (
        f"{tried}; the others cannot be better: {by_bound} lose more even with "
        f"nothing suppressed, {infeasible} would suppress too many, "
        f"{forced} lose more by the records they must suppress."
    )


def _format(value: Any) -> str:
    """A parameter as a person would write it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format(each)}" for name, each in value.items()) or "none"
    if isinstance(value, list | tuple):
        return "; ".join(map(_format, value))
    return "none" if value is None else str(value)


def format_count(number: int) -> str:
    """A number of nodes: those of wide tables have hundreds of digits.

    >>> format_count(12_960), format_count(7**300)
    ('12,960', '3.4e+253')
    """
    return f"{number:,}" if number < MOST_DIGITS else f"{Decimal(number):.1e}"
