"""The draws of ``discretegauss sample``, written a chunk at a time."""

from __future__ import annotations

import argparse
from pathlib import Path

from .._inputs.messages import describe
from .._system.atomic_file import atomic_write
from ..errors import OutputError, ParameterOverflowError, ParameterTypeError
from ..laws import DiscreteGaussian, DiscreteLaplace, GeneralizedGaussian, Law
from ..release import checked_destination, column_file, unbuffered_stdout
from .options import given
from .output import printed

_CHUNK = 2**18
"""Draws at a time: their bytes and their text stay in the cache, or near."""

_OF_LAW = ("sigma2", "sigma", "scale", "beta")
_ENDINGS = (".npy", ".parquet", ".arrow", ".csv", ".txt", "")


def write_sample(arguments: argparse.Namespace) -> int:
    """Run the command, and return its exit code."""
    law = _law(arguments, arguments.mu or 0)
    try:
        chunks = law.stream(
            arguments.size,
            _CHUNK,
            progress=True,
            source=arguments.source,
            threads=arguments.threads or 1,
        )
    except ParameterOverflowError:  # whose words are about a dtype
        rule = "the law must keep to 64-bit integers with a probability above 1 - 2**-128"
        options = ((name, getattr(arguments, name)) for name in (*_OF_LAW, "mu"))
        got = " ".join(
            f"--{name} {describe(value)}" for name, value in options if value is not None
        )
        raise ParameterOverflowError(f"{rule}, got {got}") from None
    if arguments.out == "-":
        with (
            unbuffered_stdout() as sink,
            column_file(sink, "", "noise", arguments.size) as append,
        ):
            for draws in chunks:
                append(draws)
        return 0
    out = Path(arguments.out)
    if out.suffix.lower() not in _ENDINGS:
        known = ", ".join(ending for ending in _ENDINGS if ending)
        raise OutputError(
            f"--out: must end in one of {known}, or have no ending, got {describe(str(out))}"
        )
    destination = checked_destination(None, out, force=arguments.force)
    try:
        with (
            atomic_write(
                destination, replace=arguments.force, before_placing=arguments.hold_signals
            ) as sink,
            column_file(sink, out.suffix.lower(), "noise", arguments.size) as append,
        ):
            for draws in chunks:
                append(draws)
    except FileExistsError:  # since it was looked for
        raise OutputError(f"{out}: exists already; use --force to replace it") from None
    return printed(
        f"{arguments.size} draws of {law} are written to {out}",
        f"{out} is written, but that could not be printed",
    )


def _law(arguments: argparse.Namespace, mu: object) -> Law:
    parameters = [arguments.sigma2, arguments.sigma, arguments.scale]
    beta_alone = arguments.scale is None and arguments.beta is not None
    if sum(value is not None for value in parameters) != 1 or beta_alone:
        rule = "give one of --sigma2, --sigma and --scale, and --beta only with --scale"
        raise ParameterTypeError(f"{rule}; got {' and '.join(given(arguments, _OF_LAW)) or 'none'}")
    if arguments.scale is None:
        return DiscreteGaussian(arguments.sigma2, mu, sigma=arguments.sigma)
    if arguments.beta is None:
        return DiscreteLaplace(arguments.scale, mu)
    return GeneralizedGaussian(arguments.scale, arguments.beta, mu)
