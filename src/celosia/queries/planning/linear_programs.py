"""The rows of several owners whose totals are taken under caps, as the engine returns them.

Rows of up to two owners are filled in turn (`bounds.in_turn`), also where they show distinct values
that have one of the two in common. A linear program shares out all others (`bounds.r2t_program`).
Which of the two it is follows from the question, not from the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from celosia.queries.algebra import Column
from celosia.queries.bounds.caps import MOST
from celosia.queries.bounds.in_turn import RowsInTurn, totals_in_turn
from celosia.queries.bounds.lineage import as_column
from celosia.queries.bounds.r2t_program import GRAIN, Incidence, program_totals
from celosia.queries.deadlines import check_given_up
from celosia.queries.emission import incidence_query
from celosia.queries.ownership.owned_relation import lower_case
from celosia.queries.planning import plan
from celosia.queries.planning.aggregates import Total
from celosia.queries.planning.context import format_key

Whole = NDArray[np.int64]
MOST_IN_TURN = 2
"""Owners of a row, see `bounds.in_turn`."""


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

    @property
    def is_filled_in_turn(self) -> bool:
        """Whether each row has at most two owners, and each result one of them in common.

        What counts once by `result_column` has no number of its own: those of rows before a join
        depend on who is there, and rows in turn need an order that does not.
        """
        owned = self.context.owned
        assert owned is not None
        if owned.owner_count > MOST_IN_TURN or self.result_column is not None:
            return False
        if self.total.kind != "distinct":
            return True
        shown = as_column(self.total.argument)
        return shown is not None and any(
            lower_case(shown) in {lower_case(each) for each in columns}
            for columns in owned.determinants
        )

    @property
    def grain(self) -> int:
        """The parts of a unit that its totals are counted in."""
        return 1 if self.is_filled_in_turn else GRAIN

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
        self,
        execute: plan.Executor,
        group_keys: plan.GroupKeys | None,
        caps: Sequence[int],
        *,
        grain: int = GRAIN,
    ) -> list[list[list[int]]]:
        """For each group and each program, the totals under all caps, in parts of 1 / `grain`."""
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
            told = ToldRows.read(rows, owned.tables, has_results=has_results, sign=sign)
            if grain == 1:
                in_turn = RowsInTurn.sort(told.people, told.weights, told.results)
                return list(totals_in_turn(in_turn, caps, progress=check_given_up))
            totals = program_totals(
                told.incidence(), caps, grain=grain, progress=lambda _: check_given_up()
            )
            return [plan.clamp_total(total) for total in totals]

        return [
            [solved(by_group.get(group, []), part * self.sign) for part in self.signs]
            for group in groups
        ]


@dataclass(frozen=True, slots=True)
class ToldRows:
    """Rows of numbers of people, of a result if there are such, and a weight.

    People are numbered anew, in the order of their numbers, so that nothing depends on which
    numbers the engine gives. Those of different tables are different: the n-th of k tables takes n,
    n + k, n + 2 k, ... Only weights of the sign count, and none for more than the largest cap there
    is, which takes nothing from a total under a cap.
    """

    people: Whole
    """One row for each row, one column for each owner."""
    weights: Whole
    """Of each row; of a result, the same in all of its rows."""
    results: Whole | None

    @classmethod
    def read(
        cls, rows: plan.Rows, tables: tuple[str, ...], *, has_results: bool = False, sign: int = 1
    ) -> ToldRows:
        """The rows as the engine returns them."""
        spaces = list(dict.fromkeys(tables))
        width = len(tables)
        numbers, weights = _read_cells(rows, width + int(has_results), sign)
        for number, space in enumerate(spaces):
            mine = [place for place, table in enumerate(tables) if table == space]
            _, found = np.unique(numbers[:, mine], return_inverse=True)
            numbers[:, mine] = found.reshape(len(rows), len(mine)) * len(spaces) + number
        if not has_results:
            return cls(numbers, weights, None)
        shows, results = np.unique(numbers[:, width], return_inverse=True)
        once = np.zeros(shows.size, dtype=np.int64)
        np.maximum.at(once, results, weights)  # all rows of a result have the same
        return cls(numbers[:, :width], once[results], results)

    def incidence(self) -> Incidence:
        """The same as pairs of rows and people, rows in the order of people and results.

        So nothing depends on the order in which the engine returns them.
        """
        shown = () if self.results is None else (self.results,)
        columns = (*self.people.T, *shown)
        order = np.lexsort(columns[::-1]) if columns else np.arange(self.weights.size)
        people = np.sort(self.people[order], axis=1)
        pairs = np.repeat(np.arange(order.size, dtype=np.int64), people.shape[1])
        weights = self.weights[order]
        if self.results is None:
            return Incidence(pairs, people.reshape(-1), weights)
        results = self.results[order]
        once = np.zeros(int(results.max(initial=-1)) + 1, dtype=np.int64)
        once[results] = weights
        return Incidence(pairs, people.reshape(-1), weights, results, once)


def _read_cells(rows: plan.Rows, width: int, sign: int) -> tuple[Whole, Whole]:
    """The numbers of rows, and their weights of the sign, cut off."""
    try:
        cells = np.array(rows, dtype=np.int64).reshape(len(rows), width + 1)
    except OverflowError:  # a sum need not fit in 64 bits: it is cut off before it is put there
        told = np.array(rows, dtype=object).reshape(len(rows), width + 1)
        told[:, -1] = np.clip(told[:, -1], -MOST, MOST)
        cells = told.astype(np.int64)
    return cells[:, :-1].copy(), np.clip(sign * np.maximum(cells[:, -1], -MOST), 0, MOST)
