"""The picture: time a sample against sigma, both on logarithmic scales."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from contenders import Contender
from discretegauss._system.atomic_file import atomic_write
from discretegauss.plots.look import render
from measure import Rates

_UNITS = ("0.1 ns", "1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "0.1 ms", "1 ms", "10 ms", "0.1 s")
_TICKS = tuple((10.0 ** (place - 10), name) for place, name in enumerate(_UNITS))


def require_matplotlib() -> None:
    """Raise an ImportError that says what to install."""
    render(lambda figure, axes: None)


def write_picture(
    path: Path, rates: Mapping[tuple[str, int], Rates], contenders: Sequence[Contender]
) -> None:
    """Draw what was measured and write it, whole or not at all."""
    data = render(
        lambda figure, panels: draw_picture(figure, panels, rates, contenders),
        panels=2,
        inches=(9.4, 5.6),
        dots_per_inch=160,
        widths=(3, 1),
    )
    with atomic_write(path, replace=True) as write:
        write(data)


def draw_picture(
    figure: Any,
    panels: Any,
    rates: Mapping[tuple[str, int], Rates],
    contenders: Sequence[Contender],
) -> None:
    """Draw into two panels, everyday sigmas and wide ones; what is not exact is dotted."""
    left, right = panels
    times = [1 / found.median for found in rates.values()]
    lines = []
    for contender in contenders:
        mine = {e: found for (name, e), found in rates.items() if name == contender.name}
        points = {exponent: 1 / found.median for exponent, found in mine.items()}
        if not points:
            continue
        color, marker = contender.look
        look: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "linestyle": "-" if contender.exact else ":",
            "linewidth": 2.4 if contender.name.startswith("discretegauss") else 1.6,
        }
        label = contender.name + ("" if contender.exact else " (not exact)")
        (line,) = left.plot(list(points), list(points.values()), label=label, **look)
        right.plot(list(points), list(points.values()), **look)
        lines.append((next(iter(points.values())), line))
    for axes, ticks in ((left, (0, 1, 2, 3, 6, 9, 12)), (right, (30, 100))):
        axes.set_yscale("log")
        axes.set_xticks(ticks, [("1", "10")[e] if e < 2 else f"$10^{{{e}}}$" for e in ticks])
        axes.set_ylim(min(times) / 2, max(times) * 2)
        shown = [(t, name) for t, name in _TICKS if min(times) / 2 <= t <= max(times) * 2]
        axes.set_yticks([t for t, _ in shown], [name for _, name in shown])
        axes.minorticks_off()
    left.set_xlim(-0.4, 12.4)
    right.set_xlim(18, 106)
    right.tick_params(labelleft=False)
    left.set(xlabel="sigma, the width of the noise", ylabel="time a sample (lower is faster)")
    right.set_xlabel("sigma, Python integers")
    left.set_title("Time to draw one sample of the discrete Gaussian", loc="left")
    handles = [line for _, line in sorted(lines, key=lambda pair: -pair[0])]
    figure.legend(handles=handles, loc="outside right upper", fontsize=9, handlelength=3.2)
