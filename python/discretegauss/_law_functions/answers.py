"""The functions that `LawFunctions` calls, in one module that it imports on first use.

Workers that only draw never load it.
"""

from __future__ import annotations

# ruff: noqa: F401
from .._certified import moments
from .._certified.floats import float_bounds, float_value
from .html import as_html
from .pointwise import CDF, LOGCDF, LOGPMF, LOGSF, PMF, SF, bound_tails, evaluate
from .quantiles import central_interval, quantiles
