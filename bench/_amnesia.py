"""Amnesia as an opponent: its search for k^m-anonymity, compiled from its sources, by itself.

Amnesia is a web application with many dependencies and no published build. Its search needs none of
them but Guava: `AmnesiaRace.java` gives it a hierarchy through its own interface, and three classes
that it names and never uses here are replaced by empty ones. `AMNESIA_SOURCES` names the folder
`src/main/java` of its repository, `GUAVA` the jars of Guava, joined by the mark of the class path;
those of PySpark are taken without it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from celosia.logs.sets.item_tree import ItemTree
from celosia.logs.sets.transactions import Transactions

SETTING = "AMNESIA_SOURCES"
_UNUSED = {
    "graph/Graph.java": "package graph; public class Graph {}",
    "hierarchy/ranges/RangeDouble.java": "package hierarchy.ranges; public class RangeDouble {}",
    "algorithms/mixedkmanonymity/MixedApriori.java": (
        "package algorithms.mixedkmanonymity;"
        "public abstract class MixedApriori implements algorithms.Algorithm {"
        "public abstract double getAddedCost(double[] comb, java.util.List<Double> base); }"
    ),
}
"""Classes that the search names and that are not run here."""


class AmnesiaRun(NamedTuple):
    """One run of Amnesia."""

    seconds: float
    """Of the processor, without reading."""
    nodes: list[int]
    """What stands for each leaf."""


def why_not() -> str | None:
    """Why it cannot run; None if it can."""
    if shutil.which("javac") is None:
        return "not run: no Java compiler is found"
    if not os.environ.get(SETTING):
        return f"not run: {SETTING} names no folder of its sources"
    return None if _guava() else "not run: no Guava is found"


def _guava() -> str:
    given = os.environ.get("GUAVA", "")
    spark = find_spec("pyspark")
    if given or spark is None or spark.origin is None:
        return given
    jars = Path(spark.origin).parent / "jars"
    found = [*jars.glob("guava*.jar"), *jars.glob("failureaccess*.jar")]
    return os.pathsep.join(map(str, found))


def race(data: Transactions, tree: ItemTree, *, k: int, m: int) -> AmnesiaRun:
    """The search of Amnesia on these transactions."""
    leaves = tree.leaf_places(data)
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        for path, text in _UNUSED.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        sources = os.pathsep.join([str(folder), os.environ[SETTING]])
        race_file = str(Path(__file__).with_name("AmnesiaRace.java"))
        compile_all = ["javac", "-nowarn", "-cp", _guava(), "-d", name, "-sourcepath", sources]
        subprocess.run([*compile_all, race_file], check=True, capture_output=True)
        parents = tree.parents.tolist()
        above = [-1 if node == up else up for node, up in enumerate(parents)]
        rows = [" ".join(str(leaves[item]) for item in row) for row in data.rows() if row]
        given = folder / "sets.txt"
        given.write_text("\n".join([" ".join(map(str, above)), *rows]) + "\n")
        command = ["java", "-Xmx3g", "-cp", os.pathsep.join([name, _guava()]), "AmnesiaRace"]
        done = subprocess.run(
            [*command, str(given), str(k), str(m)], check=True, capture_output=True, text=True
        )
    seconds, *nodes = done.stdout.split()
    return AmnesiaRun(float(seconds), [int(node) for node in nodes])
