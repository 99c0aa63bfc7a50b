"""Options for graph methods and their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from celosia.graphs.method import GraphMethod

Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME[:KEY=VALUE,...]",
        help="Method with its parameters (list: celosia graph methods); repeat it for more.",
    ),
]


def methods_from_options(
    written: list[str] | None, *, k_degree: int | None = None
) -> tuple[GraphMethod[Any], ...]:
    """The methods in the order in which they are given; k-degree by its short form comes last.

    Raises:
        InputError: as `core.methods.method_from_text` says.
    """
    from celosia.graphs.method import method_from, method_from_text

    made = [method_from_text(each) for each in written or ()]
    if k_degree is not None:
        made.append(method_from("k-degree", {"k": k_degree}))
    return tuple(made)
