"""Work areas: separate, with names of our own, and gone after some time."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.core.errors import InputError
from celosia.core.resources import KeptFolder
from celosia.studio.runtime import Studio
from celosia.studio.settings import Settings
from celosia.studio.visitors import MOST_VISITORS, MOST_WORKS, Visitors, Work


class Clock:
    """A clock that a test turns."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def visitors(tmp_path: Path, clock: Clock) -> Visitors:
    return Visitors(tmp_path, idle=100, clock=clock)


def test_a_visitor_is_known_by_the_token_and_gets_her_own_folder(visitors: Visitors) -> None:
    ana, eva = visitors.enter(None), visitors.enter("made up by somebody")
    assert visitors.enter(ana.token) is ana
    assert ana.folder != eva.folder
    assert ana.token not in str(ana.folder)
    assert eva.token != "made up by somebody"


def test_nobody_opens_the_work_of_another(visitors: Visitors) -> None:
    ana, eva = visitors.enter(None), visitors.enter(None)
    work = ana.new_work("publish")
    assert ana.work(work.id, "publish") == work
    for guess in (work.id, f"../{ana.folder.name}/{work.id}", "..", "", "x" * 11):
        with pytest.raises(InputError) as refusal:
            eva.work(guess)
        assert refusal.value.code == "CEL-W011"


def test_work_of_one_kind_is_not_opened_as_another(visitors: Visitors) -> None:
    ana = visitors.enter(None)
    work = ana.new_work("mask")
    with pytest.raises(InputError):
        ana.work(work.id, "publish")


@given(name=st.text(max_size=40))
def test_no_name_leaves_the_folder(name: str) -> None:
    folder = Path("/somewhere/work")
    try:
        path = Work("x", folder).path(name)
    except InputError:
        return
    assert path.resolve().parent == folder
    assert not path.name.startswith(".")


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "a\\b", "/etc/passwd", ".hidden", "a\0b", "A.csv", "a.b.c.d.e", "a\n"]
)
def test_names_that_are_not_ours_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Work("x", tmp_path).path(name)


def test_choices_are_kept_as_they_were(visitors: Visitors) -> None:
    work = visitors.enter(None).new_work("publish")
    work.save("choices", {"name": "años.csv", "k": 5})
    assert work.load("choices") == {"name": "años.csv", "k": 5}
    assert work.load("nothing", "default") == "default"


def test_work_goes_after_its_time_and_its_jobs_with_it(tmp_path: Path, clock: Clock) -> None:
    gone: list[str] = []
    visitors = Visitors(tmp_path, idle=100, clock=clock, leaving=gone.append)
    ana, eva = visitors.enter(None), visitors.enter(None)
    ana.new_work("publish").save("choices", {})
    eva.new_work("publish")
    clock.now = 60
    visitors.known(eva.token)
    clock.now = 120
    assert visitors.expire() == 1
    assert gone == [ana.token]
    assert not ana.folder.exists()
    assert eva.folder.exists()
    assert visitors.known(ana.token) is None


def test_a_visitor_keeps_only_so_many_works(visitors: Visitors) -> None:
    ana = visitors.enter(None)
    for _ in range(MOST_WORKS + 3):
        ana.new_work("publish")
    assert len(ana.works()) == MOST_WORKS


def test_those_who_come_without_a_cookie_do_not_fill_the_memory(visitors: Visitors) -> None:
    for _ in range(MOST_VISITORS + 10):
        visitors.enter(None)
    assert len(visitors) == MOST_VISITORS


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "example.org"])
def test_other_machines_come_in_only_with_a_password(host: str) -> None:
    with pytest.raises(InputError) as refusal:
        Settings(host=host)
    assert refusal.value.code == "CEL-W001"
    assert Settings(host=host, passwords=("a long secret",)).shared


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_this_machine_needs_none(host: str) -> None:
    assert not Settings(host=host).shared


def test_secrets_are_not_printed() -> None:
    assert "a long secret" not in repr(Settings(passwords=("a long secret",)))


@pytest.mark.parametrize("limit", ["workers", "most_upload", "idle", "job_seconds"])
def test_limits_leave_room(limit: str) -> None:
    with pytest.raises(InputError) as refusal:
        Settings(**{limit: 0})  # type: ignore[arg-type]
    assert refusal.value.code == "CEL-W002"


def test_the_work_of_a_killed_studio_goes_when_the_next_one_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = (
        "import sys\n"
        "from celosia.studio.runtime import Studio\n"
        "from celosia.studio.settings import Settings\n"
        "print(Studio(Settings(workers=1)).folder, flush=True)\n"
        "sys.stdin.read()\n"
    )
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        folder = Path(first.stdout.readline().strip())
        (folder / "data.parquet").touch()
        with Studio(Settings(workers=1)):
            assert (folder / "data.parquet").exists()  # the first studio lives
        first.kill()
        first.wait()
    assert (folder / "data.parquet").exists()
    with Studio(Settings(workers=1)):
        assert not folder.exists()


def test_kept_work_is_there_after_a_restart_until_it_expires(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "kept"
    ana, eva = (Visitors(folder, idle=100, clock=clock).enter(None) for _ in range(2))
    folder.mkdir()
    work = ana.new_work("publish")
    work.save("choices", {"k": 5})
    eva.new_work("publish")
    eva.seen = 10
    for each in (ana, eva):
        each.stay()
    assert ana.token not in "".join(path.read_text() for path in folder.rglob(".visitor"))
    clock.now = 105
    again = Visitors(folder, idle=100, clock=clock)
    found = again.known(ana.token)
    assert found is not None
    assert found.work(work.id).load("choices") == {"k": 5}
    assert again.expire() == 0
    clock.now = 150
    assert again.expire() == 1  # Eva, who has not come back
    assert again.known(eva.token) is None
    assert not eva.folder.exists()


def test_a_folder_to_keep_work_in_is_private_and_of_one_studio(tmp_path: Path) -> None:
    place = tmp_path / "kept"
    first = KeptFolder(place)
    assert place.stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="another studio"):
        KeptFolder(place)
    first.cleanup()
    (place / "work").touch()
    KeptFolder(place).cleanup()
    assert (place / "work").exists()
    place.chmod(0o755)
    with pytest.raises(InputError, match="other users"):
        KeptFolder(place)
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as caught:
        KeptFolder(tmp_path / "file")
    assert caught.value.code == "CEL-W006"
