"""DataArrays of xarray; this module is imported when one is passed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterTypeError
from .cells import Container
from .lists_and_arrays import open_array


def open_values(values: Any, columns: object, *, floats: bool) -> Container | None:
    """Open a DataArray, and keep dimensions, coordinates, name and attrs; None for other types."""
    import xarray as xr  # here, because doctests import all modules, and xarray is not an extra

    if not isinstance(values, xr.DataArray):
        return None
    array = values.data
    if not isinstance(array, np.ndarray):  # a lazy array would get new draws at each action
        raise ParameterTypeError(
            "values must be in memory, a DataArray of numpy's: call its compute() first; "
            f"got one of {type(array).__module__}.{type(array).__name__}"
        )
    container = open_array(array, floats=floats, named=columns)
    # the encoding is dropped, because sums may not fit the dtype that the counts had in a file
    return container._replace(
        close=lambda results: values.copy(data=container.close(results)).drop_encoding()
    )
