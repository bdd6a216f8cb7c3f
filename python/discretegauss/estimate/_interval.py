"""Intervals that contain true counts, from noisy counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._inputs.numbers import whole_number
from .._law_functions.sum_of_draws import SumOfDraws
from ..data.cells import INT64_RANGE, Cells
from ..data.entry import open_container
from ..errors import ParameterOverflowError
from ._checks import miss, refuse_estimate, unshifted


def interval(
    noisy: Any,
    law: Any,
    confidence: object = 0.95,
    *,
    queries: int = 1,
    at_least: int | None = None,
    columns: object = None,
) -> tuple[Any, Any]:
    """Return an interval for each true count: noisy -+ the least radius that is sufficient.

    Parameters
    ----------
    noisy : list, tuple, dict, ndarray, or a column or table of another library
        Noisy counts, in a container that `discretegauss.add_noise` accepts.
    law : DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian or Skellam, or a sum of them
        The noise that was added to each count, with mu = 0. If clients added noise in shares it is
        ``law.sum(clients)``. Sums of DiscreteLaplace and GeneralizedGaussian must be narrow: a
        standard deviation up to 10, or up to 50 for 50 clients.
    confidence : number, optional
        The probability that an interval holds its count; a float means its binary value.
    queries : int, optional
        The number of intervals that hold at once with this confidence. 1: each by itself, so among
        many some miss. The number of cells in all rows and columns: all of them hold.
    at_least : int, optional
        A public lower bound on all counts, such as 0. Intervals are cut there.
    columns : label, several labels, or selector of polars, optional
        The columns of a frame or table that hold noisy counts.

    Returns
    -------
    low, high : as `noisy`
        The count lies between them, ends included.

    Raises
    ------
    TypeError, ValueError, OverflowError
        If noisy has values that are not integers, or a parameter breaks its rule.

    Notes
    -----
    Guaranteed: P(abs(X) <= radius) >= confidence for every count, and no smaller radius has this.
    With little noise the probability is larger: .9576 for 95 % at sigma2 = 5. This costs no
    privacy, and cutting costs no confidence. An interval below `at_least` becomes that number.

    Examples
    --------
    >>> import discretegauss as dg
    >>> dg.estimate.interval([325, 3], dg.DiscreteGaussian(59.5), at_least=0)
    ([310, 0], [340, 18])
    """
    missed = miss(confidence, queries)
    if isinstance(law, SumOfDraws):
        radius = unshifted(law.law).sum(law.clients).interval(1 - missed)[1]
    else:
        radius = int(unshifted(law).isf(missed / 2))
    least = None if at_least is None else whole_number(at_least, "at_least", minimum=-(2**63))
    refuse_estimate(noisy, "noisy")
    container = open_container(noisy, columns, floats=True, name="noisy")
    low, high = (
        [_moved(cells, by, least) for cells in container.cells] for by in (-radius, radius)
    )
    return container.close(low), container.close(high)


def _moved(cells: Cells, by: int, least: int | None) -> NDArray[Any]:
    """Return max(integers + by, least); 0 at nulls."""
    integers, nulls, bounds = cells.integers, cells.nulls, cells.range
    numbers = integers if nulls is None else np.where(nulls, integers.dtype.type(0), integers)
    if integers.dtype != object:
        bounds = INT64_RANGE
    if bounds is not None and numbers.size:
        ends = int(numbers.min()) + by, int(numbers.max()) + by
        if not bounds[0] <= min(ends) <= max(ends) <= bounds[1]:
            raise ParameterOverflowError(
                "noisy with the radius of the interval must fit the type of its container; a list "
                "has room for any"
            )
    if integers.dtype == object:
        moved = numbers + by
    else:  # modulo 2**64 is exact, because the sum fits int64
        moved = (numbers.astype(np.uint64) + np.uint64(by % 2**64)).view(np.int64)
    if least is not None:
        np.maximum(moved, least, out=moved)
    if nulls is not None:
        moved[nulls] = 0
    return moved
