"""What was measured as a table for people, and as JSON for machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from .contenders import Case, Contender, Missing
from .run import EXPONENTS, Measured, Skipped

_WIDTH = 27
_COLUMN = 8


def table_text(
    measured: Sequence[Measured],
    skipped: Sequence[Skipped],
    contenders: Iterable[Contender],
    missing: Iterable[Missing],
) -> str:
    """Return samples a second by contender and sigma, what they promise, and who is not there."""
    head = f"{'sigma =':<{_WIDTH}}" + "".join(f"{power(e):>{_COLUMN}}" for e in EXPONENTS)
    lines = [f"{head}  exact  secure", "-" * (len(head) + 15)]
    rates = {(one.contender, one.exponent): one.rate for one in measured}
    notes = []
    for contender in contenders:
        cells = [rates.get((contender.name, exponent)) for exponent in EXPONENTS]
        shown = "".join(f"{'-' if rate is None else short(rate):>{_COLUMN}}" for rate in cells)
        exact = contender.exact(Case("gaussian", 1))
        flags = f"  {_yes(exact):>5}  {_yes(contender.secure):>6}"
        lines.append(f"{contender.name:<{_WIDTH}}{shown}{flags}")
        if contender.note:
            notes.append(f"  {contender.name}: {contender.note}")
        reasons = {
            one.reason: one.exponent for one in reversed(skipped) if one.contender == contender.name
        }
        notes += [
            f"  {contender.name}: none from sigma = {power(first)} on: {reason}"
            for reason, first in reasons.items()
        ]
    lines += [
        "",
        "samples a second of the processor, one thread, arrays of up to 10^5 draws a call;",
        "k thousand, M million, G billion",
    ]
    lines += ["exact: the stated law for every integer; secure: bits of the operating system,"]
    lines += ["or of a cipher keyed by it", "", *notes]
    away = [
        f"  {peer.name}: {peer.install}" if peer.install else f"  {peer.name}: {peer.reason}"
        for peer in missing
    ]
    return "\n".join([*lines, "", "not here:", *away] if away else lines)


def short(rate: float) -> str:
    """Three figures or two and the letter of the thousands: 1.24 M, 83.1 k."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if float(f"{rate:.3g}") >= size:
            return f"{rate / size:.3g}{letter}"
    return f"{rate:.3g}"


def power(exponent: int) -> str:
    """Return 10 to this as people write it."""
    return str(10**exponent) if exponent < 3 else f"10^{exponent}"


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def as_json(
    measured: Iterable[Measured],
    skipped: Iterable[Skipped],
    contenders: Iterable[Contender],
    missing: Iterable[Missing],
) -> dict[str, Any]:
    """Return the same for machines: sigma is 10**exponent, rates are samples a second."""
    return {
        "contenders": [
            {
                "name": one.name,
                "exact": one.exact(Case("gaussian", 1)),
                "secure": one.secure,
                "note": one.note,
            }
            for one in contenders
        ],
        "measured": [asdict(one) for one in measured],
        "skipped": [asdict(one) for one in skipped],
        "missing": [asdict(one) for one in missing],
    }
