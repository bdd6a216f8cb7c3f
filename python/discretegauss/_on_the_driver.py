"""What `spark` and `dask` check and decide before a task runs: the noise, and where it goes."""

from __future__ import annotations

import os
from typing import Any

from ._inputs.messages import describe
from .data import add_noise
from .errors import ParameterTypeError, ParameterValueError
from .laws import DiscreteGaussian, Law


def checked_path(path: object, engine: str) -> str:
    """Return where to write; None is refused, for a lazy result would change."""
    if path is None:
        raise ParameterTypeError(
            f"path must name where the result is written: {engine} draws other noise each time "
            "that it computes a lazy result, so none is returned"
        )
    if not isinstance(path, str | os.PathLike):
        raise ParameterTypeError(f"path must be a string or a path, got {describe(path)}")
    name = os.fspath(path)
    if not isinstance(name, str) or not name or "\0" in name:
        raise ParameterValueError(f"path must name a folder, got {describe(name)}")
    return name


def noise_and_result(
    template: Any,
    law: Law | None,
    n_columns: int,
    *,
    budget: dict[str, Any],
    rows_per_person: int,
    disjoint: bool,
    options: dict[str, Any],
) -> tuple[Law, Any]:
    """Return the law of the noise, and what the cells become, of a table or array without rows.

    Parameters
    ----------
    template : Table, DataFrame or ndarray
        What gets noise, with its types and no rows: `data.add_noise` checks on it all that does not
        depend on the counts.
    law : Law or None
        As for `data.add_noise`.
    n_columns : int
        How many cells one person may change in a row.
    budget : dict
        rho, epsilon, delta and sensitivity.
    rows_per_person, disjoint
        As for `data.add_noise`.
    options : dict
        The other arguments of `data.add_noise`, which the tasks get, too.
    """
    source = options["source"]
    if not isinstance(source, str):
        raise ParameterTypeError(
            "source must be 'getrandom' or 'chacha20' here: each task would read a copy of any "
            f"other, and so the same bits, got {describe(source)}"
        )
    result = add_noise(
        template, law, **budget, rows_per_person=rows_per_person, disjoint=disjoint, **options
    )
    if law is None:
        from .privacy import calibrate  # workers load this module too

        queries = int(rows_per_person) * (1 if disjoint else n_columns)
        law = calibrate(DiscreteGaussian, **budget, queries=queries)
    return law, result
