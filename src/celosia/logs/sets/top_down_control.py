"""rho-uncertainty by generalising public items from the top, and suppressing what still tells.

Reference: Cao, Karras, Raissi & Tan 2010, TDControl.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.core.messages import Message
from celosia.core.progress import Step
from celosia.logs.method import MethodResult, SetContext
from celosia.logs.sets.km_anonymity import check_tree
from celosia.logs.sets.suppression import suppressed
from celosia.logs.sets.transactions import Transactions

Rules = Callable[[Transactions, NDArray[np.integer], int], NDArray[np.int32]]
"""The rules of one size that lead to some secrets too surely."""


def refined(
    data: Transactions, secrets: NDArray[np.integer], context: SetContext, rules: Rules, most: int
) -> MethodResult[Transactions]:
    """Public items as fine as pays; every state on the way is free of rules that are too sure.

    Each node of the cut is tried once, the one that tells most of the occurrences first: its
    children take its place, and what breaks the model then is suppressed. It stays so where less is
    lost than before. The loss of an occurrence is the share of leaves that it stands for, 1 where
    it is suppressed.

    Raises:
        InputError: CEL-U033 there is no hierarchy; CEL-U031, CEL-U032 public items do not fit it.
    """
    state = _Cut(data, secrets, context, rules, most)
    waiting, tried = {state.tree.root}, 0
    while waiting:
        tried += 1
        context.progress(Step(Message("logs.stage.groups"), tried))
        node = max(waiting, key=lambda each: (state.weight(each), -each))
        waiting.remove(node)
        below = state.tree.children[node]
        if below and state.expand(node):
            waiting.update(below)
    return state.result()


class _Cut:
    """Which node stands for each public leaf, and which nodes and secrets are suppressed."""

    def __init__(
        self,
        data: Transactions,
        secrets: NDArray[np.integer],
        context: SetContext,
        rules: Rules,
        most: int,
    ) -> None:
        self.data, self.context, self.rules, self.most = data, context, rules, most
        self.tree = check_tree(context)
        nodes = len(self.tree.labels)
        self.labels = (*self.tree.labels, *(data.labels[one] for one in secrets.tolist()))
        self.secrets = np.arange(nodes, nodes + len(secrets))
        is_public = np.ones(len(data.labels), dtype=bool)
        is_public[secrets] = False
        self.public = np.flatnonzero(is_public)
        self.leaves = self.tree.leaf_places(data, self.public)
        self.chains = [set(self.tree.chain(leaf)) for leaf in self.leaves.tolist()]
        self.number = np.full(len(data.labels), -1, dtype=np.int64)
        self.number[secrets] = self.secrets
        self.number[self.public] = self.tree.root
        self.gone = np.zeros(len(self.labels), dtype=bool)
        self.now, self.gone = self._mended(self.number, self.gone)
        self.loss = self._loss(self.number, self.gone)

    @property
    def covered(self) -> NDArray[np.float64]:
        """The share of leaves that each label stands for; a leaf or a secret says what it said."""
        shares = np.where(self.tree.sizes > 1, self.tree.sizes / self.tree.leaves, 0.0)
        return np.concatenate([shares, np.zeros(len(self.secrets))])

    def weight(self, node: int) -> float:
        """What a node loses now."""
        supports = self.data.supports[self.public]
        return float(supports[self.number[self.public] == node].sum() * self.covered[node])

    def expand(self, node: int) -> bool:
        """Put the children of a node in its place, unless more is lost by it."""
        if self.gone[node]:
            return False
        number = self.number.copy()
        for child in self.tree.children[node]:
            is_below = np.array([child in chain for chain in self.chains], dtype=bool)
            number[self.public[is_below]] = child
        now, gone = self._mended(number, self.gone)
        loss = self._loss(number, gone)
        if loss >= self.loss:
            return False
        self.number, self.now, self.gone, self.loss = number, now, gone, loss
        return True

    def _mended(
        self, number: NDArray[np.int64], gone: NDArray[np.bool_]
    ) -> tuple[Transactions, NDArray[np.bool_]]:
        """The data of a cut without rules that are too sure, and what is suppressed for it."""
        now = self.data.recoded(np.where(gone[number], -1, number), self.labels)

        def violations(given: Transactions, size: int) -> NDArray[np.int32]:
            return self.rules(given, self.secrets, size)

        more = gone | suppressed(now, violations, self.most, self.context.progress)
        return self.data.recoded(np.where(more[number], -1, number), self.labels), more

    def _loss(self, number: NDArray[np.int64], gone: NDArray[np.bool_]) -> float:
        shares = np.where(gone, 1.0, self.covered)[number]
        return float((shares * self.data.supports).sum())

    def result(self) -> MethodResult[Transactions]:
        """What is published, and what it costs."""
        is_gone = self.gone[self.number]
        lost = int(self.data.supports[is_gone].sum())
        return MethodResult(
            data=self.now,
            facts={
                "ncp": self.loss / max(1, len(self.data.items)),
                "items_before": int((self.data.supports > 0).sum()),
                "items_after": int((self.now.supports > 0).sum()),
                "items_suppressed": int(is_gone.sum()),
                "occurrences_suppressed": lost,
                "share_suppressed": lost / max(1, len(self.data.items)),
            },
        )
