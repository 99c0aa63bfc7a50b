"""Parameters that attacks declare."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from celosia.core.methods import Parameter

CERTAINTY = Parameter(name="certainty", kind="number", above=0, most=1, default=1.0)
"""The share of a class from which it counts as exposed: 1 for what is certain."""

LEFT = Parameter(name="left", kind="whole", least=1, default=1)
"""How many values may remain for a class to count as exposed."""

WIDTH = Parameter(name="width", kind="number", least=0)
"""The difference up to which two numbers tell the same."""

CAP = Parameter(name="cap", kind="whole", least=0, default=20_000)
"""Up to so many ways are tried one by one."""

SAMPLES = Parameter(name="samples", kind="whole", least=1, default=2_000)
"""How many ways are drawn above the cap."""


def certainty() -> Any:
    """The `certainty` of an attack."""
    return field(default=1.0, metadata={"parameter": CERTAINTY})
