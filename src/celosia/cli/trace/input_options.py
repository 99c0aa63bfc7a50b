"""Options that the commands of `celosia trace` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

if TYPE_CHECKING:
    from celosia.core.progress import Progress
    from celosia.traces import Traces
    from celosia.traces.method import TraceMethod

TraceFile = Annotated[
    Path, "argument", "The points: a table (.csv, .tsv, .parquet, .arrow, .jsonl), GPX or GeoJSON."
]
DeclarationFile = Annotated[
    Path,
    "--declare -d",
    "Declaration (TOML): columns, zone, region. `celosia trace init` writes a draft.",
]
Method = Annotated[
    str | None,
    "--method NAME[:KEY=VALUE,...]",
    "Method with its parameters (list: celosia trace methods).",
]
KeyFile = Annotated[Path | None, "--key", "The key file that `celosia trace publish --key` wrote."]
Seed = Annotated[int | None, "Seed for the random draws; the release is then only a simulation."]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceInput:
    """How points are read."""

    declare: DeclarationFile

    damaged: Annotated[
        Literal["refuse", "drop"] | None,
        "Whether a file is refused in which a person has two points at the same second, "
        "or all but the first are dropped. Default: as declared, else refuse.",
    ] = None

    def read(self, path: Path, progress: Progress) -> Traces:
        """The points of a file under its declaration."""
        from celosia.core.messages import Message
        from celosia.core.progress import Step
        from celosia.traces import Declaration, read

        progress(Step(Message("traces.stage.read"), 0))
        return read(path, Declaration.load(self.declare, damaged=self.damaged))


def one_method(
    written: str | None,
    *,
    glove: int | None = None,
    planar: str | None = None,
    noise: Mapping[str, str | int | None] | None = None,
) -> TraceMethod:
    """The one method of a command, by its notation or by a short form.

    Raises:
        InputError: CEL-J023 none or several; CEL-J024 a level that cannot be read, or options of
            noise without one.
    """
    from celosia.core.errors import InputError
    from celosia.traces.registry import method_from, method_from_text, methods

    given = [each for each in (written, glove, planar) if each is not None]
    asked = {name: value for name, value in (noise or {}).items() if value is not None}
    if asked and planar is None:
        names = [f"--{name.replace('_', '-')}" for name in asked]
        raise InputError("CEL-J024.missing", idle=names)
    if len(given) != 1:
        raise InputError("CEL-J023", count=len(given), methods=list(methods()))
    if glove is not None:
        return method_from("glove", {"k": glove})
    if planar is not None:
        return method_from("planar-laplace", level(planar) | asked)
    return method_from_text(str(written))


def level(text: str) -> dict[str, float]:
    """A level of geo-indistinguishability as it is written: 4x@200m.

    >>> level("4x@200m")
    {'times': 4.0, 'within': 200.0}
    """
    from celosia.core.errors import InputError

    times, at, within = text.partition("x@")
    try:
        if not at or not within.endswith("m"):
            raise ValueError
        return {"times": float(times), "within": float(within[:-1])}
    except ValueError:
        raise InputError("CEL-J024.written") from None
