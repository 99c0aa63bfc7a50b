"""What the caller declares: whose documents they are, in which language, and what is done by kind.

The same fields in Python, in a TOML file, on the command line and in the studio.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from celosia.assess.recognisers import KINDS
from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean, say

Spread = Literal["document", "person", "collection"]

DEFAULT_ACTIONS: Mapping[str, str] = {
    "default": "redact",
    "person": "label",
    "date": "generalise",
    "birth": "generalise",
    "age": "generalise",
    "health": "keep:reason=the subject of the documents",
}
"""What a draft declares; kinds that are not listed have the default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDeclaration:
    """What the documents mean, and what is done with each kind of finding.

    Args:
        language: of the documents, or `auto`.
        other_languages: whether documents that are in neither English nor Spanish are refused, or
            published although names and dates in them are missed.
        person: the column or key that says whose a document is, or a pattern on the name of its
            file with one group.
        scope: where equal values are replaced alike: the linkage promise.
        spread: where a name that was found once is looked for.
        ask: findings with a lower score are dropped.
        sure: findings with a lower score are listed for review; without a decision they are
            replaced as all others are.
        actions: an action (`NAME:key=value`) for each kind, and `default` for the others.
        lists: files with further terms of a kind, one a line.

    Raises:
        InputError: CEL-N010 a declaration that cannot be used.
    """

    language: Literal["auto", "en", "es"] = "auto"
    other_languages: Literal["refuse", "publish"] = "refuse"
    person: str | None = None
    scope: Spread = "collection"
    spread: Spread = "person"
    ask: float = 0.4
    sure: float = 0.7
    actions: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_ACTIONS))
    lists: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, allowed in _WORDS.items():
            if getattr(self, name) not in allowed:
                raise InputError("CEL-N010.value", name=name, allowed=list(allowed))
        for name in ("ask", "sure"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value <= 1:
                raise InputError("CEL-N010.share", name=name)
        for table in (self.actions, self.lists):
            for kind in table:
                if kind not in (*KINDS, "default"):
                    hint = did_you_mean(str(kind), KINDS)
                    raise InputError("CEL-N010.kind", kind=str(kind), hint=hint, known=list(KINDS))
        if self.person is not None:
            _compiled(self.person)

    @classmethod
    def load(cls, path: str | Path) -> TextDeclaration:
        """Read a declaration from TOML.

        Raises:
            InputError: CEL-N010 it cannot be read, or has a key that is not known.
        """
        file = Path(path)
        try:
            found = tomllib.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            raise InputError("CEL-N010.file", path=file) from None
        return cls.from_dict(found, folder=file.parent)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, folder: Path | None = None) -> TextDeclaration:
        """A declaration from the tables of a TOML file."""
        given = values.get("text")
        if not isinstance(given, Mapping) or set(values) != {"text"}:
            raise InputError("CEL-N010.table")
        known = {each.name for each in fields(cls)}
        for name, value in given.items():
            if name not in known:
                raise InputError(
                    "CEL-N010.key", name=str(name), hint=did_you_mean(str(name), known)
                )
            is_table = name in ("actions", "lists")
            if is_table and not (
                isinstance(value, Mapping) and all(isinstance(each, str) for each in value.values())
            ):
                raise InputError("CEL-N010.texts", name=str(name))
        made = cls(**given)
        if folder is not None:
            lists = {kind: str(folder / name) for kind, name in made.lists.items()}
            made = replace(made, lists=lists)
        return made

    def as_dict(self) -> dict[str, Any]:
        """The tables of the TOML file."""
        made = {each.name: getattr(self, each.name) for each in fields(self)}
        made["actions"], made["lists"] = dict(self.actions), dict(self.lists)
        return {"text": {name: value for name, value in made.items() if value not in (None, {})}}

    def person_of(self, name: str) -> str | None:
        """Whose a document is by the name of its file, where a pattern says so."""
        pattern = _compiled(self.person) if self.person is not None else None
        match = None if pattern is None else pattern.search(name)
        return None if match is None else match.group(1)

    def draft(self) -> str:
        """A commented TOML file."""
        return say("texts.draft", person=self.person or "", language=self.language) + "".join(
            f'{kind} = "{action}"\n' for kind, action in self.actions.items()
        )


_WORDS: dict[str, tuple[str, ...]] = {
    "language": ("auto", "en", "es"),
    "other_languages": ("refuse", "publish"),
    "scope": get_args(Spread),
    "spread": get_args(Spread),
}


def _compiled(pattern: str) -> re.Pattern[str] | None:
    """A pattern with one group; None where the text is the name of a column."""
    if not isinstance(pattern, str) or not pattern:
        raise InputError("CEL-N010.person")
    if "(" not in pattern:
        return None
    try:
        found = re.compile(pattern)
    except re.error:
        raise InputError("CEL-N010.person") from None
    if found.groups != 1:
        raise InputError("CEL-N010.person")
    return found
