"""Noise in the tasks of a cluster, for `spark` and `dask`. The law is chosen before any task."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from .._inputs.keywords import hint_for
from .._inputs.messages import describe
from .._inputs.paths import path_text
from ..errors import ParameterTypeError
from ..laws import Law
from .addition import AddOptions, noisy
from .entry import Who, check_law, law_for, open_container


class TaskNoise(NamedTuple):
    """The noise of all tasks. Each task gets only this object."""

    law: Law
    how: AddOptions

    def added_to(self, values: Any, columns: object = None) -> Any:
        """Return values with noise, as `add_noise` does."""
        container = open_container(values, columns, floats=self.how.floats)
        return container.close(noisy(container.cells, self.law, self.how))


def noise_of_tasks(
    template: Any,
    law: Law | None,
    *,
    rho: object = None,
    epsilon: object = None,
    delta: object = None,
    sensitivity: object = 1,
    rows_per_person: int = 1,
    disjoint: bool = False,
    integral_floats: bool = False,
    **options: Any,
) -> tuple[TaskNoise, Any]:
    """Return the noise of tasks, and the template with noise.

    The template has the values' types without rows. All checks that do not depend on the counts are
    made on it. The other arguments are those of `add_noise`.
    """
    known = (
        inspect.signature(noise_of_tasks).parameters.keys() | AddOptions.__dataclass_fields__.keys()
    )
    for name in options:
        if name not in known - {"template", "options", "floats"}:
            raise ParameterTypeError(
                f"add_noise() has no parameter {name!r}{hint_for(name, known)}"
            )
    how = AddOptions(floats=integral_floats, **options)
    if not isinstance(how.source, str):
        raise ParameterTypeError(
            "source must be 'getrandom' or 'chacha20' here: each task would read a copy of any "
            f"other, and so the same bits, got {describe(how.source)}"
        )
    check_law(law)
    container = open_container(template, floats=how.floats)
    budget = {"rho": rho, "epsilon": epsilon, "delta": delta}
    who = Who(sensitivity, rows_per_person, disjoint)
    noise = TaskNoise(law_for(template, container, law, budget, who), how)
    return noise, container.close(noisy(container.cells, *noise))


def result_path(path: object, engine: str) -> str:
    """Return the path of the result; refuse None, because a lazy result would change."""
    if path is None:
        raise ParameterTypeError(
            f"path must name the folder of the result, because {engine} would draw new noise each "
            "time that it computes a lazy result"
        )
    return path_text(path, "path", "a folder")
