"""`celosia epsilon belief`: the effect of an epsilon on the belief of an attacker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.frame import FileOutputs
from celosia.core.messages import Message, say, say_of

if TYPE_CHECKING:
    from celosia.accounting import BeliefTable


def belief(
    outputs: FileOutputs,
    prior: Annotated[
        list[float] | None, "P", "A belief before the answer; may be repeated."
    ] = None,
    epsilon: Annotated[list[float] | None, "--epsilon -e EPSILON", "May be repeated."] = None,
    delta: Annotated[float, "The chance that the promise fails."] = 0.0,
    plot: Annotated[Path | None, "Write the highest beliefs by epsilon (SVG)."] = None,
) -> None:
    """Show how far a belief can move because one person's data was used, whatever it was before.

    Each cell is the range that a probability can move to with these data against without them. A
    guess about what the data say is about a change: where neighbours add or remove, that is two
    steps, so read it at twice the epsilon.

    **Examples**

    `celosia epsilon belief`

    `celosia epsilon belief --prior 0.01 --prior 0.5 --epsilon 0.5 --epsilon 2 --delta 1e-6`

    `celosia epsilon belief --plot belief.svg`
    """
    from celosia.accounting import belief_table, report
    from celosia.accounting.belief import EPSILONS, PRIORS

    outputs.check(plot=plot)
    priors, epsilons = prior or list(PRIORS), epsilon or list(EPSILONS)
    table = belief_table(priors, epsilons, delta=delta)
    outputs.write_text(plot, lambda: report.belief_figure(table, delta=delta))
    cells = [cell for row in table.rows for cell in row]
    usual = min(cells, key=lambda cell: (abs(cell.prior - 0.5), abs(cell.epsilon - 1)))
    outputs.show(
        table.as_dict,
        lambda: _show(table, delta),
        say_of("cli.epsilon.at_epsilon_belief_may", usual),
        plot=plot,
    )


def _show(table: BeliefTable, delta: float) -> None:
    failing = Message("cli.epsilon.and_delta", delta=delta) if delta else ""
    console.show_table(
        say("cli.epsilon.lowest_highest_belief_may", failing=failing),
        [say("cli.column.before"), *(f"{each:g}" for each in table.epsilons)],
        [
            ["e^epsilon", *map(_factor, table.factors)],
            *(
                [
                    console.number(row[0].prior, "g"),
                    *(f"{cell.low:.4f} {cell.high:.4f}" for cell in row),
                ]
                for row in table.rows
            ),
        ],
    )


def _factor(factor: float) -> str:
    return console.number(factor, ".0f" if 100 <= factor < 10**9 else ".3g")
