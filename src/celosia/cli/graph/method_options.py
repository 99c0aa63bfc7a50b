"""Options for graph methods and their parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.graphs.method import GraphMethod

Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Method to apply (list: celosia graph methods); repeat it for more.",
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the method; with several methods, METHOD.NAME=VALUE.",
    ),
]


def methods_from_options(
    names: list[str] | None, parameters: list[str] | None, *, k_degree: int | None = None
) -> tuple[GraphMethod[Any], ...]:
    """The methods in the order in which they are named; k-degree by its short form comes last.

    Raises:
        InputError: CEL-G025 a parameter that does not belong to one method; and as
            `registry.method_from` says.
    """
    from celosia.cli.mask import parse_setting
    from celosia.graphs.registry import method_from

    wanted = names or []
    given: dict[str, dict[str, Any]] = {name: {} for name in wanted}
    for text in parameters or ():
        key, value = parse_setting(text)
        method, dot, name = key.rpartition(".")
        owner = method if dot else wanted[0] if len(wanted) == 1 else None
        if owner not in given:
            raise InputError("CEL-G025", key=key)
        given[owner][name] = value
    made = [method_from(name, given[name]) for name in wanted]
    if k_degree is not None:
        made.append(method_from("k-degree", {"k": k_degree}))
    return tuple(made)
