"""A user's own function, named as `file.py:name` or `package.module:name`, and its inputs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from functools import wraps
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isclass
from pathlib import Path
from traceback import extract_tb
from types import ModuleType
from typing import Any

from celosia.core.errors import CelosiaError, InputError
from celosia.core.messages import Message, did_you_mean


@contextmanager
def load_callable(target: str) -> Iterator[Any]:
    """What a target names; while it is used, imports are looked up in its folder too.

    What it prints goes to standard error: standard output is for results.

    Raises:
        InputError: CEL-A122 there is no such file, module or name; CEL-A123 its code fails.
    """
    place, mark, name = target.rpartition(":")
    if not mark or not place or not name:
        raise InputError("CEL-A122.form", target=target)
    path = Path(place)
    folder = str((path.parent if path.suffix == ".py" else Path()).resolve())
    before = set(sys.modules)
    sys.path.append(folder)  # last: a file called random.py must not take the place of Python's
    try:
        with redirect_stdout(sys.stderr):
            module = _from_file(path) if path.suffix == ".py" else _by_name(place)
            yield _member(module, name, place)
    finally:
        sys.path.remove(folder)
        for added in set(sys.modules) - before:
            if _is_in(sys.modules[added], folder):
                del sys.modules[added]  # another run may find other code under the same name


def _is_in(module: ModuleType, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).parent == Path(folder)


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("CEL-A122.file", path=path)
    name = f"_audited_{path.stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # as an import would: dataclasses look their module up
    with _explained(str(path), path):
        spec.loader.exec_module(module)
    return module


def _by_name(name: str) -> ModuleType:
    try:
        with _explained(name, None):
            return import_module(name)
    except ModuleNotFoundError:
        raise InputError("CEL-A122.module", name=name) from None


def _member(module: ModuleType, name: str, place: str) -> Any:
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(
                "CEL-A122.member", place=place, name=name, hint=did_you_mean(name, vars(module))
            )
        found = getattr(found, part)
    return found


def guard_callable(function: Callable[..., Any], *, name: str) -> Callable[..., Any]:
    """The same function, whose exceptions become errors that repeat no data.

    Each call gets inputs of its own: one that sorts or empties its list must not change the next.
    """
    if isclass(function) or not callable(function):
        raise InputError(
            "CEL-A124.class" if isclass(function) else "CEL-A124.value",
            name=name,
            type=type(function).__name__,
        )

    @wraps(function)
    def call(data: Any, *more: Any) -> Any:
        with _explained(name, None):
            return function(deepcopy(data), *more)

    return call


@contextmanager
def _explained(name: str, path: Path | None) -> Iterator[None]:
    """Turn an exception of foreign code into an error without its message, which may hold data."""
    try:
        yield
    except (CelosiaError, KeyboardInterrupt, MemoryError):
        raise
    except ModuleNotFoundError as error:
        if path is None and error.name == name:
            raise
        raise _failed(name, error) from None
    except (Exception, SystemExit) as error:
        raise _failed(name, error) from None


def _failed(name: str, error: BaseException) -> InputError:
    frames = [frame for frame in extract_tb(error.__traceback__) if frame.filename != __file__]
    foreign = [frame for frame in frames if not frame.filename.startswith("<frozen")]
    line = getattr(error, "lineno", None) or (foreign[-1].lineno if foreign else None)
    where = Path(foreign[-1].filename).name if foreign else Path(name).name
    at = "" if line is None else Message("cli.at_line", line=line, file=where)
    return InputError("CEL-A123", name=name, exception=type(error).__name__, at=at)


def parse_json(text: str, *, option: str) -> Any:
    """An input written as JSON.

    >>> parse_json("[1, 2, 3]", option="--first")
    [1, 2, 3]
    """

    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        place = getattr(error, "pos", None)
        if place is None:
            raise InputError("CEL-A125.constant", option=option) from None
        raise InputError("CEL-A125.syntax", option=option, character=place + 1) from None
