"""Graphs: a network without names, who is found by counting contacts, and k-degree anonymity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celosia.core.progress import Progress
from celosia.studio.language import _, figure, n_, number, percent
from celosia.studio.learn import parts
from celosia.studio.learn.parts import control, key, settings, step, story, table

if TYPE_CHECKING:
    from celosia.graphs import Graph

KS = (1, 2, 3, 4)
VARIANTS = ("liu-terzi", "umga-random")
NAMES = ("Ana", "Bruno", "Carla", "Diego", "Elsa", "Fabio", "Gala", "Hugo", "Irene")
"""Invented names for the nine people of the figure."""
BRUNO = 1
DAN, JOE = "Dan", "Joe"
Pairs = list[tuple[int, int]]


def compute(progress: Progress) -> parts.Facts:
    """Two small networks with places to draw them, two attacks, and every k."""
    from celosia.core.randomness import Seeded
    from celosia.graphs import KDegree, attacks, examples
    from celosia.graphs.relabelling import relabel

    graph, friends = examples.g10(), examples.dan()
    naive = relabel(graph, Seeded(3))
    by_degree = attacks.degree(graph, naive.graph, numbers=naive.numbers)
    around = attacks.neighbourhood(friends, friends)
    names = _labels(friends)
    found: parts.Facts = {
        "graph": _drawn(graph, Seeded(4)),
        "numbers": [int(each) for each in naive.numbers],
        "exposed": [int(each) for each in by_degree.exposed],
        "chance": by_degree.chance,
        "friends": _drawn(friends, Seeded(2)) | {"names": names},
        "friends_found": [names[each] for each in around.exposed],
        "settings": {},
    }
    for name, (k, variant) in settings(progress, "Changing edges", KS, VARIANTS):
        changed = graph
        if k > 1:
            changed = KDegree(k=k, variant=variant).apply(graph, rng=Seeded(7)).graph
        attack = attacks.degree(graph, changed)
        found["settings"][name] = {
            "edges": _pairs(changed),
            "degrees": changed.degrees.tolist(),
            "exposed": int(attack.exposed.size),
            "chance": attack.chance,
            "smallest": min(
                changed.degrees.tolist().count(each) for each in changed.degrees.tolist()
            ),
        }
    return found


def _drawn(graph: Graph, rng: Any) -> parts.Facts:
    """The edges of a graph, its degrees, and a place for each vertex."""
    from celosia.graphs.drawing import layout

    places = layout(graph, rng=rng)
    return {
        "edges": _pairs(graph),
        "degrees": graph.degrees.tolist(),
        "places": [(float(x), float(y)) for x, y in places],
    }


def _pairs(graph: Graph) -> Pairs:
    return [(int(one), int(other)) for one, other in graph.edges]


def _labels(graph: Graph) -> list[str]:
    assert graph.labels is not None
    return [str(each) for each in graph.labels]


def _network(
    drawn: parts.Facts, names: list[str] | tuple[str, ...], description: str, **how: Any
) -> parts.Network:
    marked, faded = how.pop("marked", ()), how.pop("faded", ())
    return parts.Network(
        vertices=tuple(
            parts.Vertex(name=name, x=x, y=y, marked=place in marked, faded=place in faded)
            for place, (name, (x, y)) in enumerate(zip(names, drawn["places"], strict=True))
        ),
        kept=how.pop("kept", None) or tuple(drawn["edges"]),
        description=description,
        **how,
    )


def example(facts: parts.Facts) -> tuple[parts.Part, ...]:
    """The network with names."""
    drawn = facts["graph"]
    degrees = drawn["degrees"]
    alone = [place for place in range(len(NAMES)) if degrees.count(degrees[place]) == 1]
    return (
        _network(
            drawn, NAMES, _("Nine people and ten friendships; lines join friends."), marked=alone
        ),
        table(
            (_("person"), _("contacts")),
            list(zip(NAMES, degrees, strict=True)),
            caption=_("How many contacts each person has; who is alone with a number is marked."),
            marked=alone,
        ),
    )


def stories(facts: parts.Facts) -> tuple[parts.Story, ...]:
    """Counting contacts, and looking at who knows whom around a person."""
    return _by_degree(facts), _by_neighbourhood(facts)


def _by_degree(facts: parts.Facts) -> parts.Story:
    drawn, numbers = facts["graph"], facts["numbers"]
    shown = [number(each + 1) for each in numbers]
    others = [place for place in range(len(NAMES)) if place != BRUNO]
    contacts = [
        other if one == BRUNO else one for one, other in drawn["edges"] if BRUNO in (one, other)
    ]
    degree = drawn["degrees"][BRUNO]
    released = _("The released network: numbers instead of names, all lines as they were.")
    return story(
        "Counting contacts",
        step(
            "What is published",
            "Names become random numbers. The lines stay, for they are to be studied.",
            _network(drawn, shown, released),
        ),
        step(
            "What the attacker knows",
            n_(
                "Bruno has {count} friend in this network; she has seen his profile.",
                "Bruno has {count} friends in this network; she has seen his profile.",
                degree,
            ),
            _network(drawn, shown, released),
        ),
        step(
            "Which vertices remain",
            "One vertex has as many lines. It must be Bruno.",
            _network(drawn, shown, released, marked=[BRUNO], faded=others),
        ),
        step(
            "What she learns",
            "His friends are marked, too. Whoever counts the contacts of everybody finds "
            "{share} of all people by guessing among those who fit.",
            _network(
                drawn,
                shown,
                released,
                marked=[BRUNO, *contacts],
                faded=[each for each in others if each not in contacts],
            ),
            learnt=n_(
                "{count} person is found for certain.",
                "{count} people are found for certain, and their friendships with them.",
                len(facts["exposed"]),
            ),
            share=percent(facts["chance"], 0),
        ),
    )


def _by_neighbourhood(facts: parts.Facts) -> parts.Story:
    drawn = facts["friends"]
    names = drawn["names"]
    dan, joe = names.index(DAN), names.index(JOE)
    numbers = [number(place + 1) for place in range(len(names))]
    rest = [place for place in range(len(names)) if place not in (dan, joe)]
    around = [other if one == dan else one for one, other in drawn["edges"] if dan in (one, other)]
    pair = [
        place
        for edge in drawn["edges"]
        if edge[0] in around and edge[1] in around
        for place in edge
    ]
    released = _("A released network in which every number of contacts is shared by two or more.")
    return story(
        "Looking at friends of friends",
        step(
            "What is published",
            "Everybody shares the number of contacts with another: k = 2 by degree.",
            _network(drawn, numbers, released),
        ),
        step(
            "Which vertices remain",
            "Dan has four contacts. Two vertices fit: the number hides him.",
            _network(drawn, numbers, released, marked=[dan, joe], faded=rest),
        ),
        step(
            "What else the attacker knows",
            "Two of Dan's friends know each other: three lines make a triangle.",
            _network(
                drawn,
                numbers,
                released,
                marked=[dan, *pair],
                faded=[each for each in rest if each not in pair],
            ),
        ),
        step(
            "What she learns",
            "Only one of the two has a triangle. k-neighbourhood anonymity, k-automorphism "
            "or noise repair this, at the price of more change.",
            _network(
                drawn,
                numbers,
                released,
                marked=[dan],
                faded=[each for each in range(len(names)) if each != dan],
            ),
            learnt=_("Dan is found, though his number of contacts is not his alone."),
        ),
    )


def controls() -> tuple[parts.Control, ...]:
    """k, and which edges may be changed."""
    return (
        control("k", "k (people who share each number of contacts)", KS, first=1),
        control(
            "way",
            "What may be changed",
            ("add", "add-and-remove"),
            choices=(_("add edges only"), _("add and remove edges")),
            slides=False,
        ),
    )


def view(facts: parts.Facts, chosen: tuple[int, ...]) -> parts.View:
    """The network after k-degree anonymity, edges that came and went marked."""
    found, drawn = facts["settings"][key(chosen)], facts["graph"]
    before, after = set(map(tuple, drawn["edges"])), set(map(tuple, found["edges"]))
    added, removed = sorted(after - before), sorted(before - after)
    network = _network(
        drawn,
        NAMES,
        _(
            "The network after the change; edges added: {added} (thick), removed: {removed} "
            "(dashed).",
            added=number(len(added)),
            removed=number(len(removed)),
        ),
        kept=tuple(sorted(before & after)),
        added=tuple(added),
        removed=tuple(removed),
    )
    degrees = table(
        (_("person"), _("contacts before"), _("contacts after")),
        list(zip(NAMES, drawn["degrees"], found["degrees"], strict=True)),
        marked=[
            place
            for place in range(len(NAMES))
            if drawn["degrees"][place] != found["degrees"][place]
        ],
        caption=_("Names are shown here to compare; they are not published."),
    )
    if KS[chosen[0]] == 1:
        text = _("k = 1 asks for nothing: the network as it was, under random numbers.")
    else:
        text = n_(
            "Every number of contacts is now that of at least {count} person.",
            "Every number of contacts is now that of at least {count} people.",
            found["smallest"],
        )
    return parts.View(
        text=text,
        figures=(
            (
                _("Edges changed"),
                _("+{added} -{removed}", added=len(added), removed=len(removed)),
                n_(
                    "added and removed, of {count} edge",
                    "added and removed, of {count} edges",
                    len(before),
                ),
            ),
            figure(
                "Found",
                _("{count} of {total}", count=found["exposed"], total=len(NAMES)),
                "people found for certain by their number of contacts before the change",
            ),
            figure(
                "A guess",
                percent(found["chance"], 0),
                "chance of finding a person by taking one who fits",
            ),
        ),
        parts=(network, degrees),
    )
