"""The rows that a linear program shares out among their owners, as the engine returns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from sqlglot import exp

from celosia.queries.algebra import Column
from celosia.queries.bounds.caps import MOST
from celosia.queries.bounds.r2t_program import Incidence, program_totals
from celosia.queries.deadlines import check_given_up
from celosia.queries.emission import incidence_query
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total
from celosia.queries.planning.context import format_key


@dataclass(frozen=True, kw_only=True)
class ProgramTerm:
    """Rows of several people, whose total is added to an answer or taken from it.

    Of values below 0, what a set of people owns together is split into its part above and its part
    below 0, each a program of its own: both vanish with any of the owners, so each moves by at most
    the cap.
    """

    context: plan.StepContext
    total: Total
    result_column: Column | None = None
    """Identifies the rows that count once, however many partners they have."""
    sign: int = 1

    @property
    def signs(self) -> tuple[int, ...]:
        """With which sign each of its programs counts."""
        return (self.sign, -self.sign) if self.total.is_signed else (self.sign,)

    @cached_property
    def query(self) -> exp.Expr:
        """What the engine is asked, first whether it understands."""
        assert self.context.owned is not None
        policy = self.context.target.policy
        # Entities are whole numbers of 63 bits already (`rdf.terms.number_of`).
        numbered = policy.graph is None or policy.unit.is_row
        return plan.limit_rows(
            incidence_query(
                self.context.question_for([self.total]),
                self.context.owned,
                target=self.context.target,
                fixed=plan.fixed_points([self.total]),
                result_column=self.result_column,
                numbered=numbered,
            )
        )

    def totals(
        self, execute: plan.Executor, group_keys: plan.GroupKeys | None, caps: Sequence[int]
    ) -> list[list[list[int]]]:
        """For each group and each program, the totals under all caps, in parts."""
        owned = self.context.owned
        assert owned is not None
        width = self.context.key_count
        rows = plan.check_row_count(execute(self.query))
        by_group: dict[tuple[Any, ...], list[Any]] = {} if width else {(): list(rows)}
        for row in rows if width else ():
            by_group.setdefault(tuple(map(format_key, row[:width])), []).append(row[width:])
        groups = [tuple(map(format_key, each)) for each in product(*(group_keys or ()))]
        has_results = self.result_column is not None or self.total.kind == "distinct"

        def solved(rows: plan.Rows, sign: int) -> list[int]:
            incidence = read_incidence(rows, owned.tables, has_results=has_results, sign=sign)
            totals = program_totals(incidence, caps, progress=lambda _: check_given_up())
            return [plan.clamp_total(total) for total in totals]

        return [
            [solved(by_group.get(group, []), part * self.sign) for part in self.signs]
            for group in groups
        ]


def read_incidence(
    rows: plan.Rows, tables: tuple[str, ...], *, has_results: bool = False, sign: int = 1
) -> Incidence:
    """Rows of numbers of people, of a result if `has_results`, and a weight, as pairs.

    People are numbered anew, in the order of their numbers, and rows put in the order of people, so
    that nothing depends on the order in which the engine returns them. People of different tables
    are different: the n-th of k tables takes n, n + k, n + 2 k, ... Only weights of the sign count,
    and none for more than the largest cap there is, which takes nothing from a total under a cap.
    """
    spaces = list(dict.fromkeys(tables))
    width = len(tables)
    cells = np.array(rows, dtype=object).reshape(len(rows), width + int(has_results) + 1)
    # Cut off before they are put in 64 bits, which a sum need not fit in.
    weights = np.clip(sign * cells[:, -1], 0, MOST).astype(np.int64)
    numbers = cells[:, :-1].astype(np.int64)
    for number, space in enumerate(spaces):
        mine = [place for place, table in enumerate(tables) if table == space]
        _, found = np.unique(numbers[:, mine], return_inverse=True)
        numbers[:, mine] = found.reshape(len(rows), len(mine)) * len(spaces) + number
    order = np.lexsort(numbers.T[::-1]) if numbers.size else np.arange(len(rows))
    numbers, weights = numbers[order], weights[order]
    people = np.sort(numbers[:, :width], axis=1).reshape(-1)
    pairs = np.repeat(np.arange(len(rows), dtype=np.int64), width)
    if not has_results:
        return Incidence(pairs, people, weights)
    shows, results = np.unique(numbers[:, width], return_inverse=True)
    once = np.zeros(shows.size, dtype=np.int64)
    np.maximum.at(once, results, weights)  # all rows of a result have the same
    return Incidence(pairs, people, weights, results, once)
