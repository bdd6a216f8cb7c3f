"""Noise on data: exact integer addition that keeps the kind of container, its labels and its nulls.

Here live `add_noise`, one file for each kind of container, and an example table; no law, no budget
arithmetic and no other files. Each container opens as a list of `Cells`, gets its draws in
`_addition`, and is closed again. pandas, polars, pyarrow and xarray are imported only where one of
their objects is passed.

Not by narwhals (2.29): it loses ``attrs`` of pandas and metadata of Arrow's fields, gives new
series an index of their own, and takes no pyarrow Array, no RecordBatch and no two columns of one
name. Only polars would be left to it, whose file here is as short with polars alone.
"""

from .entry import add_noise, noise_for
from .example import flights

__all__ = ["add_noise", "flights", "noise_for"]
