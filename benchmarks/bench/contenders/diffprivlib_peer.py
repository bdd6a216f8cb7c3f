"""diffprivlib's GaussianDiscrete: scalar calls only, float probabilities, SystemRandom's bits.

Its constructor takes (epsilon, delta) and solves for the scale by a float search; here the scale
is set directly, so that all contenders draw the same law. Its discrete Laplace (Geometric) is not
measured: it rounds a float logarithm.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import types

from .base import CannotRunError, Case, Contender, Draw, Missing, never

NAME = "diffprivlib"
LARGEST_SIGMA2 = 10**6
"""It counts up to about sigma one step at a time: at 10^50 it would never finish."""


def contenders() -> list[Contender | Missing]:
    """diffprivlib, if its mechanisms can be imported."""
    try:
        mechanism_class = import_mechanism()
    except ImportError as error:
        return [Missing(NAME, str(error), "pip install diffprivlib")]

    def prepare(case: Case) -> Draw:
        if case.parameter > LARGEST_SIGMA2:
            raise CannotRunError("it takes about sigma steps for a draw and would never finish")
        mechanism = mechanism_class(epsilon=1, delta=1e-5, sensitivity=1)
        mechanism._scale = math.sqrt(case.parameter)

        def draw(n: int) -> None:
            for _ in range(n):
                mechanism.randomise(0)

        return draw

    note = "decides by floats, one draw a call"
    return [
        Contender(NAME, secure=True, prepare=prepare, exact=never, laws=("gaussian",), note=note)
    ]


def import_mechanism() -> type:
    """Import the mechanism without the package's machine-learning half.

    diffprivlib/__init__.py imports its models, and those break with newer versions of
    scikit-learn that 0.6.6 does not know. An empty package module in its place lets the
    submodule load alone; the code measured is diffprivlib's, unchanged.
    """
    if NAME not in sys.modules:
        spec = importlib.util.find_spec(NAME)
        if spec is None or spec.submodule_search_locations is None:
            raise ImportError("No module named 'diffprivlib'")
        package = types.ModuleType(NAME)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[NAME] = package
    from diffprivlib.mechanisms import GaussianDiscrete

    mechanism: type = GaussianDiscrete
    return mechanism
