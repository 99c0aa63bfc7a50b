"""`pytest --workers N`: the suite on several processes, each of which imports what it runs.

The workers of pytest-xdist all import and collect every test before the first one runs. That took
a tenth of the processor time of this suite, and let tests that only wait, for a browser or a
cluster, begin a minute late. Here every worker lists the files, in the same units and in the same
order (`distribution.py`); a controller hands out the numbers of units; a worker imports a unit when
it gets it, runs its tests, and sends their reports back.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

import pytest
from _pytest.runner import collect_one_node

from tests import distribution

UNITS_PER_FREEZE = 16
"""After so many units a worker spares the collector of garbage what has stayed."""
OBJECTS_PER_COLLECTION = 50_000
"""Garbage is collected after so many new objects: with Python's 700 it takes a fifteenth of the
time, most of it to look again at objects that stay."""

SHARED = "CELOSIA_TEST_SHARED"
"""Names the folder of a run, for what is computed once for all its workers."""

Node = pytest.Item | pytest.Collector


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option, and the one by which a worker knows its controller."""
    parser.addoption("--workers", type=int, default=0, help="Run tests on so many processes.")
    parser.addoption("--controller", type=int, default=None, help="For workers: their connection.")


def pytest_configure(config: pytest.Config) -> None:
    """Be a controller, a worker, or nothing special."""
    controller = config.getoption("--controller")
    if controller is not None:
        config.pluginmanager.register(Worker(config, Connection(controller)), "worker")
    elif config.getoption("--workers") and not config.getoption("--collect-only"):
        config.pluginmanager.register(Controller(config), "controller")


class Worker:
    """Runs the units that it is given, and reports."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection
        self._files: list[Node] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        """Collect nothing yet."""
        return True

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests; each must know the next one, to keep what both use."""
        gc.set_threshold(OBJECTS_PER_COLLECTION, 20, 20)
        run = self._config.hook.pytest_runtest_protocol
        before: pytest.Item | None = None
        for item in self._items(session):
            if before is not None:
                run(item=before, nextitem=item)
            before = item
        if before is not None:
            run(item=before, nextitem=None)
        self._connection.send(("end", None))
        return True

    def pytest_collection_modifyitems(self, items: Sequence[Node]) -> None:
        """Look into all folders while pytest still ties a `conftest.py` to its folder."""
        if not self._files:
            self._files = list(_files(items))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tell of files that cannot be collected, or are skipped as a whole."""
        if not report.passed:
            self._connection.send(("collected", self._plain(report)))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say what runs, in case that this worker dies of it."""
        self._connection.send(("start", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send the report of a test."""
        self._connection.send(("report", self._plain(report)))

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        """Say that a test is over."""
        self._connection.send(("finish", (nodeid, location)))

    def _plain(self, report: pytest.CollectReport | pytest.TestReport) -> Any:
        return self._config.hook.pytest_report_to_serializable(config=self._config, report=report)

    def _items(self, session: pytest.Session) -> Iterator[pytest.Item]:
        session.perform_collect(self._config.args, genitems=False)
        units = distribution.units(self._files, name=lambda file: file.nodeid.split("::")[0])
        for count in range(len(units) + 1):
            self._connection.send(("next", len(units)))
            number = self._connection.recv()
            if number is None:
                return
            items = [item for file in units[number] for item in session.genitems(file)]
            self._config.hook.pytest_collection_modifyitems(
                session=session, config=self._config, items=items
            )
            yield from items
            if count % UNITS_PER_FREEZE == 0:
                gc.collect()
                gc.freeze()


def _files(nodes: Iterable[Node]) -> Iterator[Node]:
    """What is in folders; nothing is imported but their `conftest.py`."""
    for node in nodes:
        if isinstance(node, pytest.Directory):
            yield from _files(collect_one_node(node).result)
        else:
            yield node


class Controller:
    """Hands out units, and shows what the workers report as if it ran here."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._given = 0
        self._tests = 0
        self._units = 1
        self._running: dict[Any, str] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        """Leave collecting to the workers."""
        return True

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Let the workers run all units."""
        workers = [self._start(number) for number in range(self._config.getoption("--workers"))]
        open_ends = {connection for _, connection in workers}
        try:
            while open_ends:
                for connection in wait(list(open_ends)):
                    if not self._take(session, connection):
                        open_ends.discard(connection)
        finally:
            for process, connection in workers:
                connection.close()
                if open_ends:
                    process.terminate()
                process.wait()
        return True

    def _start(self, number: int) -> tuple[subprocess.Popen[bytes], Any]:
        ours, theirs = Pipe()
        folder = self._config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        process = subprocess.Popen(
            # What was asked for, `--workers` included: who has a controller is a worker.
            [
                *(sys.executable, "-m", "pytest", *map(str, self._config.invocation_params.args)),
                *("-p", "no:cacheprovider", f"--controller={theirs.fileno()}"),
                f"--basetemp={folder / f'worker-{number}'}",
            ],
            env=os.environ | {SHARED: str(folder)},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        theirs.close()
        return process, ours

    def _take(self, session: pytest.Session, connection: Any) -> bool:
        """Take one message of a worker; whether there will be more."""
        try:
            kind, content = connection.recv()
        except (EOFError, OSError):
            self._show_crash(self._running.pop(connection, "before its first test"))
            return False
        hook = self._config.hook
        if kind == "next":
            self._units = content
            connection.send(None if session.shouldfail else self._next_unit())
        elif kind == "start":
            self._running[connection] = content
            self._tests += 1
            # For the progress that is shown: as if all units had as many tests.
            session.testscollected = self._tests * self._units // self._given
        elif kind == "finish":
            nodeid, location = content
            hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
        elif kind != "end":
            report = hook.pytest_report_from_serializable(config=self._config, data=content)
            if kind == "report":
                hook.pytest_runtest_logreport(report=report)
            else:
                hook.pytest_collectreport(report=report)
        return bool(kind != "end")

    def _next_unit(self) -> int | None:
        if self._given == self._units:
            return None
        self._given += 1
        return self._given - 1

    def _show_crash(self, nodeid: str) -> None:
        """Report a worker that died with the tests that it had taken."""
        report = pytest.TestReport(
            nodeid=nodeid,
            location=(nodeid, None, nodeid),
            keywords={},
            outcome="failed",
            longrepr=f"A worker died: {nodeid}. Other tests that it had taken were not run.",
            when="call",
        )
        self._config.hook.pytest_runtest_logreport(report=report)
