r"""What a number is: its meaning in a sentence or two, and its formula, behind a question mark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nicegui import ui

from celosia.studio.language import _
from celosia.studio.widgets.formula import mathml


@dataclass(frozen=True, slots=True)
class Meaning:
    """The name of a number, what it means, and how it is computed."""

    name: str
    text: str
    formula: str


MEANINGS = (
    Meaning(
        "Average risk",
        "The chance that an attacker who knows the quasi-identifiers of a person in the table "
        "picks that person's record, for a person drawn at random. A record has a chance of one in "
        "the size n of its class; the average over the N records that were not suppressed is the "
        "number c of classes divided by N.",
        r"\frac{1}{N} \sum_{i=1}^{N} \frac{1}{n_i} = \frac{c}{N}",
    ),
    Meaning(
        "Highest risk",
        "The same chance for the most exposed person: one in the size of the smallest class.",
        r"\max_i \frac{1}{n_i}",
    ),
    Meaning(
        "Records at risk",
        "The share of records whose chance of being found is above the threshold: those in classes "
        "smaller than one divided by the threshold.",
        r"\frac{1}{N} |\{ i : \frac{1}{n_i} > t \}|",
    ),
    Meaning(
        "Smallest class",
        "A class is a group of records that share all their released quasi-identifiers. "
        "k-anonymity asks that no class is smaller than k.",
        r"\min (n_1, \dots, n_c)",
    ),
    Meaning(
        "Smallest group",
        "The fewest records that share all their quasi-identifiers, before anything is changed. "
        "One means that a person stands alone.",
        r"\min (n_1, \dots, n_c)",
    ),
    Meaning(
        "Classes",
        "Groups of records that share all their quasi-identifiers: c of them. Fewer and larger "
        "classes hide people better and tell less.",
        r"n_1 + n_2 + \dots + n_c = N",
    ),
    Meaning(
        "Different combinations",
        "How many different combinations of the quasi-identifiers the table holds: each is a "
        "class of records.",
        r"n_1 + n_2 + \dots + n_c = N",
    ),
    Meaning(
        "Unique records",
        "Records that share their quasi-identifiers with no other record. Whoever knows these "
        "values of a person finds the record.",
        r"|\{ i : n_i = 1 \}|",
    ),
    Meaning(
        "Loss",
        "The information that generalising and suppressing took away. A cell loses the share of "
        "the column's values that its label could stand for: nothing for a raw value, everything "
        "for *. L is the average over the cells of a column; the loss of the table is the "
        "geometric mean of 1 + L over the m columns, less 1.",
        r"(\prod_{j} (1 + L_j))^{1/m} - 1",
    ),
    Meaning(
        "Suppressed",
        "Records whose quasi-identifiers are all replaced by *, because no other records are like "
        "them: s of n. The limit under Models says how many there may be.",
        r"\frac{s}{n}",
    ),
)
"""Of the figures by which a release is judged."""


def meaning_button(name: str, **present: Any) -> None:
    """A question mark that tells what a number is, where that is known.

    Args:
        name: what the number is called on the page.
        present: its present value and what it follows from, by their names on the page.
    """
    found = next((each for each in MEANINGS if _(each.name) == name), None)
    if found is None:
        return
    button = ui.button(icon="help_outline").props("flat round dense size=sm")
    button.props["aria-label"] = _("What is this? {name}", name=name)
    button.classes("celosia-help")
    with button, ui.menu().props("anchor='bottom right' self='top right'") as menu:
        menu.props["aria-label"] = name
        with ui.element("div").classes("celosia-meaning q-pa-md"):
            ui.label(name).classes("text-bold")
            ui.label(_(found.text))
            ui.html(f'<div class="celosia-formula">{mathml(found.formula)}</div>', sanitize=False)
            for word, value in present.items():
                ui.label(f"{word}: {value}").classes("celosia-quiet")
