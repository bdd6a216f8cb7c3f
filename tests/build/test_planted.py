"""The positive control of the fuzz targets (fuzz/planted.py, twenty minutes) can still be run."""

from __future__ import annotations

import base64
import runpy
from pathlib import Path

FUZZ = Path(__file__).parents[1] / "fuzz"


def test_every_planted_fault_has_its_place_in_the_source() -> None:
    """Each line that a fault replaces is there, once."""
    faults = runpy.run_path(str(FUZZ / "planted.py"))["FAULTS"]
    assert len(faults) >= 18
    for fault in faults:
        source = (FUZZ.parents[1] / "csrc" / fault.file).read_text(encoding="utf-8")
        assert source.count(fault.old) == 1, fault.name


def test_every_fuzz_target_has_seeds() -> None:
    """A run in CI begins with inputs that reach most of the code, not with nothing."""
    targets = [file.stem.removeprefix("fuzz_") for file in FUZZ.glob("fuzz_*.c")]
    assert len(targets) >= 5
    for target in targets:
        lines = (FUZZ / "seeds" / f"{target}.txt").read_text(encoding="ascii").splitlines()
        assert len({base64.b64decode(line, validate=True) for line in lines}) >= 40, target
