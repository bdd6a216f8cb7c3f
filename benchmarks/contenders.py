"""Who draws the discrete Gaussian: this package in each way to call it, and the peers.

To add a contender, write a function that returns it, or a Missing, and name it in `ALL`.
"""

from __future__ import annotations

import importlib.util
import math
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import SystemRandom
from typing import Any

import numpy as np

import discretegauss as dg
from discretegauss import reference
from measure import Draw, repeated


class CannotRunError(Exception):
    """Raised by `prepare`: this contender cannot draw with this sigma; the text says why."""


@dataclass(frozen=True)
class Contender:
    """One way to draw: what it promises, and how to set it up for a sigma of 10**exponent."""

    name: str
    prepare: Callable[[int], Draw]
    """Set up outside the timed region; raises `CannotRunError` where it has nothing to offer."""

    exact: bool = True
    """Draws the law exactly: no float decides, nothing is rounded, saturated or cut."""

    secure: bool = True
    """Every bit comes from the operating system's generator, or from one keyed by it."""

    look: tuple[str, str] = ("0.4", ".")
    """Colour and marker in the picture."""

    note: str = ""
    """What a reader of its figures must know."""


@dataclass(frozen=True)
class Missing:
    """A contender that is not installed here, and the line that installs it."""

    name: str
    install: str


def need_int64(exponent: int) -> None:
    """Raise where 64 bits hold too few of the draws: all but 2^-128 lie within 14 sigma."""
    if 14 * 10**exponent >= 2**63:
        raise CannotRunError("its 64-bit result would saturate")


# --- this package


def _ours(name: str, look: tuple[str, str], **how: Any) -> Contender | Missing:
    if dg.build_info()["engine"] != "native":
        return Missing(name, "pip install . in a clone, with a C compiler")

    def prepare(exponent: int) -> Draw:
        wide = exponent > 15  # beyond int64: Python integers come out
        dtype = object if wide else np.int64
        return lambda n: dg.discrete_gaussian(10 ** (2 * exponent), n, dtype=dtype, **how)

    return Contender(name, prepare, look=look)


def default() -> Contender | Missing:
    return _ours("discretegauss, default", ("#0072B2", "o"))


def cells() -> Contender | Missing:
    return _ours("discretegauss, cells", ("#56B4E9", "s"), method="cells")


def getrandom() -> Contender | Missing:
    return _ours("discretegauss, getrandom", ("#009E73", "D"), source="getrandom")


def algorithms() -> Contender | Missing:
    return _ours("discretegauss, reference", ("#000000", "v"), method="reference")


def plain_python() -> Contender | Missing:
    """Return the engine of plain Python, which draws where there is no compiled core."""
    bits = reference.SystemBytes()

    def prepare(exponent: int) -> Draw:
        sigma2, mu = Fraction(10 ** (2 * exponent)), Fraction(0)
        return repeated(lambda: reference.discrete_gaussian(sigma2, mu, bits))

    return Contender("discretegauss, plain Python", prepare, look=("#0072B2", "p"))


# --- peers


def opendp() -> Contender | Missing:
    """Return OpenDP: a list of zeros in, which costs a twentieth of its time, and noise out."""
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
    """Return diffprivlib, whose scale is set directly and not solved for by a search in floats."""
    try:
        mechanism_class = diffprivlib_mechanism()
    except ImportError:
        return Missing("diffprivlib", "pip install diffprivlib")

    def prepare(exponent: int) -> Draw:
        if exponent > 3:
            raise CannotRunError("it takes about sigma steps for a draw and would never finish")
        mechanism = mechanism_class(epsilon=1, delta=1e-5, sensitivity=1)
        mechanism._scale = 10.0**exponent
        return repeated(lambda: mechanism.randomise(0))

    note = "decides by floats, one draw a call"
    return Contender("diffprivlib", prepare, exact=False, look=("#E69F00", "+"), note=note)


def diffprivlib_mechanism() -> Any:
    """Import diffprivlib's mechanism without its models.

    diffprivlib/__init__.py imports these, and they break with versions of scikit-learn that 0.6.6
    does not know. An empty package in its place lets the mechanism load alone, unchanged.
    """
    if "diffprivlib" not in sys.modules:
        spec = importlib.util.find_spec("diffprivlib")
        if spec is None or spec.submodule_search_locations is None:
            raise ImportError("No module named 'diffprivlib'")
        package = types.ModuleType("diffprivlib")
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules["diffprivlib"] = package
    from diffprivlib.mechanisms import GaussianDiscrete

    return GaussianDiscrete


def tumult() -> Contender | Missing:
    """Return Tumult Core's own sampler, one draw a call as its measurements make them."""
    try:
        from tmlt.core.random.discrete_gaussian import sample_dgauss
    except ImportError:
        return Missing("Tumult Core", "pip install tmlt.core")
    sample: Any = sample_dgauss

    def prepare(exponent: int) -> Draw:
        sigma2 = Fraction(10 ** (2 * exponent))
        return repeated(lambda: sample(sigma2))

    return Contender("Tumult Core", prepare, look=("#CC79A7", "^"))


def tf_privacy() -> Contender | Missing:
    """Return TensorFlow Privacy, which squares integers of the size of sigma in 64 bits."""
    try:
        import tensorflow as tf
        from tensorflow_privacy.privacy.dp_query import discrete_gaussian_utils
    except ImportError:
        return Missing("TensorFlow Privacy", "pip install tensorflow-privacy")
    sample: Any = discrete_gaussian_utils.sample_discrete_gaussian

    def prepare(exponent: int) -> Draw:
        if exponent > 9:
            raise CannotRunError("it takes sigma up to some 2^30 only")
        return lambda n: sample(scale=10**exponent, shape=(n,), dtype=tf.int64).numpy()

    note = "decides by 32-bit floats; its generator is not cryptographic"
    look = ("#9467BD", "P")
    return Contender("TensorFlow Privacy", prepare, exact=False, secure=False, look=look, note=note)


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


OURS = (default, cells, getrandom, algorithms)
ALL = (*OURS, opendp, diffprivlib, tumult, tf_privacy, paper, mkl, numpy)


def all_contenders() -> tuple[list[Contender], list[Missing]]:
    """Return those that can run here, and those that are not installed."""
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
