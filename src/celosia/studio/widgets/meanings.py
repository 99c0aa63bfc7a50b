r"""What a number is: its meaning in a sentence or two, and its formula, behind a question mark."""

from __future__ import annotations

from collections.abc import Sequence
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
    Meaning(
        "Found by degree",
        "The share of the n vertices whose degree no other vertex has: an attacker who knows how "
        "many contacts a person has finds the vertex. c are the vertices with the same degree.",
        r"\frac{1}{n} |\{ v : |c_v| = 1 \}|",
    ),
    Meaning(
        "Found by the best attack",
        "The greatest share of the n vertices that one attack finds for certain. An attack sorts "
        "vertices into classes of those that look the same to it; c is the class of a vertex.",
        r"\max \frac{1}{n} |\{ v : |c_v| = 1 \}|",
    ),
    Meaning(
        "Edges kept",
        "The edges E of the original that are edges of the release, too.",
        r"\frac{|E \cap E'|}{|E|}",
    ),
    Meaning(
        "Degrees changed",
        "The share of the n vertices that have another degree d in the release.",
        r"\frac{1}{n} |\{ v : d_v \ne d_v' \}|",
    ),
    Meaning(
        "Communities kept",
        "Normalised mutual information of the communities C of both graphs: the information I that "
        "they share, over the mean of their entropies H. It is 1 where they are the same.",
        r"\frac{2 I(C, C')}{H(C) + H(C')}",
    ),
    Meaning(
        "Average distance",
        "The mean length l of the shortest path between two vertices, over the p pairs that a path "
        "connects.",
        r"\frac{1}{p} \sum_{u, v} l(u, v)",
    ),
    Meaning(
        "Typical error of a share",
        "The distance of the estimated shares from the true ones: the root of the mean square over "
        "the D values. It is known here because the values are made up.",
        r"\sqrt{\frac{1}{D} \sum_{v=1}^{D} (\hat{f}_v - f_v)^2}",
    ),
    Meaning(
        "Expected error",
        "What the variance of the protocol says that the typical error is: a server can compute it "
        "without the truth.",
        r"\sqrt{\frac{1}{D} \sum_{v=1}^{D} \text{Var}(\hat{f}_v)}",
    ),
    Meaning(
        "One report",
        "What a device sends. It hides the value by its randomness: no report y is much more "
        "likely for a value v than for another value w.",
        r"\Pr(y \mid v) \le e^\epsilon \Pr(y \mid w)",
    ),
    Meaning(
        "Price",
        "The epsilon of the question, taken from the budget. The answer of two neighbouring "
        "databases x and x' is almost as likely, up to this factor, and up to delta.",
        r"\Pr(A(x) \in S) \le e^\epsilon \Pr(A(x') \in S) + \delta",
    ),
    Meaning(
        "Neighbours",
        "Two databases that differ in one unit, with all that belongs to it: no answer tells them "
        "apart for sure. d counts the units in which they differ.",
        r"d(x, x') = 1",
    ),
    Meaning(
        "Range",
        "Where the exact answer lies 19 times in 20, or where the noise alone lies if the caps of "
        "the answer were chosen privately. Laplace noise of scale b exceeds t with this chance.",
        r"\Pr(|z| > t) \le e^{-t/b}",
    ),
    Meaning(
        "Cost",
        "What the answer took from the budget. The costs of all answers add up.",
        r"\epsilon_1 + \epsilon_2 + \dots + \epsilon_q",
    ),
    Meaning(
        "Left",
        "The budget E of the policy, less what the q questions so far have cost.",
        r"E - \sum_{i=1}^{q} \epsilon_i",
    ),
    Meaning(
        "Questions at the same price",
        "How many more questions can be paid: the budget R that is left, over the mean cost of the "
        "q questions so far.",
        r"\frac{R}{\frac{1}{q} \sum_{i=1}^{q} \epsilon_i}",
    ),
    Meaning(
        "Chain",
        "The fingerprint of the last entry of the ledger. Each entry e holds the fingerprint of "
        "the one before it, so that none can be changed or removed without a trace.",
        r"h_i = H(h_{i-1}, e_i)",
    ),
    Meaning(
        "Owed by analysts",
        "The sum of the prices p in money of all answers that were sold.",
        r"\sum_{i=1}^{q} p_i",
    ),
    Meaning(
        "Each person may claim",
        "The income I times the share c for people, over the public number N of people: it does "
        "not depend on who was counted in an answer.",
        r"\frac{c I}{N}",
    ),
    Meaning(
        "Records kept",
        "The records n' of the release, over the n records of the log.",
        r"\frac{n'}{n}",
    ),
    Meaning(
        "Singled out before",
        "The share of the N persons looked for whom an attack finds in the log without names: what "
        "the attacker knows of a person fits c persons, and only one.",
        r"\frac{1}{N} |\{ i : |c_i| = 1 \}|",
    ),
    Meaning(
        "Singled out after",
        "The share of the N persons looked for whom the same attack finds in the release.",
        r"\frac{1}{N} |\{ i : |c_i'| = 1 \}|",
    ),
    Meaning(
        "Findings replaced",
        "The places that the recognisers found, of all r kinds together.",
        r"f_1 + f_2 + \dots + f_r",
    ),
    Meaning(
        "Characters as they were",
        "The share of the L characters of all texts that lie outside of every replaced place: s is "
        "the length of these places.",
        r"1 - \frac{s}{L}",
    ),
    Meaning(
        "Singled out by three terms",
        "The share of the N persons with at least three terms whom three of them, drawn at random, "
        "single out: c are the persons who have all three.",
        r"\frac{1}{N} |\{ i : |c_i| = 1 \}|",
    ),
)
"""Of the figures by which a release, an answer or an estimate is judged."""


def formula_drawer(letters: str, listed: Sequence[tuple[str, str]]) -> None:
    """The formulas of the numbers of a table, in a drawer below it.

    Args:
        letters: what the letters of all formulas mean, in the language of the page.
        listed: the name of each number on the page, and its formula.
    """
    with (
        ui.expansion(_("How these numbers are computed"), icon="functions").classes("w-full"),
        ui.element("div").classes("celosia-formulas").props('data-test="formulas"'),
    ):
        ui.label(letters).classes("celosia-quiet")
        for name, formula in listed:
            with ui.element("div"):
                ui.label(name).classes("text-bold")
                ui.html(f'<div class="celosia-formula">{mathml(formula)}</div>', sanitize=False)


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
