"""Draws the logo and the pictures of the documentation: small SVG files that suit light and dark pages.

    python tools/docs/pictures.py

A test holds that the files are what this script draws.
"""

import sys
from html import escape
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"

STYLE = """<style>
.ink{fill:#1d2b3a}.soft{fill:#5b6b7b}.line{stroke:#5b6b7b;fill:none;stroke-width:1.5}
.a{fill:#2f6fb2}.b{fill:#c2571a}.c{fill:#3a8a4d}.none{fill:#c3ccd4}
.ring{fill:none;stroke-width:2.5}.ra{stroke:#2f6fb2}.rb{stroke:#c2571a}.rc{stroke:#3a8a4d}
.card{fill:#eef3f8}
@media(prefers-color-scheme:dark){.ink{fill:#e6edf3}.soft{fill:#a5b4c2}.line{stroke:#a5b4c2}.card{fill:#223040}
.a{fill:#6fb1f5}.b{fill:#f09a5e}.c{fill:#7fce91}.none{fill:#46545f}
.ra{stroke:#6fb1f5}.rb{stroke:#f09a5e}.rc{stroke:#7fce91}}
</style>"""
TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    '<path class="soft" d="M0 0 8 4 0 8z"/></marker></defs>'
)


def svg(width: int, height: int, title: str, *parts: str) -> str:
    """Return a drawing with a title that screen readers read."""
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t" '
        'font-family="system-ui, sans-serif" font-size="14">'
    )
    return "\n".join([begin, f'<title id="t">{escape(title)}</title>', STYLE, *parts, "</svg>", ""])


def text(x: float, y: float, words: str, look: str = "ink", *, anchor: str = "start", bold: bool = False) -> str:
    """Return one line of text."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text class="{look}" x="{x:g}" y="{y:g}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'


def dot(x: float, y: float, look: str, radius: float = 7) -> str:
    """Return a person."""
    return f'<circle class="{look}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'


def ring(x: float, y: float, wide: float, high: float, look: str) -> str:
    """Return a team."""
    return f'<ellipse class="ring r{look}" cx="{x:g}" cy="{y:g}" rx="{wide:g}" ry="{high:g}"/>'


def arrow(path: str, *, tip: bool = True) -> str:
    """Return a line, with a tip unless told otherwise."""
    end = ' marker-end="url(#tip)"' if tip else ""
    return f'<path class="line" d="{path}"{end}/>'


def person(x: float, y: float, name: str, look: str) -> str:
    """Return a person with a name."""
    return dot(x, y, look) + text(x, y + 23, name, anchor="middle")


def logo() -> str:
    """Draw three people in two teams, one of them in both."""
    return svg(
        64, 64, "coterie", ring(24, 32, 20, 20, "a"), ring(40, 32, 20, 20, "b"),
        dot(14, 32, "a", 5), dot(32, 32, "c", 5), dot(50, 32, "b", 5),
    )  # fmt: skip


def home() -> str:
    """Draw the way from a table to teams and a promise."""
    rows = [("May", "Energy", "Ada", "Bo", "4"), ("May", "Energy", "Bo", "Cy", "2"), ("May", "Law", "Ada", "Di", "5"),
            ("June", "Law", "Cy", "Di", "4"), ("June", "Law", "Ada", "Cy", "3")]  # fmt: skip
    at = (36, 90, 152, 192, 250)
    table = ['<rect class="card" x="20" y="44" width="256" height="176" rx="8"/>']
    table += [
        text(x, 70, word, "soft", bold=True) for x, word in zip(at, ("when", "where", "who", "with", ""), strict=True)
    ]
    table += [text(254, 70, "how", "soft", bold=True, anchor="middle")]
    for line, row in enumerate(rows):
        table += [text(x, 98 + 27 * line, word) for x, word in zip(at, row, strict=True)]
    teams = [
        ring(400, 132, 76, 62, "a"), ring(502, 132, 76, 62, "b"),
        text(376, 60, "Energy", "a", anchor="middle", bold=True), text(526, 60, "Law", "b", anchor="middle", bold=True),
        person(372, 102, "Bo", "a"), person(384, 150, "Eli", "a"), person(451, 124, "Ada", "c"),
        person(522, 102, "Cy", "b"), person(530, 150, "Di", "b"),
    ]  # fmt: skip
    promise = [
        '<rect class="card" x="640" y="44" width="260" height="176" rx="8"/>',
        text(660, 74, "expected", "soft", bold=True),
        text(660, 98, "4.1 stars per teammate,"), text(660, 120, "0.6 more than today"),
        text(660, 156, "sure, with 99 % confidence", "soft", bold=True), text(660, 180, "nobody gains by moving"),
    ]  # fmt: skip
    return svg(
        920, 236, "From a table of who worked with whom, to teams that may overlap, to a promise of stability", TIP,
        text(20, 28, "What you have", bold=True), text(324, 28, "Who should go where", bold=True),
        text(640, 28, "What you can tell people", bold=True),
        *table, arrow("M284 132H314"), *teams, arrow("M588 132H628"), *promise,
    )  # fmt: skip


def gap() -> str:
    """Draw what moving would gain somebody."""
    return svg(
        640, 210, "Cy thinks of moving from Energy to Law: there is something to gain, so the teams are not stable",
        TIP, ring(150, 100, 120, 66, "a"), ring(480, 100, 130, 66, "b"),
        text(60, 28, "Energy", "a", bold=True), text(560, 28, "Law", "b", bold=True),
        person(80, 92, "Ada", "a"), person(140, 112, "Bo", "a"), person(220, 86, "Cy", "c"),
        person(440, 92, "Di", "b"), person(530, 104, "Eli", "b"),
        arrow("M236 78Q330 20 404 76"), text(324, 32, "Cy would gain 0.25", anchor="middle"),
        text(320, 196, "gap: the most that anybody gains by moving; 0: nobody wants to leave", "soft", anchor="middle"),
    )  # fmt: skip


def interval() -> str:
    """Draw what can be said of three people's best moves."""
    zero, parts = 330, []
    rows = [("Ada", -150, 60, "surely stays: the whole interval is below 0", "c"),
            ("Bo", -40, 70, "open: likely nothing to gain, not proven", "none"),
            ("Cy", 90, 50, "surely gains by moving", "b")]  # fmt: skip
    for line, (name, middle, half, words, look) in enumerate(rows):
        y = 58 + 42 * line
        low, high = zero + middle - half, zero + middle + half
        parts += [text(24, y + 5, name), arrow(f"M{low:g} {y:g}H{high:g}", tip=False)]
        parts += [arrow(f"M{end:g} {y - 6:g}V{y + 6:g}", tip=False) for end in (low, high)]
        parts += [dot(zero + middle, y, look, 6), text(500, y + 5, words, "soft")]
    return svg(
        840, 200, "Three people, what moving would change for each, as estimates with intervals", TIP,
        arrow(f"M{zero} 30V176", tip=False), text(zero, 22, "0", anchor="middle"),
        text(zero - 12, 194, "loses by moving", "soft", anchor="end"), text(zero + 12, 194, "gains by moving", "soft"),
        *parts,
    )  # fmt: skip


def coverage() -> str:
    """Draw which pairs met, and which never did."""
    people, often = ("Ada", "Bo", "Cy", "Di", "Eli"), {(0, 1): 9, (0, 2): 7, (1, 2): 4, (2, 3): 6, (3, 4): 8, (1, 3): 2}
    parts = []
    for i, one in enumerate(people):
        parts += [text(70, 61 + 32 * i, one, anchor="end"), text(96 + 32 * i, 30, one, anchor="middle")]
        for j in range(len(people)):
            times = often.get((min(i, j), max(i, j)), 0)
            look = "card" if i == j else "a" if times else "none"
            shade = f' opacity="{0.35 + 0.07 * times:.2f}"' if look == "a" else ""
            parts.append(
                f'<rect class="{look}" x="{82 + 32 * i}" y="{42 + 32 * j}" width="28" height="28" rx="3"{shade}/>'
            )
    return svg(
        640, 220, "A map of who met whom: some pairs often, some never", *parts,
        '<rect class="a" x="290" y="60" width="20" height="20" rx="3"/>',
        text(320, 75, "met: the log knows how they do"),
        '<rect class="none" x="290" y="100" width="20" height="20" rx="3"/>',
        text(320, 115, "never met: nothing can be sure here,"), text(320, 135, "and only trying it will tell"),
    )  # fmt: skip


PICTURES = {"logo": logo, "home": home, "gap": gap, "interval": interval, "coverage": coverage}


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
    sys.stdout.write(f"{FOLDER}\n")


if __name__ == "__main__":
    main()
