"""Protocols, or parts of them, that others got wrong: for tests to catch.

Never use one: each names its flaw, what it should give, and what it gives in truth.
"""

from celosia.lab.collect.broken.clients import (
    BrokenEpsilonToF,
    BrokenSaltedHash,
    BrokenStickyRappor,
    StickyRappor,
)
from celosia.lab.collect.broken.debias import (
    BrokenHalfDebias,
    BrokenOffset,
    BrokenTotalDebias,
)
from celosia.lab.collect.broken.example import BrokenProtocol
from celosia.lab.collect.broken.rescaling import BrokenRescaling

BROKEN: tuple[BrokenProtocol, ...] = (
    BrokenStickyRappor(),
    BrokenEpsilonToF(),
    BrokenHalfDebias(),
    BrokenTotalDebias(),
    BrokenOffset(),
    BrokenRescaling(),
    BrokenSaltedHash(),
)
"""One of each, with parameters that show the flaw clearly."""

__all__ = [
    "BROKEN",
    "BrokenEpsilonToF",
    "BrokenHalfDebias",
    "BrokenOffset",
    "BrokenProtocol",
    "BrokenRescaling",
    "BrokenSaltedHash",
    "BrokenStickyRappor",
    "BrokenTotalDebias",
    "StickyRappor",
]
