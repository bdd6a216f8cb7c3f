"""Makes what tests share importable here: import it before `parts`."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests" / "support"))
