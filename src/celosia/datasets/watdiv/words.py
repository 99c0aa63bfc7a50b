"""Words that texts are made of: plain letters, so that nothing in them needs an escape."""

from __future__ import annotations

GIVEN, FAMILY, JOBS, ADJECTIVES, NOUNS = (
    tuple(words.split())
    for words in (
        "Ana Beatriz Camila Daniel Elena Felipe Gabriela Hugo Ines Jorge Karin Lautaro Maria "
        "Nicolas Olivia Pablo Rosa Sofia Tomas Valentina Anna Bruno Clara David Emma Fabian Greta "
        "Hannes Ida Jonas Kim Lea Marco Nora Oskar Petra Rafael Sara Tim Vera",
        "Araya Bravo Castro Diaz Espinoza Fuentes Gonzalez Herrera Ibarra Jara Lagos Molina "
        "Navarro Olivares Perez Quiroga Rojas Silva Torres Vega Ammann Baumann Christen Dubois "
        "Egger Frei Graf Huber Imhof Jost Keller Lang Meier Nussbaum Ott Pfister Roth Schmid "
        "Vogel Weber",
        "actuary baker carpenter doctor editor farmer gardener historian illustrator judge "
        "lecturer mason nurse optician pilot reporter surveyor teacher usher welder",
        "amber bold calm distant early faint gentle hidden inner joyful keen lasting mellow "
        "narrow open plain quiet rough silent tender upright vivid warm young",
        "anchor bridge candle desert engine forest garden harbour island journey kettle lantern "
        "meadow needle orchard pebble quarry river saddle tunnel umbrella valley window yard",
    )
)
HOURS = ("Mo-Fr 08-17", "Mo-Sa 09-18", "Mo-Su 10-20")
