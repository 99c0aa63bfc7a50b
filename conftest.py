"""README.md and the pages of docs/ are tests: their examples run as a reader would run them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.examples import Page

ROOT = Path(__file__).parent


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Page | None:
    """Take in README.md and docs/**/*.md."""
    if file_path.suffix != ".md":
        return None
    is_page = file_path == ROOT / "README.md" or file_path.is_relative_to(ROOT / "docs")
    return Page.from_parent(parent, path=file_path) if is_page else None
