"""Attacks by their names on the command line."""

from __future__ import annotations

from collections.abc import Mapping

from celosia.core.notation import method_from_text
from celosia.traces.attacks.home import ByAveraging, ByHome
from celosia.traces.attacks.linkage import ByLinking
from celosia.traces.attacks.method import TraceAttackMethod
from celosia.traces.attacks.unicity import ByKnownPoints, ByWorstCells

ATTACKS: Mapping[str, type[TraceAttackMethod]] = {
    each.method_name: each for each in (ByKnownPoints, ByWorstCells, ByHome, ByAveraging, ByLinking)
}
"""The attacks by their names."""

USUAL: tuple[TraceAttackMethod, ...] = (ByKnownPoints(), ByHome(), ByAveraging(), ByLinking())
"""Attacks that are run where none is named."""


def attack_from_text(text: str) -> TraceAttackMethod:
    """An attack in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> attack_from_text("unicity:points=2")
    ByKnownPoints(points=2, cell=1000.0, hours=1.0)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return method_from_text(ATTACKS, text, what="attack")
