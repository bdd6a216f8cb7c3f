"""Programs that do nothing but load the package, or show a help text, against numpy's import."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator

from calls_rows import Question, Sides

PROGRAMS = {
    "import discretegauss": ("-c", "import discretegauss"),
    "python -m discretegauss --help": ("-m", "discretegauss", "--help"),
}


def questions() -> Iterator[Question]:
    """Every row about what is loaded: a process each, the interpreter's start included."""
    for name, arguments in PROGRAMS.items():

        def sides(arguments: tuple[str, ...] = arguments) -> Sides:
            return Sides(process(*arguments), process("-c", "import numpy"))

        yield Question(name, "import numpy", sides, sense="at most", clock=of_children)


def of_children() -> float:
    """Processor time of the processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def process(*arguments: str) -> Callable[[], object]:
    """Return what runs an interpreter to its end."""
    command = [sys.executable, *arguments]
    return lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
