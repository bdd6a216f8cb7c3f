"""Draw docs/figures/rooms.png: the rooms of the package and the three paths of docs/developers.md.

A room is a module or folder of python/discretegauss. It stands above all rooms that it imports.
"""

import argparse
import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "discretegauss"
NOT_DRAWN = {"__init__", "__main__", "_version"}
CORE = "csrc"

#: The column and the description of each room.
ROOMS = {
    "_cli": (0, "the command line"),
    "release": (0, "tables in files,\nframes and plans"),
    "plots": (2, "pictures of counts"),
    "estimate": (2, "intervals, totals,\ntables that add up"),
    "selection": (4, "best candidate,\nunknown groups"),
    "lattice": (6, "real vectors\nas integers"),
    "spark": (8, "frames of Spark"),
    "data": (0, "noise on lists,\narrays and frames"),
    "compat": (10, "other libraries'\ninterfaces"),
    "utility": (4, "comparisons\nof noises"),
    "distributed": (6, "noise in shares\nof many clients"),
    "verify": (10, "proof of the\nbuilt tables"),
    "privacy": (2, "epsilon, delta, rho,\ncalibration"),
    "sampling": (8, "discrete_gaussian\nand its siblings"),
    "snapping": (10, "noise on\nfloats"),
    "laws": (6, "DiscreteGaussian\nand its siblings"),
    "testing": (10, "seeded bits,\nfor tests only"),
    "_drawing": (8, "from a law to draws:\nengines and arrays"),
    "_law_functions": (6, "pmf, cdf,\nquantiles"),
    "reference": (10, "the algorithms\nin plain Python"),
    "_certified": (2, "numbers with\nproven bounds"),
    "_inputs": (4, "checks of users'\narguments"),
    "_law": (4, "kind and exact\nparameters"),
    "_system": (0, "files, signals,\nmemory"),
    "errors": (6, "the exceptions"),
    CORE: (8, "the C core: api, sampler, isochronous, cells, exact, random"),
}

PATHS = {
    "from discrete_gaussian to the kernel": (
        "#0072B2",
        ["sampling>laws", "laws>_inputs", "laws>_drawing", f"_drawing>{CORE}"],
    ),
    "from a budget to sigma2": (
        "#D55E00",
        ["data>privacy", "privacy>_inputs", "privacy>_certified"],
    ),
    "from a table to a release": (
        "#009E73",
        ["_cli>release", "release>data", "data>laws", "release>_system"],
    ),
}


def imported(file: Path) -> Iterator[str]:
    """Yield the rooms that a file imports; the extension module counts as the C core."""
    package = ("discretegauss", *file.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            names = [*base, *(node.module.split(".") if node.module else ())]
            if names[0] == "discretegauss":
                targets = names[1:2] or [alias.name for alias in node.names]
                yield from (CORE if name == "_native" else name for name in targets)


def find_imports() -> dict[str, set[str]]:
    """Return the rooms that each room imports."""
    found: dict[str, set[str]] = {CORE: set()}
    for file in PACKAGE.rglob("*.py"):
        room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room not in NOT_DRAWN:
            found.setdefault(room, set()).update({*imported(file)} - {room} - NOT_DRAWN)
    if set(found) != set(ROOMS):
        raise SystemExit(f"ROOMS must name each room: {sorted(set(found) ^ set(ROOMS))}")
    for arrow in (arrow for _, arrows in PATHS.values() for arrow in arrows):
        room, _, other = arrow.partition(">")
        if other not in found[room]:
            raise SystemExit(f"{room} does not import {other}")
    return found


def levels() -> dict[str, int]:
    """Return the height of each room: one more than the highest room that it imports."""
    imports = find_imports()

    @cache
    def height(room: str) -> int:
        return -1 if room == CORE else 1 + max(map(height, imports[room] - {CORE}), default=-1)

    return {room: height(room) for room in ROOMS}


def summary() -> str:
    """Return the heights as text. The picture contains it, so that a test can compare them."""
    return " ".join(f"{room}={height}" for room, height in levels().items())


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description="the picture of rooms in docs/developers.md")
    parser.add_argument("--out", required=True, metavar="FILE", help="a .png file")
    out = parser.parse_args().out
    heights = levels()
    figure = Figure(figsize=(11.8, 11), layout="constrained")
    axes = figure.subplots()
    for room, (column, text) in ROOMS.items():
        y = heights[room]
        x, width = (6, 6.85) if room == CORE else (column, 0.85)
        color = "#fff3c4" if room == CORE else "#eeeeee" if room[0] == "_" else "#dcebf7"
        axes.add_patch(
            FancyBboxPatch(
                (x - width, y - 0.33),
                2 * width,
                0.66,
                boxstyle="round,pad=0,rounding_size=0.1",
                facecolor=color,
                edgecolor="#777777",
                linewidth=0.8,
                zorder=2,
            )
        )
        top = 0.17 if "\n" in text else 0.1
        axes.text(x, y + top, room, ha="center", va="center", weight="bold", size=9.5, zorder=4)
        axes.text(
            x, y + top - 0.17, text, ha="center", va="top", size=8, linespacing=1.05, zorder=4
        )
    for color, arrows in PATHS.values():
        for arrow in arrows:
            room, _, other = arrow.partition(">")
            start, end = (ROOMS[name][0] for name in (room, other))
            style = "arc3"
            if arrow == "release>_system":  # beside data, which stands between them
                start, end, style = -0.85, -0.85, "arc3,rad=0.07"
            if arrow == "data>laws":  # above privacy, which stands between them
                style = "arc3,rad=-0.15"
            shift = 0.0 if arrow == "release>_system" else 0.33
            axes.add_patch(
                FancyArrowPatch(
                    (start, heights[room] - shift),
                    (end, heights[other] + shift),
                    connectionstyle=style,
                    arrowstyle="-|>",
                    mutation_scale=16,
                    linewidth=2.2,
                    color=color,
                    shrinkA=0,
                    shrinkB=0,
                    zorder=3,
                )
            )
    for i, (name, (color, _)) in enumerate(PATHS.items()):
        axes.plot([4.2, 5], [11 - 0.4 * i] * 2, color=color, linewidth=2.2)
        axes.text(5.2, 11 - 0.4 * i, name, va="center", size=10)
    axes.text(4.2, 9.75, "A room imports only rooms that stand below it.", va="center", size=10)
    axes.text(
        4.2, 9.4, "Light blue rooms are public, grey rooms are private.", va="center", size=10
    )
    axes.set(xlim=(-1.5, 13), ylim=(-1.5, 11.5))
    axes.set_axis_off()
    figure.savefig(out, dpi=110, metadata={"Description": summary()})


if __name__ == "__main__":
    main()
