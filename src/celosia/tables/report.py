"""The report of a published table: what was done, what risk is left, what use is left.

It holds aggregate figures of the original table (how many were unique), but no cell of it, and of
the release only the most frequent interval, so it can be kept with the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.assess.risk import RiskProfile
from celosia.assess.risk.combinations import Uniqueness
from celosia.assess.utility.aggregates import Aggregates
from celosia.core import figures, report
from celosia.core.messages import capital, number, say, sentence
from celosia.core.progress import Timings
from celosia.core.release import Guarantee, Provenance
from celosia.core.release_report import seed_text
from celosia.tables.account import (
    RawColumns,
    Solution,
    describe_search,
    format_count,
    gap_of,
    interval_rows,
    metric_name,
    timing_rows,
)
from celosia.tables.history.joint import JointOutcome
from celosia.tables.models import AverageRisk, Model, model_from_dict
from celosia.tables.units import UnitOutcome

if TYPE_CHECKING:
    from celosia.assess.attacks import Attack


def document(
    guarantee: Guarantee,
    provenance: Provenance,
    warnings: Sequence[str],
    solution: Solution,
    *,
    risk: RiskProfile,
    before: RiskProfile,
    raw: RawColumns | None = None,
    intervals: Mapping[str, Aggregates],
    timings: Timings,
    attacks: Sequence[Attack] | None = None,
) -> report.Document:
    """The whole report, as blocks."""
    from celosia.assess.attack_report import tried_blocks  # slow to load, for the report only

    blocks: list[report.Block] = []
    if guarantee.simulation:
        blocks.append(report.Notice(str(guarantee), tone="simulation"))
    blocks += [report.Notice(warning, tone="warning") for warning in warnings]
    models = [model_from_dict(each) for each in provenance.parameters.get("models", ())]
    blocks += _promise(guarantee, models)
    blocks += _summary(solution, risk)
    blocks += _units(solution.units)
    blocks += [] if solution.joint is None else joint_blocks(solution.joint)
    blocks += _risk(risk, before)
    blocks += _gauges(risk, models)
    blocks += [] if raw is None else raw_blocks(raw, risk)
    blocks += _use(solution)
    blocks += _intervals(intervals)
    blocks += tried_blocks(attacks)
    blocks += method_blocks(solution, provenance)
    blocks += _timings(timings)
    subtitle = say(
        "tables.report.subtitle",
        promise=guarantee.promise,
        records=solution.rows,
        columns=len(solution.columns),
    )
    return report.Document(say("tables.report.title"), subtitle, tuple(blocks))


def _promise(guarantee: Guarantee, models: Sequence[Model]) -> list[report.Block]:
    blocks: list[report.Block] = [report.Heading(say("reports.promise.heading"))]
    if len(models) > 1:
        blocks.append(
            report.Paragraph(
                say("tables.report.several_models", promise=sentence(guarantee.promise))
            )
        )
        opens = say("reports.promise.leaves_open")
        for model in models:
            blocks += [
                report.Heading(model.promise(), level=3),
                report.Paragraph(sentence(model.protects())),
                report.Facts([(opens, sentence(gap)) for gap in model.leaves_open()]),
            ]
        gaps: list[tuple[str, str]] = []
    else:
        blocks.append(report.Paragraph(sentence(guarantee.protects)))
        gap_name = say("reports.promise.gap")
        gaps = [(gap_name, sentence(text)) for text in guarantee.leaves_open]
    assumed = [(say("reports.promise.assumes"), sentence(text)) for text in guarantee.assumes]
    return [
        *blocks,
        report.Facts([(say("reports.promise.unit"), str(guarantee.unit)), *assumed, *gaps]),
    ]


def _summary(solution: Solution, risk: RiskProfile) -> list[report.Block]:
    return [
        report.Heading(say("tables.report.in_short")),
        report.KeyFigures(
            [
                report.KeyFigure(
                    say("tables.report.average_risk"),
                    number(risk.average, ".3%"),
                    say("tables.report.average_risk_note"),
                ),
                report.KeyFigure(
                    say("tables.report.highest_risk"),
                    number(risk.maximum, ".3%"),
                    say("tables.report.highest_risk_note", records=risk.smallest),
                ),
                report.KeyFigure(
                    say("tables.report.information_lost"),
                    number(solution.loss, ".3%"),
                    say("tables.report.information_lost_note"),
                ),
                report.KeyFigure(
                    say("tables.report.suppressed"),
                    number(solution.suppressed_share, ".2%"),
                    say(
                        "tables.report.suppressed_note",
                        suppressed=solution.suppressed,
                        records=solution.rows,
                    ),
                ),
                report.KeyFigure(
                    say("tables.report.classes"),
                    number(risk.classes),
                    say(
                        "tables.report.classes_note",
                        average=risk.average_size,
                        largest=risk.largest,
                    ),
                ),
            ]
        ),
    ]


def joint_blocks(joint: JointOutcome) -> list[report.Block]:
    """What the release is worth together with earlier ones of the same source."""
    accepted = []
    if joint.accepted is not None:
        accepted = [(say("tables.report.joint_accepted"), joint.accepted)]
    return [
        report.Heading(say("tables.report.joint")),
        report.Paragraph(say("tables.report.joint_words")),
        report.Facts(
            [
                (say("tables.report.joint_earlier"), number(joint.earlier)),
                (say("tables.report.joint_known"), number(joint.known)),
                (say("tables.report.joint_smallest"), number(joint.smallest)),
                (say("tables.report.joint_required"), number(joint.required)),
                (say("tables.report.joint_below"), number(joint.below)),
                (say("tables.report.joint_risk"), number(joint.average_risk, ".3%")),
                *accepted,
            ]
        ),
    ]


def _units(units: UnitOutcome | None) -> list[report.Block]:
    """What becomes of people or households, where these are counted."""
    if units is None:
        return []
    person = units.unit == "person"
    return [
        report.Heading(
            say("tables.report.units_person" if person else "tables.report.units_household")
        ),
        report.Paragraph(say("tables.report.units_words")),
        report.Facts(
            [
                (say("tables.report.units_number"), number(units.number)),
                (say("tables.report.units_several"), number(units.several)),
                (say("tables.report.units_suppressed"), number(units.suppressed)),
                (say("tables.report.units_partly"), number(units.partly)),
                (say("tables.report.units_singled_out"), number(units.singled_out)),
            ]
        ),
    ]


def _risk(risk: RiskProfile, before: RiskProfile) -> list[report.Block]:
    original, released = say("reports.risk.original"), say("reports.risk.released")
    rows = [
        (say("tables.report.average_risk"), "average", ".3%"),
        (say("tables.report.highest_risk"), "maximum", ".3%"),
        (say("tables.report.records_above", threshold=risk.threshold), "at_risk", ".2%"),
        (say("tables.report.records_alone"), "unique", ","),
        (say("tables.report.classes"), "classes", ","),
        (say("tables.report.smallest_class"), "smallest", ","),
        (say("tables.report.average_class"), "average_size", ",.2f"),
        (say("tables.report.largest_class"), "largest", ","),
        (say("tables.report.records_counted"), "records", ","),
    ]
    return [
        report.Heading(say("tables.report.risk_heading")),
        report.Paragraph(say("tables.report.risk_attacker")),
        report.Table(
            ["", original, released],
            [
                [name, number(getattr(before, field), form), number(getattr(risk, field), form)]
                for name, field, form in rows
            ],
            say("tables.report.risk_table"),
            numeric=[1, 2],
        ),
        report.Figure(
            risk_chart(risk, before), say("tables.report.risk_figure"), _in_words(risk, before)
        ),
    ]


def risk_chart(risk: RiskProfile, before: RiskProfile) -> figures.Svg:
    """The risks of a table before and after, as bars."""
    return figures.bars(
        [
            say("reports.risk.average"),
            say("reports.risk.highest"),
            say("reports.risk.records_above", threshold=risk.threshold),
        ],
        {
            say("reports.risk.original"): [before.average, before.maximum, before.at_risk],
            say("reports.risk.released"): [risk.average, risk.maximum, risk.at_risk],
        },
        title=say("reports.risk.before_and_after"),
        y_label=say("reports.risk.chance_or_share"),
        percent=True,
    )


def _gauges(risk: RiskProfile, models: Sequence[Model]) -> list[report.Block]:
    """Highest and average risk, each against what the models accept."""
    smallest = max((model.smallest for model in models), default=1)
    # A class may be of one record where no model asks for more: then nothing is accepted or not.
    highest = 1 / smallest if smallest > 1 else None
    limits = [model.most for model in models if isinstance(model, AverageRisk)]
    average = min([*limits, *([] if highest is None else [highest])], default=None)
    return [
        _gauge(
            say("tables.report.highest_risk"),
            risk.maximum,
            highest,
            say("tables.report.most_exposed"),
        ),
        _gauge(
            say("tables.report.average_risk"),
            risk.average,
            average,
            say("tables.report.drawn_record"),
        ),
    ]


def _gauge(name: str, value: float, accepted: float | None, caption: str) -> report.Figure:
    if accepted is None:
        words = say("tables.report.gauge_no_limit", risk=name, value=value)
    else:
        words = say("tables.report.gauge_limit", risk=name, value=value, accepted=accepted)
    return report.Figure(
        figures.gauge(value, threshold=accepted, title=name, caption=caption),
        say("tables.report.gauge_caption", risk=name),
        words,
    )


def raw_blocks(raw: RawColumns, risk: RiskProfile) -> list[report.Block]:
    """The columns published as they are, and the risk from an attacker who knows them."""
    roles = {
        "sensitive": say("tables.report.role_sensitive"),
        "insensitive": say("tables.report.role_insensitive"),
    }
    rows = [
        [
            each.name,
            roles[each.role],
            number(each.uniqueness.combinations),
            _alone(each.uniqueness),
            ""
            if each.accepted is None
            else say("tables.report.raw_accepted", reason=each.accepted),
        ]
        for each in raw.columns
    ]
    declared = Uniqueness(records=risk.records, combinations=risk.classes, alone=risk.unique)
    known = [
        (say("tables.report.raw_declared"), declared),
        (say("tables.report.raw_together"), raw.together),
        (say("tables.report.raw_published"), raw.published),
    ]
    alone = say("tables.report.raw_alone")
    return [
        report.Heading(say("tables.report.raw_heading")),
        report.Paragraph(say("tables.report.raw_meaning")),
        report.Table(
            [
                say("tables.report.column"),
                say("tables.report.raw_role"),
                say("tables.report.raw_combinations"),
                alone,
                say("tables.report.raw_remark"),
            ],
            rows,
            say("tables.report.raw_table"),
            numeric=[2, 3],
        ),
        report.Table(
            [say("tables.report.raw_attacker"), alone, say("tables.report.average_risk")],
            [
                [name, _alone(found), number(found.average_risk, ".3%")]
                for name, found in known
                if found is not None
            ],
            say("tables.report.raw_risk_table"),
            numeric=[1, 2],
        ),
    ]


def _alone(found: Uniqueness) -> str:
    return f"{number(found.alone)} ({number(found.alone_share, '.2%')})"


def _in_words(risk: RiskProfile, before: RiskProfile) -> str:
    return say(
        "tables.report.risk_words",
        average_before=before.average,
        average=risk.average,
        highest_before=before.maximum,
        highest=risk.maximum,
    )


def _use(solution: Solution) -> list[report.Block]:
    by_record = say("tables.report.by_record")
    names = [column.name for column in solution.columns]
    losses = [column.loss for column in solution.columns]
    sizes = np.repeat(list(solution.class_sizes), list(solution.class_sizes.values()))
    columns = figures.bars(
        names,
        {say("tables.report.loss"): losses},
        title=say("tables.report.loss_of_columns"),
        x_label=say("tables.report.loss_axis"),
        percent=True,
        horizontal=True,
    )
    classes = figures.size_histogram(
        sizes, title=say("tables.report.sizes"), weight_by_records=True
    )
    return [
        report.Heading(say("tables.report.use_heading")),
        report.Paragraph(say("tables.report.loss_meaning")),
        report.Table(
            [
                say("tables.report.column"),
                say("tables.report.level"),
                say("tables.report.of_levels"),
                say("tables.report.loss"),
            ],
            [
                [c.name, by_record if c.level is None else c.level, c.height, number(c.loss, ".2%")]
                for c in solution.columns
            ],
            say("tables.report.levels_table"),
            numeric=[1, 2, 3],
        ),
        report.Figure(columns, say("tables.report.loss_figure"), say("tables.report.loss_words")),
        report.Figure(classes, say("tables.report.sizes_figure"), say("tables.report.sizes_words")),
    ]


def _intervals(intervals: Mapping[str, Aggregates]) -> list[report.Block]:
    """Mean, limits and mode of the columns that show numbers as intervals."""
    if not intervals:
        return []
    return [
        report.Heading(say("tables.intervals.heading")),
        report.Paragraph(say("tables.intervals.words")),
        report.Table(
            [capital(say("tables.intervals.statistic")), *intervals],
            [[capital(name), *cells] for name, *cells in interval_rows(intervals)],
            say("tables.intervals.table"),
            numeric=list(range(1, len(intervals) + 1)),
        ),
    ]


def _timings(timings: Timings) -> list[report.Block]:
    """How long each stage took, if that was measured."""
    if not timings.seconds:
        return []
    return [
        report.Heading(say("tables.timing.heading")),
        report.Facts([(capital(name), spent) for name, spent in timing_rows(timings)]),
    ]


def method_blocks(solution: Solution, provenance: Provenance) -> list[report.Block]:
    """The section on method, metric, search and parameters."""
    chosen = provenance.parameters.get("levels") is not None
    search = solution.search
    bound: list[tuple[str, str]] = []
    if search is not None and not (search.is_optimal or chosen):
        bound = [
            (say("tables.report.no_solution_below"), number(search.at_least, ".3%")),
            (
                say("tables.report.gap"),
                say("tables.report.gap_at_most", gap=gap_of(solution)),
            ),
        ]
    score = number(solution.score, ".3%")
    return [
        report.Heading(say("reports.made.heading")),
        report.Facts(
            [
                (say("tables.report.method"), solution.method),
                (say("tables.report.metric", metric=metric_name(solution.metric)), score),
                (
                    say("tables.report.search"),
                    sentence(describe_search(solution, chosen=chosen)),
                ),
                *bound,
                (say("tables.report.made_by"), provenance.made_by),
                (say("tables.report.made_at"), provenance.created),
                (say("reports.made.seed"), seed_text(provenance)),
                *(
                    (say("tables.report.parameter", name=name), _format(value))
                    for name, value in provenance.parameters.items()
                ),
            ]
        ),
        report.Details(
            say("tables.report.how_chosen"),
            [
                report.Paragraph(_search(solution, chosen=chosen)),
                report.Facts(list(provenance.versions.items())),
            ],
        ),
    ]


def _search(solution: Solution, *, chosen: bool) -> str:
    search = solution.search
    if solution.rounds > 1:
        return say("tables.report.search_local", rounds=solution.rounds - 1)
    if search is None:
        return say("tables.report.search_mondrian")
    nodes, evaluated = format_count(search.nodes), format_count(search.evaluated)
    if chosen:
        return say("tables.report.search_by_hand", nodes=nodes, evaluated=evaluated)
    if not search.is_optimal:
        return say("tables.report.search_cut", nodes=nodes, evaluated=evaluated)
    return say(
        "tables.report.search_optimal",
        nodes=nodes,
        evaluated=evaluated,
        by_bound=format_count(search.closed_by_bound),
        infeasible=format_count(search.closed_as_infeasible),
        forced=format_count(search.closed_by_forced_suppression),
    )


def _format(value: Any) -> str:
    """A parameter as a person would write it."""
    none = say("tables.report.none")
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_format(each)}" for name, each in value.items()) or none
    if isinstance(value, list | tuple):
        return "; ".join(map(_format, value)) or none
    if isinstance(value, bool):
        return say("tables.report.yes" if value else "tables.report.no")
    if isinstance(value, int | float):
        return number(value, ",.6g")
    return none if value is None else str(value)
