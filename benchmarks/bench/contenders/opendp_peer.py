"""OpenDP (PyPI ``opendp``): the additive-noise measurements over 64-bit integers.

Its input is a list of zeros, so that its output is the noise. Turning that list into Rust's
vector and back costs it about a twentieth of its time (measured with scale 0).
"""

from __future__ import annotations

import math

from .base import Case, Contender, Draw, Missing, fits_int64

NAME = "OpenDP"


def contenders() -> list[Contender | Missing]:
    """OpenDP, if it is installed."""
    try:
        import opendp.prelude as dp
    except ImportError as error:
        return [Missing(NAME, str(error), "pip install opendp")]
    dp.enable_features("contrib")

    def prepare(case: Case) -> Draw:
        vector = case.shape == "vector"
        atom = dp.atom_domain(T="i64")
        domain = dp.vector_domain(atom) if vector else atom
        if case.law == "gaussian":
            metric = dp.l2_distance(T=float) if vector else dp.absolute_distance(T=float)
            measure = dp.m.make_gaussian(domain, metric, scale=math.sqrt(case.parameter))
        else:
            metric = dp.l1_distance(T="i64") if vector else dp.absolute_distance(T="i64")
            measure = dp.m.make_laplace(domain, metric, scale=float(case.parameter))

        def draw_vector(n: int) -> object:
            return measure([0] * n)

        def draw_scalars(n: int) -> None:
            for _ in range(n):
                measure(0)

        return draw_vector if vector else draw_scalars

    # It samples exactly, but its 64-bit output saturates: at sigma2 = 10^100, every draw.
    return [Contender(NAME, secure=True, prepare=prepare, exact=fits_int64)]
