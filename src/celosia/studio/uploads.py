"""Files that visitors bring, as jobs read them: each goes as soon as it is read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.core.errors import InputError
from celosia.core.progress import Step
from celosia.studio.worker import JobProgress

if TYPE_CHECKING:
    import polars as pl

MOST_COLUMNS = 300
"""A table with more columns cannot be checked column by column."""
LONGEST_NAME = 300
"""Letters of a name of a column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a piece of work begins with: a sample, or a file of a visitor."""

    sample: str | None = None
    """The name of a sample; None for a file."""
    file: str = ""
    """Our name of an upload in the folder of the work; the file goes when it is read."""
    shown: str = ""
    """What the visitor called it."""
    lenient: bool = False
    """Whether the visitor allowed what is otherwise refused, see `Door.lenient`."""

    def state(self) -> dict[str, Any]:
        """What the state of every piece of work begins with."""
        found = {"sample": self.sample, "name": self.shown or self.sample}
        return found | ({"lenient": True} if self.lenient else {})


@contextmanager
def uploaded(path: Path, shown: str) -> Iterator[Path]:
    """An uploaded file while it is read, called in errors and warnings as the visitor does.

    Args:
        path: where it lies, which is ours to know.
        shown: what the visitor called it.
    """
    told: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            yield path
    except InputError as error:
        raise error.replace(str(path), shown).replace(path.name, shown) from None
    finally:
        path.unlink(missing_ok=True)
    for each in told:
        text = str(each.message).replace(str(path), shown).replace(path.name, shown)
        warnings.warn(text, each.category, stacklevel=2)


def read_table_file(
    progress: JobProgress, path: Path, shown: str, reading: dict[str, Any] | None = None
) -> pl.DataFrame:
    """An uploaded table.

    Args:
        progress: how to tell of progress.
        path: our name of the upload.
        shown: what the visitor called it.
        reading: delimiter, encoding, header and decimal mark, where the visitor gave them.

    Raises:
        InputError: CEL-W058 it has no rows, CEL-W059 too many columns, CEL-W060 a name that is
            too long; or what is wrong with the file.
    """
    from celosia.frames import read  # Polars comes with it

    progress(Step("Reading the file", 0))
    given = {key: value for key, value in (reading or {}).items() if value is not None}
    if path.suffix == ".json":
        given["format"] = "jsonl"
    with uploaded(path, shown):
        frame = read(path, **given)
    check_table(frame)
    return frame


def check_table(frame: pl.DataFrame) -> None:
    """Refuse a table that no page could show.

    Raises:
        InputError: CEL-W058 it has no rows, CEL-W059 too many columns, CEL-W060 a name that is
            too long.
    """
    if frame.height == 0 or frame.width == 0:
        raise InputError("CEL-W058")
    if frame.width > MOST_COLUMNS:
        raise InputError("CEL-W059", columns=frame.width, most=MOST_COLUMNS)
    check_names(frame.columns)


def check_names(names: Iterable[str]) -> None:
    """Refuse names that no page could show."""
    if any(len(name) > LONGEST_NAME for name in names):
        raise InputError("CEL-W060", longest=LONGEST_NAME)
