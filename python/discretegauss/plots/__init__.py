"""The figures of arXiv 2004.00010 and others, each a function that draws into axes that you give.

matplotlib is optional: ``pip install matplotlib``. Only `write_figures` imports it.
"""

from ._before_after import before_after
from ._epsilon_delta import epsilon_delta
from ._estimates import consistent, interval, keep_groups
from ._queries import queries, queries_ratio
from ._tails import probabilities, tails
from ._variance import variance
from .writing import write_figures

__all__ = [
    "before_after",
    "consistent",
    "epsilon_delta",
    "interval",
    "keep_groups",
    "probabilities",
    "queries",
    "queries_ratio",
    "tails",
    "variance",
    "write_figures",
]
