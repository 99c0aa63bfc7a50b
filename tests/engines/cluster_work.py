"""A process that publishes, masks and asks on a Spark elsewhere; prints what came of it."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import polars as pl

from celosia import KAnonymity, Schema, Seeded, datasets
from celosia.collect import protocol_from
from celosia.collect.collector.tables import write_table
from celosia.collect.distributed.spark import gather_on_spark
from celosia.core.errors import EngineError
from celosia.core.progress import Step
from celosia.engines.spark import SparkEngine, spark_session
from celosia.engines.spark.tables import SparkTables
from celosia.queries import Vault
from celosia.tables import masking, publish_on

SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.executor.memory": "512m",
    "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}
KEYS = ["sex", "age", "race", "education"]


def roles() -> Schema:
    """Four quasi-identifiers of the census, by their hierarchies."""
    known = {column.name: column.hierarchy for column in datasets.census_schema().columns}
    return Schema.of(
        quasi_identifiers={name: known[name] for name in KEYS}, other_columns="insensitive"
    )


def on_cluster(url: str, folder: Path, worker: int) -> dict[str, Any]:
    """Publish a partitioned folder, lose a worker on the way, and publish again; mask, and ask."""
    source, target = f"file://{folder}/raw", f"file://{folder}/safe"
    session = spark_session(url, settings=SETTINGS)
    people = datasets.census(400, seed=3).select([*KEYS, "occupation"])
    people.write_parquet(folder / "people.parquet")
    whole = session.read.parquet(f"file://{folder}/people.parquet")
    whole.write.partitionBy("race").parquet(source)
    found: dict[str, Any] = {}

    def kill(step: Step) -> None:
        if worker and "recoding" in str(getattr(step.stage, "key", step.stage)).lower():
            os.killpg(worker, signal.SIGKILL)
            found["killed"] = True

    with SparkTables(url, settings=SETTINGS) as engine:
        try:
            publish_on(engine, source, target, roles(), KAnonymity(5), progress=kill,
                       certificate=folder / "first.json")  # fmt: skip
            found["first"] = "whole"
        except (EngineError, ProcessLookupError) as error:
            found["first"] = getattr(error, "code", type(error).__name__)
            found["left"] = [each.name for each in folder.iterdir() if each.name == "safe"]
        release = publish_on(
            engine, source, target, roles(), KAnonymity(5), overwrite=True,
            certificate=folder / "second.json", partition_by=["sex"],
        )  # fmt: skip
        found["rows"], found["smallest"] = release.rows_written, release.risk.smallest
        found["masked"] = _masked(engine, source, f"file://{folder}/masked", folder)
    shown = pl.read_parquet(folder / "safe" / "**/*.parquet", hive_partitioning=True)
    found["split"] = sorted(each.name for each in (folder / "safe").glob("sex=*"))
    found["classes"] = min(shown.group_by(KEYS).len()["len"].to_list())
    found["collected"] = _collected(url, folder)
    found["private"] = _private(url, folder)
    return found | _asked(url, {"people": f"file://{folder}/people.parquet"})


def _masked(engine: SparkTables, source: str, target: str, folder: Path) -> int:
    recipe = masking.Recipe.of(roles(), [(masking.Rounding(base=5), ["age"])])
    paper = folder / "mask.json"
    return masking.mask_on(engine, source, target, recipe, certificate=paper).rows_written


def _collected(url: str, folder: Path) -> dict[str, int]:
    """Reports of devices in three files, counted on the cluster."""
    protocol = protocol_from({"method": "grr", "epsilon": 2, "domain": ["a", "b"], "key": "scale"})
    (folder / "reports").mkdir()
    for number in range(3):
        reports = protocol.client(rng=Seeded(number)).privatise(["a"] * 30)
        write_table(reports, folder / "reports" / f"{number}.parquet")
    return gather_on_spark(protocol, [f"file://{folder}/reports"], url=url).as_dict()


def _private(url: str, folder: Path) -> int:
    """A count with epsilon 10: the noise is below 10 but with a chance of e**-100."""
    policy = folder / "policy.toml"
    columns = '[tables.people.columns]\nid = { type = "integer", unique = true }\n'
    people = pl.DataFrame({"id": range(400)})
    people.write_parquet(folder / "numbered.parquet")
    policy.write_text(
        'name = "people"\n[database]\nkind = "spark"\n'
        f'url = "{url}"\n[database.files]\npeople = "file://{folder}/numbered.parquet"\n'
        '[unit]\nname = "person"\ntable = "people"\nkey = "id"\n'
        f"[budget]\nepsilon = 20\n{columns}"
    )
    with Vault.open(policy) as vault:
        return int(vault.sql("SELECT count(*) AS n FROM people", epsilon=10).rows[0]["n"])


def through_connect(url: str, folder: Path) -> dict[str, Any]:
    """Publish a table of the catalogue to another, twice, and ask."""
    session = spark_session(url)
    datasets.census(300, seed=3).select(KEYS).write_parquet(folder / "people.parquet")
    whole = session.read.parquet(f"file://{folder}/people.parquet")
    whole.write.mode("overwrite").partitionBy("sex").saveAsTable("people")
    found: dict[str, Any] = {}
    with SparkTables(url) as engine:
        for number in range(2):
            release = publish_on(
                engine, "people", "safe_people", roles(), KAnonymity(5), overwrite=True,
                certificate=folder / f"{number}.json",
            )  # fmt: skip
        found["rows"], found["smallest"] = release.rows_written, release.risk.smallest
        found["masked"] = _masked(engine, "people", "masked_people", folder)
    sizes = session.table("safe_people").groupBy(*KEYS).count().collect()
    found["classes"] = min(row["count"] for row in sizes)
    return found | _asked(url, {})


def _asked(url: str, files: dict[str, str]) -> dict[str, Any]:
    from sqlglot import parse_one

    with SparkEngine(url, files=files) as engine:
        query = parse_one("SELECT COUNT(*) AS n FROM people", read="spark")
        return {"asked": [list(row) for row in engine.run(query, timeout=600)]}


if __name__ == "__main__":
    given, folder = sys.argv[1], Path(sys.argv[2])
    if given.startswith("sc://"):
        outcome = through_connect(given, folder)
    else:
        outcome = on_cluster(given, folder, int(sys.argv[3]))
    print(json.dumps(outcome))
