"""The words of privacy as this house uses them, in the present language."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.studio.language import _, chosen, current


@dataclass(frozen=True, slots=True)
class Term:
    """A word, what it is called in the other language, and what it means."""

    word: str
    elsewhere: str
    meaning: str


def terms() -> list[Term]:
    """All of them, by the alphabet of the present language.

    >>> terms()[0].word
    'analyst'
    """
    words = _words()
    token = chosen.set("en" if current() == "es" else "es")
    try:
        others = _words()
    finally:
        chosen.reset(token)
    found = [
        Term(word, other, meaning)
        for (word, meaning), (other, _meaning) in zip(words, others, strict=True)
    ]
    return sorted(found, key=lambda term: term.word.casefold())


def _words() -> list[tuple[str, str]]:
    return [
        (
            _("identifier"),
            _("A column that names a person by itself, as a name or a number of identity does."),
        ),
        (
            _("quasi-identifier"),
            _(
                "A column that others may know or have elsewhere, and that points at people "
                "together with further ones: age, sex, postal code."
            ),
        ),
        (
            _("sensitive column"),
            _("A column with what must not be learnt of a person: a disease, a salary."),
        ),
        (
            _("insensitive column"),
            _("A column that harms nobody and points at nobody; it is left as it is."),
        ),
        (
            _("hierarchy"),
            _("For each value of a column the wider values that can stand for it, up to *."),
        ),
        (
            _("level"),
            _("How far a value went up its hierarchy; level 0 is the value itself."),
        ),
        (
            _("equivalence class"),
            _("Records that share all values of the quasi-identifiers in a release."),
        ),
        (
            _("model"),
            _("A condition on equivalence classes, such as k-anonymity."),
        ),
        (
            _("node"),
            _("One level for each quasi-identifier: a point in the lattice of all choices."),
        ),
        (
            _("suppression"),
            _("A record is shown as * in every quasi-identifier."),
        ),
        (
            _("loss"),
            _("The information that was lost, from 0 (nothing) to 1 (everything)."),
        ),
        (
            _("risk"),
            _("The chance of re-identification, from 0 to 1."),
        ),
        (
            _("mechanism"),
            _("A way to answer with noise, for one value or many, by a curator who has the data."),
        ),
        (
            _("protocol"),
            _("How devices add noise to what they send, and how a server estimates from it."),
        ),
        (
            _("privacy unit"),
            _("What is protected as one: a row, a person, a triple, an entity, an edge, a node."),
        ),
        (
            _("neighbouring data"),
            _("Two data sets that differ by one privacy unit."),
        ),
        (
            "epsilon (ε)",
            _(
                "The bound of differential privacy: no result is more than e^ε times as likely "
                "from one of two neighbouring data sets as from the other."
            ),
        ),
        (
            "delta (δ)",
            _(
                "A small chance by which the bound of epsilon may fail; far below one over the "
                "number of people."
            ),
        ),
        (
            "rho (ρ)",  # noqa: RUF001 - the letter itself
            _("Another measure of the same, zero-concentrated, in which Gaussian noise adds up."),
        ),
        (
            _("budget"),
            _("The total of epsilon, delta or rho that all releases together may cost."),
        ),
        (
            _("ledger"),
            _("The durable record of a budget; each entry is a charge."),
        ),
        (
            _("charge"),
            _("What one release or answer cost, as an entry of a ledger."),
        ),
        (
            _("release"),
            _("Protected data with its guarantee and how it was made."),
        ),
        (
            _("curator"),
            _("Who has the raw data and answers for them."),
        ),
        (
            _("analyst"),
            _("Who may see releases only."),
        ),
        (
            _("attack"),
            _("A way to learn of a person what a release should hide, with what others know."),
        ),
        (
            _("noise"),
            _("Randomness in an answer that hides any one person and averages out over many."),
        ),
        (
            _("sensitivity"),
            _("How much one privacy unit can change an answer; noise is measured by it."),
        ),
        (
            _("generalisation"),
            _("A value is replaced by a wider one of its hierarchy: 29 by 20-29."),
        ),
        (
            _("masking"),
            _("Cells are changed instead of generalised: noise, averages, swaps, rounding."),
        ),
        (
            _("sketch"),
            _("A small summary of many values that can be merged with others of its kind."),
        ),
    ]
