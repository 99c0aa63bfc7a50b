"""Terminals, pipes and letters: colours where they belong, no complaint when nobody listens."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from tests.end_to_end.command import CELOSIA, celosia, environment, on_terminal

pytestmark = pytest.mark.end_to_end

COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])[0-9;]*m")


@pytest.fixture(scope="module")
def doctor(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """What `celosia doctor` says in a pipe where there is room for every line."""
    return celosia("doctor", cwd=tmp_path_factory.mktemp("doctor"), COLUMNS="200")


def test_there_are_no_escapes_in_a_pipe(
    doctor: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    assert "\x1b" not in doctor.stdout + doctor.stderr
    for arguments in (["--help"], ["explain", "CEL-T011"], ["publish", "no.csv"]):
        result = celosia(*arguments, cwd=tmp_path)
        assert "\x1b" not in result.stdout + result.stderr


def test_a_terminal_gets_colours_unless_it_wants_none(tmp_path: Path) -> None:
    wrong = ("publish", "no.csv", "-q", "age", "--k", "5")
    code, seen = on_terminal(*wrong, cwd=tmp_path)
    assert code == 2
    assert COLOUR.search(seen)
    code, seen = on_terminal(*wrong, cwd=tmp_path, NO_COLOR="1")
    assert code == 2
    assert "there is no file no.csv." in seen
    assert not COLOUR.search(seen)


def test_a_bar_shows_long_work_and_is_gone_at_the_end(
    large: tuple[Path, Path], tmp_path: Path
) -> None:
    table, schema = large
    code, seen = on_terminal("publish", table, "-s", schema, "--k", 5, cwd=tmp_path, COLUMNS="100")
    assert code == 0
    during, _, after = seen.rpartition("\x1b[?25h")  # the cursor comes back when the bar goes
    stage = re.compile(r"(Reading|Searching|Recoding)[a-z ]* \x1b.*━")
    assert stage.search(during)
    assert not stage.search(after)
    assert "5-anonymity over" in after


def test_a_narrow_terminal_loses_no_word(
    doctor: subprocess.CompletedProcess[str], tmp_path: Path
) -> None:
    wide = doctor.stdout
    narrow = celosia("doctor", cwd=tmp_path, COLUMNS="40").stdout
    assert max(map(len, narrow.splitlines())) <= 40
    assert "…" not in narrow
    letters = re.compile(r"[^\w.-]+")
    assert sorted(letters.sub("", narrow)) == sorted(letters.sub("", wide))


@pytest.mark.parametrize("arguments", [["explain"], ["explain", "--json"], ["--help"]], ids=str)
def test_a_reader_who_has_enough_is_no_error(arguments: list[str], tmp_path: Path) -> None:
    with subprocess.Popen(
        [CELOSIA, *arguments],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaint = process.stderr.read()
    assert (process.returncode, complaint) == (0, b"")


def test_an_error_keeps_its_exit_code_when_nobody_reads_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [CELOSIA, "assess", "risk", "no.csv", "-q", "age"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
    assert process.returncode == 2


def test_a_full_disk_behind_the_output_is_told(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [CELOSIA, "explain"],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert result.returncode == 2
    assert result.stderr.startswith("CEL-I041 ")
    assert "Traceback" not in result.stderr


def test_a_closed_output_is_no_error(tmp_path: Path) -> None:
    result = subprocess.run(
        ["sh", "-c", '"$0" doctor >&-', CELOSIA],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, b"")


def test_letters_that_the_output_lacks_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "año.csv").write_text("age\n" + "1\n" * 9, "utf-8")
    words = ("publish", "año.csv", "-q", "age", "--k", 5)
    told = celosia(*words, "-o", "más.csv", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert told.returncode == 0, told.stderr
    assert r"data: m\xe1s.csv" in told.stdout
    wrong = celosia(
        *words[:1], "niño.csv", *words[2:], "--json", cwd=tmp_path, PYTHONIOENCODING="ascii"
    )
    assert json.loads(wrong.stdout)["error"] == "there is no file niño.csv."


def test_a_shell_can_be_taught_to_complete(tmp_path: Path) -> None:
    words = {"COMP_WORDS": "celosia hier", "COMP_CWORD": "1"}
    found = celosia(cwd=tmp_path, _CELOSIA_COMPLETE="complete_bash", **words)
    assert (found.returncode, found.stdout.split()) == (0, ["hierarchy"])
