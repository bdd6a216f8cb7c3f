"""The names of others: of the code that was published with the paper, and of numpy's generators.

``from discretegauss.compat import *`` has the paper's functions, `discretegauss.compat.cdp2adp`
is its other module; `NumpyNoise` is for code that takes a generator of numpy's, with exact noise,
and `SystemBits` makes such generators secure.
"""

from .._inputs.keywords import explain_keywords
from . import cdp2adp
from ._numpy_noise import NumpyNoise
from ._paper import (
    floorsqrt,
    normalizing_constant,
    sample_bernoulli,
    sample_bernoulli_exp,
    sample_bernoulli_exp1,
    sample_dgauss,
    sample_dlaplace,
    sample_geometric_exp_fast,
    sample_geometric_exp_slow,
    sample_uniform,
    variance,
)
from ._system_bits import SystemBits

__all__ = [
    "NumpyNoise",
    "SystemBits",
    "cdp2adp",
    "floorsqrt",
    "normalizing_constant",
    "sample_bernoulli",
    "sample_bernoulli_exp",
    "sample_bernoulli_exp1",
    "sample_dgauss",
    "sample_dlaplace",
    "sample_geometric_exp_fast",
    "sample_geometric_exp_slow",
    "sample_uniform",
    "variance",
]

explain_keywords(globals())
