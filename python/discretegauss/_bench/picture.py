"""The picture: time a sample against sigma, both on logarithmic scales."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._system.atomic_file import atomic_write
from ..plots import render
from .contenders import Case, Contender
from .contenders.ours import CHACHA20, DEFAULT, ISOCHRONOUS, NATIVE, TWIN
from .run import Measured

__all__ = ["draw_picture", "require_matplotlib", "write_picture"]

_SIZE = (9.4, 5.0)
_LAST_EVERYDAY = 12
"""The exponent up to which the left panel goes; the rest is on the right."""

_OURS = {
    DEFAULT: {"color": "#0072B2", "marker": "o"},
    CHACHA20: {"color": "#56B4E9", "marker": "s"},
    ISOCHRONOUS: {"color": "#009E73", "marker": "D"},
    NATIVE: {"color": "#000000", "marker": "v"},
    TWIN: {"color": "#0072B2", "marker": "o"},
}
_PEERS = ("#D55E00", "#E69F00", "#CC79A7", "#8C564B", "#7F7F7F", "#BCBD22", "#9467BD")
_UNITS = ("0.1 ns", "1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "0.1 ms", "1 ms", "10 ms", "0.1 s")
_TICKS = tuple((10.0 ** (place - 10), name) for place, name in enumerate(_UNITS))


def require_matplotlib() -> None:
    """Raise an ImportError that says what to install."""
    render(lambda figure, axes: None, panels=1)


def write_picture(
    path: Path, measured: Sequence[Measured], contenders: Sequence[Contender]
) -> None:
    """Draw what was measured and write it, whole or not at all."""
    data = render(
        lambda figure, panels: draw_picture(figure, panels, measured, contenders),
        panels=2,
        inches=_SIZE,
        dots_per_inch=96,
        widths=(3, 1),
    )
    with atomic_write(path, replace=True) as write:
        write(data)


def draw_picture(
    figure: Any, panels: Any, measured: Sequence[Measured], contenders: Sequence[Contender]
) -> None:
    """Draw into two panels; what is not exact has a dashed line."""
    left, right = panels
    peers = iter(_PEERS)
    lines = []
    for contender in contenders:
        points = [one for one in measured if one.contender == contender.name]
        if not points:
            continue
        exact = contender.exact(Case("gaussian", 1))
        own = _OURS.get(contender.name) or {"color": next(peers), "marker": "x"}
        look: dict[str, Any] = own | {
            "linestyle": "-" if exact else ":",
            "linewidth": 2.4 if contender.name in _OURS else 1.6,
            "markersize": 5,
        }
        x = [one.exponent for one in points]
        y = [1 / one.rate for one in points]
        (line,) = left.plot(x, y, label=contender.name + ("" if exact else " (not exact)"), **look)
        right.plot(x, y, **look)
        lines.append((y[0], line))
    for axes, ticks in ((left, (0, 1, 2, 3, 6, 9, 12)), (right, (30, 100))):
        axes.set_yscale("log")
        axes.set_xticks(ticks, [f"$10^{{{e}}}$" if e else "1" for e in ticks])
        times = [1 / one.rate for one in measured]
        axes.set_ylim(min(times) / 2, max(times) * 2)
        shown = [(t, name) for t, name in _TICKS if min(times) / 2 <= t <= max(times) * 2]
        axes.set_yticks([t for t, _ in shown], [name for _, name in shown])
        axes.minorticks_off()
    left.set_xlim(-0.4, _LAST_EVERYDAY + 0.4)
    right.set_xlim(18, 106)
    right.tick_params(labelleft=False)
    left.set(xlabel="sigma, the width of the noise", ylabel="time a sample (lower is faster)")
    right.set_xlabel("Python integers")
    left.set_title("Time to draw one sample of the discrete Gaussian", loc="left")
    lines.sort(key=lambda pair: -pair[0])
    handles = [line for _, line in lines]
    figure.legend(handles=handles, loc="outside right upper", fontsize=9, handlelength=3.2)
