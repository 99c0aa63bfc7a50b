"""What is not the user's doing: faults, a full disk, no memory, Ctrl-C. No value, no half file."""

from __future__ import annotations

import errno
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.cli.running import MARK, Run

from celosia import frames
from celosia.core.progress import Progress, Step

PUBLISH = ("publish", "people.csv", "--schema", "people.toml", "--k", 5, "-o", "out/safe.csv")


class Panic(BaseException):
    """As Polars raises when its Rust code panics."""


@pytest.fixture
def out(people: Path, schema: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    return folder


def _failing(monkeypatch: pytest.MonkeyPatch, error: BaseException, where: str) -> None:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise error

    monkeypatch.setattr(where, fail)


@pytest.mark.parametrize(
    "error", [ValueError(MARK), Panic(MARK), KeyError(MARK), RecursionError(MARK)], ids=repr
)
@pytest.mark.parametrize("as_json", [False, True])
def test_a_fault_tells_no_value_and_no_traceback(
    error: BaseException, as_json: bool, out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(monkeypatch, error, "celosia.tables.run.publish_table")
    result = run(*PUBLISH, *(["--json"] if as_json else []))
    assert result.code == 70
    if as_json:
        assert result.envelope()["code"] == "CEL-X001"
    else:
        result.complains("CEL-X001", 70)
    assert MARK not in result.out + result.err
    assert type(error).__name__ in result.out + result.err
    assert [*out.iterdir()] == []


def test_a_developer_can_ask_for_the_traceback(
    out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(monkeypatch, ValueError("here"), "celosia.tables.run.publish_table")
    monkeypatch.setenv("CELOSIA_DEBUG", "1")
    with pytest.raises(ValueError, match="here"):
        run(*PUBLISH)


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, MARK), OSError(MARK), PermissionError(errno.EACCES, MARK)]
)
def test_a_full_disk_is_not_called_a_fault_of_ours(
    error: OSError, out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(monkeypatch, error, "celosia.frames.write")
    run(*PUBLISH).complains("CEL-I041")
    assert [*out.iterdir()] == []


def test_too_little_memory_is_not_called_a_fault_of_ours(
    out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(monkeypatch, MemoryError(MARK), "celosia.tables.run.publish_table")
    refused = run(*PUBLISH)
    refused.complains("CEL-I042")
    assert "--stream" in refused.err


def test_stopping_in_the_middle_of_writing_leaves_nothing(
    out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(_: Any, path: Path) -> None:
        path.write_text("half a ta")
        raise KeyboardInterrupt

    monkeypatch.setattr(frames, "write", half)
    stopped = run(*PUBLISH)
    stopped.complains("CEL-C001", 130)
    assert "half-written" in stopped.err
    assert [*out.iterdir()] == []


def test_stopping_a_stream_leaves_nothing(
    out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _failing(monkeypatch, KeyboardInterrupt(), "celosia.frames.ChunkWriter.write")
    run(*PUBLISH, "--stream").complains("CEL-C001", 130)
    assert [*out.iterdir()] == []


def test_stopping_leaves_the_file_that_was_there(
    out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (out / "safe.csv").write_text("old")
    _failing(monkeypatch, KeyboardInterrupt(), "celosia.frames.write")
    assert run(*PUBLISH, "--overwrite").code == 130
    assert (out / "safe.csv").read_text() == "old"
    assert [path.name for path in out.iterdir()] == ["safe.csv"]


def test_stopping_is_told_as_json_too(out: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _failing(monkeypatch, KeyboardInterrupt(), "celosia.tables.run.publish_table")
    result = run(*PUBLISH, "--json")
    assert (result.code, result.envelope()["code"]) == (130, "CEL-C001")


def test_stopping_is_understood_where_a_library_tells_it_as_its_own_error(
    out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_duckdb_does(*_: Any, **__: Any) -> NoReturn:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("celosia.tables.run.publish_table", as_duckdb_does)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run(*PUBLISH).complains("CEL-C001", 130)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, usual)


def test_stopping_is_understood_where_a_library_does_not_tell_it(
    out: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deaf(*_: Any, progress: Progress, **__: Any) -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        progress(Step("the next step", 1))

    monkeypatch.setattr("celosia.tables.run.publish_table", deaf)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run(*PUBLISH).complains("CEL-C001", 130)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert run("doctor").code == 0, "it is forgotten by the next command"
