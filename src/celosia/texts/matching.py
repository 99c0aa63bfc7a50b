"""Match published files with the originals, by the curator's file of names."""

from __future__ import annotations

import csv
from pathlib import Path

from celosia.core.errors import InputError
from celosia.texts.formats import open_file
from celosia.texts.readers import ReadResult


def published_texts(reading: ReadResult, release: Path, names: Path) -> list[str]:
    """The published text of each original document, in their order.

    Raises:
        InputError: CEL-N043 the names are not those of this release.
    """
    try:
        with names.open(encoding="utf-8", newline="") as stream:
            known = {row["original"]: row["published"] for row in csv.DictReader(stream)}
    except (OSError, ValueError, KeyError):
        raise InputError("CEL-N043.names", path=names) from None
    found: list[str] = []
    for file in reading.files:
        path = release / known.get(file.name, "")
        if file.name not in known or not path.is_file():
            raise InputError("CEL-N043.names", path=names)
        content = open_file(path)
        if len(content.documents) != len(file.documents):
            raise InputError("CEL-N043.names", path=names)
        for pieces in content.documents:
            glued = [(piece.glue if at else "") + piece.text for at, piece in enumerate(pieces)]
            found.append("".join(glued))
    return found
