"""Noise on data: exact integer addition that keeps the kind of container, its labels and its nulls.

`add_noise` and an example table live here, with one file for each kind of container; no law and no
budget arithmetic. A file opens its container as a list of `Cells`, `addition` adds the draws, and
the file makes a container of the sums. pandas, polars, pyarrow and xarray are imported only if one
of their objects is passed.

narwhals (2.29) is not used: it loses ``attrs`` of pandas and metadata of Arrow's fields, gives new
series another index, and accepts no pyarrow Array, no RecordBatch and no two columns of one name.
"""

from .entry import add_noise, noise_for
from .example import flights

__all__ = ["add_noise", "flights", "noise_for"]
__dir__ = __all__.copy  # dir() and completion show these names alone
