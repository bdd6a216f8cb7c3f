"""discretegauss itself: the native engine and its plain-Python twin."""

from __future__ import annotations

from fractions import Fraction

from contenders.base import Case, Contender, Draw, Missing, always

NATIVE = "discretegauss"
DEFAULT = "discretegauss, default"
TWIN = "discretegauss twin"


def contenders() -> list[Contender | Missing]:
    """The compiled engine with getrandom, and the same algorithms in plain Python."""
    return [*_native(), _twin()]


def _native() -> list[Contender | Missing]:
    """Algorithms 1-3; and a single draw as users ask for it, by the isochronous sampler."""
    try:
        import numpy as np

        import discretegauss as dg
    except ImportError as error:
        return [Missing(NATIVE, str(error))]
    engine = dg.build_info()["engine"]
    if engine != "native":
        return [Missing(NATIVE, f"the engine in use is {engine!r}, not the compiled one")]

    def prepare(case: Case) -> Draw:
        sample = dg.discrete_gaussian if case.law == "gaussian" else dg.discrete_laplace
        wide = case.parameter.bit_length() > 100  # past int64: Python integers come out

        def draw_vector(n: int) -> object:
            return sample(case.parameter, n, dtype=object if wide else np.int64, method="reference")

        def draw_scalars(n: int) -> None:
            for _ in range(n):
                sample(case.parameter, method="reference")

        return draw_vector if case.shape == "vector" else draw_scalars

    def prepare_default(case: Case) -> Draw:
        sample = dg.discrete_gaussian if case.law == "gaussian" else dg.discrete_laplace

        def draw_scalars(n: int) -> None:
            for _ in range(n):
                sample(case.parameter)

        return draw_scalars

    return [
        Contender(NATIVE, secure=True, prepare=prepare, exact=always),
        Contender(DEFAULT, secure=True, prepare=prepare_default, exact=always, shapes=("scalar",)),
    ]


def _twin() -> Contender | Missing:
    try:
        from discretegauss import reference
    except ImportError as error:
        return Missing(TWIN, str(error))

    def prepare(case: Case) -> Draw:
        source = reference.SystemBytes()
        parameter, mu = Fraction(case.parameter), Fraction(0)
        sample = (
            reference.discrete_gaussian if case.law == "gaussian" else reference.discrete_laplace
        )

        def draw(n: int) -> object:
            return [sample(parameter, mu, source) for _ in range(n)]

        return draw

    return Contender(TWIN, secure=True, prepare=prepare, exact=always)
