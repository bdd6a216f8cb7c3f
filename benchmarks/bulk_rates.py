"""The rows that compare rates: each group is measured in one set of interleaved rounds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bulk_peers
import discretegauss as dg
from bench.contenders import Draw
from bench.rounds import Rates, measure, measure_fixed
from bulk_rows import BulkRow, Group, Settings, power, ratio_row
from bulk_tables import gaussian_spec
from discretegauss._drawing.native import Call, c_texts
from discretegauss._inputs.source import Source
from discretegauss._law import LawSpec
from discretegauss._native import ffi, lib

NO_MKL = "mkl_random is not installed"
NO_OPENDP = "OpenDP is not installed"

SMALL = (1, 10, 30)
LARGE = (100, 1000, 10**4, 10**6)
SPREAD = (1, 2, 5, 10, 30, 100, 300, 1000, 10**4, 10**5, 10**6, 10**7, 10**8, 10**9)
LAPLACE_SCALES = (1, 10, 1000, 10**6)
BETAS = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4))
GENERALIZED_SCALES = (10, 1000)


def _fixed(draws: dict[str, Draw], n: int, settings: Settings) -> dict[str, Rates]:
    """Rates at n draws a call; the first calls, which build tables and touch memory, not timed."""
    for draw in draws.values():
        draw(n)
    return measure_fixed(draws, dict.fromkeys(draws, n), rounds=settings.rounds)


def _gaussian(sigma: int, out: NDArray[Any], source: Source = "chacha20") -> Draw:
    return lambda n: dg.discrete_gaussian(sigma**2, out=out[:n], source=source)


def _faster(rates: dict[str, Rates], *names: str) -> Rates | None:
    """The faster of several ways to call a peer; None where it is not installed."""
    found = [rates[name] for name in names if name in rates]
    return max(found, key=lambda rate: rate.median, default=None)


def gaussian(sigma: int, settings: Settings) -> Iterator[BulkRow]:
    """One sigma: both sources and the dtypes against numpy, mkl_random and getrandom(2)."""
    n = settings.draws
    small = sigma in SMALL
    out = np.empty(n, np.int64)
    counting = bulk_peers.CountingSource()
    sample = n // 10
    dg.discrete_gaussian(sigma**2, out=out[:sample], source=counting, method="cells")
    draws: dict[str, Draw] = {
        "numpy": bulk_peers.numpy_rint(sigma),
        "chacha20": _gaussian(sigma, out),
        "getrandom": _gaussian(sigma, out, "getrandom"),
        "getrandom(2)": bulk_peers.getrandom_alone(counting.used / sample),
        **bulk_peers.mkl_normals(sigma),
    }
    if small:
        for dtype in (np.int32, np.int16):
            draws[np.dtype(dtype).name] = _gaussian(sigma, np.empty(n, dtype))
    if sigma == 10:
        draws["new array"] = lambda n: dg.discrete_gaussian(100, n, source="chacha20")
    rates = _fixed(draws, n, settings)

    ours, numpy = rates["chacha20"], rates["numpy"]
    label = f"sigma={power(sigma)}"
    yield ratio_row(f"chacha20 int64 {label} / numpy", 9 if small else 7, ours, numpy)
    if small:
        for name in ("int32", "int16"):
            yield ratio_row(f"chacha20 {name} {label} / numpy", 14, rates[name], numpy)
    if sigma == 10:
        case = f"chacha20 int64 {label} new array in every call / numpy"
        yield ratio_row(case, 5, rates["new array"], numpy)
    if small:
        mkl = _faster(rates, "mkl normal", "mkl normal, pieces")
        case = f"chacha20 int64 {label} / mkl_random normal"
        yield ratio_row(case, 1.2, ours, mkl, note=NO_MKL if mkl is None else "")
    mkl = _faster(rates, "mkl rint", "mkl rint, pieces")
    case = f"chacha20 int64 {label} / mkl_random normal rounded"
    yield ratio_row(case, 2.5, ours, mkl, note=NO_MKL if mkl is None else "")

    case = f"getrandom int64 {label} / numpy"
    yield ratio_row(case, 2.7 if small else 1.5, rates["getrandom"], numpy)
    kernel = rates["getrandom(2)"]
    yield BulkRow(
        f"getrandom int64 {label}: time / getrandom(2) alone",
        1.35,
        kernel.ratio_to(rates["getrandom"]),
        "at most",
        note=f"{8 * counting.used / sample:.2f} bits a draw",
        ours=rates["getrandom"].by_round,
        peer=kernel.by_round,
    )


def other_loops(settings: Settings) -> Iterator[BulkRow]:
    """The loops of machines without AVX-512 VBMI2; ChaCha20 is this machine's best."""
    out = np.empty(settings.draws, np.int64)
    loops = {"AVX2": lib.DG_ISA_AVX2, "plain C": lib.DG_ISA_PORTABLE}
    for sigma in (*SMALL, *LARGE):
        draws = {"numpy": bulk_peers.numpy_rint(sigma)}
        for name, isa in loops.items():
            draw = _by_loop(gaussian_spec(sigma**2), isa, out)
            if draw is not None:
                draws[name] = draw
        rates = _fixed(draws, settings.draws, settings)
        for name in loops:
            case = f"chacha20 int64 sigma={power(sigma)}, loop in {name} / numpy"
            if name in rates:
                yield ratio_row(case, 1, rates[name], rates["numpy"])
            else:
                yield BulkRow(case, 1, None, note="not on this machine")


def _by_loop(spec: LawSpec, isa: int, out: NDArray[Any]) -> Draw | None:
    """Return fills from a table by an instruction set; None if this machine lacks it."""
    options = {"isa": isa, "index_bits": 16, "block_bits": -1}
    handle, given = ffi.new("dg_sampler **"), ffi.new("dg_options *", options)
    if lib.dg_sampler_new_with(handle, int(spec.kind), *c_texts(spec), lib.DG_CELLS, given):
        return None
    sampler = ffi.gc(handle[0], lib.dg_sampler_free)
    call, buffer = Call("chacha20"), ffi.from_buffer("char[]", out)
    return lambda n: call(lib.dg_sampler_fill, buffer, n, lib.DG_INT64, sampler)


def other_laws(settings: Settings) -> Iterator[BulkRow]:
    """Laplace and generalised Gaussian against the Gaussian whose variance is about theirs."""
    out = np.empty(settings.draws, np.int64)
    pairs: list[tuple[str, Draw, int]] = []
    for scale in LAPLACE_SCALES:
        pairs.append((f"Laplace scale={power(scale)}", _laplace(scale, out), 2 * scale**2))
    for beta in BETAS:
        for scale in GENERALIZED_SCALES:
            variance = scale**2 * math.gamma(3 / beta) / math.gamma(1 / beta)
            label = f"generalised Gaussian beta={beta} scale={scale}"
            pairs.append((label, _generalized(scale, beta, out), round(variance)))
    for label, draw, sigma2 in pairs:
        rates = _fixed({"law": draw, "gaussian": _of(sigma2, out)}, settings.draws, settings)
        case = f"chacha20 {label} / Gaussian"
        yield ratio_row(case, 0.8, rates["law"], rates["gaussian"])


def _laplace(scale: int, out: NDArray[Any]) -> Draw:
    return lambda n: dg.discrete_laplace(scale, out=out[:n], source="chacha20")


def _generalized(scale: int, beta: Fraction, out: NDArray[Any]) -> Draw:
    return lambda n: dg.generalized_gaussian(scale, beta, out=out[:n], source="chacha20")


def _of(sigma2: int, out: NDArray[Any]) -> Draw:
    return lambda n: dg.discrete_gaussian(sigma2, out=out[:n], source="chacha20")


def spread(settings: Settings) -> Iterator[BulkRow]:
    """The fastest sigma over the slowest, by the medians of one set of rounds."""
    out = np.empty(settings.draws, np.int64)
    draws = {power(sigma): _gaussian(sigma, out) for sigma in SPREAD}
    rates = _fixed(draws, settings.draws, settings)
    fastest = max(rates, key=lambda name: rates[name].median)
    slowest = min(rates, key=lambda name: rates[name].median)
    yield BulkRow(
        "chacha20 int64, time of the slowest sigma in 1..10^9 / the fastest",
        1.6,
        rates[fastest].median / rates[slowest].median,
        "at most",
        note=f"slowest {slowest}, fastest {fastest}",
        ours=rates[slowest].by_round,
        peer=rates[fastest].by_round,
    )


def opendp(settings: Settings) -> Iterator[BulkRow]:
    """OpenDP's vector call at sigma2 = 100, and at 10^100 (where it saturates) for objects."""
    out = np.empty(settings.draws, np.int64)
    objects = np.empty(settings.draws // 10, object)
    for case, sigma2, bound, draw, n in (
        ("chacha20 int64 sigma2=100 / OpenDP vector", 100, 2000, _gaussian(10, out), out.size),
        ("chacha20 int sigma2=10^100 / OpenDP", 10**100, 30, _of(10**100, objects), objects.size),
    ):
        rates = _fixed({"ours": draw}, n, settings)
        peer_draw = bulk_peers.opendp_vector(sigma2)
        if peer_draw is None:
            yield ratio_row(case, bound, rates["ours"], None, note=NO_OPENDP)
        else:
            count = _fitted(peer_draw, settings)
            rates = measure_fixed(
                {"ours": draw, "OpenDP": peer_draw},
                {"ours": n, "OpenDP": count},
                rounds=settings.rounds,
            )
            yield ratio_row(case, bound, rates["ours"], rates["OpenDP"])
        if sigma2 > 100:
            yield BulkRow(
                "chacha20 int sigma2=10^100, million a second",
                2.0,
                rates["ours"].median / 1e6,
                unit="million/s",
                note="the bound is for a quiet machine",
                ours=rates["ours"].by_round,
            )


def _fitted(draw: Draw, settings: Settings) -> int:
    """How many draws take one round's share of the time."""
    return measure({"": draw}, seconds=settings.seconds / settings.rounds, rounds=1)[
        ""
    ].draws_per_call


def threads(settings: Settings) -> Iterator[BulkRow]:
    """Two threads against one: narrow noise is written as fast as memory takes it, wide is not."""
    n = settings.draws_threads
    out = np.empty(n, np.int64)

    def by(count: int, sigma: int) -> Draw:
        return lambda n: dg.discrete_gaussian(
            sigma**2, out=out[:n], source="chacha20", threads=count
        )

    for sigma in (10, 1000):
        rates = _fixed({"2": by(2, sigma), "1": by(1, sigma)}, n, settings)
        wall, cpu = time.perf_counter(), time.process_time()
        by(2, sigma)(n)
        cores = (time.process_time() - cpu) / (time.perf_counter() - wall)
        case = f"chacha20 int64 sigma={power(sigma)}, {power(n)} draws, threads=2 / 1"
        # a neighbour's work on the other core, not ours, may be what this row shows
        note = f"two threads were given {cores:.2f} cores"
        yield ratio_row(case, 1.8, rates["2"], rates["1"], note=note)


def rate_groups() -> dict[str, Group]:
    """The groups by name, in the order of the project's table."""
    found: dict[str, Group] = {
        f"bulk gaussian sigma={power(sigma)}": _with_sigma(sigma) for sigma in (*SMALL, *LARGE)
    }
    return found | {
        "bulk other loops": other_loops,
        "bulk laws": other_laws,
        "bulk spread": spread,
        "bulk opendp": opendp,
        "bulk threads": threads,
    }


def _with_sigma(sigma: int) -> Group:
    return lambda settings: gaussian(sigma, settings)
