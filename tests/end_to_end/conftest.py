"""A table large enough that work on it can be watched and stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from celosia import datasets, frames


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A generated census of 400,000 people, and its schema."""
    folder = tmp_path_factory.mktemp("large")
    frames.write(datasets.census(400_000), folder / "census.csv")
    (folder / "census.toml").write_text(datasets.schema_text())
    return folder / "census.csv", folder / "census.toml"
