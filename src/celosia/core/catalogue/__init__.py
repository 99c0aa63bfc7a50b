"""Every message in English and Spanish, and the explanation of every error code.

One TOML file for each family. An error is a table by its code: `title` and `text` for `celosia
explain`, and the templates `what`, `why` and `fix`; where a code has several messages, each is a
table below it (`[CEL-I064.no_column]`) and takes from the code what it does not say itself. Other
messages are tables with one template, `text`; their key names the file (`words.did_you_mean`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from celosia.core.errors import InputError
from celosia.core.messages import FAMILIES, Language, did_you_mean, in_language, read_family


@dataclass(frozen=True, slots=True)
class Explanation:
    """What an error code stands for."""

    code: str
    title: str
    text: str


def explanations(into: Language = "en") -> dict[str, Explanation]:
    """All explanations by code, in order of code."""
    found = {
        code: Explanation(code, in_language(entry["title"], into), _whole_text(entry, into))
        for name, letters in FAMILIES.items()
        if letters
        for code, entry in read_family(name).items()
        if code.startswith("CEL-")
    }
    return dict(sorted(found.items()))


def _whole_text(entry: dict[str, Any], into: Language) -> str:
    """What a code says, and below it what its variants say under titles of their own."""
    parts = [in_language(entry["text"], into)]
    for each in entry.values():
        if "title" in each and "text" in each:
            title, text = (in_language(each[part], into) for part in ("title", "text"))
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
