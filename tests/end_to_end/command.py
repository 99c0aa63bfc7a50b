"""The installed command, as a shell starts it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

CELOSIA = str(Path(sys.executable).with_name("celosia"))


def environment(**changes: str) -> dict[str, str]:
    """That of the tests without what would change colours, letters or tracebacks."""
    plain = {"NO_COLOR", "FORCE_COLOR", "CELOSIA_DEBUG", "COLUMNS", "PYTHONIOENCODING"}
    return {name: value for name, value in os.environ.items() if name not in plain} | changes


def celosia(*arguments: object, cwd: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, its output captured."""
    return subprocess.run(
        [CELOSIA, *map(str, arguments)],
        cwd=cwd,
        env=environment(**changes),
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def on_terminal(*arguments: object, cwd: Path, **changes: str) -> tuple[int, str]:
    """Run the command on a terminal: its exit code and all that appeared there."""
    keyboard, screen = pty.openpty()
    with subprocess.Popen(
        [CELOSIA, *map(str, arguments)],
        cwd=cwd,
        env=environment(TERM="xterm-256color", **changes),
        stdin=screen,
        stdout=screen,
        stderr=screen,
    ) as process:
        os.close(screen)
        seen = b""
        while part := _read(keyboard):
            seen += part
    os.close(keyboard)
    return process.returncode, seen.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says so when the other end is closed
        return b""
