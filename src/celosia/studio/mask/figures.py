"""Key figures of a masked or a synthetic table: what each is called, its value, what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.studio.language import _, figure, n_, number, percent, short

Figure = tuple[str, str, str]
"""A name, a value with its unit, and a meaning."""


def risk_figures(result: Mapping[str, Any]) -> list[Figure]:
    """The risk that a masked table leaves."""
    found: list[Figure] = []
    before, after = result.get("risk_before"), result.get("risk")
    account = result.get("account") or {}
    risk = account.get("risk", {})
    if "distance" in risk:
        guess = _("A blind guess is right in 1 of {count}.", count=number(account["originals"]))
        found += [
            (
                _("Linked by distance"),
                percent(risk["distance"]["share"]),
                _("Masked records whose nearest original is their own.") + " " + guess,
            ),
            figure(
                "Linked by rank",
                percent(risk["rank"]["share"]),
                "The same by the ranks of the values, which survive changes of scale.",
            ),
        ]
        if risk["probabilistic"] is not None:
            found.append(
                figure(
                    "Linked by agreement",
                    percent(risk["probabilistic"]["share"]),
                    "Records found by weighing on which columns two records agree.",
                )
            )
        if risk["intervals"] is not None:
            found.append(
                figure(
                    "Inside their interval",
                    percent(risk["intervals"]["by_rank"]),
                    "Original values within 5 % of the ranks around the masked one.",
                )
            )
    if before is not None and after is not None:
        found += [
            figure(
                "Smallest class",
                f"{number(before['smallest'])} → {number(after['smallest'])}",
                "Records that share all quasi-identifiers, before and after: k.",
            ),
            figure(
                "Average risk",
                f"{percent(before['average'])} → {percent(after['average'])}",
                "The chance to find a record by all quasi-identifiers, before and after.",
            ),
        ]
    return found + _individual(result) + _attributes(risk)


def _individual(result: Mapping[str, Any]) -> list[Figure]:
    facts = result.get("individual")
    if facts is None:
        return []
    before, after = facts["before"], facts["after"]
    return [
        (
            _("Individual risk"),
            f"{percent(before['average_risk'], 2)} → {percent(after['average_risk'], 2)}",
            n_(
                "By survey weights: {count} record above {threshold} afterwards.",
                "By survey weights: {count} records above {threshold} afterwards.",
                after["records_above_threshold"],
                threshold=percent(after["threshold"], 0),
            ),
        )
    ]


def _attributes(risk: Mapping[str, Any]) -> list[Figure]:
    return [
        (
            _("{column} inferred", column=each["column"]),
            percent(each["attack"]) if each["measure"] == "accuracy" else short(each["attack"]),
            _(
                "How often the other columns predict the sensitive one; without the table "
                "{baseline}.",
                baseline=percent(each["baseline"])
                if each["measure"] == "accuracy"
                else short(each["baseline"]),
            ),
        )
        for each in risk.get("attributes", [])
    ]


def loss_figures(result: Mapping[str, Any]) -> list[Figure]:
    """What a masked or synthetic table lost."""
    account = result.get("account")
    if account is None:
        return []
    utility = account["utility"]
    found: list[Figure] = []
    if utility["loss"] is not None:
        found += [
            figure(
                "Information loss IL1s",
                short(utility["loss"]["il1s"]),
                "How far values moved, in standard deviations over the root of 2; 0 is none.",
            ),
            figure(
                "Squares lost",
                percent(utility["loss"]["squares"]),
                "The squared error over the variance of the table: SSE/SST.",
            ),
        ]
    moments = utility["moments"]
    if moments is not None and len(moments["columns"]) > 1:
        found.append(
            figure(
                "Correlations moved",
                short(moments["correlation_change"]),
                "The mean change of the correlations, each from -1 to 1.",
            )
        )
    return [
        *found,
        figure(
            "Distributions moved",
            percent(utility["total_variation"]),
            "The mean share of records in another bin: total variation.",
        ),
        figure(
            "Propensity ratio",
            short(utility["propensity"]["ratio"]),
            "How well a model tells both tables apart (pMSE), over that of chance; about 1 is "
            "as good as a fresh sample.",
        ),
    ]


def privacy_figures(result: Mapping[str, Any]) -> list[Figure]:
    """What a synthetic table gives away of real people."""
    found: list[Figure] = []
    if result.get("private"):
        delta = result.get("delta") or 0
        facts = _("ε = {epsilon}", epsilon=short(result["epsilon"]))
        found.append(
            figure(
                "Privacy loss",
                f"{facts}, δ = {delta:g}" if delta else facts,
                "What any one record can change in the chances of the result.",
            )
        )
    risk = (result.get("account") or {}).get("risk", {})
    if "replicas" in risk:
        replicas, chance = risk["replicas"], risk["holdout_replicas"]
        meaning = _("Unique real records that the table repeats exactly.")
        if chance is not None:
            meaning += " " + _(
                "Of people held back it repeats {share} by chance.", share=percent(chance["share"])
            )
        found.append((_("Real records repeated"), percent(replicas["share"]), meaning))
    if risk.get("membership") is not None:
        member = risk["membership"]
        found.append(
            figure(
                "Membership inferred",
                percent(member["auc"]),
                "How often whoever was in the table looks nearer than whoever was held back; "
                "50 % is guessing. Between {low} and {high}.",
                low=percent(member["auc_low"]),
                high=percent(member["auc_high"]),
            )
        )
    near = result.get("nearest")
    if near is not None:
        found += [
            figure(
                "Distance to real records",
                short(near["median_made"]),
                "Median distance of a made record to the nearest real one; real ones are "
                "{real} from each other. Much less means near-copies.",
                real=short(near["median_real"]),
            ),
            figure(
                "Exact copies",
                percent(near["copies"]),
                "Made records that equal a real one in all columns.",
            ),
        ]
    if "distance" in risk:
        found += risk_figures(result)
    else:
        found += _attributes(risk)
    return found
