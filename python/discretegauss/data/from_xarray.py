"""DataArrays of xarray; imported when one is passed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ParameterTypeError
from .cells import Container
from .plain_and_numpy import open_array


def open_values(values: Any, columns: object, *, floats: bool) -> Container | None:
    """Open a DataArray, whose dimensions, coordinates, name and attrs stay; None: it is none."""
    import xarray as xr  # not above: it is no extra, and doctests import all modules

    if not isinstance(values, xr.DataArray):
        return None
    array = values.data
    if not isinstance(array, np.ndarray):  # Dask's would be drawn for again at each action
        raise ParameterTypeError(
            "values must be in memory, a DataArray of numpy's: call its compute() first; "
            f"got one of {type(array).__module__}.{type(array).__name__}"
        )
    container = open_array(array, floats=floats, named=columns)
    # not its encoding: noise need not fit the dtype in which the counts lay in a file
    return container._replace(
        close=lambda results: values.copy(data=container.close(results)).drop_encoding()
    )
