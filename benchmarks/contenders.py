"""The contenders that draw the discrete Gaussian: this package's methods, and its peers.

To add one, write a function that returns a Contender or a Missing, and name it in `ALL`.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from random import SystemRandom
from typing import Any

import numpy as np

import discretegauss as dg
from discretegauss import reference
from measure import Draw, repeated


class CannotRunError(Exception):
    """Raised by `prepare` if the contender cannot draw with this sigma; the text says why."""


@dataclass(frozen=True)
class Contender:
    """A method of drawing, its promises, and how to set it up for a sigma of 10**exponent."""

    name: str
    prepare: Callable[[int], Draw]
    """Sets up, outside of the timed region; raises `CannotRunError`."""

    exact: bool = True
    """Whether it draws the law exactly: no float decides, nothing is rounded, saturated or cut."""

    secure: bool = True
    """Whether every bit comes from the operating system's generator, or from one keyed by it."""

    look: tuple[str, str] = ("0.4", ".")
    """Colour and marker in the picture."""

    note: str = ""
    """Printed below the figures."""


@dataclass(frozen=True)
class Missing:
    """A contender that is not installed here, and the line that installs it."""

    name: str
    install: str


def need_int64(exponent: int) -> None:
    """Raise if a draw might not fit 64 bits: all but 2^-128 of them lie within 14 sigma."""
    if 14 * 10**exponent >= 2**63:
        raise CannotRunError("its 64-bit result would saturate")


def _ours(name: str, look: tuple[str, str], **how: Any) -> Contender | Missing:
    if dg.build_info()["engine"] != "native":
        return Missing(name, "pip install . in a clone, with a C compiler")

    def prepare(exponent: int) -> Draw:
        wide = exponent > 15  # beyond int64: Python integers come out
        dtype = object if wide else np.int64
        return lambda n: dg.discrete_gaussian(10 ** (2 * exponent), n, dtype=dtype, **how)

    return Contender(name, prepare, look=look)


def plain_python() -> Contender | Missing:
    """Return the engine of plain Python, which draws if there is no compiled core."""
    bits = reference.SystemBytes()

    def prepare(exponent: int) -> Draw:
        sigma2, mu = Fraction(10 ** (2 * exponent)), Fraction(0)
        return repeated(lambda: reference.discrete_gaussian(sigma2, mu, bits))

    return Contender("discretegauss, plain Python", prepare, look=("#0072B2", "p"))


def opendp() -> Contender | Missing:
    """Return OpenDP. Making its list of zeros takes a twentieth of the time."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return Missing("OpenDP", "pip install opendp")
    dp.enable_features("contrib")

    def prepare(exponent: int) -> Draw:
        need_int64(exponent)
        domain = dp.vector_domain(dp.atom_domain(T="i64"))
        measure = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=10.0**exponent)
        return lambda n: measure([0] * n)

    return Contender("OpenDP", prepare, look=("#D55E00", "x"))


def diffprivlib() -> Contender | Missing:
    """Return diffprivlib. Its scale is set directly, instead of by a search in floats.

    An empty package stands in the place of diffprivlib/__init__.py, which imports models that break
    with a new scikit-learn.
    """
    spec = None
    if "diffprivlib" not in sys.modules:
        spec = importlib.util.find_spec("diffprivlib")
    if spec is not None and spec.submodule_search_locations is not None:
        sys.modules["diffprivlib"] = package = types.ModuleType("diffprivlib")
        package.__path__ = list(spec.submodule_search_locations)
    try:
        from diffprivlib.mechanisms import GaussianDiscrete
    except ImportError:
        return Missing("diffprivlib", "pip install diffprivlib")

    def prepare(exponent: int) -> Draw:
        if exponent > 3:
            raise CannotRunError("it takes about sigma steps for a draw and would never finish")
        mechanism: Any = GaussianDiscrete(epsilon=1, delta=1e-5, sensitivity=1)
        mechanism._scale = 10.0**exponent
        return repeated(lambda: mechanism.randomise(0))

    note = "decides by floats, one draw a call"
    return Contender("diffprivlib", prepare, exact=False, look=("#E69F00", "+"), note=note)


def tumult() -> Contender | Missing:
    """Return Tumult Core's own sampler, which its measurements call once for each draw."""
    try:
        from tmlt.core.random.discrete_gaussian import sample_dgauss
    except ImportError:
        return Missing("Tumult Core", "pip install tmlt.core")
    sample: Any = sample_dgauss

    def prepare(exponent: int) -> Draw:
        sigma2 = Fraction(10 ** (2 * exponent))
        return repeated(lambda: sample(sigma2))

    return Contender("Tumult Core", prepare, look=("#CC79A7", "^"))


def paper() -> Contender | Missing:
    """Return Algorithms 1-3 of the paper as a reader would type them, below."""

    def prepare(exponent: int) -> Draw:
        sigma2 = Fraction(10 ** (2 * exponent))
        return repeated(lambda: gaussian_of_the_paper(sigma2))

    return Contender("paper, plain Python", prepare, look=("#8C564B", "*"))


ROUNDED = "a rounded float, not the discrete Gaussian; its generator is not cryptographic"


def mkl() -> Contender | Missing:
    name = "mkl_random rint(normal)"
    try:
        import mkl_random
    except ImportError:
        return Missing(name, "pip install mkl_random")
    state: Any = mkl_random.MKLRandomState(brng="SFMT19937")

    def prepare(exponent: int) -> Draw:
        need_int64(exponent)
        sigma = 10.0**exponent
        return lambda n: np.rint(state.normal(0.0, sigma, n, method="ICDF")).astype(np.int64)

    return Contender(name, prepare, exact=False, secure=False, look=("#7F7F7F", "2"), note=ROUNDED)


def numpy() -> Contender | Missing:
    generator = np.random.default_rng()

    def prepare(exponent: int) -> Draw:
        need_int64(exponent)
        sigma = 10.0**exponent
        return lambda n: np.rint(generator.normal(0.0, sigma, n)).astype(np.int64)

    name, look = "numpy rint(normal)", ("#BCBD22", "1")
    return Contender(name, prepare, exact=False, secure=False, look=look, note=ROUNDED)


OURS = (
    partial(_ours, "discretegauss, default", ("#0072B2", "o")),
    partial(_ours, "discretegauss, cells", ("#56B4E9", "s"), method="cells"),
    partial(_ours, "discretegauss, getrandom", ("#009E73", "D"), source="getrandom"),
    partial(_ours, "discretegauss, reference", ("#000000", "v"), method="reference"),
)
ALL = (*OURS, opendp, diffprivlib, tumult, paper, mkl, numpy)


def all_contenders() -> tuple[list[Contender], list[Missing]]:
    """Return the contenders that can run here, and those that are not installed."""
    found = [contender() for contender in ALL]
    if isinstance(found[0], Missing):  # no compiled core
        found.append(plain_python())
    return (
        [one for one in found if isinstance(one, Contender)],
        [one for one in found if isinstance(one, Missing)],
    )


# --- Algorithms 1-3 of Canonne, Kamath and Steinke (arXiv 2004.00010), with nothing tuned

_random = SystemRandom()


def bernoulli(p: Fraction) -> bool:
    """Return True with probability p, for a rational p in [0, 1]."""
    return _random.randrange(p.denominator) < p.numerator


def bernoulli_exp(gamma: Fraction) -> bool:
    """Algorithm 1: True with probability exp(-gamma), for a rational gamma >= 0."""
    if gamma > 1:
        for _ in range(math.floor(gamma)):
            if not bernoulli_exp(Fraction(1)):
                return False
        return bernoulli_exp(gamma - math.floor(gamma))
    k = 1
    while bernoulli(gamma / k):
        k += 1
    return k % 2 == 1


def laplace_of_the_paper(t: int) -> int:
    """Algorithm 2: x with probability proportional to exp(-|x| / t)."""
    while True:
        u = _random.randrange(t)
        if not bernoulli_exp(Fraction(u, t)):
            continue
        v = 0
        while bernoulli_exp(Fraction(1)):
            v += 1
        magnitude, negative = u + t * v, bernoulli(Fraction(1, 2))
        if negative and magnitude == 0:
            continue  # or zero would be counted twice
        return -magnitude if negative else magnitude


def gaussian_of_the_paper(sigma2: Fraction) -> int:
    """Algorithm 3: x with probability proportional to exp(-x^2 / (2 sigma2))."""
    t = math.isqrt(math.floor(sigma2)) + 1
    while True:
        y = laplace_of_the_paper(t)
        if bernoulli_exp((abs(y) - sigma2 / t) ** 2 / (2 * sigma2)):
            return y
