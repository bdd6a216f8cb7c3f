"""Pictures of noisy counts: each function draws into matplotlib axes that you give.

matplotlib is optional: ``pip install matplotlib``. The figures of arXiv 2004.00010 are drawn by
``examples/paper_figures.py``.
"""

from ._before_after import before_after
from ._estimates import consistent, interval, keep_groups

__all__ = ["before_after", "consistent", "interval", "keep_groups"]
__dir__ = __all__.copy  # dir() and completion show these names alone
