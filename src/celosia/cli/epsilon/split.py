"""`celosia epsilon split`: how much each of many releases may spend."""

from __future__ import annotations

from typing import Annotated

from celosia.cli import console
from celosia.cli.epsilon.formatting import format_at_least
from celosia.cli.frame import JsonOutputs
from celosia.core.messages import say, say_of


def split(
    outputs: JsonOutputs,
    total: Annotated[float, "The epsilon of all releases together."],
    releases: Annotated[int, "How many equal releases there are."],
    delta: Annotated[float, "The chance that the promise fails, for all together."] = 1e-6,
) -> None:
    """Divide a total epsilon among equal releases: the inverse of compose.

    Every epsilon is fixed in advance; the questions may depend on the answers so far.

    **Examples**

    `celosia epsilon split --total 1 --releases 100`

    `celosia epsilon split --total 1 --releases 10000 --delta 1e-9 --json`
    """
    from celosia.accounting.splits import split as divide

    found = divide(total, releases=releases, delta=delta)
    best = found.best
    outputs.show(
        found.as_dict,
        lambda: console.show_table(
            say_of("cli.epsilon.epsilon_each_releases_within", found),
            console.columns("by", "epsilon", "one_part:,.2f", ""),
            [
                [
                    share.name,
                    format_at_least(share.epsilon),
                    found.total / share.epsilon,
                    say("cli.epsilon.the_most") if share is best else "",
                ]
                for share in found.shares
            ],
        ),
        say(
            "cli.epsilon.each_releases_may_spend",
            releases=found.releases,
            format_at_least=format_at_least(best.epsilon),
            name=best.name,
        ),
    )
