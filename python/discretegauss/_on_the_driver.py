"""What `spark` and `dask` check and decide before a task runs: the noise, and where it goes."""

from __future__ import annotations

from typing import Any

from ._inputs.draw_arguments import CHACHA20
from ._inputs.messages import describe
from ._inputs.paths import path_text
from .data import add_noise, noise_for
from .data.entry import AskedAnywhere
from .errors import ParameterTypeError
from .laws import Law

_OF_TASKS = {"overflow", "modulus", "integral_floats", "method", "source"}


def checked_path(path: object, engine: str) -> str:
    """Return where to write; None is refused, for a lazy result would change."""
    if path is None:
        raise ParameterTypeError(
            f"path must name where the result is written: {engine} draws other noise each time "
            "that it computes a lazy result, so none is returned"
        )
    return path_text(path, "path", "a folder")


def noise_and_result(
    template: Any, law: Law | None, asked: AskedAnywhere
) -> tuple[Law, dict[str, Any], Any]:
    """Return the law of the noise, the other arguments of tasks, and what the cells become.

    Parameters
    ----------
    template : Table, DataFrame or ndarray
        What gets noise, with its types and no rows: `data.add_noise` checks on it all that does not
        depend on the counts.
    law : Law or None
        As for `data.add_noise`.
    asked : dict
        What that was asked for by name.
    """
    for name in ("person", "by"):
        if name in asked:
            raise ParameterTypeError(
                f"{name} goes with values that are held, as tasks cannot tell whether their rows "
                "differ; release.Plan has the law of such a table"
            )
    source = asked.get("source", CHACHA20)
    if not isinstance(source, str):
        raise ParameterTypeError(
            "source must be 'getrandom' or 'chacha20' here: each task would read a copy of any "
            f"other, and so the same bits, got {describe(source)}"
        )
    result = add_noise(template, law, **asked)
    options = {name: value for name, value in asked.items() if name in _OF_TASKS}
    not_of_law = _OF_TASKS - {"integral_floats"}
    of_law: Any = {name: value for name, value in asked.items() if name not in not_of_law}
    return noise_for(template, law, **of_law), options, result
