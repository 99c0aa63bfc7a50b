"""`celosia assess check`: whether a release meets its models, by its labels alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.cli import console, model_options, options
from celosia.cli.assess.readers import read_released, released_schema
from celosia.core.errors import PrivacyError
from celosia.core.wording import counted

if TYPE_CHECKING:
    from celosia.tables import Check

EXAMPLES = """**Examples**

`celosia assess check safe.csv --schema people.toml --k 5`

`celosia assess check safe.csv -s people.toml --k 5 --l recursive:4,3 --t 0.2`

`celosia assess check safe.csv -q age -q zip --sensitive disease --k 5 --l 3 --json`
"""


def check(
    table: options.Input,
    k: model_options.K = None,
    diversity: model_options.L = None,
    closeness: model_options.T = None,
    model: model_options.OtherModels = None,
    schema: options.SchemaFile = None,
    quasi_identifiers: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    header: options.Header = None,
    decimal: options.Decimal = None,
    as_json: options.AsJson = False,
) -> None:
    """Check that a release meets its models, judged by its labels; exit code 1 unless all hold.

    Models that compare a class with the whole table, such as t-closeness, need the suppressed
    records in it: check them on a release that was not made with --drop-suppressed.
    """
    from celosia import tables
    from celosia.core.progress import Step

    models = model_options.models_from(k, diversity, closeness, model)
    rest = None if schema is not None else "insensitive"
    roles = options.schema_from(schema, quasi_identifiers, sensitive=sensitive, other_columns=rest)
    reading = options.ReadOptions(delimiter, encoding, header, decimal).as_arguments()
    with console.progress_bar(quiet=as_json) as progress:
        progress(Step("Reading the file", 0))
        frame = read_released(table, roles, **reading)
        progress(Step("Checking the classes", 0))
        found = tables.check(frame, released_schema(roles, frame), models)
    if not found.holds:
        raise _failure(found)
    if as_json:
        console.show_json(found.as_dict())
        return
    console.show_table(
        f"{found.classes:,} classes of {found.records:,} records; {found.suppressed:,} suppressed",
        ["model", "holds"],
        [[each.promise, "yes" if each.holds else "no"] for each in found.models],
        numbers=False,
    )
    console.show(str(found), strong=True)


check.__doc__ = f"{check.__doc__}\n\n{EXAMPLES}"


def _failure(found: Check) -> PrivacyError:
    failed = [
        f"{each.promise} ({counted(each.classes, 'class', 'classes')}, "
        f"{counted(each.records, 'record', 'records')})"
        for each in found.models
        if not each.holds
    ]
    return PrivacyError("CEL-A010.failure", failed=", ".join(failed), **found.as_dict())
