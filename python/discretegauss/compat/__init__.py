"""The names of others: of the code that was published with the paper, and of numpy's generators.

``from discretegauss.compat import *`` has the paper's functions, `discretegauss.compat.cdp2adp`
is its other module; `NumpyNoise` is for code that takes a generator of numpy's, with exact noise,
and `SystemBits` makes such generators secure.
"""

from . import _paper, cdp2adp
from ._numpy_noise import NumpyNoise
from ._paper import *  # noqa: F403
from ._system_bits import SystemBits

__all__ = ["NumpyNoise", "SystemBits", "cdp2adp"]
__all__ += _paper.__all__
