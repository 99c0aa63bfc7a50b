"""`celosia assess check`: whether a release meets its models, by its labels alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.cli import console, options
from celosia.cli.assess.readers import read_released, released_schema
from celosia.cli.frame import JsonOutputs
from celosia.core.errors import PrivacyError
from celosia.core.messages import Message, say, say_of

if TYPE_CHECKING:
    from celosia.tables import Check


def check(
    table: options.Input,
    models: options.ModelOptions,
    schema: options.ReleasedSchemaOptions,
    unit: options.UnitOptions,
    reading: options.Reading,
    outputs: JsonOutputs,
) -> None:
    """Check that a release meets its models, judged by its labels; exit code 1 unless all hold.

    Models that compare a class with the whole table, such as t-closeness, need the suppressed
    records in it: check them on a release that was not made with --drop-suppressed.

    **Examples**

    `celosia assess check safe.csv --schema people.toml --k 5`

    `celosia assess check safe.csv -s people.toml --k 5 --l recursive:4,3 --t 0.2`

    `celosia assess check safe.csv -q age -q zip --sensitive disease --k 5 --l 3 --json`
    """
    from celosia import tables
    from celosia.core.progress import Step

    wanted = models.load()
    roles = unit.of(schema.load(other_columns="insensitive"))
    with outputs.working() as progress:
        frame = read_released(table, roles, reading)
        progress(Step(Message("cli.step.checking_classes"), 0))
        found = tables.check(frame, released_schema(roles, frame), wanted)
    if not found.holds:
        raise _failure(found)
    outputs.show(found.as_dict, lambda: _show(found), found)


def _show(found: Check) -> None:
    console.show_table(
        say_of("cli.assess.classes_records_suppressed", found),
        console.columns("model", "holds"),
        [
            [each.promise, say("cli.word.yes" if each.holds else "cli.word.no")]
            for each in found.models
        ],
        numbers=False,
    )


def _failure(found: Check) -> PrivacyError:
    failed = [Message.of("cli.failed_model", each) for each in found.models if not each.holds]
    return PrivacyError("CEL-A010.model", failed=failed, **found.as_dict())
