"""`celosia assess attack`: attacks on a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from celosia.cli import console, options
from celosia.cli.assess.readers import read_people, read_released
from celosia.cli.frame import ReportOutputs
from celosia.core.errors import InputError
from celosia.core.messages import did_you_mean, say

if TYPE_CHECKING:
    import polars as pl

    from celosia.assess.attacks import Attack
    from celosia.assess.meaning import Meaning
    from celosia.tables import Schema


def attack(
    table: Annotated[Path, "argument", "The table as it was released."],
    schema: options.ReleasedSchemaOptions,
    reading: options.Reading,
    outputs: ReportOutputs,
    external: Annotated[Path | None, "Table with names that an attacker may have."] = None,
    on: Annotated[
        list[str] | None, "COLUMN", "With --external: link on these columns only."
    ] = None,
    earlier: Annotated[Path | None, "Another release of the same people."] = None,
    original: Annotated[
        Path | None, "The original table, used only to interpret the released labels."
    ] = None,
    similar: Annotated[
        list[str] | None,
        "COLUMN=LEVEL",
        "Sensitive values that share a label at this hierarchy level count as equal.",
    ] = None,
    near: Annotated[
        list[str] | None, "COLUMN=WIDTH", "Sensitive numbers within this range count as equal."
    ] = None,
    attacks: Annotated[
        list[str] | None,
        "--attack NAME[:KEY=VALUE,...]",
        "Attack on classes with its parameters: homogeneity, background:exclusions=1 or "
        "skewness:gain=0.2; repeat it for more. Default: all three.",
    ] = None,
    values: Annotated[
        bool, "--values", "With --json: also the values that the attacker would learn."
    ] = False,
) -> None:
    """Run attacks on a release: how many people are exposed, and how confident is the attacker?

    The hierarchies of the schema say what released labels stand for. Rules that build a hierarchy
    from the values of a column need these values: from --original, or else from --external.

    **Examples**

    `celosia assess attack safe.csv --schema people.toml`  (homogeneity, background, skewness)

    `celosia assess attack safe.csv -s people.toml --external voters.csv --on age --on zip`

    `celosia assess attack safe.csv -s people.toml --earlier last-year.csv --report attack.html`

    `celosia assess attack safe.csv -s people.toml --attack background:exclusions=2`

    `celosia assess attack safe.csv -s people.toml --similar disease=1 --near salary=2 --json`
    """
    from celosia.assess import attack_report
    from celosia.assess.attacks import attack_from_text, attack_release
    from celosia.assess.attacks.summary import STANDARD
    from celosia.tables import Role
    from celosia.tables.meanings import meanings

    outputs.check(inputs=(table, schema.schema, external, earlier, original))
    wanted = tuple(map(attack_from_text, attacks)) if attacks else STANDARD
    roles = schema.load()
    if on and external is None:
        raise InputError("CEL-I056.no_table")
    levels = options.levels_from(similar, option="--similar") or {}
    widths = options.numbers_by_column(near or (), option="--near")
    _check_sensitive(roles, [*levels, *widths])
    others = options.Reading()
    with outputs.working("cli.step.reading_files") as progress:
        frame = read_released(table, roles, reading)
        people = None if external is None else _pick(read_people(external, roles), roles, on)
        explained = meanings(
            roles,
            original=None if original is None else others.read(original, roles.types()),
            known=people,
            released=frame,
        )
        found = attack_release(
            frame,
            roles.named(Role.QUASI_IDENTIFIER),
            roles.named(Role.SENSITIVE),
            external=people,
            earlier=None if earlier is None else read_released(earlier, roles),
            meanings=explained,
            categories={name: _categories(roles, frame, name, levels[name]) for name in levels},
            widths=widths,
            attacks=wanted,
            progress=progress,
        )
    if not found:
        raise InputError("CEL-I054")
    unread = [] if external is earlier is None else _unread(roles, explained)
    if unread:
        console.note(say("cli.assess.warning_labels_can_only", unread=", ".join(unread)))
    outputs.write_report(lambda: attack_report.document(found, rows=frame.height))
    worst = max(found, key=lambda each: (each.share, each.greatest))
    outputs.show(
        lambda: [each.as_dict(values=values) for each in found],
        lambda: _show(found),
        say("cli.assess.most_exposed", worst=worst),
    )


def _check_sensitive(roles: Schema, names: Sequence[str]) -> None:
    from celosia.tables import Role

    known = roles.named(Role.SENSITIVE)
    for name in names:
        if name not in known:
            raise InputError("CEL-I055", hint=did_you_mean(name, known), column=name)


def _pick(people: pl.DataFrame, roles: Schema, on: list[str] | None) -> pl.DataFrame:
    """The columns of an external table to link on: those named, or all that both have."""
    from celosia.frames import pick
    from celosia.tables import Role

    known = [name for name in roles.named(Role.QUASI_IDENTIFIER) if name in people.columns]
    strange = [name for name in on or () if name not in known]
    if strange or not known:
        raise _unlinkable(strange, known)
    return pick(people, on or known)


def _unlinkable(strange: Sequence[str], known: Sequence[str]) -> InputError:
    if not known:
        return InputError("CEL-I056.nothing_in_common")
    hint = did_you_mean(strange[0], known)
    return InputError("CEL-I056.column", column=strange[0], hint=hint, columns=known)


def _unread(roles: Schema, explained: Mapping[str, Meaning]) -> list[str]:
    """The quasi-identifiers whose labels have no explanation."""
    return [column.name for column in roles.quasi_identifiers if column.name not in explained]


def _categories(roles: Schema, frame: pl.DataFrame, name: str, level: int) -> dict[str, str]:
    """The category of each sensitive value: its label at a level of its hierarchy."""
    from celosia.assess.attacks import categories_of
    from celosia.frames import encode

    column = next(each for each in roles.columns if each.name == name)
    present = name in frame.columns and frame[name].null_count() < frame.height
    if column.hierarchy is None or not present:
        raise InputError("CEL-I057.no_hierarchy", column=name)
    hierarchy = column.hierarchy_for(encode(frame[name]).values)
    if not 0 <= level <= hierarchy.height:
        raise InputError("CEL-I057.level", highest=hierarchy.height, level=level, column=name)
    return categories_of(hierarchy, hierarchy.labels[level])


def _show(found: Sequence[Attack]) -> None:
    console.show_table(
        say("cli.assess.attacks_release_confidence_attacker"),
        console.columns(
            *("attack", "learns", "people:,", "exposed:,"),
            *("share:.2%", "average:.2%", "greatest:.2%"),
        ),
        [
            [
                each.name,
                each.column or "identity",
                each.people,
                each.exposed_people,
                each.share,
                each.average,
                each.greatest,
            ]
            for each in found
        ],
    )
    for each in found:
        if each.exposed_people:
            console.show(f"{each.name}: {each.mitigation}")
