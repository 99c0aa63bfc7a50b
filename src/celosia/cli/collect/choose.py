"""`celosia collect choose`: which protocol, and what error it will have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli import console, options
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import InputError
from celosia.core.messages import say

if TYPE_CHECKING:
    from celosia.collect.recommendations.results import Recommendations


def choose(
    outputs: ReportOutputs,
    domain: Annotated[float | None, "N", "How many different values there can be."] = None,
    users: Annotated[float | None, "N", "How many users report, such as 1e6."] = None,
    epsilon: Annotated[
        float | None, options.EPSILON, "Epsilon of one report; if repeated, of all on one value."
    ] = None,
    error: Annotated[
        str | None, "Target error: 500 (users), or 0.1% of them. Then leave one out."
    ] = None,
    report_bytes: Annotated[
        int | None, typer.Option("--bytes", min=1, help="The largest size of a report.")
    ] = None,
    squares: Annotated[
        float | None, "The sum of the squared shares of all values; else Zipf's law, 1.1."
    ] = None,
    hashes: Annotated[
        int | None, typer.Option(min=1, help="The rows of sketches, if they are fixed.")
    ] = None,
    unknown_dictionary: Annotated[
        bool, "--unknown-dictionary", "There is no list of the values."
    ] = False,
    repeated: Annotated[bool, "--repeated", "Devices report repeatedly."] = False,
) -> None:
    """Recommend protocols and parameters, by the error that a rare value will have.

    Give two of users, epsilon and error: the third is found. No data is read.

    **Examples**

    `celosia collect choose --users 1e6 --domain 1000 --epsilon 2 --bytes 8`

    `celosia collect choose --users 1e6 --domain 1000 --error 500`  (which epsilon?)

    `celosia collect choose --epsilon 2 --domain 1000 --error 0.1%`  (how many users?)

    `celosia collect choose --users 1e6 --epsilon 8 --unknown-dictionary --report choice.html`
    """
    from celosia.collect.recommendations import results as choosing_report
    from celosia.collect.recommendations import selection

    outputs.check()
    wished, share = _target_error(error)
    found = selection.choose(
        domain=domain,
        users=users,
        epsilon=epsilon,
        target_error=wished,
        target_share=share,
        bytes=report_bytes,
        squares=squares,
        hashes=hashes,
        unknown_dictionary=unknown_dictionary,
        repeated=repeated,
    )
    outputs.write_report(lambda: choosing_report.document(found))
    outputs.show(found.as_dict, lambda: _show(found), found)


def _show(found: Recommendations) -> None:
    from celosia.collect.recommendations import results as choosing_report

    console.show_table(
        say("cli.collect.protocols_best_first_errors"),
        choosing_report.header(found),
        [choosing_report.row(each, found) for each in found.ranked],
    )
    for label, why in found.left_out:
        console.note(say("cli.collect.left_out", label=label, why=why))
    for each in found.ranked:
        for warning in each.warnings:
            console.note(f"{each.label}: {warning}.")
    listed = ", ".join(f"{name} {value}" for name, value in found.best.parameters.items())
    console.show(say("cli.collect.parameters", listed=listed))


def _target_error(text: str | None) -> tuple[float | None, float | None]:
    """A target error in users, or as a share of them."""
    if text is None:
        return None, None
    try:
        number = float(text.strip().removesuffix("%"))
    except ValueError:
        raise InputError("CEL-R090.target_error", text=text) from None
    return (None, number / 100) if text.strip().endswith("%") else (number, None)
