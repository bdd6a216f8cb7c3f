"""``import discretegauss`` loads the modules that draw, and none that computes costs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from programs import ended, printed

import discretegauss as dg


def loaded_after(code: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after some code."""
    code = f"import sys; {code}; print(*sys.modules)"
    return set(printed(sys.executable, "-c", code).split())


COMPUTING = {f"discretegauss.{name}" for name in ("privacy", "release", "utility", "testing")}


def test_import_loads_what_draws_need_and_no_more() -> None:
    """A draw loads nothing that the import has not loaded."""
    loaded = loaded_after("import discretegauss as d") - loaded_after("import numpy")
    assert "discretegauss._drawing.native" in loaded or dg.build_info()["engine"] == "python"
    assert not loaded & (COMPUTING | {"gmpy2", "importlib.metadata", "numpy.ma"})
    after = loaded_after("import discretegauss as d; d.discrete_gaussian('1/3', 9)")
    assert {name for name in after - loaded if name.startswith(("discretegauss", "gmpy2"))} == set()


def test_what_computes_is_loaded_when_it_is_named() -> None:
    """An attribute or ``from`` names it. Another name is an AttributeError."""
    for line in (
        "d.privacy.delta(d.DiscreteGaussian(1), 1)",
        "from discretegauss import privacy; privacy.rho(d.DiscreteGaussian(1))",
    ):
        assert {"discretegauss.privacy", "gmpy2"} <= loaded_after(
            f"import discretegauss as d; {line}"
        )
    assert set(dg.__all__) <= set(dir(dg))
    with pytest.raises(AttributeError, match="no attribute 'discrete_cauchy'"):
        dg.discrete_cauchy  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.usefixtures("native_engine")
def test_an_mpfr_whose_threads_share_their_state_is_refused(tmp_path: Path) -> None:
    """Threads would change each other's range of exponents. A shim reports such an MPFR."""
    maps = "import discretegauss; print(open('/proc/self/maps').read())"
    if "libmpfr" not in printed(sys.executable, "-c", maps):  # no cover: a static libmpfr
        pytest.skip("libmpfr is part of the extension")
    source, library = tmp_path / "shared.c", tmp_path / "shared.so"
    source.write_text("int mpfr_buildopt_tls_p(void) { return 0; }\n")
    printed("cc", "-shared", "-fPIC", "-o", library, source)
    preloaded = os.environ | {"LD_PRELOAD": str(library)}
    done = ended(sys.executable, "-c", "import discretegauss", env=preloaded)
    assert done.returncode == 1
    assert "ImportError: the compiled core needs a thread-safe MPFR, but the libmpfr" in done.stderr
