"""`celosia teach`: a classic algorithm at work on a table, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.tables.recoding.classic import SearchTrace

ALGORITHMS = ("datafly", "samarati", "incognito", "ola")
SHOWN = 40
"""Steps printed unless all are asked for."""

EXAMPLES = """**Examples**

`celosia teach datafly people.csv --schema people.toml --k 5`

`celosia teach samarati people.csv -q age -q zip --other-columns insensitive --k 3 --suppression 5%`

`celosia teach incognito people.csv -s people.toml --k 5 --json`
"""


def teach(
    algorithm: Annotated[str, typer.Argument(help=f"One of {', '.join(ALGORITHMS)}.")],
    table: options.Input,
    k: Annotated[
        int, typer.Option("--k", help="Minimum number of records of an equivalence class.")
    ] = 5,
    schema: options.SchemaFile = None,
    suppression: Annotated[
        str, typer.Option(help="Largest share of records to suppress; 100% for no limit.")
    ] = "0%",
    show_all: Annotated[
        bool, typer.Option("--all", help=f"Print every step, not only the first {SHOWN}.")
    ] = False,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    identifiers: options.Identifiers = None,
    other_columns: options.OtherColumns = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Follow a classic algorithm step by step on a table, and compare it with the optimum."""
    from celosia.core.wording import did_you_mean
    from celosia.frames import read
    from celosia.tables import KAnonymity
    from celosia.tables.coded_table import code_table
    from celosia.tables.recoding import classic, find_optimum
    from celosia.tables.run import check_table

    if algorithm not in ALGORITHMS:
        raise InputError(
            "CEL-I058",
            algorithm=algorithm,
            hint=did_you_mean(algorithm, ALGORITHMS),
            algorithms=list(ALGORITHMS),
        )
    model = KAnonymity(k)
    limit = options.share(suppression, option="--suppression")
    roles = options.schema_from(
        schema,
        quasi_identifiers,
        identifiers=identifiers,
        sensitive=sensitive,
        other_columns=other_columns,
    )
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        frame = read(table, types=roles.types(), **reading)
        check_table(frame, roles)
        lattice = code_table(frame, roles, progress=progress).lattice()
        trace: SearchTrace = getattr(classic, algorithm)(
            lattice, model, suppression=limit, progress=progress
        )
        best = find_optimum(lattice, [model], suppression=limit, progress=progress)
    least = lattice.loss.total(best.best.leaf_sums)
    if as_json:
        facts = {"optimum": {"node": list(best.best.node), "loss": least}}
        console.show_json(trace.as_dict() | facts)
        return
    _show_trace(trace, show_all=show_all)
    console.show(say("cli.teach.exact_optimum_loss", node=best.best.node, least=least))
    console.show(str(trace), strong=True)


teach.__doc__ = f"{teach.__doc__}\n\n{EXAMPLES}"


def _show_trace(trace: SearchTrace, *, show_all: bool) -> None:
    shown = trace.visits if show_all else trace.visits[:SHOWN]
    console.show_table(
        say(
            "cli.teach.nodes_looked_at",
            algorithm=trace.algorithm,
            checked=trace.checked,
            nodes=trace.nodes,
        ),
        [
            say("cli.column.step"),
            say("cli.column.columns"),
            say("cli.column.levels"),
            say("cli.column.suppressed"),
            say("cli.column.decision"),
        ],
        [
            [
                str(number),
                "all" if visit.columns == trace.columns else ", ".join(visit.columns),
                " ".join(map(str, visit.node)),
                console.number(visit.suppressed, ","),
                visit.decision,
            ]
            for number, visit in enumerate(shown, 1)
        ],
    )
    if len(shown) < len(trace.visits):
        console.note(
            say("cli.teach.more_steps_add_all", number_of_visits=len(trace.visits) - len(shown))
        )
    console.show(trace.guarantee)
