"""A small network as a drawing in SVG that takes its colours from the page."""

from __future__ import annotations

from html import escape

from celosia.studio.learn.parts import Network, Vertex

WIDTH, HEIGHT, MARGIN = 480, 320, 40


def network_svg(network: Network) -> str:
    """The drawing; what came is thick, what went is dashed, so that colour is never alone.

    >>> "<svg" in network_svg(Network(vertices=(), kept=(), description="nobody"))
    True
    """
    lines = [
        *(_line(network, pair, "kept") for pair in network.kept),
        *(_line(network, pair, "removed") for pair in network.removed),
        *(_line(network, pair, "added") for pair in network.added),
    ]
    points = [_point(vertex) for vertex in network.vertices]
    text = escape(network.description)
    return (
        f'<svg class="celosia-network" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{text}"><title>{text}</title>{"".join(lines)}{"".join(points)}</svg>'
    )


def _place(vertex: Vertex) -> tuple[float, float]:
    across, down = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    return round(MARGIN + vertex.x * across, 1), round(MARGIN + vertex.y * down, 1)


def _line(network: Network, pair: tuple[int, int], kind: str) -> str:
    (x1, y1), (x2, y2) = (_place(network.vertices[end]) for end in pair)
    faded = kind == "kept" and any(network.vertices[end].faded for end in pair)
    names = f"{kind} faded" if faded else kind
    return f'<line class="{names}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def _point(vertex: Vertex) -> str:
    x, y = _place(vertex)
    names = " ".join(["marked"] * vertex.marked + ["faded"] * vertex.faded)
    return (
        f'<g class="{names}"><circle cx="{x}" cy="{y}" r="{13 if vertex.marked else 9}"/>'
        f'<text x="{x}" y="{y - 17}">{escape(vertex.name)}</text></g>'
    )
