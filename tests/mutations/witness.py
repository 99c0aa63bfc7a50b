"""A plugin of pytest: tests must import the mutated copy, and their results go to a file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings

SOURCE = "CELOSIA_MUTATED_SOURCE"
RESULT = "CELOSIA_MUTATION_RESULT"

failed: list[str] = []
passed: list[str] = []


def pytest_sessionstart() -> None:
    """Stop where Python would import the package from elsewhere."""
    import celosia  # after pytest has set up the path

    if not Path(celosia.__file__).is_relative_to(os.environ[SOURCE]):
        pytest.exit(f"celosia comes from {celosia.__file__}, not from the copy.", returncode=3)
    # The first example that fails is enough: nobody reads the smallest one.
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    settings.register_profile("mutations", parent=settings.default, phases=phases)
    settings.load_profile("mutations")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Take down files of tests that do not even load."""
    if report.failed:
        failed.append(report.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Take down which tests fail and which pass."""
    if report.failed:
        failed.append(report.nodeid)
    elif report.passed and report.when == "call":
        passed.append(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write the results for the command that started pytest."""
    Path(os.environ[RESULT]).write_text(json.dumps({"failed": failed, "passed": passed}), "utf-8")
