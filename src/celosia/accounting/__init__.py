"""Accounting: what releases cost, alone and together, and budgets that are never exceeded.

A `Loss` is the price of one release in every currency (pure, approximate, concentrated, Renyi,
privacy loss distribution). `explain` puts the bounds on several of them side by side, `Accountant`
keeps the tightest one up to date, `Budget` refuses what was not promised, also when the charges are
chosen adaptively.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.core.lazy_imports import on_first_use

if TYPE_CHECKING:
    from celosia.accounting.accountant import Accountant
    from celosia.accounting.advanced_composition import (
        advanced,
        advanced_corollary,
        advanced_inverse,
        advanced_mixed,
        basic,
        best_composition,
        optimal,
    )
    from celosia.accounting.amplification import (
        amplify_by_poisson_sampling,
        amplify_by_sampling_without_replacement,
    )
    from celosia.accounting.belief import (
        Belief,
        BeliefTable,
        advantage,
        belief_interval,
        belief_table,
        epsilon_for_advantage,
        epsilon_for_belief,
    )
    from celosia.accounting.blankets import Blanket, OwnBits
    from celosia.accounting.budget import Budget, Charge, Statement
    from celosia.accounting.composition import mixture, parallel, sequential
    from celosia.accounting.divergence import (
        approximate_max_divergence,
        both_directions,
        hockey_stick,
        max_divergence,
    )
    from celosia.accounting.explanation import Explanation, explain
    from celosia.accounting.filters import Allowance
    from celosia.accounting.group_privacy import convert, for_group
    from celosia.accounting.loss_readers import loss_from_dict
    from celosia.accounting.losses import (
        ApproximateLoss,
        BoundedRangeLoss,
        ComposedLoss,
        Loss,
        PureLoss,
    )
    from celosia.accounting.noise_losses import ConcentratedLoss, GaussianLoss, LaplaceLoss
    from celosia.accounting.odometer import Odometer
    from celosia.accounting.shuffling import amplify_by_shuffling
    from celosia.accounting.splits import Split, split

__all__ = [
    "Accountant",
    "Allowance",
    "ApproximateLoss",
    "Belief",
    "BeliefTable",
    "Blanket",
    "BoundedRangeLoss",
    "Budget",
    "Charge",
    "ComposedLoss",
    "ConcentratedLoss",
    "Explanation",
    "GaussianLoss",
    "LaplaceLoss",
    "Loss",
    "Odometer",
    "OwnBits",
    "PureLoss",
    "Split",
    "Statement",
    "advanced",
    "advanced_corollary",
    "advanced_inverse",
    "advanced_mixed",
    "advantage",
    "amplify_by_poisson_sampling",
    "amplify_by_sampling_without_replacement",
    "amplify_by_shuffling",
    "approximate_max_divergence",
    "basic",
    "belief_interval",
    "belief_table",
    "best_composition",
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
    "sequential",
    "split",
]

__getattr__, __dir__ = on_first_use(__name__)
