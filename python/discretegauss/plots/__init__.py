"""The figures of arXiv 2004.00010 and others, each a function that draws into axes that you give.

matplotlib is optional: ``pip install matplotlib``. Only `render` and `write_figures` import it.

>>> from discretegauss import plots
>>> plots.render(lambda figure, ax: plots.variance(ax), format="svg")[:5]
b'<?xml'
"""

from ._before_after import before_after
from ._epsilon_delta import epsilon_delta
from ._estimates import consistent, interval, keep_groups
from ._look import WIDTH_HEIGHT, render
from ._queries import queries, queries_ratio
from ._tails import probabilities, tails
from ._variance import variance
from ._write import Figures, write_figures

__all__ = [
    "WIDTH_HEIGHT",
    "Figures",
    "before_after",
    "consistent",
    "epsilon_delta",
    "interval",
    "keep_groups",
    "probabilities",
    "queries",
    "queries_ratio",
    "render",
    "tails",
    "variance",
    "write_figures",
]
