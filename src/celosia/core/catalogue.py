"""Every error code with its explanation, for `celosia explain` and the reference pages."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from celosia.core.errors import InputError
from celosia.core.wording import did_you_mean


@dataclass(frozen=True, slots=True)
class Explanation:
    """What an error code stands for."""

    code: str
    title: str
    text: str


def explanations() -> dict[str, Explanation]:
    """All explanations by code, in order of code."""
    return dict(_read())


@cache
def _read() -> dict[str, Explanation]:
    table = tomllib.loads(files("celosia.core").joinpath("catalogue.toml").read_text("utf-8"))
    return {
        code: Explanation(code, entry["title"], " ".join(entry["text"].split()))
        for code, entry in sorted(table.items())
    }


def explanation(code: str) -> Explanation:
    """The explanation of one code, whatever its case.

    >>> explanation("cel-c001").title
    'Cancelled'
    """
    known = explanations()
    if code.upper() not in known:
        raise InputError(
            "CEL-I033",
            f"there is no error code {code!r}{did_you_mean(code.upper(), known)}.",
            fix="List them all with `celosia explain`.",
        )
    return known[code.upper()]
