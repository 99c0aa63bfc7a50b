"""Compiled functions: kept for the next process, and never a reason to fail."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from celosia.core import kernels
from celosia.core.kernels import KernelFolder, njit

SOURCE = """
from celosia.core.kernels import njit
from {other} import STEP, raised

@njit(cache=True)
def higher(number):
    return raised(number) + STEP
"""
OTHER = """
from celosia.core.kernels import njit

STEP = {step}

@njit(cache=True)
def raised(number):
    return number {raised}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "kernels"
    place.mkdir()
    monkeypatch.setattr(kernels, "kernel_folder", lambda: KernelFolder(place, "user"))
    return place


@pytest.fixture
def define(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Defines a function, and another in a module that it takes from, as a new process would."""

    def made(*, step: int = 1, raised: str = "* 2") -> Any:
        kernels._file_digest.cache_clear()
        found: Any = None
        for name, text in (
            ("other_kernels", OTHER.format(step=step, raised=raised)),
            ("own_kernels", SOURCE.format(other="other_kernels")),
        ):
            file = tmp_path / f"{name}.py"
            file.write_text(text, "utf-8")
            found = ModuleType(name)
            monkeypatch.setitem(sys.modules, name, found)
            exec(compile(text, str(file), "exec"), found.__dict__)
        return found.higher

    yield made
    kernels._file_digest.cache_clear()


def hits(function: Any) -> int:
    return sum(function.stats.cache_hits.values())


@pytest.mark.usefixtures("folder")
def test_a_function_is_compiled_once(define: Callable[..., Any]) -> None:
    first, second = define(), define()
    assert (first(20), hits(first)) == (41, 0)
    assert (second(20), hits(second)) == (41, 1)


@pytest.mark.usefixtures("folder")
def test_a_function_is_compiled_again_when_another_module_changes(
    define: Callable[..., Any],
) -> None:
    assert define()(20) == 41
    assert define(step=2)(20) == 42
    assert define(step=2, raised="* 3")(20) == 62


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_broken_files_are_compiled_anew(
    ending: str, folder: Path, define: Callable[..., Any]
) -> None:
    assert define()(20) == 41
    files = list(folder.rglob(f"*.{ending}"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:20])
    assert define()(20) == 41
    mended = define()
    assert (mended(20), hits(mended)) == (41, 1)


def test_the_code_of_other_arguments_is_not_taken(folder: Path, define: Callable[..., Any]) -> None:
    whole = define()
    assert whole(20) == 41
    assert whole(0.25) == 1.5
    first, second = sorted((folder / "own_kernels").glob("*.nbc"))
    content = first.read_bytes()  # as if two processes had taken one number for two kinds
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    again = define()
    assert (again(20), again(0.25), hits(again)) == (41, 1.5, 0)


def test_a_function_is_compiled_also_where_no_cache_can_be_written(
    folder: Path, define: Callable[..., Any]
) -> None:
    folder.rmdir()
    folder.write_text("a file, so that nothing can be written below it", "utf-8")
    assert define()(20) == 41


def test_a_function_is_compiled_also_where_no_folder_is_safe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "kernel_folder", lambda: None)

    @njit(cache=True, nogil=True)
    def double(number: int) -> int:
        return 2 * number

    assert double(21) == 42


def test_a_copy_of_a_module_runs_as_it_is_written(
    folder: Path, define: Callable[..., Any], tmp_path: Path
) -> None:
    compiled = define()
    module = sys.modules[compiled.__module__]
    module.__file__ = str(tmp_path / "own_kernels.py")
    copy = kernels.uncompiled(module)
    assert not hasattr(copy.higher, "overloads")
    assert copy.higher(3) == compiled(3) == 7
    assert hasattr(module.higher, "overloads")


def test_a_kernel_is_compiled_once_it_was_for_any_process(
    folder: Path, define: Callable[..., Any]
) -> None:
    first = define()
    assert not kernels.is_compiled(first)
    first(3)
    assert kernels.is_compiled(first)
    assert kernels.is_compiled(define())
    assert kernels.is_compiled(first.py_func)


def test_kernels_are_compiled_when_runs_without_have_taken_as_long(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [kernels.does_without("one", 0.3) for _ in range(5)] == [True, True, True, False, False]
    assert kernels.does_without("two", 0.3)
    assert not kernels.does_without("three", 1.0)
    for nowhere in (None, KernelFolder(folder / "not-there", "user")):
        monkeypatch.setattr(kernels, "kernel_folder", lambda found=nowhere: found)
        assert all(kernels.does_without("one", 0.9) for _ in range(3))
        assert not kernels.does_without("one", 1.0)


def test_whoever_wants_a_function_that_is_being_compiled_waits_and_loads_it(
    folder: Path, define: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = define(), define()
    pauses = 0

    def pause(seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses == 2:  # the other process is done now
            assert first(20) == 41
            held.__exit__(None, None, None)

    held = first._cache.turn()
    held.__enter__()
    monkeypatch.setattr(first, "compile", type(first).compile.__get__(first))
    monkeypatch.setattr(time, "sleep", pause)
    assert (second(20), hits(second)) == (41, 1)
    assert pauses == 2
    assert list(folder.rglob("*.lock")) == []


def test_nobody_waits_for_ever(
    folder: Path, define: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    other, function = define(), define()
    monkeypatch.setattr(kernels, "LONGEST_WAIT", 0.0)
    with other._cache.turn():
        assert (function(20), hits(function)) == (41, 0)


def test_a_function_that_calls_itself_does_not_wait_for_itself(
    folder: Path, define: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    function = define()
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waited"))
    with function._cache.turn(), function._cache.turn():
        assert list(folder.rglob("*.lock")) != []
    assert list(folder.rglob("*.lock")) == []


def test_a_function_that_cannot_be_compiled_leaves_no_lock(
    folder: Path, define: Callable[..., Any]
) -> None:
    function = define()
    with pytest.raises(Exception, match="Cannot determine"):
        function({})
    with pytest.raises(Exception, match=r"Cannot determine|No implementation"):
        function(object())
    assert list(folder.rglob("*.lock")) == []
