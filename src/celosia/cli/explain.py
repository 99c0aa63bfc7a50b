"""`celosia explain`: what an error code means."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console
from celosia.cli.frame import JsonOutputs

if TYPE_CHECKING:
    from celosia.core.catalogue import Explanation


def explain(
    outputs: JsonOutputs,
    code: Annotated[
        str | None, "argument", "An error code, such as CEL-T011; without one, all are listed."
    ] = None,
) -> None:
    """Explain an error code: its meaning and its remedy.

    **Examples**

    `celosia explain CEL-T011`

    `celosia explain`  (all codes)
    """
    from celosia.core.catalogue import explanation, explanations
    from celosia.core.messages import current

    into = current()
    chosen = list(explanations(into).values()) if code is None else [explanation(code, into)]
    outputs.show(lambda: [asdict(entry) for entry in chosen], lambda: _show(chosen, code))


def _show(chosen: list[Explanation], code: str | None) -> None:
    if code is None:
        for entry in chosen:
            console.show(f"{entry.code}  {entry.title}")
        return
    console.show(f"{chosen[0].code}: {chosen[0].title}", strong=True)
    for paragraph in chosen[0].text.split("\n\n"):
        console.show("")
        console.show(paragraph)
