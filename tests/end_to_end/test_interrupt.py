"""Ctrl-C while the work is under way leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.end_to_end.command import CELOSIA, environment

pytestmark = pytest.mark.end_to_end


def _begun(folder: Path) -> bool:
    """Whether a draft beside the release to come holds something."""
    with suppress(FileNotFoundError):
        return any(path.is_file() and path.stat().st_size for path in folder.rglob("*"))
    return False


def _stopped(words: list[object], folder: Path) -> tuple[int, str, str]:
    """The exit code and the words of a command that gets a Ctrl-C when it has begun to write."""
    with subprocess.Popen(
        [CELOSIA, *map(str, words)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell in the background ignores Ctrl-C, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as process:
        patience = time.monotonic() + 300
        while not _begun(folder) and process.poll() is None:
            assert time.monotonic() < patience
            time.sleep(0.002)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.mark.parametrize("way", ["--in-memory", "--stream"])
def test_stopping_while_the_release_is_written_leaves_nothing(
    way: str, large: tuple[Path, Path], tmp_path: Path
) -> None:
    table, schema = large
    words = ["publish", table, "--schema", schema, "--k", "5", way, "-o", tmp_path / "safe.csv"]
    for _ in range(5):
        code, out, err = _stopped(words, tmp_path)
        if code != 0:
            break
        for path in tmp_path.iterdir():  # a busy machine sent the signal too late: once more
            path.unlink()
    assert code == 130, err
    assert out == ""
    assert err == "CEL-C001 stopped by Ctrl-C.\n  No file was left half-written.\n"
    assert [*tmp_path.iterdir()] == []
