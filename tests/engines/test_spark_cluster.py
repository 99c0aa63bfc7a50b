"""Spark as it is elsewhere: a standalone cluster that loses a worker, and Spark Connect.

Servers, executors and a driver are five Java machines, so that only the deep run collects this file
(see `conftest.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.engines.cluster import connect_server, spark_cluster

pytestmark = pytest.mark.spark


def _work(environment: dict[str, str], *given: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.engines.cluster_work", *given],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_cluster_that_loses_a_worker_leaves_nothing_half_written(tmp_path: Path) -> None:
    with spark_cluster() as cluster:
        found = _work(cluster.environment, cluster.url, str(tmp_path), str(cluster.workers[0]))
    assert found["killed"]
    assert found["first"] == "whole" or not found["left"]
    assert found["rows"] == found["masked"] == 400
    assert min(found["smallest"], found["classes"]) >= 5
    assert found["asked"] == [[400]]
    assert found["split"]  # each value of the release has a folder
    assert found["collected"] == {"files": 3, "counted": 90, "already_counted": 0}
    assert abs(found["private"] - 400) <= 10


def test_tables_of_a_catalogue_are_published_through_spark_connect(tmp_path: Path) -> None:
    with connect_server() as (url, environment):
        found = _work(environment, url, str(tmp_path))
    assert found["rows"] == found["masked"] == 300
    assert min(found["smallest"], found["classes"]) >= 5
    assert found["asked"] == [[300]]
