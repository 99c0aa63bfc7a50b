"""Every message in English and Spanish, and the explanation of every error code.

One TOML file for each family. An error is a table by its code: `title` and `text` for `celosia
explain`, and the templates `what`, `why` and `fix`; where a code has several messages, each is a
table below it (`[CEL-I064.no_column]`) and takes from the code what it does not say itself. Other
messages are tables with one template, `text`; their key names the file (`words.did_you_mean`).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import Language, did_you_mean

FAMILIES = {
    "accounting": "B",
    "assess": "A",
    "cli": "",
    "collect": "R",
    "datasets": "D",
    "engines": "E",
    "frames": "F",
    "general": "CIX",
    "graphs": "G",
    "lab": "L",
    "logs": "U",
    "masking": "VY",
    "mechanisms": "M",
    "queries": "Q",
    "reports": "",
    "sketches": "K",
    "studio": "W",
    "tables": "HPST",
    "traces": "J",
    "texts": "N",
    "methods": "",
    "models": "",
    "words": "",
}
"""Each file with the letters of its error codes."""

_FILES = {letter: name for name, letters in FAMILIES.items() for letter in letters}


@dataclass(frozen=True, slots=True)
class Explanation:
    """What an error code stands for."""

    code: str
    title: str
    text: str


def template(key: str, into: Language) -> str:
    """The template of a message that is no error: the key names its file and its table."""
    family, _, name = key.partition(".")
    entry: Any = read_family(family)
    for part in name.split("."):
        entry = entry[part]
    return _in_language(entry["text"], into)


def part_template(key: str, part: str, into: Language) -> str:
    """One part (`what`, `why`, `fix`, `title`) of the message of an error; empty if it has none."""
    code, _, variant = key.partition(".")
    entry = read_family(_FILES[code[4]])[code]
    found = (entry[variant].get(part) if variant else None) or entry.get(part)
    return "" if found is None else _in_language(found, into)


def _in_language(texts: dict[str, str], into: Language) -> str:
    return texts.get(into) or texts["en"]


@cache
def read_family(name: str) -> dict[str, Any]:
    """One file of the catalogue."""
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text("utf-8"))


def explanations(into: Language = "en") -> dict[str, Explanation]:
    """All explanations by code, in order of code."""
    found = {
        code: Explanation(code, _in_language(entry["title"], into), _whole_text(entry, into))
        for name, letters in FAMILIES.items()
        if letters
        for code, entry in read_family(name).items()
        if code.startswith("CEL-")
    }
    return dict(sorted(found.items()))


def _whole_text(entry: dict[str, Any], into: Language) -> str:
    """What a code says, and below it what its variants say under titles of their own."""
    parts = [_in_language(entry["text"], into)]
    for each in entry.values():
        if "title" in each and "text" in each:
            title, text = (_in_language(each[part], into) for part in ("title", "text"))
            parts.append(f"{title}: {text}")
    return "\n\n".join(parts)


def explanation(code: str, into: Language = "en") -> Explanation:
    """The explanation of one code, whatever its case.

    >>> explanation("cel-c001").title
    'Cancelled'
    """
    known = explanations(into)
    if code.upper() not in known:
        raise InputError("CEL-I033", code=code, hint=did_you_mean(code.upper(), known))
    return known[code.upper()]
