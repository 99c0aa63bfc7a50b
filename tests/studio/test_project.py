"""Work that lasts: projects as one file, undo and redo, and windows that agree."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from celosia.core.errors import InputError
from celosia.studio.publish import changes, project, publish_options, results_tray
from celosia.studio.publish.form import DATA, PublishForm
from celosia.studio.publish.pages.steps import PublishWorkbench
from celosia.studio.publish.readers import PROFILE, read_sample
from celosia.studio.publish.results_tray import Candidate
from celosia.studio.visitors import Work
from celosia.studio.worker import JobProgress

QUIET = JobProgress(lambda text: None)
CANDIDATE = Candidate("3-anonymity", ({"method": "k-anonymity", "k": 3},), 0.1, (1, 2),
                      ("zip", "age"), 0.4, "loss", 0, 9, 3, 0.3, 0.3)  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return begun(tmp_path, "aaaaaaaaaaa")


def begun(folder: Path, name: str, sample: str = "patients") -> Work:
    (folder / name).mkdir()
    read_sample(QUIET, folder=str(folder / name), name=sample)
    return Work.at(str(folder / name))


def change(work: Work, k: int) -> None:
    models = ({"method": "k-anonymity", "k": k},)
    PublishWorkbench(work).update(lambda form: form.with_options(models=models))


def uploaded(work: Work, target: Work, *, with_data: bool) -> str:
    """The project of a work as an upload of another one."""
    path = project.save(work, with_data=with_data)
    target.path("upload.celosia").write_bytes(path.read_bytes())
    return "upload.celosia"


def test_a_project_with_its_table_is_the_same_work_elsewhere(work: Work, tmp_path: Path) -> None:
    change(work, 3)
    results_tray.add(work, CANDIDATE)
    (tmp_path / "bbbbbbbbbbb").mkdir()
    other = Work.at(str(tmp_path / "bbbbbbbbbbb"))
    file = uploaded(work, other, with_data=True)
    project.open_whole(QUIET, folder=str(other.folder), file=file, shown="mine.celosia")
    assert PublishForm.load(other) == PublishForm.load(work)
    assert results_tray.load(other) == [CANDIDATE]
    assert other.load(PROFILE) == work.load(PROFILE)
    assert not other.path(file).exists()


def test_a_project_without_its_table_has_no_record_and_is_opened_beside_one(
    work: Work, tmp_path: Path
) -> None:
    change(work, 4)
    other = begun(tmp_path, "bbbbbbbbbbb")
    before = PublishForm.load(other)
    file = uploaded(work, other, with_data=False)
    with ZipFile(other.path(file)) as archive:
        assert DATA not in archive.namelist()
        assert {"schema.toml", "publish.sh"} <= set(archive.namelist())
    project.open_choices(other, file, "mine.celosia")
    assert PublishForm.load(other).models == ({"method": "k-anonymity", "k": 4},)
    changes.undo(other)
    assert PublishForm.load(other) == before
    alone = Work("ccccccccccc", tmp_path / "ccccccccccc")
    alone.folder.mkdir()
    uploaded(work, alone, with_data=False)
    with pytest.raises(InputError) as caught:
        project.open_whole(QUIET, folder=str(alone.folder), file=file, shown="mine.celosia")
    assert caught.value.code == "CEL-W063"
    third = begun(tmp_path, "ddddddddddd", "five-attributes")
    uploaded(work, third, with_data=False)
    with pytest.raises(InputError, match="other columns"):
        project.open_choices(third, file, "mine.celosia")


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"{",
        b"[]",
        b'{"celosia_project": 2}',
        b'{"celosia_project": 1, "form": {"columns": 3}, "candidates": []}',
        json.dumps({
            "celosia_project": 1, "candidates": [],
            "form": {"file": "f", "rows": 9, "columns": [], "models": [], "suppression": "much"},
        }).encode(),
        json.dumps({
            "celosia_project": 1, "candidates": [{"levels": 3}],
            "form": {"file": "f", "rows": 9, "columns": [], "models": []},
        }).encode(),
    ],
)  # fmt: skip
def test_what_is_no_project_is_refused_and_changes_nothing(
    work: Work, content: bytes | None
) -> None:
    before = PublishForm.load(work)
    path = work.path("upload.celosia")
    if content is None:
        path.write_bytes(b"PK no archive")
    else:
        with ZipFile(path, "w") as archive:
            archive.writestr(project.CHOICES, content)
    with pytest.raises(InputError) as caught:
        project.open_choices(work, "upload.celosia", "bad.celosia")
    assert caught.value.code == "CEL-W063"
    assert PublishForm.load(work) == before
    assert not path.exists()


def test_a_project_opens_no_file_and_no_history_of_the_machine(work: Work, tmp_path: Path) -> None:
    form = PublishForm.load(work).with_column("zip", hierarchy={"file": "/etc/passwd"})
    form.save(work)
    (tmp_path / "bbbbbbbbbbb").mkdir()
    other = Work.at(str(tmp_path / "bbbbbbbbbbb"))
    evil = {"celosia_project": 1, "candidates": [], "form": form.as_dict() | {"history": work.id}}
    with ZipFile(other.path("upload.celosia"), "w") as archive:
        archive.writestr(project.CHOICES, json.dumps(evil))
        archive.write(work.path(DATA), DATA)
    project.open_whole(QUIET, folder=str(other.folder), file="upload.celosia", shown="evil")
    assert PublishForm.load(other).history is None
    with pytest.raises(InputError) as caught:
        publish_options(PublishForm.load(other))
    assert caught.value.code == "CEL-W052"


def test_choices_are_undone_and_done_again_one_by_one(work: Work) -> None:
    first = PublishForm.load(work)
    assert not changes.can_undo(work)
    change(work, 3)
    change(work, 3)  # the same again is no change
    change(work, 4)
    last = PublishForm.load(work)
    changes.undo(work)
    changes.undo(work)
    changes.undo(work)
    assert PublishForm.load(work) == first
    changes.redo(work)
    changes.redo(work)
    assert PublishForm.load(work) == last
    changes.undo(work)
    change(work, 9)
    assert not changes.can_redo(work)


def test_a_window_knows_when_another_one_has_changed_the_choices(work: Work) -> None:
    one, other = PublishWorkbench(work), PublishWorkbench(work)
    one.update(lambda form: form.with_options(suppression=0.2))
    assert other.is_outdated
    assert not one.is_outdated
