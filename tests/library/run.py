"""Install the C library into a new folder, and use it there as other programs would.

    python tests/library/run.py WORK [--against TREE]

It needs cmake, gcc, pkg-config, rustc, R and abidiff. The symbols of both libraries must be those
of the installed headers, and programs in C, Rust and R must draw the published vectors. abidiff
must find nothing that a program linked to TREE's library would miss, and must find a planted
difference.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "oracles"))
from keystream import Tape, key_tape  # noqa: E402

KINDS = ["bernoulli", "uniform_below", "bernoulli_exp", "geometric_exp"]
KINDS += ["discrete_laplace", "discrete_gaussian", "generalized_gaussian"]
PARAMETERS = ("p", "n_values", "gamma", "scale", "sigma2")
METHODS = [("fills", 0), ("algorithms", 1), ("tables", 2), ("fills", 3)]
"""Sections of the file and the methods that draw them; 0: that of the law."""
MOST = 2**53
"""What R's numbers hold."""


def run(*command: str | Path, **how: Any) -> str:
    """Run a program, which must succeed, and return what it prints."""
    arguments = list(map(str, command))
    done = subprocess.run(arguments, check=False, stdout=subprocess.PIPE, text=True, **how)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.returncode}\n{done.stdout[-2000:]}")
    return str(done.stdout)


def installed(tree: Path, work: Path) -> Path:
    """Build the libraries of a tree and install them; return the prefix."""
    build, prefix = work / "build", work / "prefix"
    options = ["-DDG_GMP=SYSTEM", "-DDG_INSTALL=ON", "-DCMAKE_INSTALL_LIBDIR=lib"]
    run("cmake", "-S", tree, "-B", build, *options, "-DCMAKE_C_FLAGS=-g")
    run("cmake", "--build", build, "-j", str(os.cpu_count()))
    run("cmake", "--install", build, "--prefix", prefix)
    return prefix


def symbols(*arguments: str | Path) -> set[str]:
    """Return the global symbols that a library defines."""
    lines = run("nm", "--defined-only", *arguments).splitlines()
    return {line.split()[-1] for line in lines if len(line.split()) == 3}


def check_symbols(prefix: Path) -> None:
    """Check that the shared library has the header's functions, the static one only dg_ names."""
    headers = sorted((prefix / "include").iterdir())
    if [path.name for path in headers] != ["discretegauss.h", "discretegauss_mechanisms.h"]:
        sys.exit(f"installed headers: {headers}")
    text = "".join(path.read_text(encoding="utf-8") for path in headers)
    public = set(re.findall(r"^DG_API [^(]*?(\w+)\(", text, re.M))
    shared = symbols("-D", prefix / "lib/libdiscretegauss.so.0.1")
    assert public, "no functions in the header"
    if shared != public:
        sys.exit(f"exported, but not in the headers, or the other way: {sorted(shared ^ public)}")
    static = symbols("-g", prefix / "lib/libdiscretegauss.a")
    others = [name for name in static if not name.startswith("dg_")]
    if others or not public <= static:
        sys.exit(f"symbols of the static library: {others}, {sorted(public - static)}")
    print(f"symbols: {len(shared)} exported, those of the headers; {len(static)} in the other one")


def vectors() -> list[dict[str, Any]]:
    """Return the vectors that a sampler draws and whose numbers fit all programs."""
    file = json.loads((HERE.parent / "vectors/vectors.json").read_text(encoding="ascii"))
    found = []
    for section, method in METHODS:
        for case in file[section]:
            texts = [case[name] for name in PARAMETERS if name in case]
            texts += [case.get("mu", "0"), case.get("beta", "1")]
            numbers = [n for text in texts for n in Fraction(text).as_integer_ratio()]
            fits = max(map(abs, numbers)) < MOST and Fraction(texts[0]) < 2**40
            if fits and case.get("index_bits", 16) == 16:
                found.append(case | {"texts": texts, "method": method})
    assert {case["method"] for case in found} == {method for _, method in METHODS}
    assert {case["law"] for case in found} == set(KINDS)
    return found


def line_of(case: dict[str, Any]) -> str:
    """Return a vector in the form that the programs read.

    Kind, method, number of draws; parameter, mu, beta; the number of bytes, and the bytes.
    """
    tape = (
        Tape(bytes.fromhex(case["tape"]))
        if "tape" in case
        else key_tape(bytes.fromhex(case["chacha20_key"]))
    )
    data = tape.read(case["bytes_used"])
    numbers = [KINDS.index(case["law"]), case["method"], case["n"]]
    return " ".join([*map(str, numbers), *case["texts"], str(len(data)), data.hex()])


def check_draws(
    name: str, command: list[str | Path], cases: list[dict[str, Any]], lines: str
) -> None:
    """Check that a program draws the vectors."""
    drawn = run(*command, input=lines).split()
    for case in cases:
        own, drawn = drawn[: case["n"]], drawn[case["n"] :]
        digest = hashlib.sha256("".join(f"{draw}\n" for draw in own).encode()).hexdigest()
        if digest != case["draws_sha256"]:
            sys.exit(f"{name}: other draws than those of {case}")
    if drawn:
        sys.exit(f"{name}: more draws than asked for")
    print(f"{name}: {len(cases)} vectors")


def check_readme(prefix: Path, work: Path) -> None:
    """Check the program of csrc/README.md, compiled by its command, and one wrong number."""
    readme = (ROOT / "csrc/README.md").read_text(encoding="utf-8")
    code = re.findall(r"^```c\n(.*?)^```", readme, re.M | re.S)[0]
    command = re.findall(r"^cc noise.c.*$", readme, re.M)[0]
    folder = work / "readme"
    folder.mkdir()
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    environment |= {"PREFIX": str(prefix), "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    for sigma2, code_wanted, lines in (("100", 0, 5), ("200", 0, 5), ("-200", 1, 0)):
        (folder / "noise.c").write_text(code.replace('"100"', f'"{sigma2}"'), encoding="utf-8")
        run("sh", "-ec", command, cwd=folder, env=environment)
        done = subprocess.run(
            [folder / "noise"], check=False, capture_output=True, text=True, env=environment
        )
        said = done.stdout.split(), bool(done.stderr)
        if (done.returncode, len(said[0]), said[1]) != (code_wanted, lines, code_wanted == 1):
            sys.exit(f"csrc/README.md, sigma2 = {sigma2}: {done}")
    print("csrc/README.md: its program draws, and says what is wrong")


def programs(prefix: Path, work: Path) -> dict[str, list[str | Path]]:
    """Build the programs, and return the command of each."""
    library = prefix / "lib"
    os.environ["PKG_CONFIG_PATH"] = str(library / "pkgconfig")
    os.environ["LD_LIBRARY_PATH"] = str(library)

    def flags(*options: str) -> list[str]:
        return shlex.split(run("pkg-config", *options, "discretegauss"))

    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    shared, static = work / "draw", work / "draw_static"
    run("gcc", *warnings, HERE / "draw.c", *flags("--cflags", "--libs"), "-o", shared)
    check_readme(prefix, work)
    from_archive = shlex.split("-Wl,-Bstatic -ldiscretegauss -Wl,-Bdynamic")
    libraries = [flag for flag in flags("--static", "--libs") if flag != "-ldiscretegauss"]
    static_flags = [*flags("--cflags", "--libs-only-L"), *from_archive, *libraries]
    run("gcc", *warnings, HERE / "draw.c", *static_flags, "-o", static)
    rust_flags = ["-Dwarnings", "-O", *flags("--libs")]
    run("rustc", *rust_flags, HERE / "draw.rs", "-o", work / "draw_rust")
    makevars = {
        "PKG_CFLAGS": shlex.join(flags("--cflags")),
        "PKG_LIBS": shlex.join(flags("--libs")),
    }
    for name in ("draw_r.c", "tape.h"):
        (work / name).write_bytes((HERE / name).read_bytes())
    run("R", "CMD", "SHLIB", "draw_r.c", cwd=work, env=os.environ | makevars)
    where = f"-DCMAKE_PREFIX_PATH={prefix}"
    run("cmake", "-S", HERE, "-B", work / "by_cmake", where, "-DCMAKE_C_FLAGS=-Werror")
    run("cmake", "--build", work / "by_cmake")
    return {
        "C": [shared],
        "C, static": [static],
        "C, by find_package": [work / "by_cmake/draw_by_cmake"],
        "C, static, by find_package": [work / "by_cmake/draw_by_cmake_static"],
        "Rust": [work / "draw_rust"],
        "R": ["Rscript", HERE / "draw.R", work / "draw_r.so"],
    }


def abidiff(old: Path, new: Path, header: Path) -> tuple[bool, str]:
    """Return whether the new library breaks programs of the old one, and a report."""
    options = ["--headers-dir1", header, "--headers-dir2", header, "--drop-private-types"]
    arguments = ["abidiff", "--no-added-syms", *map(str, [*options, old, new])]
    done = subprocess.run(arguments, check=False, stdout=subprocess.PIPE, text=True)
    return done.returncode != 0, done.stdout


def check_abi(prefix: Path, work: Path, against: Path | None) -> None:
    """Check that no program misses anything, and that abidiff finds functions that are removed."""
    library, include = prefix / "lib/libdiscretegauss.so.0.1", prefix / "include"
    (work / "few").write_text("{ global: dg_sampler_*; local: *; };\n")
    options = [f"-Wl,--version-script={work / 'few'}", "-Wl,-soname=libdiscretegauss.so.0.1"]
    archive = ["-Wl,--whole-archive", f"{prefix}/lib/libdiscretegauss.a", "-Wl,--no-whole-archive"]
    planted = work / "libdiscretegauss.so.0.1"
    run("gcc", "-shared", *options, *archive, "-lmpfr", "-lgmp", "-o", planted)
    if not abidiff(library, planted, include)[0]:
        sys.exit("abidiff does not see that functions are gone")
    if against is None:
        print("abidiff: sees functions that are gone; there is nothing to compare with")
        return
    old = installed(against, work / "against") / "lib/libdiscretegauss.so"
    is_broken, report = abidiff(old, prefix / "lib/libdiscretegauss.so", include)
    print(report or "abidiff: no difference")
    if is_broken and old.resolve().name.split(".so.")[1][0] != "0":
        sys.exit("programs linked to the old library would break: raise the major version")


def main() -> None:
    """Run all checks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--against", type=Path, metavar="TREE")
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True)
    prefix = installed(ROOT, work)
    check_symbols(prefix)
    cases = vectors()
    lines = "".join(f"{line_of(case)}\n" for case in cases)
    for name, command in programs(prefix, work).items():
        check_draws(name, command, cases, lines)
    check_abi(prefix, work, given.against)


if __name__ == "__main__":
    main()
