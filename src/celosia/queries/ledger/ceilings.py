"""The least price of a question, and ceilings of one day for each analyst."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from celosia.accounting.amounts import format_amount
from celosia.core.errors import BudgetExceeded, QueryRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceilings:
    """Ceilings of one analyst in one day of universal time; None where there is no ceiling."""

    least_epsilon: Fraction = Fraction(0)
    """The least epsilon of one question."""

    questions_per_day: int | None = None
    """Charged questions; an answer that is stored already is given again without counting."""
    exceeded_per_day: int | None = None
    """Questions that were too much for the rows: not answered by their deadline, or failed. Each of
    them is answered by noise on zero, which may tell a little about the rows."""

    def check_price(self, epsilon: Fraction) -> None:
        """Refuse a question that costs too little.

        Raises:
            QueryRefused: CEL-Q300.
        """
        if epsilon < self.least_epsilon:
            least = format_amount(self.least_epsilon)
            raise QueryRefused("CEL-Q300", least_epsilon=least, least=float(self.least_epsilon))

    def check(self, *, questions: int, exceeded: int) -> None:
        """Refuse one more question of an analyst.

        Args:
            questions: the questions of the analyst that were charged today.
            exceeded: how many of them were not answered by their deadline.

        Raises:
            BudgetExceeded: CEL-Q301 too many questions, CEL-Q302 too many exceeded deadlines.
        """
        if self.questions_per_day is not None and questions >= self.questions_per_day:
            raise BudgetExceeded("CEL-Q301", questions_per_day=self.questions_per_day)
        if self.exceeded_per_day is not None and exceeded >= self.exceeded_per_day:
            raise BudgetExceeded("CEL-Q302", exceeded_per_day=self.exceeded_per_day)
