"""`celosia collect share`, `verify`, `aggregate` and `combine`: sums by two aggregators (Prio3)."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console
from celosia.cli.collect.privatise import column_values
from celosia.cli.frame import FileOutputs, JsonOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.collect.secure.aggregation import Aggregator, SecureResult
    from celosia.collect.secure.tasks import SecureTask


class Role(StrEnum):
    """Which of the two aggregators."""

    leader = "leader"
    helper = "helper"


TaskFile = Annotated[
    Path,
    typer.Argument(
        metavar="TASK",
        help="The task file (TOML) that devices and aggregators share.",
        show_default=False,
    ),
]
Shares = Annotated[
    Path, typer.Argument(metavar="SHARES", help="The shares of this aggregator (.clp).")
]
As = Annotated[Role, typer.Option("--as", help="Which aggregator this is.", show_default=False)]
VerifyKey = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="A file with 64 hexadecimal digits that both aggregators have, and no device.",
        show_default=False,
    ),
]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="What is written.", show_default=False)
]


def share(
    task: TaskFile,
    outputs: FileOutputs,
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="Values, a row for each device (CSV, Parquet).")
    ],
    column: Annotated[
        str, typer.Option("--column", "-c", help="The column with the values.", show_default=False)
    ],
    leader: Annotated[Path, typer.Option(help="The shares for the leader.", show_default=False)],
    helper: Annotated[Path, typer.Option(help="The shares for the helper.", show_default=False)],
) -> None:
    """Split values into shares for two aggregators, as devices would. Neither can read a value.

    **Examples**

    `celosia collect share votes.toml today.csv -c vote --leader leader.clp --helper helper.clp`
    """
    from celosia.collect.secure.aggregation import write_shares
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    outputs.check(inputs=(task, table), reports=leader, checks=helper)
    reports = declared.share(column_values(table, column))
    count = write_shares(declared, reports, (leader, helper), overwrite=outputs.overwrite)
    outputs.show(
        lambda: {"reports": count, "leader": str(leader), "helper": str(helper)},
        lambda: None,
        say("collect.secure.shared", reports=count),
    )


def verify(
    task: TaskFile,
    outputs: FileOutputs,
    shares: Shares,
    role: As,
    verify_key: VerifyKey,
    output: Output,
) -> None:
    """Check shares, and write what the other aggregator must be told. It reveals no value.

    **Examples**

    `celosia collect verify votes.toml leader.clp --as leader --verify-key both.key -o leader.check`
    """
    from celosia.collect.secure.aggregation import read_shares, write_checks
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    outputs.check(inputs=(task, shares, verify_key), checks=output)
    found = _aggregator(declared, role, verify_key).check(read_shares(declared, role.value, shares))
    write_checks(declared, role.value, found, output, overwrite=outputs.overwrite)
    outputs.show(
        lambda: {"reports": len(found), "output": str(output)},
        lambda: None,
        say("collect.secure.verified", reports=len(found)),
    )


def aggregate(
    task: TaskFile,
    outputs: FileOutputs,
    shares: Shares,
    role: As,
    verify_key: VerifyKey,
    other: Annotated[
        Path, typer.Option(help="What the other aggregator has told.", show_default=False)
    ],
    output: Output,
) -> None:
    """Add up the shares of valid reports, with noise. Do it once for one set of reports.

    **Examples**

    `celosia collect aggregate votes.toml leader.clp --as leader --verify-key both.key
    --other helper.check -o leader.sum`
    """
    from celosia.collect.secure.aggregation import read_checks, read_shares, write_sum
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    outputs.check(inputs=(task, shares, verify_key, other), sums=output)
    aggregator = _aggregator(declared, role, verify_key)
    theirs = read_checks(declared, "leader" if role is Role.helper else "helper", other)
    aggregator.check(read_shares(declared, role.value, shares))
    found = aggregator.total(theirs)
    write_sum(declared, role.value, found, output, overwrite=outputs.overwrite)
    outputs.show(
        lambda: {"reports": found.reports, "refused": found.refused, "output": str(output)},
        lambda: None,
        say("collect.secure.aggregated", reports=found.reports, refused=found.refused),
    )


def combine(
    task: TaskFile,
    outputs: JsonOutputs,
    leader: Annotated[Path, typer.Argument(metavar="LEADER", help="The sum of the leader.")],
    helper: Annotated[Path, typer.Argument(metavar="HELPER", help="The sum of the helper.")],
) -> None:
    """Put the sums of both aggregators together: the published result.

    **Examples**

    `celosia collect combine votes.toml leader.sum helper.sum`
    """
    from celosia.collect.secure.aggregation import combine as combine_sums
    from celosia.collect.secure.aggregation import read_sum
    from celosia.collect.secure.tasks import load_task

    declared = load_task(task)
    sums = (read_sum(declared, "leader", leader), read_sum(declared, "helper", helper))
    found = combine_sums(declared, *sums)
    outputs.show(found.as_dict, lambda: _show(found), found)


def _show(found: SecureResult) -> None:
    rows = [
        [label, figure, found.error]
        for label, figure in zip(found.labels, found.figures, strict=True)
    ]
    columns = console.columns("value", "count:,", "error:,.1f")
    console.show_table(say("collect.secure.title", epsilon=found.epsilon), columns, rows)


def _aggregator(task: SecureTask, role: Role, path: Path) -> Aggregator:
    from celosia.collect.collector.access import read_token
    from celosia.collect.secure.aggregation import Aggregator

    try:
        key = bytes.fromhex(read_token(path))
    except ValueError:
        raise InputError("CEL-R096.key") from None
    return Aggregator(task, role.value, key)
