"""Write the figures of arXiv 2004.00010 as PNG or SVG files, computed here and now.

example:
  discretegauss figures --out figures
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from .._inputs.messages import describe, printable
from ..errors import ParameterValueError
from .options import Command
from .output import printed

if TYPE_CHECKING:
    from ..plots.writing import Figures

_WIDTH = 52
"""Of the names in what is printed."""

_NOTES = """\
It needs matplotlib: pip install matplotlib. Files of these names in DIR are replaced: \
variance.png, tails.png, epsilon_delta.png, queries.png; or .svg.
docs/utility.md tells what they show.
"""


_OPTIONS = """
--out DIR  text, needed  the folder to write to, made if need be
--format  png|svg  of the files
"""


def _run(arguments: argparse.Namespace) -> int:
    from ..plots import write_figures

    if os.path.isfile(arguments.out):
        raise ParameterValueError(f"--out: must name a folder, got {describe(arguments.out)}")
    figures = write_figures(arguments.out, format=arguments.format)
    failure = "the figures are written, but the result could not be printed"
    return printed(_text(figures), failure)


def _text(figures: Figures) -> str:
    found = figures.comparison
    delta = format(float(found.delta), "g").replace("e-0", "e-")
    budget = f"(epsilon, delta) = ({found.epsilon}, {delta})"
    variances = [
        ("discrete Gaussian, by way of zCDP (Corollary 13)", found.gaussian_by_zcdp.var()),
        ("discrete Gaussian, tight composition (Theorem 7)", found.gaussian_tight.var()),
        ("discrete Laplace, optimal composition (exact for it)", found.laplace.var()),
    ]
    ratios = [
        ("by way of zCDP, as in the paper", found.ratio_by_zcdp()),
        ("both tight", found.ratio_tight()),
    ]
    lines = [f"written to {printable(str(file))}" for file in figures.files]
    lines += ["", f"variance that {found.queries} queries of sensitivity 1 need for {budget}:"]
    lines += [f"  {name:<{_WIDTH}}  {variance:.1f}" for name, variance in variances]
    lines += ["the Laplace over the Gaussian:"]
    lines += [f"  {name:<{_WIDTH}}  {ratio:.3f}" for name, ratio in ratios]
    return "\n".join(lines)


FIGURES = Command(
    "figures",
    "the figures of the paper",
    _run,
    "plots",
    __doc__,
    _NOTES,
    "%(prog)s --out DIR [--format {png,svg}]",
    _OPTIONS,
)
