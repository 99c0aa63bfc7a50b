"""Answers as files: JSON, or a table."""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.core.release import Release

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True)
class AnswerRelease(Release):
    """A release of numbers that may be written with all its figures, or as a table alone."""

    @abstractmethod
    def to_polars(self) -> pl.DataFrame:
        """The answer as a table."""

    def check_path(self, path: Path) -> None:
        from celosia import frames

        if path.suffix.lower() != ".json":
            frames.format_of(path)

    def write_data(self, path: Path) -> None:
        from celosia import frames

        if path.suffix.lower() == ".json":
            text = json.dumps(self.measures(), indent=2, ensure_ascii=False, allow_nan=False)
            path.write_text(f"{text}\n", "utf-8")
        else:
            frames.write(self.to_polars(), path)
