"""Options that say what a log is, shared by the commands of `celosia log`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from celosia.core.errors import InputError

if TYPE_CHECKING:
    from celosia.logs import Log, SetContext, Transactions
    from celosia.logs.declaration import LogDeclaration

LogFile = Annotated[
    Path,
    "argument",
    "The log: a table (.csv, .parquet ...), JSON lines, an access log (common or combined "
    "format), or basket lines; also packed (.gz).",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogInput:
    """How a log is read."""

    declare: Annotated[Path | None, "What the columns are (TOML); an access log needs none."] = None

    damaged: Annotated[
        Literal["refuse", "drop"] | None,
        "Whether a log is refused that has broken bytes, records without a person or a "
        "query, or addresses that cannot be read. Default: as declared, else refuse.",
    ] = None

    def declaration(self, path: Path) -> LogDeclaration:
        """What is declared of the file."""
        from celosia.frames.formats import check_readable
        from celosia.logs.readers import declaration_of

        check_readable(path)
        found = declaration_of(self.declare, path)
        return found if self.damaged is None else replace(found, damaged=self.damaged)

    def read(self, path: Path) -> Log:
        """The log of a file."""
        from celosia.logs import read

        return read(path, self.declaration(path))

    def read_sets(self, path: Path) -> Transactions:
        """The transactions of a file."""
        from celosia.logs import LogDeclaration, read_sets

        found = LogDeclaration(layout="baskets")
        if self.declare is not None:
            found = LogDeclaration.load(self.declare)
        if self.damaged is not None:
            found = replace(found, damaged=self.damaged)
        return read_sets(path, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetInput:
    """Whether sets are meant, and what is known of their items."""

    sets: Annotated[bool, "--sets", "The set of items of each person, or baskets."] = False
    hierarchy: Annotated[Path | None, "With --sets: the hierarchy of the items (CSV)."] = None
    sensitive: Annotated[Path | None, "With --sets: file with one sensitive item a line."] = None

    def check(self) -> None:
        """Refuse, before any work, what sets alone have."""
        if not self.sets and (self.hierarchy is not None or self.sensitive is not None):
            raise InputError("CEL-U044")

    def items(self) -> set[str]:
        """The sensitive items of the file."""
        return read_items(self.sensitive)

    def context(self, given: LogInput) -> SetContext:
        """The hierarchy and the sensitive items, as given or as declared."""
        from celosia.logs.declaration import LogDeclaration
        from celosia.logs.run import set_context

        declared = None if given.declare is None else LogDeclaration.load(given.declare)
        return set_context(self.hierarchy, self.items(), declared)


def read_items(path: Path | None) -> set[str]:
    """The items of a file, one a line; none where no file is given."""
    from celosia.logs import run

    return set() if path is None else run.read_items(path)
