"""The picture: time a sample against sigma, both on logarithmic scales."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discretegauss._system.atomic_file import atomic_write
from discretegauss.plots.look import render

from .contenders import (
    Case,
    Contender,
    diffprivlib_peer,
    inexact,
    mkl_peer,
    opendp_peer,
    paper,
    tf_privacy_peer,
    tumult_peer,
)
from .contenders.ours import CELLS, DEFAULT, GETRANDOM, NATIVE, TWIN
from .run import Measured

_SIZE = (9.4, 5.6)
_LAST_EVERYDAY = 12
"""The exponent up to which the left panel goes; the rest is on the right."""

_DOTS_PER_INCH = 160

_LOOKS = {
    DEFAULT: ("#0072B2", "o"),
    CELLS: ("#56B4E9", "s"),
    GETRANDOM: ("#009E73", "D"),
    NATIVE: ("#000000", "v"),
    TWIN: ("#0072B2", "p"),
    opendp_peer.NAME: ("#D55E00", "x"),
    diffprivlib_peer.NAME: ("#E69F00", "+"),
    tumult_peer.NAME: ("#CC79A7", "^"),
    tf_privacy_peer.NAME: ("#9467BD", "P"),
    paper.NAME: ("#8C564B", "*"),
    mkl_peer.NAME: ("#7F7F7F", "2"),
    inexact.NUMPY: ("#BCBD22", "1"),
}
"""Colour and marker of each, whoever else takes part: pictures of two machines can be compared."""

_OURS = (DEFAULT, CELLS, GETRANDOM, NATIVE, TWIN)
_OTHERS = ("0.4", ".")
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
        dots_per_inch=_DOTS_PER_INCH,
        widths=(3, 1),
    )
    with atomic_write(path, replace=True) as write:
        write(data)


def draw_picture(
    figure: Any, panels: Any, measured: Sequence[Measured], contenders: Sequence[Contender]
) -> None:
    """Draw into two panels; what is not exact has a dashed line."""
    left, right = panels
    lines = []
    for contender in contenders:
        points = [one for one in measured if one.contender == contender.name]
        if not points:
            continue
        exact = contender.exact(Case("gaussian", 1))
        color, marker = _LOOKS.get(contender.name, _OTHERS)
        look: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "linestyle": "-" if exact else ":",
            "linewidth": 2.4 if contender.name in _OURS else 1.6,
            "markersize": 6,
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
    right.set_xlabel("sigma, Python integers")
    left.set_title("Time to draw one sample of the discrete Gaussian", loc="left")
    lines.sort(key=lambda pair: -pair[0])
    handles = [line for _, line in lines]
    figure.legend(handles=handles, loc="outside right upper", fontsize=9, handlelength=3.2)
