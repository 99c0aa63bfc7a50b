"""Where compiled kernels are kept: never where another user could put code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from celosia.core.kernels import SETTING, choose_folder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="owners and modes are those of POSIX")
only_root = pytest.mark.skipif(
    os.name == "nt" or os.geteuid() != 0, reason="only root can be another user"
)
NOBODY = 65534


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir(mode=0o700)
    return tmp_path / "home"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package folder that another user has installed: nobody writes there."""
    folder = tmp_path / "site-packages" / "celosia"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def foreign(package: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, not writable by this user."""
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != package and real(path, mode))
    return package


def test_kernels_are_kept_in_the_package_of_the_user_who_installed_it(
    package: Path, home: Path
) -> None:
    found = choose_folder(package, {"HOME": str(home)})
    assert found is not None
    assert (found.reason, found.is_writable) == ("package", True)
    assert package in found.path.parents
    assert found.path.stat().st_mode & 0o777 == 0o700
    assert not list(home.iterdir())


def test_kernels_of_a_read_only_package_are_kept_in_the_cache_of_the_user(
    foreign: Path, home: Path
) -> None:
    found = choose_folder(foreign, {"HOME": str(home)})
    assert found is not None
    assert found.reason == "user"
    assert home / ("Library/Caches" if sys.platform == "darwin" else ".cache") in found.path.parents
    assert all(
        each.stat().st_mode & 0o777 == 0o700
        for each in (found.path, found.path.parent, found.path.parent.parent)
    )
    assert not list(foreign.iterdir())
    elsewhere = choose_folder(foreign, {"HOME": str(home), "XDG_CACHE_HOME": str(home / "xdg")})
    assert elsewhere is not None
    assert home / "xdg" / "celosia" in elsewhere.path.parents


def test_installations_do_not_share_kernels(foreign: Path, home: Path) -> None:
    other = foreign.with_name("other")  # which is not there: also nothing to write to
    here = choose_folder(foreign, {"HOME": str(home)})
    there = choose_folder(other, {"HOME": str(home)})
    assert here is not None
    assert there is not None
    assert here.path != there.path


def test_the_setting_of_the_user_comes_first(package: Path, home: Path) -> None:
    found = choose_folder(package, {"HOME": str(home), SETTING: str(home / "chosen")})
    assert found is not None
    assert found.reason == "setting"
    assert home / "chosen" in found.path.parents


def test_a_folder_that_others_can_write_to_is_not_used(foreign: Path, home: Path) -> None:
    settings = {"XDG_CACHE_HOME": str(home)}
    first = choose_folder(foreign, settings)
    assert first is not None
    first.path.chmod(0o777)
    assert choose_folder(foreign, settings) is None
    first.path.chmod(0o700)
    assert choose_folder(foreign, settings) == first
    for parent in (first.path.parent, home):
        parent.chmod(0o777)  # others could put a folder of theirs in its place
        assert choose_folder(foreign, settings) is None
        parent.chmod(0o1777)  # as /tmp: only the owner can move what lies there
        assert choose_folder(foreign, settings) == first
        parent.chmod(0o700)


def test_a_shared_setting_gives_each_user_a_folder(package: Path, home: Path) -> None:
    home.chmod(0o1777)
    found = choose_folder(package, {SETTING: str(home)})
    assert found is not None
    assert found.reason == "setting"
    assert f"celosia-{os.geteuid()}" in found.path.parts


def test_a_folder_of_another_user_is_not_used(
    package: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"HOME": str(home), SETTING: str(home / "chosen")}
    assert choose_folder(package, settings) is not None
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)  # the folders are now somebody else's
    assert choose_folder(package, settings) is None


@only_root
def test_an_administrator_writes_nothing_to_the_home_of_a_user(foreign: Path, home: Path) -> None:
    os.chown(home, NOBODY, NOBODY)
    assert choose_folder(foreign, {"HOME": str(home)}) is None
    assert not list(home.iterdir())


def test_a_relative_home_is_no_home(foreign: Path) -> None:
    assert choose_folder(foreign, {"HOME": "here", "XDG_CACHE_HOME": "there"}) is None


KERNEL = """
from celosia.core.kernels import njit

@njit(cache=True)
def double(number):
    return 2 * number
"""

PROGRAM = """
import json, os, runpy, sys
import numba
import celosia.core.kernels, celosia.core.kernels as folders
from importlib.metadata import version

user, place = int(sys.argv[1]), sys.argv[2]
version("numba"), numba.njit(lambda: 0)()  # loads parts that the other user may not be able to read
os.setgroups([]), os.setgid(user), os.setuid(user)

def compute():
    folders.kernel_folder.cache_clear()
    double = runpy.run_path(place + "/kernel.py", run_name="kernel")["double"]
    value = double(21)
    folder = folders.kernel_folder()
    mode = folder.path.stat().st_mode & 0o777
    return value, folder.reason, str(folder.path), mode, sum(double.stats.cache_hits.values())

homeless = compute()
del os.environ[folders.SETTING]  # for the processes that the first would start
numba.config.reload_config()
os.environ["HOME"] = place + "/home"
print(json.dumps([homeless, compute(), compute()]))
"""


@only_root
def test_another_user_computes_with_and_without_a_home() -> None:
    hidden = {SETTING, "HOME", "XDG_CACHE_HOME"}
    environment = {name: word for name, word in os.environ.items() if name not in hidden}
    with TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        Path(place, "kernel.py").write_text(KERNEL, "utf-8")
        Path(place, "home").mkdir(mode=0o700)
        os.chown(Path(place, "home"), NOBODY, NOBODY)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(NOBODY), place],
            capture_output=True, text=True, check=False, env=environment, cwd="/",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        homeless, first, second = json.loads(done.stdout)
        assert homeless[:2] == [42, "temporary"]
        assert not Path(homeless[2]).exists()  # removed with its process
        assert first[:2] == second[:2] == [42, "user"]
        assert Path(place, "home") in Path(first[2]).parents
        assert {homeless[3], first[3]} == {0o700}
        assert (homeless[4], first[4], second[4]) == (0, 0, 1)  # found again, not compiled again
