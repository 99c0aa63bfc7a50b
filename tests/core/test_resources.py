"""Folders of dead processes are swept at the next start; those of living ones never."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen

import pytest

from celosia.core.resources import LOCK, WorkFolder, sweep

HOLDER = """
import sys
from pathlib import Path
from celosia.core.resources import WorkFolder
folder = WorkFolder("celosia-studio-")
Path(folder.name, "table.csv").write_text("private")
print(folder.name, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def holder(place: Path) -> Iterator[tuple[Popen[str], Path]]:
    """A process of its own with a folder."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_the_folder_of_a_killed_process_is_swept_at_the_next_start(
    holder: tuple[Popen[str], Path],
) -> None:
    process, folder = holder
    assert (folder / "table.csv").exists()
    with WorkFolder():  # another start while the first one lives
        assert (folder / "table.csv").exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert folder.exists()
    with WorkFolder():
        assert not folder.exists()


def test_a_folder_of_this_process_is_kept_until_its_end(place: Path) -> None:
    with WorkFolder() as first, WorkFolder() as second:
        assert sweep() == 0
        assert Path(first).exists()
        assert Path(second).exists()
    assert list(place.iterdir()) == []


def left_behind(place: Path, name: str = "celosia-dead") -> Path:
    folder = place / name
    folder.mkdir(mode=0o700)
    (folder / LOCK).touch()
    return folder


def test_what_is_left_behind_goes_and_links_in_it_are_not_followed(place: Path) -> None:
    folder = left_behind(place)
    kept = place / "kept"
    kept.mkdir()
    (kept / "mine.csv").touch()
    (folder / "link").symlink_to(kept)
    assert sweep() == 1
    assert not folder.exists()
    assert (kept / "mine.csv").exists()


def test_a_link_with_our_name_is_not_followed(place: Path) -> None:
    target = left_behind(place, "elsewhere")
    (place / "celosia-link").symlink_to(target)
    assert sweep() == 0
    assert (target / LOCK).exists()


def test_a_lock_that_is_a_link_is_not_followed(place: Path) -> None:
    folder = left_behind(place)
    (folder / LOCK).unlink()
    (place / "other").touch()
    (folder / LOCK).symlink_to(place / "other")
    assert sweep() == 0
    assert folder.exists()


def test_folders_of_others_stay(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_to_all = left_behind(place, "celosia-open")
    open_to_all.chmod(0o755)
    without_lock = place / "celosia-unknown"
    without_lock.mkdir(mode=0o700)
    other_name = left_behind(place, "something-else")
    assert sweep() == 0
    assert open_to_all.exists()
    assert without_lock.exists()
    assert other_name.exists()
    mine = left_behind(place)
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    assert sweep() == 0
    assert mine.exists()
