"""All attacks that the given data allow, on one release."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from celosia.assess.attacks.background import WorstBackground
from celosia.assess.attacks.classes import Classes, SensitiveView, texts_of
from celosia.assess.attacks.compatibility import Meanings
from celosia.assess.attacks.complementary import complementary
from celosia.assess.attacks.homogeneity import Homogeneity
from celosia.assess.attacks.linkage import linkage
from celosia.assess.attacks.method import ClassAttack
from celosia.assess.attacks.order import tuple_order
from celosia.assess.attacks.result import Attack
from celosia.assess.attacks.similarity import near_numbers, similarity
from celosia.assess.attacks.skewness import Skewness
from celosia.core.messages import Message
from celosia.core.methods import by_name
from celosia.core.notation import method_from_text
from celosia.core.progress import Progress, Step, silent
from celosia.frames import as_frame

ATTACKS: Mapping[str, type[ClassAttack]] = by_name(Homogeneity, WorstBackground, Skewness)
"""The attacks by their names."""

STANDARD: tuple[ClassAttack, ...] = (Homogeneity(), WorstBackground(), Skewness())
"""Attacks that are run where none is named."""


def attack_from_text(text: str) -> ClassAttack:
    """An attack in the notation of the command line: NAME:VALUE,...,KEY=VALUE,...

    >>> attack_from_text("skewness:gain=0.3")
    Skewness(gain=0.3)

    Raises:
        InputError: as `core.notation.method_from_text` says.
    """
    return method_from_text(ATTACKS, text, what="attack")


def attack_release(
    release: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    *,
    external: Any = None,
    earlier: Any = None,
    meanings: Meanings | None = None,
    categories: Mapping[str, Mapping[str, str]] | None = None,
    widths: Mapping[str, float] | None = None,
    watched: Mapping[str, Collection[str]] | None = None,
    attacks: Sequence[ClassAttack] = STANDARD,
    progress: Progress = silent,
) -> tuple[Attack, ...]:
    """Run the attacks for which there is what they need, in the order of this list.

    - for each sensitive column: the `attacks` on its classes (homogeneity, background knowledge at
      its worst, skewness), and similarity if there are categories or a width for the column;
    - linkage, with an external table: on those quasi-identifiers that it has;
    - tuple order and complementary release, with an earlier release that has the columns too (tuple
      order only if it has as many rows).

    Args:
        release: the table as published.
        quasi_identifiers: what an attacker may know of people.
        sensitive: the columns that must not be learnt.
        external: a table with names and raw values.
        earlier: another release of the same people.
        meanings: what the labels of columns stand for.
        categories: for a sensitive column, the category of each value.
        widths: for a sensitive column of numbers, the range that tells as much as a number.
        watched: for a sensitive column, the values that matter; all if not given.
        attacks: those on the classes of each sensitive column.
        progress: called as the work proceeds; may raise `Cancelled`.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": ["2*", "2*", "3*"], "ill": ["flu", "cold", "flu"]})
    >>> [attack.name for attack in attack_release(table, ["age"], "ill")]
    ['homogeneity', 'background knowledge, worst case', 'skewness']
    """
    frame = as_frame(release)
    names = texts_of(frame, quasi_identifiers).columns  # refused here, even if no attack would run
    hidden = list(dict.fromkeys([sensitive] if isinstance(sensitive, str) else sensitive))
    found: list[Attack] = []
    # To find the classes of a long table takes longer than an attack on them.
    classes = Classes.of(texts_of(frame, names)) if hidden or external is not None else None
    for done, column in enumerate(hidden):
        assert classes is not None
        progress(Step(Message("assess.stage.attack"), done, len(hidden)))
        matter = (watched or {}).get(column)
        view = SensitiveView.within(classes, frame, column)
        found += [each.on(view, matter) for each in attacks]
        if column in (categories or {}):
            found.append(similarity(frame, names, column, (categories or {})[column]))
        if column in (widths or {}):
            found.append(near_numbers(frame, names, column, (widths or {})[column]))
    if external is not None:
        people = as_frame(external)
        on = [name for name in names if name in people.columns]
        found += linkage(
            frame,
            people,
            on=on,
            learns=hidden,
            meanings=meanings,
            classes=classes if on == names else None,
            progress=progress,
        )
    if earlier is not None:
        before = as_frame(earlier)
        both = [name for name in names if name in before.columns]
        shared = [name for name in hidden if name in before.columns]
        if before.height == frame.height:
            found.append(
                tuple_order(
                    frame, before, columns=both, also=shared, meanings=meanings, progress=progress
                )
            )
        if shared:
            found.append(
                complementary(frame, before, both, on=shared, meanings=meanings, progress=progress)
            )
    return tuple(found)
