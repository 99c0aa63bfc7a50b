"""Run tests against a copy of the source, with a mutation planted in it or without."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.effort import QUICK, SETTING
from tests.mutations.mutations import ROOT, Mutation, StaleMutationError
from tests.mutations.source_copy import SourceCopy
from tests.mutations.witness import RESULT, SOURCE

CAUGHT = "caught"
MISSED = "missed"
STALE = "stale"
UNSURE = "unsure"

# The quick form of the tests, with the same examples every time, and one thread as in `make test`.
ENVIRONMENT = {
    "CI": "1",
    SETTING: str(QUICK),
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
LONGEST = 1800
"""Seconds after which tests that do not end are stopped, however busy the machine is."""
MOST_SECONDS = 240
"""Seconds of the processor that one process may take: a fault may lead to an endless loop."""


@dataclass(frozen=True)
class Outcome:
    """What became of one mutation."""

    id: str
    package: str
    result: str
    """`caught`; `missed`: all tests passed; `stale`: does not fit the source; `unsure`."""
    test: str = ""
    """The first test that failed."""
    note: str = ""
    seconds: float = 0.0
    """Of the processor."""

    @property
    def test_name(self) -> str:
        """The first test that failed, without its parameters."""
        return self.test.partition("[")[0]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.result:<7} {self.id:<42} {self.seconds:>6.1f} s  {self.test or self.note}"


@dataclass(frozen=True)
class TestRun:
    """The results of one run of pytest."""

    __test__ = False

    code: int
    failed: list[str]
    passed: list[str]
    seconds: float
    output: str


def run_mutation(copy: SourceCopy, mutation: Mutation) -> Outcome:
    """Plant a mutation, run its tests until the first one fails, and take the mutation back."""
    known = Outcome(mutation.id, mutation.package, UNSURE)
    try:
        with copy.planted(mutation) as environment:
            run = run_tests(copy, ["-x", *mutation.tests], environment, most=MOST_SECONDS)
    except StaleMutationError as error:
        return replace(known, result=STALE, note=str(error))
    known = replace(known, seconds=run.seconds)
    if run.failed:
        return replace(known, result=CAUGHT, test=run.failed[0])
    if run.code == 0 and run.passed:
        return replace(known, result=MISSED, note=f"{len(run.passed)} tests passed")
    if run.code < 0:
        return replace(known, note="the tests did not end")
    return replace(known, note=f"pytest ended with code {run.code}: {run.output[-300:]}")


def confirm(copy: SourceCopy, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Run the tests that caught something without any fault: there they must pass.

    A catch by a test that fails anyway becomes `unsure`.
    """
    outcomes = list(outcomes)
    tests = sorted({outcome.test for outcome in outcomes if outcome.result == CAUGHT})
    if not tests:
        return outcomes
    run = run_tests(copy, tests, {})
    note = "fails without the fault too"
    return [
        replace(outcome, result=UNSURE, note=f"{outcome.test} {note}")
        if outcome.result == CAUGHT and not _passes(outcome.test, run)
        else outcome
        for outcome in outcomes
    ]


def _passes(test: str, run: TestRun) -> bool:
    # A file of tests that did not load has no name of a test.
    found = [name for name in run.passed if name == test or name.startswith(f"{test}::")]
    return bool(found) and test not in run.failed


def run_tests(
    copy: SourceCopy,
    arguments: list[str],
    environment: dict[str, str],
    *,
    most: int | None = None,
) -> TestRun:
    """Run pytest in a process of its own that imports the package from the copy.

    It may take `most` seconds of the processor, where the system can limit them.
    """
    before = _seconds()
    with TemporaryDirectory(prefix="celosia-result-") as folder:
        result = Path(folder) / "result.json"
        given = {"PYTHONPATH": str(copy.folder), SOURCE: str(copy.folder), RESULT: str(result)}
        # Without the comparison of long lists, which may take longer than the tests.
        quick = ["-q", "--assert=plain", "--tb=line", "-p", "no:cacheprovider"]
        code, output = _run(
            [sys.executable, "-m", "pytest", *quick, "-p", "tests.mutations.witness", *arguments],
            os.environ | ENVIRONMENT | given | environment,
            most,
        )
        found = json.loads(result.read_text("utf-8")) if result.exists() else {}
    failed, passed = found.get("failed", []), found.get("passed", [])
    return TestRun(code, failed, passed, round(_seconds() - before, 1), output)


def _run(command: list[str], environment: dict[str, str], most: int | None) -> tuple[int, str]:
    """Run a command in a process group of its own, which ends with this process or on Ctrl-C."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        if most is not None and hasattr(resource, "prlimit"):
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (most, most + 1))
        output, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return -1, f"the tests did not end within {LONGEST} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, output


def _seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
