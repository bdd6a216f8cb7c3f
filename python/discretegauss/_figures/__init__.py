"""The figures of arXiv 2004.00010, drawn from what `discretegauss.utility` computes.

One file for each figure, and _drawing.py for what they share. Nothing else in the package imports
matplotlib, which is optional: ``pip install matplotlib``.
"""

from .write import Figures, write_figures

__all__ = ["Figures", "write_figures"]
