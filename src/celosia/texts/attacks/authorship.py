"""A10, style: whose document is it, by the letters that its person tends to write?

The documents of each person are split in two halves. The attacker knows one half and compares the
other by the cosine of tf-idf weights of runs of three characters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from celosia.assess.recognisers.identifiers import folded
from celosia.core.errors import InputError
from celosia.core.messages import Message
from celosia.texts.attacks.result import TextAttack

RUN = 3


def authorship(texts: Sequence[str], persons: Sequence[int | str]) -> TextAttack:
    """The share of persons whose second half is nearest to their first half.

    Raises:
        InputError: CEL-N042 no two persons have two documents each.
    """
    by_person: dict[Any, list[str]] = defaultdict(list)
    for text, person in zip(texts, persons, strict=True):
        by_person[person].append(text)
    halves = {who: own for who, own in by_person.items() if len(own) >= 2}
    if len(halves) < 2:
        raise InputError("CEL-N042.halves", persons=len(halves))
    known = [" ".join(own[::2]) for own in halves.values()]
    wanted = [" ".join(own[1::2]) for own in halves.values()]
    weights = _weights([*known, *wanted])
    first, second = weights[: len(known)], weights[len(known) :]
    nearness = np.asarray((second @ first.T).todense())
    own = nearness.diagonal()[:, None]
    ranks = (nearness > own).sum(axis=1)
    count = len(halves)
    return TextAttack(
        name=Message("texts.attack.authorship"),
        knows=Message("texts.attack.authorship_knows"),
        targets=count,
        successes=int((ranks == 0).sum()),
        by_chance=1 / count,
        facts={
            "share_among_ten": float((ranks < 10).mean()),
            "persons_left_out": len(by_person) - count,
        },
    )


def _weights(texts: Sequence[str]) -> Any:
    """tf-idf of character runs, each row of length one."""
    letters = (" ".join(folded(text).split()) for text in texts)
    return tf_idf([[text[at : at + RUN] for at in range(len(text) - RUN + 1)] for text in letters])


def tf_idf(texts: Sequence[Sequence[str]]) -> Any:
    """Weights of the terms of each text, a sparse row of length one for each."""
    from scipy.sparse import csr_matrix

    known: dict[str, int] = {}
    rows, columns, counts = [], [], []
    for row, terms in enumerate(texts):
        for term, count in Counter(terms).items():
            rows.append(row)
            columns.append(known.setdefault(term, len(known)))
            counts.append(count)
    shape = (len(texts), max(1, len(known)))
    matrix = csr_matrix((np.log1p(np.array(counts, float)), (rows, columns)), shape=shape)
    frequency = np.bincount(columns, minlength=shape[1])
    matrix = matrix.multiply(np.log((1 + len(texts)) / (1 + frequency)) + 1).tocsr()
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    lengths[lengths == 0] = 1
    return matrix.multiply(1 / lengths[:, None]).tocsr()
