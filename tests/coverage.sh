#!/usr/bin/env bash
# Which lines of the C core and which branches of the package the tests reach.
#
#     tests/coverage.sh            # both; needs gcc, gcov and the extras test and dev
#     PYTHON=.venv/bin/python tests/coverage.sh
#
# C: the C tests (also with every comparison refined) and the Python tests, on builds that count
# lines; tests/coverage_c.py adds them up and fails below 95 %, or at a line that is not reached and
# not explained in tests/unreached.txt. Python: the default suite on the compiled engine and part of it
# on the twin, with the programs and processes that they start; fails below 100 % of branches, but for
# lines marked in the source with `# no cover: why`. Works in build/coverage. The package is built there, too: whatever is installed
# is not touched, and test_build.py, which looks at how an installed package was compiled, not run.
# Nor are the tests of forks and of processes without memory: coverage.py takes a lock of its own at
# every function that is new to it, and a child forked while another thread holds that lock waits for
# it for ever; and it does not survive an allocation of its own that fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=$(command -v "${PYTHON:-python}")
build=$PWD/build/coverage
failed=()
rm -rf "$build"
mkdir -p "$build"

# c_tests NAME OPTION...: build the C tests so that they count lines, and run them.
c_tests() {
    cmake -S . -B "$build/$1" -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug \
        -DCMAKE_C_FLAGS_DEBUG="-g -Og" -DDG_COVERAGE=ON -DDG_TESTS=ON "${@:2}" &&
        cmake --build "$build/$1" -j "$(nproc)" && ctest --test-dir "$build/$1" --output-on-failure
}

c_tests c >"$build/c.log" 2>&1 || failed+=(c.log)
c_tests c-narrow -DDG_NARROW_BOUNDS=ON >"$build/c-narrow.log" 2>&1 || failed+=(c-narrow.log)

"$python" -m pip install --quiet --no-deps --target "$build/site" -Cbuild-dir="$build/extension" \
    -Ccmake.build-type=Debug -Ccmake.define.CMAKE_C_FLAGS_DEBUG="-g -Og" \
    -Ccmake.define.DG_COVERAGE=ON . || exit 1
export PYTHONPATH=$build/site
export COVERAGE_RCFILE=$PWD/pyproject.toml COVERAGE_FILE=$build/python
python_tests() { # Ctrl-C must work in the tests, whatever started us
    env --default-signal=INT "$python" -m coverage run -m pytest -q -p no:cacheprovider "$@"
}
# A process that may write 10 kB only cannot write down which lines it ran.
python_tests --ignore=tests/build/test_build.py --ignore=tests/system/test_memory_limits.py -k "not fork" --pyargs discretegauss tests \
    --deselect=tests/release/test_cli_failures.py::test_a_disk_that_is_full_leaves_no_file \
    --deselect=tests/privacy/test_figures.py::test_a_disk_that_is_full_leaves_no_part_of_a_file \
    >"$build/native.log" 2>&1 || failed+=(native.log)
# On the twin, what looks at the engines: the rest of the package does not know which one draws.
DISCRETEGAUSS_PURE_PYTHON=1 python_tests tests/laws/test_laws.py tests/inputs/test_{every_parameter,arrays,sources}.py \
    >"$build/pure-python.log" 2>&1 || failed+=(pure-python.log)

"$python" tests/coverage_c.py "$build" || failed+=(C)
"$python" -m coverage combine --quiet && "$python" -m coverage report || failed+=(Python)
if ((${#failed[@]})); then
    echo "coverage: FAILED: ${failed[*]} (logs in build/coverage)"
    exit 1
fi
