"""`celosia collect simulate`: a collection played through with known values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.cli import console, options
from celosia.cli.collect.shared import AnyColumn, UserTable
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.collect.protocol import Protocol
    from celosia.collect.simulation.results import Simulation

SHOWN = 30
"""Values on the screen; JSON has all of them, a report a thousand."""
USUAL_EPSILON = 4.0
BAR = 40
"""Characters of the longest bar."""
GENERATORS = ("exponential", "normal", "letters", "anglicisms")


def simulate(
    outputs: ReportOutputs,
    table: UserTable = None,
    column: AnyColumn = None,
    data: Annotated[
        str | None, "NAME:ROWS", f"Instead of a table, made-up values: {', '.join(GENERATORS)}."
    ] = None,
    protocol: Annotated[
        str,
        "--protocol -p",
        "A protocol, such as hcms or hcms:hashes=64,width=256, or a file (.toml).",
    ] = "hcms",
    epsilon: Annotated[
        float | None, options.EPSILON, "Epsilon of one report; 4 by default."
    ] = None,
    candidates: Annotated[
        Path | None, "FILE", "The public list of values, one in each line."
    ] = None,
    seed: Annotated[int | None, "Makes the simulation repeatable."] = None,
    runs: Annotated[int, "The number of runs."] = 1,
    aggregate: Annotated[
        bool, "--aggregate", "Draw counts by their exact law, no reports (cms)."
    ] = False,
    post: Annotated[str, "raw, clip or norm-sub, after estimating."] = "raw",
    pieces: Annotated[
        int | None,
        typer.Option(min=1, help="For sfp: keep so many pieces at each position, and all texts."),
    ] = None,
) -> None:
    """Simulate a collection: make reports, count them, and compare estimates with the truth.

    Protocols: cms, hcms, sfp, rappor, dbitflip, one-bit-mean, grr, oue, sue, olh, hr, ss, pgr, pem,
    treehist. Without --candidates the values of the data are asked about, which only a simulation
    can do.

    **Examples**

    `celosia collect simulate --data exponential:50000 --protocol hcms --epsilon 4 --seed 1`

    `celosia collect simulate words.csv --column value --protocol sfp --epsilon 8`

    `celosia collect simulate people.csv --column age -p cms:hashes=64 --runs 20 --json`
    """
    from celosia.collect.simulation import report as simulation_report
    from celosia.collect.simulation.protocol_fit import fit_protocol, settings_from_text
    from celosia.collect.simulation.run import SimulationOptions, simulate_collection

    outputs.check(inputs=(table, candidates))
    declared = _load_protocol(Path(protocol), epsilon) if protocol.endswith(".toml") else None
    name, settings = (
        settings_from_text(protocol) if declared is None else (declared.method_name, {})
    )
    price = _one_epsilon(epsilon, settings.pop("epsilon", None))
    is_mean = name == "one-bit-mean"
    values = _values(table, column, data, seed, is_mean=is_mean)
    chosen = None if candidates is None else _read_candidates(candidates, values)
    made = declared or fit_protocol(
        name, values, epsilon=price, candidates=chosen, settings=settings
    )
    asked = SimulationOptions(
        protocol=made,
        candidates=None if chosen is None else tuple(chosen),
        seed=seed,
        runs=runs,
        aggregate=aggregate,
        post=post,
        pieces=pieces,
    )
    with outputs.working(None) as progress:
        found = simulate_collection(values, asked, progress=progress)
        outputs.write_report(lambda: simulation_report.document(found))
    outputs.show(found.as_dict, lambda: _show(found), found)


def _show(found: Simulation) -> None:
    from celosia.collect.simulation import report as told

    figures = console.columns("", "value")
    console.show_table(say("cli.collect.time_size"), figures, told.timing_rows(found))
    if found.elements:
        console.show_table(
            say("cli.collect.values_found" if found.found else "cli.collect.values"),
            console.columns("value", "real", "estimated", "share", "difference", "error"),
            told.element_rows(found)[:SHOWN],
        )
    if len(found.elements) > SHOWN:
        console.note(
            say("cli.collect.more_json_or_report", number_of_elements=len(found.elements) - SHOWN)
        )
    if found.elements and not found.is_mean:
        _bars(found)
    console.show_table(say("cli.collect.errors"), figures, told.metric_rows(found))
    for note in found.notes:
        console.note(note)
    console.note(say("cli.collect.simulation_made_from_known"))


def _bars(found: Simulation) -> None:
    """Real counts and estimates as bars of characters."""
    shown = found.elements[:SHOWN]
    longest = max(1.0, *(max(each.real, each.estimated) for each in shown))
    width = min(20, max(len(str(each.value)) for each in shown))
    console.show(say("cli.collect.real_estimated_o"), strong=True)
    for each in shown:
        name = console.visible(str(each.value))[:width]
        line = list(f"{'=' * round(BAR * each.real / longest):<{BAR + 1}}")
        line[min(BAR, max(0, round(BAR * each.estimated / longest)))] = "o"
        console.show(f"{name:>{width}} |{''.join(line).rstrip()}")


def _values(
    table: Path | None, column: str | None, data: str | None, seed: int | None, *, is_mean: bool
) -> Any:
    if (table is None) == (data is None) or (data is not None and column is not None):
        raise InputError("CEL-R102.values")
    if data is not None:
        return generate_values(data, seed)
    assert table is not None
    return table_values(table, column, is_mean=is_mean)


def table_values(table: Path, column: str | None, *, is_mean: bool) -> Any:
    """The values of a column, as simulations take them."""
    from celosia.core.messages import did_you_mean
    from celosia.frames import read

    frame = read(table)
    if column not in frame.columns:
        some = frame.columns[:8]
        if column is None:
            raise InputError("CEL-R102.no_column", columns=some)
        hint = did_you_mean(column, frame.columns)
        raise InputError("CEL-R102.column", table=table, column=column, hint=hint, columns=some)
    found = frame[column].drop_nulls()
    if found.len() < frame.height:
        console.note(say("cli.collect.rows_without_value_send", height=frame.height - found.len()))
    # Values are counted by how they are written; only a mean asks for numbers with a fraction.
    as_numbers = found.dtype.is_integer() or (is_mean and found.dtype.is_numeric())
    return found.to_numpy() if as_numbers else found.cast(str).to_list()


def generate_values(data: str, seed: int | None) -> Any:
    """Made-up values: NAME, or NAME:ROWS."""
    from celosia import datasets

    name, _, rows = data.partition(":")
    if name not in GENERATORS or not (rows or "1").isascii() or not (rows or "1").isdigit():
        raise InputError("CEL-R102.data", generators=list(GENERATORS), data=data)
    made = datasets.load(name, rows=int(rows) if rows else None, seed=seed)["value"]
    return made.to_numpy() if made.dtype.is_numeric() else made.to_list()


def _read_candidates(path: Path, values: Any) -> list[Any]:
    """The candidates of a file, as whole numbers where the values are."""
    try:
        lines = path.read_text("utf-8").splitlines()
        numbers = getattr(getattr(values, "dtype", None), "kind", "") in ("i", "u")
        chosen: list[Any] = [int(each) for each in lines] if numbers else list(lines)
    except (OSError, ValueError):  # a UnicodeDecodeError is a ValueError
        chosen = []
    if not chosen:
        raise InputError("CEL-R103", path=str(path))
    return list(dict.fromkeys(chosen))


def _one_epsilon(option: float | None, setting: Any) -> Any:
    """Epsilon, which is given with the protocol or by its own option."""
    if option is not None and setting is not None:
        raise InputError("CEL-R101.two_epsilons")
    given = setting if option is None else option
    return USUAL_EPSILON if given is None else given


def _load_protocol(path: Path, epsilon: float | None) -> Protocol:
    from celosia.collect.registry import load_protocol

    if epsilon is not None:
        raise InputError("CEL-R101.load_protocol")
    return load_protocol(path)
