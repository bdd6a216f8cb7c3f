"""What the methods of `LawFunctions` compute with, in one place: loaded when a law is first asked.

Or before, when a law is named as an attribute of the package.
"""

from __future__ import annotations

# ruff: noqa: F401
from .._certified import moments
from .._certified.floats import float_bounds, float_value
from .html import as_html
from .pointwise import CDF, LOGCDF, LOGPMF, LOGSF, PMF, SF, bound_tails, evaluate
from .quantiles import central_interval, quantiles
