"""Re-identification by rare terms: an attacker knows some words of a person's document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from celosia.core.messages import Message
from celosia.core.randomness import Source, System
from celosia.texts.attacks.result import TextAttack
from celosia.texts.documents import Collection
from celosia.texts.models.model import RemainingTexts


def rare_terms(
    texts: Sequence[str],
    persons: Sequence[int | str],
    *,
    known: int = 3,
    rng: Source | None = None,
) -> TextAttack:
    """The share of persons whom `known` random terms of their published texts single out.

    Persons with fewer terms are left out and counted.
    """
    rng = System() if rng is None else rng
    collection = Collection.of(list(texts), persons=[str(each) for each in persons])
    remaining = RemainingTexts(collection, ())
    by_term: dict[str, set[str]] = remaining.persons
    exposed, left_out, sizes = 0, 0, []
    for unit, terms in sorted(remaining.by_person.items()):
        own = sorted(terms)
        if len(own) < known:
            left_out += 1
            continue
        chosen = [own[at] for at in rng.permutation(len(own))[:known].tolist()]
        fitting = set.intersection(*(by_term[term] for term in chosen))
        sizes.append(len(fitting))
        exposed += fitting == {unit}
    counts: dict[str, int] = defaultdict(int)
    for units in by_term.values():
        counts["terms_of_one_person"] += len(units) == 1
    count = len(sizes)
    return TextAttack(
        name=Message("texts.attack.rare_terms"),
        knows=Message("texts.attack.rare_terms_knows", known=known),
        targets=count,
        successes=exposed,
        by_chance=1 / len(remaining.by_person) if remaining.by_person else 0.0,
        facts={
            "fewest_candidates": min(sizes, default=0),
            "persons_left_out": left_out,
            **counts,
        },
    )
