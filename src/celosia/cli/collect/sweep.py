"""`celosia collect sweep`: simulated collections over a grid of parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.collect.shared import AnyColumn, UserTable
from celosia.cli.collect.simulate import GENERATORS, generate_values, table_values
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.collect.sweeps.results import Sweep

SHOWN = 40
"""Points on the screen; JSON and the report have all of them."""
ON_SCREEN = ("values", "percent_error", "rmse", "predicted_rmse", "estimate_ms")
"""Measures that fit beside the coordinates."""
USUAL_USERS = 50_000


def sweep(
    outputs: ReportOutputs,
    table: UserTable = None,
    column: AnyColumn = None,
    data: Annotated[
        list[str] | None,
        "NAME",
        f"Instead of a table, made-up values: {', '.join(GENERATORS)}. Repeatable.",
    ] = None,
    protocol: Annotated[
        list[str] | None,
        "--protocol -p NAME",
        "A protocol, such as hcms or hcms:width=256. Repeatable.",
    ] = None,
    epsilon: Annotated[str, f"{options.EPSILON} LIST", "Epsilon of one report: 0.5,1,2."] = "4",
    users: Annotated[
        str | None, "--users -n LIST", "Numbers of users: 1000,10000 or 1000..1000000*10."
    ] = None,
    vary: Annotated[
        list[str] | None, "NAME=LIST", "A parameter and its values: hashes=16,128,1024. Repeatable."
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each point.")] = 1,
    seed: Annotated[int | None, "Makes the sweep repeatable."] = None,
    state: Annotated[
        Path | None, "FILE", "Keep finished runs here; the same command then goes on."
    ] = None,
    output: Annotated[
        Path | None, "--output -o", "A table with every run (.csv, .parquet)."
    ] = None,
) -> None:
    """Simulate collections over a grid: protocols, epsilon, users and parameters, with repeats.

    Parameters: hashes (k) and width (m) of sketches, bits of dbitflip (d) and of rappor,
    fragment_hashes, fragment_width and pieces (T) of sfp, and all others of each protocol. A
    protocol is not varied in a parameter that it does not have. With --state a sweep may be
    stopped at any time, and more points may be asked for later.

    **Examples**

    `celosia collect sweep -p cms -p hcms -e 0.5,1,2,4 -n 1000..100000*10 --report sweep.html`

    `celosia collect sweep -p dbitflip -e 0.5,1,2 --vary bits=1,2,4,8 --repeats 5 -o runs.csv`

    `celosia collect sweep --data anglicisms -p sfp -e 8 --vary pieces=10,20,80 --state sfp.sweep`
    """
    from celosia.collect.sweeps import report as sweep_report
    from celosia.collect.sweeps.options import SweepOptions, numbers_from_list, vary_from_texts
    from celosia.collect.sweeps.run import sweep as run_sweep

    outputs.check(inputs=(table, state), table=output)
    asked = SweepOptions(
        protocol=tuple(protocol or ["hcms"]),
        epsilon=numbers_from_list(epsilon, "epsilon"),
        users=() if users is None else numbers_from_list(users, "users"),
        vary=vary_from_texts(vary or []),
        repeats=repeats,
        seed=seed,
    )
    values = _values(table, column, data, seed, int(max(asked.users, default=USUAL_USERS)))
    with outputs.working(None) as progress:
        found = run_sweep(values, asked, state=state, progress=progress)
        outputs.write_table(output, found.frame)
        outputs.write_report(lambda: sweep_report.document(found))
    outputs.show(found.as_dict, lambda: _show(found), found, table=output)


def _values(
    table: Path | None, column: str | None, data: list[str] | None, seed: int | None, rows: int
) -> dict[str, Any]:
    if table is not None and data:
        raise InputError("CEL-R102.values")
    if table is not None:
        return {str(column): table_values(table, column, is_mean=False)}
    return {name: generate_values(f"{name}:{rows}", seed) for name in data or [GENERATORS[0]]}


def _show(found: Sweep) -> None:
    from celosia.collect.sweeps import report as sweep_report

    heads, rows = sweep_report.point_table(found, ON_SCREEN)
    console.show_table(say("collect.sweep.points"), heads, rows[:SHOWN])
    if len(found.points) > SHOWN:
        console.note(
            say("cli.collect.more_json_or_report", number_of_elements=len(found.points) - SHOWN)
        )
    for each in found.left_out:
        point = sweep_report.point_text(each.point)
        console.note(say("collect.sweep.left_out", point=point, reason=each.reason))
    if found.resumed:
        console.note(say("collect.sweep.resumed", runs=found.resumed))
    console.note(say("cli.collect.simulation_made_from_known"))
