"""`celosia magnitude`: a table of sums that discloses no contribution."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from celosia.cli import console, options
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    import polars as pl

    from celosia.core.progress import Progress
    from celosia.tables.magnitude import MagnitudeTable, Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class MagnitudeOutputs(ReportOutputs):
    """The table of sums, and an audit."""

    output: options.Output = None
    report: Annotated[
        Path | None, "Write an audit for the data officer (.html or .pdf; do not publish it)."
    ] = None

    def files(self) -> dict[str, Path | None]:
        """The table and the audit."""
        return {"table": self.output, "report": self.report}

    def note_unwritten(self) -> None:
        """Say that the table is nowhere, if it is."""
        if self.output is None:
            console.note(say("cli.magnitude.table_written_give_o"))


def magnitude(
    table: options.Input,
    outputs: MagnitudeOutputs,
    reading: options.Reading,
    by: Annotated[list[str], "COLUMN", "A dimension of the table; one to three of them."],
    value: Annotated[str, "COLUMN", "The column to sum; its values are at least 0."],
    rule: Annotated[
        list[str] | None,
        "NAME:VALUE,...",
        "Which cells are unsafe: p-percent:10, prior-posterior:10,50, dominance:2,85 or "
        "minimum-frequency:3; may be repeated.",
    ] = None,
    unit: Annotated[
        str | None, "COLUMN", "Column that names the contributor; by default every record is one."
    ] = None,
    cost: Annotated[str, "Cost to minimise: cells, value or contributors."] = "cells",
    round_to: Annotated[
        float | None, "--round BASE", "Controlled rounding to this base, instead of suppression."
    ] = None,
    random: Annotated[bool, "--random", "With --round: round at random, without bias."] = False,
    seed: Annotated[int | None, "Seed of --random; makes the table a simulation."] = None,
    total: Annotated[str, "Label of the totals."] = "Total",
) -> None:
    """Publish a table of sums, and suppress or round cells that disclose a contribution.

    **Examples**

    `celosia magnitude firms.csv --by region --by sector --value turnover --rule p-percent:10
    -o table.csv`

    `celosia magnitude firms.csv --by region --value turnover --rule minimum-frequency:3 --json`

    `celosia magnitude plants.csv --by region --value sales --unit firm --rule prior-posterior:10,50
    --report audit.html`

    `celosia magnitude firms.csv --by region --by sector --value staff --round 5 -o table.csv`
    """
    from celosia.frames import format_of
    from celosia.tables.magnitude import Dominance, magnitude_table, rule_from_text

    outputs.check(inputs=(table,))
    if outputs.output is not None:
        format_of(outputs.output)
    rules = [rule_from_text(text) for text in rule or ()]
    _check(rules, round_to, random=random, seed=seed, report=outputs.report)
    largest = max([3, *(each.n for each in rules if isinstance(each, Dominance))])
    with outputs.working() as progress:
        sums = magnitude_table(
            reading.read(table), by=by, value=value, unit=unit, largest=largest, total=total
        )
        if round_to is None:
            facts, shown, last = _suppressed(sums, rules, cost, outputs, progress)
        else:
            facts, shown, last = _rounded(sums, round_to, random=random, seed=seed)
    outputs.write_table(outputs.output, lambda: shown)
    if facts.get("simulation"):
        console.note(say("cli.magnitude.simulation_made_seed_release"))
    outputs.show(lambda: facts, outputs.note_unwritten, last)


@contextmanager
def solver_aside() -> Iterator[None]:
    """Keep what the solver prints by itself off standard output, which is for the result.

    HiGHS has remarks that no option silences (`transformNewIntegerFeasibleSolution`). They are
    written by C, so the C library must let go of them before standard output is given back.
    """
    import ctypes

    try:
        saved = os.dup(1)
    except OSError:  # closed by the caller: nothing to keep clean
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    sys.stdout.flush()
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        with suppress(OSError, TypeError, AttributeError):  # where C has no library to ask
            ctypes.CDLL(None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)


def _suppressed(
    sums: MagnitudeTable,
    rules: list[Rule],
    cost: Any,
    outputs: MagnitudeOutputs,
    progress: Progress,
) -> tuple[dict[str, Any], pl.DataFrame, str]:
    from celosia.tables.magnitude import audit, protect
    from celosia.tables.magnitude.report import document

    with solver_aside():
        protected = protect(sums, rules, cost=cost, progress=progress)
    outputs.write_report(lambda: document(protected, audit(protected, progress=progress)))
    return protected.as_dict(), protected.frame(), str(protected)


def _rounded(
    sums: MagnitudeTable, base: float, *, random: bool, seed: int | None
) -> tuple[dict[str, Any], pl.DataFrame, str]:
    from celosia.core.randomness import source
    from celosia.tables.magnitude import controlled_rounding

    rounded = controlled_rounding(
        sums, base=base, manner="random" if random else "nearest", rng=source(seed)
    )
    facts = rounded.as_dict()
    del facts["values"]
    facts = {"table": sums.as_dict(), **facts, "simulation": random and seed is not None}
    shown = sums.labelled({sums.value: rounded.values})
    return facts, shown, f"{sums}; {rounded}"


def _check(
    rules: list[Rule], base: float | None, *, random: bool, seed: int | None, report: Path | None
) -> None:
    if base is not None and (rules or report is not None):
        raise InputError("CEL-V325.rounding")
    if (random and base is None) or (seed is not None and not random):
        raise InputError("CEL-V325.drawing")
    if base is None and not rules:
        raise InputError("CEL-V321.in_command")
