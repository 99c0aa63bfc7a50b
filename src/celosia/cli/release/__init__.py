"""`celosia release`: one noisy answer about a table; one module per kind of question."""

from __future__ import annotations

import typer

from celosia.cli.release import groups, numbers

app = typer.Typer(
    no_args_is_help=True,
    help="""Release one statistic of a table with differential privacy.

    **Examples**

    `celosia release mean salaries.csv --column salary --lower 0 --upper 200000 --epsilon 0.5`

    `celosia release count people.csv --epsilon 0.5 --explain`  (the price, and how exact it is)

    `celosia release histogram people.csv --column age --edges 0,18,65,120 -e 0.5 -o ages.csv`
    """,
)
app.command("count")(numbers.count)
app.command("sum")(numbers.total)
app.command("mean")(numbers.mean)
app.command("variance")(numbers.variance)
app.command("median")(numbers.median)
app.command("quantile")(numbers.quantile)
app.command("histogram")(groups.histogram)
app.command("top")(groups.top)
app.command("above")(groups.above)
