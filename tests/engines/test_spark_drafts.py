"""What Spark has written gets its name at the end, and errors on the way say nothing of cells."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pytest
from tests.spark import on_spark, spark

from celosia.core.errors import CelosiaError, EngineError, InputError
from celosia.engines.spark import drafts
from celosia.engines.spark.drafts import HadoopDraft, LocalDraft, SparkDraft
from celosia.engines.spark.execution import run, sent
from celosia.engines.spark.paths import HadoopFiles, abandoned, before_name, draft_name, forget

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["spark"]
pytestmark = on_spark


def read(folder: Path) -> pl.DataFrame:
    return pl.read_parquet(folder / "*.parquet", glob=True)


def folders(path: Path) -> list[str]:
    return sorted(each.name for each in path.iterdir() if each.is_dir())


@pytest.mark.parametrize("kind", ["local", "cluster"])
def test_a_release_is_replaced_when_the_new_one_is_whole(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The files of this machine play those of HDFS."""
    target = tmp_path / "safe.parquet"

    def draft_of(*, overwrite: bool = True) -> SparkDraft:
        if kind == "local":
            return LocalDraft(spark, target, overwrite=overwrite)
        return HadoopDraft(spark, f"file://{target}", overwrite=overwrite)

    left = tmp_path / draft_name(target.name)
    if kind == "cluster":
        left.mkdir()
    forget(left.name)
    for rows in (3, 5):
        with draft_of() as draft:
            draft.write(spark.range(rows))
            assert draft.read().count() == rows
            if rows == 5:
                assert read(target).height == 3
            draft.commit()
            assert read(target).height == rows
        assert folders(tmp_path) == ["safe.parquet"]
    with draft_of() as draft:
        draft.write(spark.range(7))
        blocked = monkeypatch.context()
        with blocked as patch:
            block(patch, target)
            with pytest.raises(EngineError) as caught:
                draft.commit()
        assert caught.value.code == "CEL-E020"
        assert read(target).height == 5  # the old one is back
        with draft_of(overwrite=False) as other, pytest.raises(InputError) as refused:
            other.commit()
        assert refused.value.code == "CEL-I004"
    assert (folders(tmp_path), read(target).height) == (["safe.parquet"], 5)
    # Killed between the two steps: the next run gives the old one its name again.
    aside = before_name(target.name)
    forget(aside)
    target.rename(tmp_path / aside)
    with draft_of():
        assert read(target).height == 5
    (tmp_path / aside).mkdir()  # killed after them: the new one has the name
    with draft_of():
        assert read(target).height == 5
    assert folders(tmp_path) == ["safe.parquet"]


def block(patch: pytest.MonkeyPatch, target: Path) -> None:
    """Let the new folder not get the name of the target, which the old one may have again."""
    rename = os.rename
    tried: list[object] = []

    def refuse(place: Any, to: Any) -> None:
        if Path(str(to)).name == target.name and not tried:
            tried.append(to)
            raise OSError(str(to))
        rename(str(place).removeprefix("file://"), str(to).removeprefix("file://"))

    patch.setattr(drafts, "_exchange", lambda *_: False)
    patch.setattr(os, "rename", refuse)
    patch.setattr(HadoopFiles, "rename", lambda _, place, to: refuse(place, to))


def test_folders_change_names_in_one_step_or_in_two(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("new", "safe")):
        (tmp_path / name).mkdir()
        (tmp_path / name / str(number)).touch()
    with monkeypatch.context() as patch:
        if sys.platform == "linux":  # no moment without a folder of the name
            patch.setattr(os, "rename", partial(thrown, OSError()))
        drafts.swap_folders(tmp_path / "new", tmp_path / "safe")
    assert (tmp_path / "safe" / "0").exists()
    assert (tmp_path / "new" / "1").exists()
    monkeypatch.setattr(drafts, "_exchange", lambda *_: False)
    drafts.swap_folders(tmp_path / "new", tmp_path / "safe")
    assert (tmp_path / "safe" / "1").exists()
    assert (tmp_path / "new" / "0").exists()
    assert folders(tmp_path) == ["new", "safe"]


def test_drafts_of_others_that_live_are_left_alone() -> None:
    mine = draft_name("safe")
    assert abandoned([mine]) == []
    forget(mine)
    parts = mine.split("_")
    gone, first = parts.copy(), parts.copy()
    gone[-2], first[-2] = str(2**22 + 1), "1"
    elsewhere = parts.copy()
    elsewhere[-3] = "00000000"
    names = ["_".join(each) for each in (parts, gone, first, elsewhere)]
    assert abandoned(names) == names[:2]


def test_a_cell_that_an_error_quotes_is_never_unpickled() -> None:
    """Whoever writes cells could else run what he likes here."""
    from py4j.protocol import Py4JError  # comes with pyspark

    word, other = "0" * 32, "1" * 32
    error = InputError("CEL-E022", column="word", kind="text")
    quoted = Py4JError(f"Traceback ... {sent(error, word)} ...")
    for known, code in ((word, "CEL-E022"), (other, "CEL-E020"), (None, "CEL-E020")):
        with pytest.raises(CelosiaError) as caught:
            run(Any, partial(thrown, quoted), word=known)  # type: ignore[arg-type]  # asked nothing
        assert caught.value.code == code
        assert caught.value.__context__ is None
    unknown = pa.ArrowInvalid("SECRET")
    assert "SECRET" not in str(sent(unknown, word))
    with pytest.raises(EngineError) as failed:
        run(Any, partial(thrown, unknown))  # type: ignore[arg-type]
    assert failed.value.code == "CEL-E020"


def thrown(error: Exception, *_: object) -> None:
    raise error
