"""What is acknowledged outlives kill -9, a full disk and a log that is cut off."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.collect.crash_process import BATCHES, REPORTS
from tests.collect.small_protocol import PROTOCOL, batch, name, state_of

from celosia.collect.collector.collector import Collector
from celosia.collect.collector.journal import FILE
from celosia.collect.protocol import Server

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def graves() -> Iterator[Path]:
    """Folders of collectors that died, one for each step; in memory, where it is quick.

    A process that is killed loses nothing that the system has already taken, so it makes no
    difference where the files are; whether they are synced is another test.
    """
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        subprocess.run(
            [sys.executable, "-m", "tests.collect.crash_process", "steps", folder],
            cwd=ROOT,
            check=True,
            timeout=600,
        )
        yield Path(folder)


def counted(collector: Collector) -> list[int]:
    """Which batches a collector holds, found by trying to send them again."""
    known = []
    for number in range(BATCHES):
        before = collector.users
        receipt = collector.absorb(batch(number, REPORTS), id=name(number))
        assert collector.users == before + (REPORTS if receipt.counted else 0)
        if not receipt.counted:
            known.append(number)
    return known


@pytest.mark.parametrize("kind", ["line", "opcode"])
def test_what_was_acknowledged_is_counted_once_after_a_kill_at_any_step(
    kind: str, graves: Path
) -> None:
    folders = list(graves.glob(f"{kind}-*"))
    assert len(folders) > (150 if kind == "line" else 10)
    ends = set()
    for folder in folders:
        told = (folder / "acknowledged").read_text().split() if any(folder.iterdir()) else []
        acknowledged = {int(each) for each in told if each != "end"}
        with Collector.open(folder / "state", PROTOCOL) as collector:
            # Batches go in order: what is there is a beginning, and exactly so much.
            held, rest = divmod(collector.users, REPORTS)
            assert rest == 0
            assert acknowledged <= set(range(held))
            assert held - len(acknowledged) <= 1  # at most the one that was under way
            assert collector.state() == state_of(range(held), REPORTS)
            assert counted(collector) == list(range(held))
            assert collector.state() == state_of(range(BATCHES), REPORTS)
        ends.add((len(acknowledged), held))
    if kind == "line":  # it has died before and after every acknowledgement, and between
        assert {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)} <= ends


def dead(kind: str, folder: Path) -> list[str]:
    """What a collector has said before it was killed."""
    command = [sys.executable, "-m", "tests.collect.crash_process", kind, str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collector that was killed with ten batches in its log, none of them in a snapshot."""
    folder = tmp_path_factory.mktemp("killed") / "state"
    assert dead("batches", folder) == [str(number) for number in range(10)]
    return folder


def test_a_log_that_is_cut_off_holds_the_batches_before_the_cut(
    killed: Path, tmp_path: Path
) -> None:
    log = (killed / f"{FILE}-wal").read_bytes()
    found = set()
    for end in [*range(0, len(log), len(log) // 40), len(log)]:
        copy = tmp_path / f"cut-{end}"
        shutil.copytree(killed, copy)
        (copy / f"{FILE}-wal").write_bytes(log[:end])
        with Collector.open(copy, PROTOCOL) as collector:
            held = collector.users // 40
            assert collector.state() == state_of(range(held))
            found.add(held)
    assert {0, 5, 10} <= found  # every cut is sound, and nothing is lost without one


def test_a_log_with_a_changed_byte_holds_the_batches_before_it(
    killed: Path, tmp_path: Path
) -> None:
    log = bytearray((killed / f"{FILE}-wal").read_bytes())
    for at in range(100, len(log), len(log) // 20):
        copy = tmp_path / f"changed-{at}"
        shutil.copytree(killed, copy)
        log[at] ^= 1
        (copy / f"{FILE}-wal").write_bytes(log)
        log[at] ^= 1
        with Collector.open(copy, PROTOCOL) as collector:
            assert collector.state() == state_of(range(collector.users // 40))


def test_two_processes_cannot_have_one_folder(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom tests.collect.small_protocol import PROTOCOL\n"
        "from celosia.core.errors import EngineError\n"
        "from celosia.collect.collector.collector import Collector\n"
        "try:\n    Collector.open(sys.argv[1], PROTOCOL)\n"
        "except EngineError as error:\n    print(error.code)\nelse:\n    print('opened')\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "state")]

    def told() -> str:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout

    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        assert told() == "CEL-R074\n"
        collector.absorb(batch(1), id="1")
        assert collector.state() == state_of([1])
    assert told() == "opened\n"


def test_a_full_disk_loses_nothing_and_counts_nothing_that_was_refused(tmp_path: Path) -> None:
    """In a process that may write files of 90 kB: it refuses, goes on, and stays sound."""
    told = dead("full", tmp_path / "state")
    acknowledged = [int(each) for each in told if each != "CEL-R075"]
    assert 3 <= len(acknowledged) < 60
    with Collector.open(tmp_path / "state", PROTOCOL) as collector:
        assert collector.state() == state_of(acknowledged)
        for number in range(60):  # now that there is room
            collector.absorb(batch(number), id=name(number))
        assert collector.state() == state_of(range(60))


def test_every_write_is_synced_before_it_is_acknowledged(tmp_path: Path) -> None:
    """What SQLite was told: a log, synced at every commit, the folder for one process."""
    with Collector.open(tmp_path, PROTOCOL) as collector:
        base: sqlite3.Connection = collector._journal._base
        settings = {
            each: base.execute(f"PRAGMA {each}").fetchone()[0]
            for each in ("journal_mode", "synchronous", "locking_mode", "secure_delete")
        }
    assert settings == {
        "journal_mode": "wal",
        "synchronous": 2,
        "locking_mode": "exclusive",
        "secure_delete": 1,
    }


def test_a_fault_while_counting_leaves_memory_as_the_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collector.open(tmp_path, PROTOCOL) as collector:
        collector.absorb(batch(1), id="1")
        plain = Server.absorb

        def failing(server: Server, reports: object) -> Server:
            plain(server, reports)  # type: ignore[arg-type]
            raise MemoryError

        with monkeypatch.context() as patched:
            patched.setattr(Server, "absorb", failing)
            with pytest.raises(MemoryError):
                collector.absorb(batch(2), id="2")
        assert collector.state() == state_of([1])
        assert collector.absorb(batch(2), id="2").counted
        assert collector.state() == state_of([1, 2])
