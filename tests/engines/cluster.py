"""A standalone Spark cluster on this machine, and a Spark Connect server, for tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.ports import own_port
from tests.spark import java_folder

LONG = 300
"""Seconds to wait for a server to start, also on a busy machine."""


@dataclass(frozen=True)
class Cluster:
    """A master and its workers."""

    url: str
    workers: tuple[int, ...]
    """The process group of each worker, with the executors that it started."""
    environment: dict[str, str]


@contextmanager
def spark_cluster() -> Iterator[Cluster]:
    """A master and two workers of one core each, which listen on loopback only."""
    with _environment() as (environment, folder), _processes() as started:
        url = f"spark://127.0.0.1:{own_port()}"
        kind = "org.apache.spark.deploy"
        place = ["--host", "127.0.0.1", "--webui-port", "0"]
        port = ["--port", url.rpartition(":")[2]]
        log = folder / "master.log"
        started.append(_start([f"{kind}.master.Master", *place, *port], environment, log))
        _wait(log, "I have been elected leader")
        for number in range(2):
            more = ["--cores", "1", "--memory", "1200m", "--work-dir", str(folder / str(number))]
            call = [f"{kind}.worker.Worker", *place, *more, url]
            started.append(_start(call, environment, folder / f"worker-{number}.log"))
        _wait(log, "Registering worker", 2)
        yield Cluster(url, tuple(each.pid for each in started[1:]), environment)


@contextmanager
def connect_server() -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a Spark Connect server on one core, and the environment of its callers."""
    with _environment() as (environment, folder), _processes() as started:
        port, log = own_port(), folder / "connect.log"
        settings = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.warehouse.dir": str(folder / "tables"),
        }
        call = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[1]"]
        for name, value in settings.items():
            call += ["--conf", f"{name}={value}"]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        environment["SPARK_DAEMON_MEMORY"] = "1g"  # Spark counts this server among its daemons
        started.append(_start([*call, "--class", server, "spark-internal"], environment, log))
        _wait(log, "Spark Connect server started")
        yield f"sc://127.0.0.1:{port}", environment


@contextmanager
def _environment() -> Iterator[tuple[dict[str, str], Path]]:
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
    with TemporaryDirectory(prefix="celosia-cluster-") as name:
        folder = Path(name)
        (folder / "java").mkdir()
        yield (
            os.environ
            | {
                "JAVA_HOME": str(java_folder(folder / "java")),
                "SPARK_HOME": str(Path(pyspark.__file__).parent),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "SPARK_DAEMON_MEMORY": "256m",
                "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                "PYSPARK_PYTHON": sys.executable,
                "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
            },
            folder,
        )


@contextmanager
def _processes() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Those that are started here, each with a group of its own, which ends with the tests."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        yield started
    finally:
        for each in reversed(started):
            with suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()


def _start(call: Sequence[str], environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    program = Path(environment["SPARK_HOME"], "bin", "spark-class")
    with log.open("wb") as stream:
        return subprocess.Popen(
            [str(program), *call],
            env=environment,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )


def _wait(log: Path, text: str, times: int = 1) -> None:
    """Wait until a server says so in its log."""
    end = time.monotonic() + LONG
    while log.read_text("utf-8", "replace").count(text) < times:
        assert time.monotonic() < end, f"no server after {LONG} seconds"
        time.sleep(0.2)
