"""Options of commands that compare two tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.assess.accounts import MaskedAccount, SyntheticAccount
    from celosia.assess.utility.numeric import Regression
    from celosia.assess.utility.numeric.information_loss import NumericUtility
    from celosia.cli.frame import PrivateReportOutputs
    from celosia.core.report import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonOptions:
    """The columns of two tables that are compared."""

    columns: Annotated[
        list[str] | None,
        "--column -c COLUMN",
        "Column to compare; repeat it for more. Default: every column of both files.",
    ] = None
    nominal: Annotated[
        list[str] | None, "COLUMN", "Column of numbers that are only codes, such as postal codes."
    ] = None
    sensitive: Annotated[
        list[str] | None,
        "COLUMN",
        "Measure how well this column can be inferred from the other columns.",
    ] = None
    regression: Annotated[
        list[str] | None,
        "FORMULA",
        "A linear regression whose result should not change: 'pay ~ age + sex'.",
    ] = None

    def models(self) -> tuple[Regression, ...]:
        """The regressions that were asked for, each as OUTCOME ~ COLUMN + COLUMN."""
        from celosia.assess.utility.numeric import Regression

        found = []
        for text in self.regression or ():
            outcome, tilde, rest = text.partition("~")
            predictors = tuple(name.strip() for name in rest.split("+"))
            if not (tilde and outcome.strip() and all(predictors)):
                raise InputError("CEL-A233", text=text)
            found.append(Regression(outcome.strip(), predictors))
        return tuple(found)


def show_account(
    outputs: PrivateReportOutputs,
    account: MaskedAccount | SyntheticAccount,
    document: Callable[[], Document],
    lines: Callable[[], None],
) -> None:
    """Write the report, which is private, and show the account."""
    from celosia.assess.account_report import PRIVATE

    outputs.write_report(document)
    note = None if outputs.report is None else PRIVATE
    outputs.show(account.as_dict, lines, account, note=note)


def show_models(found: NumericUtility) -> None:
    """Print what became of regressions and moments."""
    for model in found.regressions:
        console.show(str(model))
    if found.moments is not None:
        console.show(str(found.moments))
