"""A11, index difference: what does an index tell that the published texts do not?"""

from __future__ import annotations

from celosia.core.messages import Message
from celosia.texts.attacks.result import TextAttack
from celosia.texts.index import SafeIndex, build
from celosia.texts.release import TextRelease


def index_difference(index: SafeIndex, release: TextRelease) -> TextAttack:
    """Terms whose postings differ from those of the published texts, or that one person has.

    The attacker has the index and the published texts, and indexes the texts in the same way.
    Documents are matched by what the two indexes say of each other's terms: the numbers of a safe
    index are permuted, so that only counts of documents are compared.
    """
    own = build(release.texts, release.persons, k=1)
    mine = own.document_counts()
    theirs = index.document_counts()
    differing = sum(count > mine.get(term, 0) for term, count in theirs.items())
    of_one = sum(len(persons) == 1 for term, persons in own.persons.items() if term in theirs)
    return TextAttack(
        name=Message("texts.attack.index"),
        knows=Message("texts.attack.index_knows"),
        targets=len(theirs),
        successes=differing,
        facts={"terms_of_one_person": of_one},
    )
