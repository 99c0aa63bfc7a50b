"""A draft of a declaration, from the names of the columns of a file."""

from __future__ import annotations

import re
from pathlib import Path

from celosia import frames
from celosia.core.messages import say
from celosia.logs.declaration import LogDeclaration
from celosia.logs.readers import ACCESS_LOG, layout_of

_NAMES: dict[str, str] = {
    "person": r"user|userid|uid|person|personid|customer|customerid|client|clientid|member|anonid"
    r"|cookie|visitor|usuario|persona|cliente",
    "time": r"when|time|timestamp|date|datetime|querytime|fecha|hora|moment",
    "text": r"query|q|search|searchterm|keyword|keywords|text|item|itemid|product|productid"
    r"|consulta|busqueda|articulo|producto",
    "url": r"url|clicked|clickurl|click|page|uri|link|address|enlace",
    "ip": r"ip|ipaddress|clientip|remoteaddr|remotehost|host",
    "agent": r"ua|useragent|agent|browser|agente",
    "session": r"sid|session|sessionid|sesion",
    "referrer": r"referrer|referer|ref",
    "bytes": r"bytes|size|length|tamano",
}


_NOTES = {
    "person": "logs.draft.person",
    "time": "logs.draft.time",
    "text": "logs.draft.text",
    "keep": "logs.draft.keep",
    "unit": "logs.draft.unit",
    "normalise": "logs.draft.normalise",
    "damaged": "logs.draft.damaged",
}
"""What the settings of a draft mean."""


def draft(path: str | Path) -> LogDeclaration:
    """What the columns of a file most likely are, by their names; to be read over by a person."""
    file = Path(path)
    layout = layout_of(file, None)
    if layout in ("common", "combined"):
        return ACCESS_LOG
    first = next(frames.read_chunks(file, rows=1000))
    return draft_of(first.columns)


def draft_of(columns: list[str]) -> LogDeclaration:
    """The roles that the names of columns tell.

    >>> draft_of(["user_id", "query", "when", "rank"]).columns
    {'person': 'user_id', 'time': 'when', 'text': 'query'}
    """
    found: dict[str, str] = {}
    for role, pattern in _NAMES.items():
        for column in columns:
            bare = re.sub(r"[^a-z]", "", column.lower())
            if column not in found.values() and re.fullmatch(pattern, bare):
                found[role] = column
                break
    return LogDeclaration(**found)  # type: ignore[arg-type]


def draft_text(declaration: LogDeclaration) -> str:
    """The draft as a file with comments."""
    notes = {name: say(key) for name, key in _NOTES.items()}
    head = say("logs.draft.head")
    return f"# {head}\n" + declaration.toml(comments=notes)
