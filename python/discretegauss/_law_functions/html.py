"""The view of a law in a notebook: its code and a small table of its probabilities."""

from __future__ import annotations

import math
from fractions import Fraction
from html import escape

from .._certified.laws_of_integers import formulas_of
from .._inputs.messages import describe
from .._law import LawSpec
from .pointwise import LOGPMF, PMF, evaluate

_ROW = (
    '<tr><td>{k}</td><td>{p}</td><td style="text-align:left"><div style="width:{width:.0f}px;'
    'height:0.8em;background:currentColor;opacity:0.5"></div></td></tr>'
)


def as_html(written: str, spec: LawSpec) -> str:
    """Return the law's code, and P(X = k) at the centre and at three steps on either side."""
    code = f"<code>{escape(written)}</code>"
    try:
        rows = "".join(_rows(spec))
    except ArithmeticError:  # these k are longer than the functions accept
        return code
    return f"{code}<table><tr><th>k</th><th>P(X = k)</th><th></th></tr>{rows}</table>"


def _rows(spec: LawSpec) -> list[str]:
    step = max(1, formulas_of(spec).whole_width(spec))
    centre = math.floor(spec.mu + Fraction(1, 2))
    ks = [centre + i * step for i in range(-3, 4)]
    logs = [evaluate(LOGPMF, spec, k, bounds=False) for k in ks]
    values = [evaluate(PMF, spec, k, bounds=False) for k in ks]
    return [
        _ROW.format(
            k=escape(describe(k)),
            p=f"{p:.4g}" if p else f"exp({log:.6g})",  # p is below every float
            width=120 * math.exp(log - max(logs)),
        )
        for k, p, log in zip(ks, values, logs, strict=True)
    ]
