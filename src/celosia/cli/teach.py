"""`celosia teach`: a classic algorithm at work on a table, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say, say_of

if TYPE_CHECKING:
    from celosia.tables.recoding.classic import SearchTrace

ALGORITHMS = ("datafly", "samarati", "incognito", "ola")
SHOWN = 40
"""Steps printed unless all are asked for."""


def teach(
    algorithm: Annotated[str, "argument", f"One of {', '.join(ALGORITHMS)}."],
    table: options.Input,
    schema: options.SchemaOptions,
    reading: options.Reading,
    outputs: JsonOutputs,
    k: Annotated[int, "--k", "Minimum number of records of an equivalence class."] = 5,
    suppression: options.Suppression = "0%",
    show_all: Annotated[bool, "--all", f"Print every step, not only the first {SHOWN}."] = False,
) -> None:
    """Follow a classic algorithm step by step on a table, and compare it with the optimum.

    **Examples**

    `celosia teach datafly people.csv --schema people.toml --k 5`

    `celosia teach samarati people.csv -q age -q zip --other-columns insensitive --suppression 5%`

    `celosia teach incognito people.csv -s people.toml --k 5 --json`
    """
    from celosia.core.messages import did_you_mean
    from celosia.tables import KAnonymity
    from celosia.tables.coded_table import code_table
    from celosia.tables.recoding import Lattice, classic, find_optimum
    from celosia.tables.schema import check_table

    if algorithm not in ALGORITHMS:
        raise InputError(
            "CEL-I058",
            algorithm=algorithm,
            hint=did_you_mean(algorithm, ALGORITHMS),
            algorithms=list(ALGORITHMS),
        )
    model = KAnonymity(k)
    limit = options.share(suppression, option="--suppression")
    roles = schema.load()
    with outputs.working(None) as progress:
        frame = reading.read(table, roles.types())
        check_table(frame, roles)
        lattice = Lattice.of(code_table(frame, roles, progress=progress))
        trace: SearchTrace = getattr(classic, algorithm)(
            lattice, model, suppression=limit, progress=progress
        )
        best = find_optimum(lattice, [model], suppression=limit, progress=progress)
    least = lattice.loss.total(best.best.leaf_sums)
    optimum = {"node": list(best.best.node), "loss": least}
    outputs.show(
        lambda: trace.as_dict() | {"optimum": optimum},
        lambda: _show(trace, best.best.node, least, show_all=show_all),
        trace,
    )


def _show(trace: SearchTrace, node: Sequence[int], least: float, *, show_all: bool) -> None:
    shown = trace.visits if show_all else trace.visits[:SHOWN]
    console.show_table(
        say_of("cli.teach.nodes_looked_at", trace),
        console.columns("step", "columns", "levels", "suppressed:,", "decision"),
        [
            [
                number,
                "all" if visit.columns == trace.columns else ", ".join(visit.columns),
                " ".join(map(str, visit.node)),
                visit.suppressed,
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
    console.show(say("cli.teach.exact_optimum_loss", node=node, least=least))
