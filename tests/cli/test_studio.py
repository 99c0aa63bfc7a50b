"""`celosia studio` as it is started: for this machine, for a class, and what is left at its end."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tests.cli.running import Run
from tests.ports import own_port

COMMAND = str(Path(sys.executable).parent / "celosia")


def test_a_host_without_a_password_is_refused(run: Run) -> None:
    run("studio", "--host", "0.0.0.0").complains("CEL-W004")


@pytest.mark.parametrize("text", ["short", "", "long enough for anybody\nshort"])
def test_a_password_that_could_be_guessed_is_refused(run: Run, tmp_path: Path, text: str) -> None:
    file = tmp_path / "password"
    file.write_text(text)
    run("studio", "--share", "--password-file", file).complains("CEL-W005")


@pytest.mark.parametrize("options", [(), ("--share", "--host", "127.0.0.1")])
def test_a_port_that_is_taken_is_told_and_nothing_else(run: Run, options: tuple[str, ...]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        text = run("studio", "--no-open", "--port", port, *options)
    text.complains("CEL-W032")
    for said in (f"port {port}", "Another program uses the port", "--port"):
        assert said in text.err
    assert "http://" not in text.err
    assert "Password" not in text.err


def test_a_shared_studio_prints_a_password_and_leaves_nothing_behind(tmp_path: Path) -> None:
    port = own_port()
    process = subprocess.Popen(
        [COMMAND, "studio", "--share", "--port", str(port)],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        found = re.search(r"Password for visitors: (\S{16,})", line)
        assert found is not None, line
        lines = [process.stderr.readline() for _ in range(2)]
        assert lines[1] == f"The studio is at http://127.0.0.1:{port} until Ctrl-C.\n"
        # Whoever reads the address tries it: there is somebody already.
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=600).close()
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=600)
        assert refusal.value.code == 401
        refusal.value.close()
        data = f"password={found[1]}".encode()
        cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with cookies.open(f"http://127.0.0.1:{port}/enter", data, timeout=600) as page:
            assert b"Celos" in page.read()
        assert len(list(tmp_path.glob("celosia-studio-*"))) == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=600) == 0
        assert "the work of its visitors is removed" in process.stderr.read()
        assert [
            each for each in tmp_path.iterdir() if each.name.startswith("celosia-studio-")
        ] == []
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
