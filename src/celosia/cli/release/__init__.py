"""`celosia release`: one noisy answer about a table; one module per kind of question."""

from __future__ import annotations

import typer

from celosia.cli.release import above, groups, numbers, ranks
from celosia.cli.release.options import ReleaseOptions, add_command

app = typer.Typer(
    no_args_is_help=True,
    help="""Release one statistic of a table with differential privacy.

    **Examples**

    `celosia release mean salaries.csv --column salary --lower 0 --upper 200000 --epsilon 0.5`

    `celosia release count people.csv --epsilon 0.5 --explain`  (the price, and how exact it is)

    `celosia release histogram people.csv --column age --edges 0,18,65,120 -e 0.5 -o ages.csv`
    """,
)
add_command(app, "count", numbers.count, examples=numbers.COUNT)
add_command(app, "sum", numbers.total, examples=numbers.SUM)
add_command(app, "mean", numbers.mean, examples=numbers.MEAN)
add_command(app, "variance", numbers.variance, examples=numbers.VARIANCE)
add_command(app, "median", ranks.median, examples=ranks.MEDIAN)
add_command(app, "quantile", ranks.quantile, examples=ranks.QUANTILE)
add_command(app, "histogram", groups.histogram, examples=groups.HISTOGRAM)
add_command(app, "top", groups.top, examples=groups.TOP)
add_command(app, "above", above.above, examples=above.ABOVE, options_class=ReleaseOptions)
