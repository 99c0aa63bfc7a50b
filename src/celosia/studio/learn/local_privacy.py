"""Local privacy: one device's report bit by bit, and the estimate over many devices."""

from __future__ import annotations

from celosia.core.progress import Progress
from celosia.studio.language import _, figure, n_, number, percent
from celosia.studio.learn import parts
from celosia.studio.learn.parts import control, key, settings, step, story, table, worded

TOPICS = ("health", "debts", "football", "recipes", "politics")
"""What people look up on their devices."""
WEIGHTS = (10, 20, 40, 25, 5)
"""Per cent of the devices."""
EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0)
DEVICES = (100, 1_000, 10_000, 100_000)
REPORTS = 10
OWN = 0
"""What the device that is looked at has: health."""
DAYS = (1, 10, 100, 1000)
DAILY = 1.0
"""Epsilon of a daily report."""


def compute(progress: Progress) -> parts.Facts:
    """Randomised response, reports of one device, estimates of many, and reports day by day."""
    from celosia.collect import SymmetricUnary
    from celosia.core.randomness import Seeded
    from celosia.mechanisms import RandomisedResponse

    coins = RandomisedResponse.two_coins()
    truth, yes = float(coins.truth), float(coins.yes)
    found: parts.Facts = {
        "coins": [truth + (1 - truth) * yes, (1 - truth) * yes, coins.epsilon],
        "reports": {},
        "settings": {},
    }
    for name, (epsilon, devices) in settings(progress, "Collecting reports", EPSILONS, DEVICES):
        place, many = EPSILONS.index(epsilon), DEVICES.index(devices)
        protocol = SymmetricUnary(epsilon=epsilon, domain=TOPICS, key="learn")
        client = protocol.client(rng=Seeded(1000 * place + many))
        if not many:
            sent = client.privatise([TOPICS[OWN]] * REPORTS)
            found["reports"][str(place)] = _bits(sent.packed)
        counts = [weight * devices // 100 for weight in WEIGHTS]
        values = [
            topic for topic, count in zip(TOPICS, counts, strict=True) for _each in range(count)
        ]
        estimates = protocol.server().absorb(client.privatise(values)).estimate(TOPICS)
        found["settings"][name] = {
            "true": [count / devices for count in counts],
            "estimated": [float(each) / devices for each in estimates.counts],
            "error": float(estimates.errors.max()) / devices,
            "kept": float(protocol.support.own),
        }
    found["days"] = _days()
    return found


def _bits(packed: object) -> list[list[int]]:
    """The bits of each report, one for each topic."""
    import numpy as np

    rows = np.unpackbits(np.asarray(packed), axis=1, bitorder="little")
    return [[int(each) for each in row[: len(TOPICS)]] for row in rows]


def _days() -> parts.Facts:
    """How often each bit was 1: with fresh noise every day, and with the first report kept."""
    from celosia.collect import SymmetricUnary
    from celosia.core.randomness import Seeded

    protocol = SymmetricUnary(epsilon=DAILY, domain=TOPICS, key="daily")
    sent = protocol.client(rng=Seeded(11)).privatise([TOPICS[OWN]] * max(DAYS))
    bits = _bits(sent.packed)
    fresh = [[sum(row[bit] for row in bits[:days]) for bit in range(len(TOPICS))] for days in DAYS]
    kept = [[bits[0][bit] * days for bit in range(len(TOPICS))] for days in DAYS]
    return {"fresh": fresh, "kept": kept}


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """Randomised response by two coins."""
    yes, no, epsilon = facts["coins"]
    return (
        table(
            (_("truth"), _("says yes"), _("says no")),
            [
                (_("yes"), percent(yes, 0), percent(1 - yes, 0)),
                (_("no"), percent(no, 0), percent(1 - no, 0)),
            ],
            caption=_(
                "Two coins: heads, tell the truth; tails, let a second coin answer. A yes is three "
                "times as likely from one who means it, so epsilon is ln 3 = {epsilon}. The share "
                "of yes in a crowd still tells the truth about the crowd.",
                epsilon=number(epsilon, 4),
            ),
        ),
    )


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """A report every day."""
    fresh, kept = facts["days"]["fresh"], facts["days"]["kept"]
    heads = (_("reports"), *(worded(topic) for topic in TOPICS), _("epsilon in all"))
    daily = [(days, *row, days * DAILY) for days, row in zip(DAYS, fresh, strict=True)]
    same = [(days, *row, DAILY) for days, row in zip(DAYS, kept, strict=True)]
    ones = [topic for topic, bit in zip(TOPICS, kept[0], strict=True) if bit]
    return (
        story(
            "A report every day",
            step(
                "What the attacker knows",
                "She runs the server. One device reports the same topic every day, each "
                "time with fresh noise: a bit for each topic, turned round now and then.",
                table(heads, daily[:1], caption=_("How often each bit was 1: one report")),
            ),
            step(
                "She adds up",
                "The noise of many reports is gone in their sum.",
                table(
                    heads,
                    daily,
                    caption=_("How often each bit was 1"),
                    marked=[len(daily) - 1],
                ),
                learnt=_(
                    "The bit of one topic stands out: the owner looks up {topic}.",
                    topic=worded(TOPICS[OWN]),
                ),
            ),
            step(
                "What a memory does",
                "The device draws its noise once for each value and keeps the report. A "
                "thousand reports then say what the first one said, and cost no more.",
                table(heads, same, caption=_("How often each bit was 1")),
                learnt=n_(
                    "She sees {count} bit set all the time, and cannot know whether it is noise.",
                    "She sees {count} bits set all the time, and cannot know which are noise.",
                    len(ones),
                ),
            ),
        ),
    )


def controls() -> tuple[parts.Control, ...]:
    """Epsilon, the number of devices, and which report of one device."""
    return (
        control("epsilon", "epsilon of a report", EPSILONS, first=2),
        control("devices", "Devices", DEVICES, first=1),
        control(
            "report",
            "Report of one device",
            tuple(range(1, REPORTS + 1)),
            choices=tuple(str(each + 1) for each in range(REPORTS)),
        ),
    )


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """One report bit by bit, and the estimate over all devices."""
    epsilon, devices, report = chosen
    found = facts["settings"][key((epsilon, devices))]
    bits = facts["reports"][str(epsilon)][report]
    own = [int(place == OWN) for place in range(len(TOPICS))]
    turned = [
        _("turned round") if sent != true else _("as it is")
        for sent, true in zip(bits, own, strict=True)
    ]
    one = table(
        (_("topic"), _("true bit"), _("coin"), _("bit sent")),
        list(zip(TOPICS, own, turned, bits, strict=True)),
        marked=[place for place in range(len(TOPICS)) if bits[place] != own[place]],
        caption=_(
            "One device looks up {topic}. Each bit is sent as it is with a chance of {kept}, else "
            "turned round (marked rows).",
            topic=worded(TOPICS[OWN]),
            kept=percent(found["kept"]),
        ),
    )
    bars = parts.Bars(
        categories=tuple(worded(topic) for topic in TOPICS),
        series=(
            (_("true share"), tuple(round(100 * each, 2) for each in found["true"])),
            (_("estimated share"), tuple(round(100 * each, 2) for each in found["estimated"])),
        ),
        description=_(
            "The true share of each topic beside its estimate from {count} noisy reports; with "
            "more devices or a greater epsilon the two meet.",
            count=number(DEVICES[devices]),
        ),
        x=_("topic"),
        y=_("share of the devices (%)"),
    )
    return parts.View(
        text=_(
            "The server gets noisy bits only. It knows how often bits are turned round, and "
            "corrects for it. Values and noise of a simulation with fixed seeds."
        ),
        figures=(
            figure(
                "Error",
                _("± {error} points", error=number(200 * found["error"], 1)),
                "percentage points of each estimated share, twice its standard error",
            ),
            figure(
                "Bits turned round",
                percent(1 - found["kept"]),
                "chance of each bit, on the device itself",
            ),
        ),
        parts=(one, bars),
    )
