"""The build has one definition of the C API, no floats, and libraries that are found.

These tests look at the installed package and at csrc/ of their clone.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import gmpy2
import pytest
from evidence_cases import evidence
from programs import ended, printed

import discretegauss

PACKAGE = Path(discretegauss.__file__).parent
CSRC = Path(__file__).resolve().parents[2] / "csrc"
CAN_CONFIGURE = shutil.which("cmake") is not None and shutil.which("make") is not None


@pytest.fixture(scope="module")
def native() -> ModuleType:
    """Return the extension, whatever DISCRETEGAUSS_PURE_PYTHON says."""
    from discretegauss import _native

    return _native


@pytest.fixture(scope="module")
def elf(native: ModuleType) -> Elf:
    return Elf(Path(native.__file__ or ""))


# --- one definition of the C API -------------------------------------------------------------


def declared(name: str) -> dict[str, ast.stmt]:
    """Return what a class in _native.pyi declares."""
    stub = ast.parse((PACKAGE / "_native.pyi").read_text(encoding="utf-8"))
    (named,) = (x for x in stub.body if isinstance(x, ast.ClassDef) and x.name == name)
    found: dict[str, ast.stmt] = {}
    for node in named.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


def test_the_stub_names_what_lib_and_ffi_have(native: ModuleType) -> None:
    """_native.pyi declares every name of ``lib`` and no other, and of ``ffi`` what it needs."""
    assert set(declared("_Lib")) == set(dir(native.lib))
    assert set(declared("_FFI")) <= set(dir(native.ffi))


def test_the_stub_has_the_signatures_of_lib(native: ModuleType) -> None:
    """A function in _native.pyi has the number of arguments and the kind of result of C's."""
    functions = {k: v for k, v in declared("_Lib").items() if isinstance(v, ast.FunctionDef)}
    assert functions
    for name, node in functions.items():
        c_type = native.ffi.typeof(getattr(native.lib, name))
        kinds = {"void": "None", "primitive": "int", "enum": "int"}
        kinds |= {"pointer": "_CData", "function": "_CData", "text": "bytes | _CData"}
        taken = ["text" if arg.cname == "char *" else arg.kind for arg in c_type.args]
        stub_args = [*node.args.posonlyargs, *node.args.args][1:]
        assert len(stub_args) == len(c_type.args), name
        assert [ast.unparse(arg.annotation) for arg in stub_args if arg.annotation] == [
            kinds[kind] for kind in taken
        ], name
        assert node.returns is not None
        assert ast.unparse(node.returns) == kinds[c_type.result.kind], name


def test_the_public_headers_stand_by_themselves() -> None:
    """Every function has a contract above it, without names that are declared elsewhere."""
    names, known = re.compile(r"\b(?:dg|DG)_\w+"), set[str]()
    for name in ("discretegauss.h", "discretegauss_mechanisms.h"):
        header = (CSRC / "include" / name).read_text(encoding="utf-8")
        above = re.findall(r"(.*)\nDG_API ", header)
        assert above
        assert [line for line in above if not line.endswith("*/")] == []
        known |= set(names.findall(COMMENT_OR_STRING.sub(" ", header)))
        assert set(names.findall(header)) - known == set()
    assert {"dg_sampler", "dg_selection"} <= known


def test_the_header_has_the_version_of_the_package_and_the_library_tells_it(native: Any) -> None:
    """So a C program can ask whether it runs with the library that it was compiled for."""
    header = (CSRC / "include" / "discretegauss.h").read_text(encoding="utf-8")
    assert re.findall(r'^#define DG_VERSION "(.*)"$', header, re.M) == [discretegauss.__version__]
    assert native.ffi.string(native.lib.dg_version()).decode() == discretegauss.__version__


# --- no floating point in the core -----------------------------------------------------------

COMMENT_OR_STRING = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.S | re.X
)
FLOAT = re.compile(
    r"""\b(?:float|double|_Float\w+|__float\w+|_Complex|_Decimal\w+)\b     # types
      | \b(?:math|tgmath|fenv|float|complex)\.h\b                          # headers
      | (?<![\w.])(?:0[xX][0-9a-fA-F.]+[pP][+-]?\d+                        # literals
                    |(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)
      | \bmpf_\w+                                                          # GMP's own floats
      | \b(?:mp[zq]|mpfr)_(?:\w+_)?(?:d|ld|flt|float128|decimal64|decimal128)(?:_\w+)?\b
    """,
    re.X,
)


def floats_in(source: str) -> list[str]:
    """Return the parts of a C source, outside comments and strings, that use floating point."""
    return FLOAT.findall(COMMENT_OR_STRING.sub(" ", source))


FLOATS = [
    *("double x;", "static inline float f(void)", "#include <math.h>", "int x = (int)(n * .5);"),
    *("x = 1e3;", "x = 0x1p-3;", "x = mpz_get_d(z);", "mpz_get_d_2exp(&e, z);"),
    *("mpfr_set_ld(x, y, MPFR_RNDN);", "mpfr_div_d(x, y, 3, MPFR_RNDN);"),
    'puts("/*"); double x; puts("*/");',
]
INTEGERS = [
    *("/* a double */ int x = 0x1e5; // float", 'puts("double 1.5");', "x = a.b + v[1].y;"),
    "mpz_tdiv_qr(q, r, n, d); mpz_divisible_p(n, d); mpfr_exp(x, y, MPFR_RNDD);",
]


def test_the_float_scanner_finds_floats_only() -> None:
    """It finds one in each of the first, and none in integer code, comments and strings."""
    assert all(map(floats_in, FLOATS))
    assert not any(map(floats_in, INTEGERS))


def test_no_float_in_the_c_sources() -> None:
    """No C file except numpy's interface has a float's type, literal, header or conversion."""
    files = [path for path in CSRC.rglob("*") if path.suffix in {".c", ".h", ".cu"}]
    assert CSRC / "include" / "discretegauss.h" in files
    found = {path.name: floats_in(path.read_text(encoding="utf-8")) for path in files}
    # numpy's interface makes a double of a word: the type, the function and the cast
    assert found.pop("bit_generator.h") == ["double", "double", "double", "0x1p-53"]
    assert {name: hits for name, hits in found.items() if hits} == {}


#: csrc/README.md: a file includes its own folder, and folders of earlier rows.
LAYERS = (
    ("base", "cuda"),
    ("random", "csv"),
    ("law",),
    ("exact", "bounds"),
    ("cells", "isochronous", "mechanisms"),
    ("sampler",),
    ("api",),
    ("python",),
)
LAYER = {folder: number for number, row in enumerate(LAYERS) for folder in row}


def included(source: str) -> set[str]:
    """Return the headers of the core that a file includes, as "folder/name.h"."""
    return set(re.findall(r'^#include "(\w+/\w+\.h)"$', source, re.MULTILINE))


def cyclic(edges: dict[str, set[str]]) -> set[str]:
    """Return a graph without its dead ends, removed until none is left: its cycles remain."""
    left = set(edges)
    while ends := {node for node in left if not edges[node] & left}:
        left -= ends
    return left


def test_includes_point_down() -> None:
    """Every folder has a layer, and no file includes a header of the same or a higher layer."""
    files = [path for path in CSRC.glob("*/*.[ch]") if path.parent.name != "include"]
    assert {path.parent.name for path in files} == set(LAYER)
    edges = {}
    for path in files:
        folder, own = path.parent.name, f"{path.parent.name}/{path.name}"
        edges[own] = included(path.read_text(encoding="utf-8")) - {own}
        for other in (header.split("/")[0] for header in edges[own]):
            assert other == folder or LAYER[other] < LAYER[folder], own
    assert cyclic(edges) == set()
    stems = [
        path.stem for path in files if path.suffix == ".c" or not path.with_suffix(".c").exists()
    ]
    assert len(stems) == len(set(stems))
    assert cyclic({"a": {"b"}, "b": {"a", "c"}, "c": set()}) == {"a", "b"}


def test_proofs_name_what_is_there() -> None:
    """Every name and file that a PROOF.md mentions exists in csrc."""
    sources = [*CSRC.rglob("*.[ch]"), *CSRC.rglob("*.cu"), *CSRC.glob("*/proof/*.v")]
    code = "".join(path.read_text(encoding="utf-8") for path in sources)
    names, files = set(re.findall(r"\w+", code)), {path.name for path in CSRC.rglob("*.[ch]")}
    for proof in CSRC.rglob("PROOF.md"):
        text = proof.read_text(encoding="utf-8")
        assert set(re.findall(r"`([a-z]\w*)`", text)) - names == set()
        assert set(re.findall(r"(?<!tests/c/)\b(\w+\.[ch])\b", text)) - files == set()


class Symbols(NamedTuple):
    """An object file's exported symbols, imported symbols, and variables."""

    defined: set[str]
    taken: set[str]
    variables: set[str]


def symbols(file: Path, folder: Path) -> Symbols:
    """Compile a file, and list its symbols. With -fno-pic, const data is no variable."""
    out = folder / f"{file.parent.name}_{file.stem}.o"
    includes = [f"-I{CSRC}", f"-I{CSRC}/include", f"-I{Path(gmpy2.__file__).parent}"]
    options = ["-O0", "-std=gnu11", "-fno-pic", "-fno-common"]
    printed("cc", *options, *includes, "-c", file, "-o", out)
    words = [line.split()[-2:] for line in printed("nm", out).splitlines()]
    return Symbols(
        {name for kind, name in words if kind.isupper() and kind != "U"},
        {name for kind, name in words if kind == "U"},
        {name for kind, name in words if kind in "bBdD"},
    )


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Symbols]:
    """Return the symbols of every file of the core."""
    if shutil.which("cc") is None or shutil.which("nm") is None:
        pytest.skip("needs a C compiler and nm")
    folder = tmp_path_factory.mktemp("objects")
    files = [path for layer in LAYER for path in CSRC.glob(f"{layer}/*.c")]
    files = [path for path in files if path.stem != "system_bcrypt"]  # for Windows alone
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(files, pool.map(symbols, files, repeat(folder)), strict=True))


@pytest.mark.evidence  # compiles the core
def test_no_two_files_need_each_other(objects: dict[Path, Symbols]) -> None:
    """Objects keep to the layers by their symbols, because C can declare without an include."""
    home = {name: path for path, found in objects.items() for name in found.defined}
    edges: dict[str, set[str]] = {}
    for path, found in objects.items():
        others = {home[name] for name in found.taken if name in home} - {path}
        edges[str(path)] = {str(other) for other in others}
        for other in others:
            assert LAYER[other.parent.name] <= LAYER[path.parent.name], (path, other)
    assert cyclic(edges) == set()


@pytest.mark.evidence
def test_the_core_has_no_variables(objects: dict[Path, Symbols], tmp_path: Path) -> None:
    """No object has a global variable that can change, and the scan finds a planted one."""
    assert {path.name: found.variables for path, found in objects.items() if found.variables} == {}
    planted = tmp_path / "planted.c"
    planted.write_text("static int once; int seen = 1; int *f(void) { return &once; }")
    assert symbols(planted, tmp_path).variables == {"once", "seen"}


class Elf:
    """The dynamic section and the symbols of a 64-bit ELF file."""

    def __init__(self, path: Path) -> None:
        self.path, data = path, path.read_bytes()
        if data[:5] != b"\x7fELF\x02":
            raise ValueError("not a 64-bit ELF file")
        order = "<" if data[5] == 1 else ">"
        self.needed: list[str] = []
        self.runpath = ""
        self.undefined: set[str] = set()
        self.defined: set[str] = set()
        (table,) = struct.unpack_from(order + "Q", data, 0x28)
        entry_size, count = struct.unpack_from(order + "HH", data, 0x3A)
        header = order + "4xI16xQQI"  # type, offset, size, link
        sections = [struct.unpack_from(header, data, table + i * entry_size) for i in range(count)]

        def text(section: int, offset: int) -> str:
            start = sections[section][1] + offset
            return data[start : data.index(b"\0", start)].decode()

        for kind, offset, size, link in sections:
            part = data[offset : offset + size]
            if kind == 6:  # SHT_DYNAMIC
                for tag, value in struct.iter_unpack(order + "QQ", part):
                    if tag == 1:  # DT_NEEDED
                        self.needed.append(text(link, value))
                    elif tag in {15, 29}:  # DT_RPATH, DT_RUNPATH
                        self.runpath = text(link, value)
            elif kind == 11:  # SHT_DYNSYM
                for name, _, _, shndx, _, _ in struct.iter_unpack(order + "IBBHQQ", part):
                    (self.defined if shndx else self.undefined).add(text(link, name))


def test_the_extension_needs_no_float(elf: Elf) -> None:
    """The extension neither links the mathematics library nor calls a float conversion of GMP's."""
    assert "getrandom" in elf.undefined, "the symbol table was not read"
    assert not [name for name in elf.needed if name.startswith("libm.")]
    calls = {name.removeprefix("__g") for name in elf.undefined}
    assert {name for name in calls if FLOAT.search(name)} == set()
    libm = {"cbrt", "ceil", "exp", "expm1", "floor", "ldexp", "lgamma", "log", "log1p", "log2"}
    libm |= {"pow", "rint", "round", "sqrt", "trunc", "nearbyint", "fmod", "frexp"}
    assert calls & libm == set()  # some C libraries contain libm


# --- options of the compiler -----------------------------------------------------------------


def last_flags(cflags: str, build: Path) -> dict[str, str]:
    """Return the effective flag of each family, the last one, of the commands for the core."""
    options = ("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DPython_EXECUTABLE={sys.executable}")
    env = os.environ | {"CFLAGS": cflags}
    printed("cmake", "-S", CSRC.parent, "-B", build, *options, env=env)
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    families = ("_FORTIFY_SOURCE", "-fstack-protector", "stack-clash-protection")
    found = [
        {name: flag for name in families for flag in entry["command"].split() if name in flag}
        for entry in commands
    ]
    assert len(found) > 20
    assert all(one == found[0] for one in found)
    return found[0]


@pytest.fixture(scope="module")
def own_flags(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the hardenings of a build whose user names none."""
    return last_flags("", tmp_path_factory.mktemp("ours"))


@pytest.mark.skipif(not CAN_CONFIGURE, reason="needs cmake and make")
@pytest.mark.parametrize(
    "flag",
    [
        *("-D_FORTIFY_SOURCE=1", "-fstack-protector-all", "-fno-stack-clash-protection"),
        *evidence("-D_FORTIFY_SOURCE=3", "-Wp,-D_FORTIFY_SOURCE=3", "-U_FORTIFY_SOURCE"),
    ],
)
def test_hardening_that_the_user_names_is_left_alone(
    flag: str, own_flags: dict[str, str], tmp_path: Path
) -> None:
    """CFLAGS choose the level of one hardening, and leave the others as they are."""
    ours = own_flags
    assert ours["_FORTIFY_SOURCE"] in {"-D_FORTIFY_SOURCE=2", "-D_FORTIFY_SOURCE=3"}
    assert ours["-fstack-protector"] == "-fstack-protector-strong"
    assert ours["stack-clash-protection"] == "-fstack-clash-protection"
    name = next(name for name in ours if name in flag)
    assert last_flags(flag, tmp_path) == ours | {name: flag}


# --- packages --------------------------------------------------------------------------------


def packed(tree: Path, to: Path) -> set[str]:
    """Return the files of the tree's source distribution, unpacked in a folder."""
    script = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    printed(sys.executable, "-c", script, to, cwd=tree)
    (archive,) = to.glob("*.tar.gz")
    printed("tar", "-xzf", archive, "-C", to)
    with tarfile.open(archive) as files:
        return {name.partition("/")[2] for name in files.getnames()}


def test_a_source_distribution_holds_the_projects_files_only(tmp_path: Path) -> None:
    """A package contains all of our files and no stray file."""
    names = packed(CSRC.parent, tmp_path / "clean")
    ours = "benchmarks cmake csrc docs examples licenses python tests tools"
    ours += " CMakeLists.txt CMakePresets.json pyproject.toml noxfile.py .gitignore .clang-format"
    ours += " .importlinter README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE CITATION.cff"
    assert {name.partition("/")[0] for name in names} == {*ours.split(), "PKG-INFO"}
    assert {"csrc/include/discretegauss.h", "cmake/GmpMpfr.cmake", "examples/census.py"} <= names
    assert {"python/discretegauss/data/flights.csv", "tests/vectors/vectors.json"} <= names

    (tree,) = (path for path in (tmp_path / "clean").iterdir() if path.is_dir())
    for lies_about in (
        *(".env", "secret.csv", "core", "core.4711", "id_rsa", "my-env/lib/site.py", "csrc2/a.c"),
        *("tests/.env", "python/.netrc", "csrc/core", "examples/.secret/key", "docs/.notes.md.swp"),
    ):
        (tree / lies_about).parent.mkdir(exist_ok=True, parents=True)
        (tree / lies_about).write_text("secret")
    assert packed(tree, tmp_path / "dirty") == names


def test_the_recipe_for_conda_asks_for_what_the_package_asks_for() -> None:
    """It has the version and dependencies of pyproject.toml."""
    recipe = (CSRC.parent / "tools/conda/recipe.yaml").read_text()
    project = tomllib.loads((CSRC.parent / "pyproject.toml").read_text())["project"]
    asked = re.findall("^    - (.+)$", re.split("  run:|tests:", recipe)[1], re.MULTILINE)
    assert [line.replace(" ", "") for line in asked] == ["python", *project["dependencies"]]
    assert f'version: "{discretegauss.__version__}"' in recipe


PURE_OPTIONS = re.findall(
    r"-C (wheel\.[\w-]+)=(\w+)", (CSRC.parent / "docs/install.md").read_text()
)

DRAW_AND_RELEASE = """
import sys
import discretegauss as dg
from discretegauss._cli import main
if not dg.__file__.startswith(sys.argv[1]) or dg.build_info()["engine"] != "python":
    raise SystemExit("not the wheel, or not the twin")
if not (abs(dg.discrete_gaussian(100, 10)) < 1000).all():
    raise SystemExit("no draws")
try:
    dg.GeneralizedGaussian(2, 3).sample()
except dg.errors.MissingCoreError as error:
    print(error)
sys.exit(main(["release", *sys.argv[2:]]))
"""


@pytest.mark.evidence  # compiles the core twice
def test_two_builds_of_a_wheel_are_equal(tmp_path: Path) -> None:
    """With SOURCE_DATE_EPOCH, byte for byte, so anybody can check a published wheel."""
    script = "import sys; from scikit_build_core.build import build_wheel; build_wheel(sys.argv[1])"
    env = os.environ | {"SOURCE_DATE_EPOCH": "1767225600"}
    built = []
    for name in ("first", "second"):
        printed(sys.executable, "-c", script, tmp_path / name, cwd=CSRC.parent, env=env)
        (wheel,) = (tmp_path / name).glob("*.whl")
        built.append((wheel.name, wheel.read_bytes()))
    assert built[0] == built[1]


def test_the_documented_options_make_a_wheel_without_a_compiler(tmp_path: Path) -> None:
    """It is for every platform, contains no binary, and draws and releases."""
    assert dict(PURE_OPTIONS) == {"wheel.cmake": "false", "wheel.py-api": "py3"}
    script = f"""from scikit_build_core.build import get_requires_for_build_wheel, build_wheel
assert get_requires_for_build_wheel({dict(PURE_OPTIONS)}) == []  # neither cmake nor ninja
build_wheel({str(tmp_path)!r}, {dict(PURE_OPTIONS)})"""
    no_tools = {"PATH": str(tmp_path)}
    printed(sys.executable, "-c", script, cwd=CSRC.parent, env=no_tools)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        files.extractall(tmp_path / "site")
    assert {"discretegauss/py.typed", "discretegauss/data/flights.csv"} <= set(names)
    assert not [name for name in names if ".so" in Path(name).suffixes or name.endswith(".c")]

    counts, out = tmp_path / "counts.csv", tmp_path / "noisy.csv"
    counts.write_text("place,n\na,10\nb,20\n", encoding="utf-8")
    arguments = [str(counts), "--column", "n", "--rho", "1", "--out", str(out)]
    needed = (sys.modules[name].__file__ for name in ("numpy", "gmpy2"))
    paths = [str(tmp_path / "site"), *(str(Path(str(file)).parents[1]) for file in needed)]
    env = no_tools | {"PYTHONPATH": os.pathsep.join(paths)}
    # -S, because an editable install in site-packages would be found first
    said = printed(sys.executable, "-S", "-c", DRAW_AND_RELEASE, tmp_path, *arguments, env=env)
    assert said.count("needs the compiled core, which is not in use") == 1
    assert len(out.read_text(encoding="utf-8").splitlines()) == 3


# --- the package as installed ----------------------------------------------------------------


def test_the_extension_has_the_stable_abi(elf: Elf) -> None:
    """One file serves Python 3.11 and later, and exports its entry point only."""
    assert elf.path.name == "_native.abi3.so"
    assert {name for name in elf.defined if name.startswith(("dg_", "_dg"))} == set()
    assert "PyInit__native" in elf.defined


def test_gmp_and_mpfr_are_needed_by_the_name_they_are_found_by(elf: Elf) -> None:
    """GMP and MPFR are bundled beside the extension and found there, or are the system's."""
    ours = [name for name in elf.needed if name.startswith(("libgmp", "libmpfr"))]
    assert len(ours) == 2
    bundled = {name for name in ours if (elf.path.parent / name).exists()}
    if bundled:
        assert bundled == set(ours)
        assert elf.runpath == "$ORIGIN"
    else:
        assert "$ORIGIN" not in elf.runpath
        assert all(re.fullmatch(r"lib(gmp|mpfr)\.so\.\d+", name) for name in ours)


LOAD_ALONE = """
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
if sys.argv[2] == "after gmpy2":
    import gmpy2
loader = ExtensionFileLoader("discretegauss._native", sys.argv[1])
module = module_from_spec(spec_from_loader(loader.name, loader))
loader.exec_module(module)
if ("gmpy2" in sys.modules) != (sys.argv[2] == "after gmpy2"):
    raise SystemExit("gmpy2 is loaded, or is not, against what the test meant")
ffi, lib = module.ffi, module.lib
print(ffi.string(lib.dg_gmp_version()).decode(), ffi.string(lib.dg_mpfr_version()).decode())
"""


@pytest.mark.parametrize("order", ["alone", "after gmpy2"])
def test_the_extension_loads(elf: Elf, order: str) -> None:
    """The extension finds its libraries in a fresh process, with and without gmpy2 loaded first."""
    versions = printed(sys.executable, "-c", LOAD_ALONE, elf.path, order)
    assert re.fullmatch(r"\d+\.\d+\.\d+ \d+\.\d+\.\d+\S*\n", versions)


def engine_under(value: str | None) -> subprocess.CompletedProcess[str]:
    """Run an interpreter that prints its engine, with a value of DISCRETEGAUSS_PURE_PYTHON."""
    environment = {k: v for k, v in os.environ.items() if k != "DISCRETEGAUSS_PURE_PYTHON"}
    if value is not None:
        environment["DISCRETEGAUSS_PURE_PYTHON"] = value
    program = "import discretegauss; print(discretegauss.build_info()['engine'])"
    return ended(sys.executable, "-c", program, env=environment)


@pytest.mark.parametrize(
    ("value", "engine"), [(None, "native"), ("", "native"), ("0", "native"), ("1", "python")]
)
def test_the_variable_chooses_the_engine(value: str | None, engine: str) -> None:
    """The extension draws by default, so no error hides on the path to it; 1 chooses Python."""
    run = engine_under(value)
    assert run.stdout == f"{engine}\n", run.stderr


@pytest.mark.parametrize("value", ["no", "false", "true", "yes", "2", " 1", "00", "\u0661"])
def test_the_variable_takes_no_other_value(value: str) -> None:
    """Other values are refused at import, with a message of name, rule and value."""
    run = engine_under(value)
    assert run.returncode == 1
    assert run.stdout == ""
    rule = "ParameterValueError: DISCRETEGAUSS_PURE_PYTHON must be 1 or 0, got "
    assert run.stderr.splitlines()[-1].endswith(rule + ascii(value))


def test_the_package_says_whether_it_bundles_libraries(elf: Elf) -> None:
    """Its metadata, its licences and build_info() agree with the libraries that it has."""
    bundled = bool([*elf.path.parent.glob("libgmp-*"), *elf.path.parent.glob("libmpfr-*")])
    licence = importlib.metadata.metadata("discretegauss")["License-Expression"]
    assert licence == ("MIT AND LGPL-3.0-or-later" if bundled else "MIT")
    if discretegauss.build_info()["engine"] == "native":
        assert discretegauss.build_info()["libraries"] == ("bundled" if bundled else "system")


def test_the_bill_of_materials_names_the_libraries_in_the_package(elf: Elf) -> None:
    """It has their versions, and the SHA-256 of each file; without libraries there is none."""
    beside = [*elf.path.parent.glob("libgmp-*"), *elf.path.parent.glob("libmpfr-*")]
    files = importlib.metadata.files("discretegauss") or []
    bills = [file for file in files if ".dist-info/sboms/" in str(file)]
    assert len(bills) == bool(beside)
    if bills:
        parts = json.loads(bills[0].read_text())["components"]
        told = {part["name"]: (part["version"], part["hashes"][0]["content"]) for part in parts}
        digests = {
            path.name[3:].split("-")[0]: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in beside
        }
        versions = {"gmp": gmpy2.mp_version(), "mpfr": gmpy2.mpfr_version()}
        assert told == {name: (versions[name].split()[-1], digests[name]) for name in digests}


@pytest.mark.skipif(not CAN_CONFIGURE, reason="needs cmake and make")
@pytest.mark.parametrize(
    ("choice", "in_metadata"), [("SYSTEM", "WHEEL"), ("WHEEL", "SYSTEM"), ("AUTO", "AUTO")]
)
def test_a_choice_of_libraries_past_the_metadata_is_refused(
    choice: str, in_metadata: str, tmp_path: Path
) -> None:
    """No -C cmake.define or CMAKE_ARGS chooses GMP: the metadata's licences would be wrong."""
    options = {"SKBUILD": "2", "DG_GMP": choice, "DG_GMP_OF_METADATA": in_metadata}
    given = (f"-D{key}={value}" for key, value in options.items())
    run = ended("cmake", "-S", CSRC.parent, "-B", tmp_path, *given)
    assert run.returncode == 1
    assert f"metadata say DG_GMP={in_metadata}, CMake was told {choice}" in run.stderr
    assert "-C discretegauss.gmp=SYSTEM" in run.stderr


def test_licences_and_annotations_are_in_the_package() -> None:
    """Those of the libraries that may be bundled, too; type checkers look for py.typed."""
    files = importlib.metadata.files("discretegauss") or []
    names = {file.name for file in files if ".dist-info/licenses/" in str(file)}
    assert {"LICENSE", "LGPL-3.0.txt", "GPL-3.0.txt"} <= names
    assert (PACKAGE / "py.typed").exists()
