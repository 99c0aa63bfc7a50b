"""Accounting: what releases cost, alone and together, and budgets that are never exceeded.

A `Loss` is the price of one release in every currency (pure, approximate, concentrated, Renyi,
privacy loss distribution). `explain` puts the bounds on several of them side by side, `Running`
keeps the tightest one up to date, `Budget` refuses what was not promised, also when the charges are
chosen adaptively.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# Not on first use: these modules have the name of a function in them.
from celosia.accounting.advanced import (
    advanced,
    advanced_corollary,
    advanced_inverse,
    advanced_mixed,
    basic,
    best_of,
    optimal,
)
from celosia.accounting.loss_from_dict import loss_from_dict
from celosia.core.lazy import on_first_use

if TYPE_CHECKING:
    from celosia.accounting.allowance import Allowance
    from celosia.accounting.amplification import poisson, without_replacement
    from celosia.accounting.belief import (
        Belief,
        BeliefTable,
        advantage,
        belief_interval,
        belief_table,
        epsilon_for_advantage,
        epsilon_for_belief,
    )
    from celosia.accounting.budget import Budget, Charge, Statement
    from celosia.accounting.composition import mixture, parallel, sequential
    from celosia.accounting.divergence import (
        approximate_max_divergence,
        both_directions,
        hockey_stick,
        max_divergence,
    )
    from celosia.accounting.explanation import Explanation, explain
    from celosia.accounting.groups import convert, for_group
    from celosia.accounting.loss import Loss
    from celosia.accounting.losses import (
        Approximate,
        BoundedRange,
        Composed,
        Concentrated,
        GaussianLoss,
        LaplaceLoss,
        Pure,
    )
    from celosia.accounting.odometer import Odometer
    from celosia.accounting.running import Running
    from celosia.accounting.shuffling import shuffled
    from celosia.accounting.splitting import Split, split

__all__ = [
    "Allowance",
    "Approximate",
    "Belief",
    "BeliefTable",
    "BoundedRange",
    "Budget",
    "Charge",
    "Composed",
    "Concentrated",
    "Explanation",
    "GaussianLoss",
    "LaplaceLoss",
    "Loss",
    "Odometer",
    "Pure",
    "Running",
    "Split",
    "Statement",
    "advanced",
    "advanced_corollary",
    "advanced_inverse",
    "advanced_mixed",
    "advantage",
    "approximate_max_divergence",
    "basic",
    "belief_interval",
    "belief_table",
    "best_of",
    "both_directions",
    "convert",
    "epsilon_for_advantage",
    "epsilon_for_belief",
    "explain",
    "for_group",
    "hockey_stick",
    "loss_from_dict",
    "max_divergence",
    "mixture",
    "optimal",
    "parallel",
    "poisson",
    "sequential",
    "shuffled",
    "split",
    "without_replacement",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "allowance": ("Allowance",),
        "amplification": ("poisson", "without_replacement"),
        "belief": (
            "Belief",
            "BeliefTable",
            "advantage",
            "belief_interval",
            "belief_table",
            "epsilon_for_advantage",
            "epsilon_for_belief",
        ),
        "budget": ("Budget", "Charge", "Statement"),
        "composition": ("mixture", "parallel", "sequential"),
        "divergence": (
            "approximate_max_divergence",
            "both_directions",
            "hockey_stick",
            "max_divergence",
        ),
        "explanation": ("Explanation", "explain"),
        "groups": ("convert", "for_group"),
        "loss": ("Loss",),
        "losses": (
            "Approximate",
            "BoundedRange",
            "Composed",
            "Concentrated",
            "GaussianLoss",
            "LaplaceLoss",
            "Pure",
        ),
        "odometer": ("Odometer",),
        "running": ("Running",),
        "shuffling": ("shuffled",),
        "splitting": ("Split", "split"),
    },
)
