"""Ask every GPU for known answers: ``verify --gpu``."""

from __future__ import annotations

from collections.abc import Iterator

from .._drawing.cuda import nvrtc, require_known_answer
from .._drawing.cuda_driver import Device, devices
from .._drawing.engines import core
from .._law import LawSpec, fits_range
from ..errors import ParameterValueError
from ._cases import fixed_cases, one_line

_BITS = {"int32": 31, "int64": 63}


def known_answers() -> Iterator[tuple[str, bool]]:
    """Return an iterator of each statement and whether it holds.

    Without the compiled core, cuda-core, its NVRTC, a driver or a GPU it raises an error.
    """
    core("noise on a GPU")
    nvrtc()
    return _answers(devices())


def _answers(of: list[Device]) -> Iterator[tuple[str, bool]]:
    for device in of:
        about = f"sm_{device.arch}, driver {device.driver}, NVRTC {nvrtc()[0]}"
        for spec in fixed_cases():
            for dtype, bits in _BITS.items():
                if fits_range(spec, -(2**bits), 2**bits - 1):
                    yield from _answer(device, about, spec, dtype)


def _answer(device: Device, about: str, spec: LawSpec, dtype: str) -> Iterator[tuple[str, bool]]:
    fact = f"{device.name} ({about}) draws the CPU's {one_line(spec)}, {dtype}"
    try:
        require_known_answer(device, spec, dtype)
    except ParameterValueError:  # a law that no GPU draws
        return
    except (MemoryError, RuntimeError) as error:
        yield f"{fact}: {error}", False
    else:
        yield fact, True
