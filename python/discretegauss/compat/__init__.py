"""The interfaces of other code: the code that was published with the paper, and numpy's generators.

``from discretegauss.compat import *`` has the paper's functions, and `cdp2adp` is its other module.
Pass a `NumpyNoise` to code that takes a numpy generator, and its noise is exact. `SystemBits`
gives such generators secure bits.
"""

from . import _paper, cdp2adp
from ._numpy_noise import NumpyNoise
from ._paper import *  # noqa: F403
from ._system_bits import SystemBits

__all__ = ["NumpyNoise", "SystemBits", "cdp2adp"]
__all__ += _paper.__all__
__dir__ = __all__.copy  # dir() and completion show these names alone
