"""The command line: what its programs import, so that Ctrl-C is answered while it is loaded."""

from .._system.command_line import end_when_interrupted

end_when_interrupted()

# isort: split
from .entry import main, program  # noqa: E402

__all__ = ["main", "program"]
