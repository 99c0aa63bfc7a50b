"""The methods of a door with their parameters, for `celosia graph methods` and its like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from celosia.cli import console
from celosia.cli.frame import Outputs
from celosia.core.messages import Message, say
from celosia.core.methods import Method, parameters, plain

Kind = TypeVar("Kind", bound=Method)


def show_methods(
    outputs: Outputs,
    known: Mapping[str, type[Kind]],
    more: Callable[[type[Kind]], dict[str, Any]],
    last: Callable[[type[Kind]], str] | None = None,
) -> None:
    """List methods by their names.

    Args:
        outputs: lines or JSON.
        known: the methods.
        more: what else this door says of a method, in JSON.
        last: what else it says of a method, in a line.
    """

    def lines() -> None:
        for name, kind in known.items():
            console.show(name, strong=True)
            console.show(f"  {Message(f'methods.{name}.summary')}")
            written = [
                each.name if each.is_required else f"{each.name} ({each.default})"
                for each in parameters(kind)
            ]
            shown = ", ".join(written) or Message("cli.word.none")
            console.show(say("cli.graph.parameters", parameters=shown))
            if last is not None:
                console.show(last(kind))

    outputs.show(
        lambda: [
            {"method": name, "summary": Message(f"methods.{name}.summary")}
            | more(kind)
            | {
                "parameters": {each.name: plain(each.default) for each in parameters(kind)},
                "needs": [each.name for each in parameters(kind) if each.is_required],
            }
            for name, kind in known.items()
        ],
        lines,
    )
