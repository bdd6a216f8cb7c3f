# The steps of .ci/run and tools/nightly, and what runs them; each of the two says which, in which order.
# Sourced by both, which set `first` (what all others need) and `lanes` (what runs side by side: "NAME: STEP STEP ...")
# and call main, below; tools/nightly also `table`, the file that keeps what became of its steps, and
# `known`, all that have a row there.
#
# A step fails with any status but 0, and says why. 77: it was skipped, as this machine lacks what it looks at.
#
# Works on a copy of the clone in a temporary directory, with environments of its own, so that nothing that
# lies about (a .venv, a build) helps or hinders.
set -euo pipefail

# Whoever starts us may ignore SIGINT (a job in the background does); the tests of Ctrl-C need it.
if [[ -z ${DG_CI_SIGNALS-} ]]; then
    DG_CI_SIGNALS=default exec env --default-signal=INT,PIPE bash "$0" "$@"
fi

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ -n ${DG_CI_WORK-} ]]; then # a lane
    work=$DG_CI_WORK
    unset DG_CI_WORK # a test of ours starts lanes of its own
else
    work=$(mktemp -d)
    trap 'stop_lanes; rm -rf "$work"' EXIT
fi
clone=$work/clone
venv=$work/system # discretegauss over the system's GMP, with the extras test and dev

export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
unset DISCRETEGAUSS_PURE_PYTHON PYTHONPATH CMAKE_ARGS

# --- helpers ---------------------------------------------------------------------------------

# A C compiler's default directories for headers and libraries, as a CMake list.
system_directories() {
    local triple
    triple=$(gcc -print-multiarch)
    echo "/usr/include;/usr/include/$triple;/usr/local/include;/usr/lib/$triple;/usr/lib;/usr/local/lib"
}

# The shell block of README.md that follows the line `<!-- NAME -->`, as it stands.
readme_block() {
    awk -v mark="<!-- $1 -->" '
        $0 == mark { marked = 1; next }
        marked && /^```/ { if (inside) exit; inside = 1; next }
        inside { print }
    ' "$clone/README.md"
}

# c_build NAME COMPILER OPTION...: configure and build ($targets of it, if set), and run the C tests ($only of them,
# if set).
c_build() {
    local name=$1 compiler=$2
    shift 2
    cmake -S "$clone" -B "$work/$name" -DCMAKE_C_COMPILER="$compiler" -DDG_GMP=SYSTEM -DDG_TESTS=ON \
        -DDG_WERROR=ON "$@" >"$work/$name.log" || { cat "$work/$name.log"; return 1; }
    # shellcheck disable=SC2086 # words
    cmake --build "$work/$name" -j "$(nproc)" ${targets:+--target $targets} >"$work/$name.log" || { cat "$work/$name.log"; return 1; }
    (cd "$work/$name" && ctest --output-on-failure -j "$(nproc)" ${only:+-R "$only"}) |
        tee "$work/$name.tests"
}

# must_have_run NAME TEST: fail unless the build's test passed: one that CMake left out, or that skipped
# itself, fails nothing.
must_have_run() {
    grep -Eq ": $2 \.+ +Passed" "$work/$1.tests" ||
        { echo "$1: $2 was not run"; return 1; }
}

# --- steps -----------------------------------------------------------------------------------

install_packages() {
    (($#)) || return 0
    echo "installing: $*"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends "$@" >"$work/apt.log" 2>&1 || { cat "$work/apt.log"; return 1; }
}

# Install what the machine lacks, and only then ask the network for anything.
tools() {
    local missing=()
    has() { command -v "$1" >/dev/null; }
    compiles() { echo "$2" | "$1" -x c - -o "$work/probe" "${@:3}" 2>/dev/null; }
    has gcc && compiles gcc 'int main(void) { return 0; }' || missing+=(gcc libc6-dev)
    has objdump || missing+=(binutils)
    has cmake || missing+=(cmake)
    has make || missing+=(make)
    has git || missing+=(git)
    has clang && compiles clang 'int main(void) { return 0; }' -fsanitize=address,undefined ||
        missing+=(clang libclang-rt-dev libc6-dev)
    { has scan-build && has clang-tidy; } || missing+=(clang-tools clang-tidy)
    has gcc && compiles gcc '#include <mpfr.h>
        int main(void) { return mpfr_get_version()[0] - gmp_version[0] > 9; }' -lmpfr -lgmp ||
        missing+=(libgmp-dev libmpfr-dev)
    has gcc && has valgrind && compiles gcc '#include <valgrind/memcheck.h>
        int main(void) { return 0; }' || missing+=(valgrind)
    has gappa || missing+=(gappa)
    has coqc && [[ -e $(coqc -where)/user-contrib/Interval && -e $(coqc -where)/user-contrib/Coquelicot &&
        -e $(coqc -where)/user-contrib/Gappa ]] || missing+=(coq libcoq-interval libcoq-coquelicot libcoq-gappa)
    has python3 && python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3 python3-venv)
    has python3 && python3 -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' || missing+=(python3-dev)
    install_packages ${missing[@]+"${missing[@]}"}
    gcc --version | head -n 1
    clang --version | head -n 1
    cmake --version | head -n 1
    python3 -c 'import sys; print("Python", sys.version); sys.exit(sys.version_info < (3, 11))'
}

# What the steps of tools/nightly need besides, here, since no two lanes can install at a time.
more_tools() {
    local missing=()
    command -v java >/dev/null || missing+=(openjdk-17-jre-headless)
    { command -v rustc && command -v R && command -v abidiff && command -v pkg-config; } >/dev/null ||
        missing+=(rustc r-base-core abigail-tools pkgconf)
    install_packages ${missing[@]+"${missing[@]}"}
    "$root/tools/cross" --install s390x armhf arm64
}

# Everything that git knows or would know; nothing that it ignores.
copy() {
    mkdir "$clone"
    cd "$root"
    git() { command git -c safe.directory='*' "$@"; }
    git rev-parse --short HEAD >"$work/commit"
    [[ -z $(git status --porcelain -- . ${table:+":!$table"}) ]] || echo 'and changes' >>"$work/commit"
    git ls-files -z --cached --others --exclude-standard |
        while IFS= read -r -d '' file; do
            if [[ -e $file ]]; then printf '%s\0' "$file"; fi # deleted, but not yet from the index
        done | tar --null --files-from=- -cf - | tar -C "$clone" -xf -
}

# wheel GMP: the package with SYSTEM's or WHEEL's, built once; its path. Only the lane "python" calls it.
wheel() {
    local folder=$work/wheel-$1
    [[ -e $folder ]] ||
        "$venv/bin/pip" wheel -qq --no-deps --config-settings=discretegauss.gmp="$1" --wheel-dir "$folder" "$clone"
    echo "$folder"/*.whl
}

install() {
    python3 -m venv "$venv"
    "$venv/bin/pip" install -qq "$(wheel SYSTEM)[test,dev]"
    "$venv/bin/python" -c 'import discretegauss; print(discretegauss.build_info())'
}

lint() {
    cd "$clone"
    "$venv/bin/ruff" check
    "$venv/bin/ruff" format --check
}

types() {
    cd "$clone"
    "$venv/bin/mypy"
}

format_c() {
    cd "$clone"
    find csrc tests/c tests/fuzz tests/library benchmarks -name '*.[ch]' -print0 | xargs -0 "$venv/bin/clang-format" --dry-run -Werror
}

# The contracts are compiled in, which what ships does without: c_gcc_release, c_clang_release.
c_gcc() {
    c_build gcc gcc -DDG_CHECKS=ON
    must_have_run gcc test_silence_by_valgrind
}

c_gcc_release() {
    c_build gcc-release gcc -DDG_CHECKS=OFF
}

# Every comparison of cell tables refined.
c_gcc_narrow() {
    c_build gcc-narrow gcc -DDG_CHECKS=ON -DDG_NARROW_BOUNDS=ON
}

c_clang() {
    c_build clang clang -DDG_CHECKS=ON
    must_have_run clang test_silence_by_valgrind
}

c_clang_release() {
    c_build clang-release clang -DDG_CHECKS=OFF
}

# What says that isochronous draws are silent, by each compiler at each level: branches and addresses by
# valgrind and, for AVX-512, by single steps.
c_silence() {
    local compiler level name tests=(test_silence{,_by_steps})
    for compiler in gcc clang; do
        for level in O2 O3; do
            name=silence-$compiler-$level
            only='test_silence' targets="${tests[*]}" \
                c_build "$name" "$compiler" -DDG_CHECKS=ON \
                -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-$level -DNDEBUG"
            must_have_run "$name" test_silence_by_valgrind
            must_have_run "$name" test_silence_by_steps
        done
    done
}

c_gcc_sanitized() {
    c_build gcc-sanitized gcc -DDG_CHECKS=ON -DDG_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo
}

c_clang_sanitized() {
    c_build clang-sanitized clang -DDG_CHECKS=ON -DDG_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=RelWithDebInfo
}

# Threads that draw from one law, one table and one sampler, by ThreadSanitizer; and a race that it has to report.
c_threads() {
    only='test_threads|test_run|test_sampler' targets='test_threads test_run test_sampler' \
        c_build threads clang -DDG_SANITIZE=thread -DCMAKE_BUILD_TYPE=RelWithDebInfo
}

# No error, and every block freed.
c_valgrind() {
    c_build valgrind gcc -DDG_CHECKS=ON -DCMAKE_BUILD_TYPE=RelWithDebInfo \
        "-DDG_TEST_RUNNER=valgrind;--quiet;--error-exitcode=1;--leak-check=full;--show-leak-kinds=all;--errors-for-leak-kinds=all"
}

# The compiled core holds no floating-point arithmetic, whatever its source looks like (x86-64 only;
# tests/build/test_build.py scans the source everywhere).
no_float() {
    local name float='v?(u?comi|cvt[a-z0-9]*|(add|sub|mul|div|sqrt|min|max|round))[sp][sd]|v?cvt[a-z0-9]+|f(ild|ist|add|mul|div|sub|sqrt|ld)[a-z0-9]*'
    if [[ $(uname -m) != x86_64 ]]; then
        echo "skipped: not x86-64"
        return 77
    fi
    echo 'double f(long n, double x) { return (double)n * x; }' | gcc -O2 -x c -c - -o "$work/float.o"
    for name in gcc clang; do
        cmake -S "$clone" -B "$work/core-$name" -DCMAKE_C_COMPILER=$name -DDG_GMP=SYSTEM >"$work/core.log"
        cmake --build "$work/core-$name" --target dg_core -j "$(nproc)" >"$work/core.log" ||
            { cat "$work/core.log"; return 1; }
    done
    for name in "$work/float.o" "$work"/core-{gcc,clang}/libdg_core.a; do
        objdump -d --no-show-raw-insn "$name" |
            grep -E "^ +[0-9a-f]+:[[:space:]]+($float)([[:space:]]|\$)" >"$work/float.txt" || true
        if [[ $name == *.o ]]; then
            [[ -s $work/float.txt ]] || { echo "the scan is blind"; return 1; }
        elif [[ -s $work/float.txt ]]; then
            echo "floating point in $name:"
            head "$work/float.txt"
            return 1
        else
            objdump -d "$name" | grep -c 'mul' | sed "s|^|$(basename "$(dirname "$name")"): no float; integer multiplications: |"
        fi
    done
}

# The numeric lemmas, by Gappa, and each of them made too small, which has to be rejected; those of Gappa's proofs that
# take seconds, by Coq's kernel. The theorem from fair bits to the draws, by Coq, and ten tables; and faults planted in
# one, which have to be rejected.
proofs() {
    "$clone/tools/prove.py"
    "$clone/tools/prove.py" --coq quick
    "$venv/bin/python" "$clone/tools/coq.py" --folder "$work/coq"
}

# All of Gappa's proofs, and all tables that the verifier looks at, by Coq; and three of them without machine integers.
proofs_whole() {
    "$clone/tools/prove.py" --coq all
    "$venv/bin/python" "$clone/tools/coq.py" --folder "$work/coq" --whole
}

c_analysers() {
    "$clone/tools/analyse"
}

# A short run of every target, from its seeds: a regression test, no search. Longer: tests/fuzz/README.md.
c_fuzz() {
    DG_FUZZ_BUILD=$work/fuzz "$clone/tests/fuzz/run.sh" 3
}

# AUTO finds the system's GMP; without it, the wheel's; with neither, it names both remedies.
gmp_choices() {
    local hidden bare=$work/bare
    hidden=$(system_directories)
    choice() {
        cmake -S "$clone" -B "$work/choice-$1" "${@:3}" >"$work/choice-$1.log" 2>&1 || true
        grep -q -e "$2" "$work/choice-$1.log" || { cat "$work/choice-$1.log"; return 1; }
        echo "$1: $2"
    }
    choice system 'AUTO -> SYSTEM'
    choice hidden 'AUTO -> WHEEL' -DPython_EXECUTABLE="$venv/bin/python" "-DCMAKE_IGNORE_PATH=$hidden"
    choice forced 'WHEEL -> WHEEL' -DPython_EXECUTABLE="$venv/bin/python" -DDG_GMP=WHEEL
    python3 -m venv --without-pip "$bare"
    # mpfr.h alone is missing, and CMake says so
    choice warned 'no mpfr\.h\. ' -DPython_EXECUTABLE="$venv/bin/python" -DDG_SYSTEM_MPFR_INCLUDE=NO
    choice neither 'apt-get install libgmp-dev libmpfr-dev' -DPython_EXECUTABLE="$bare/bin/python" "-DCMAKE_IGNORE_PATH=$hidden"
    choice neither 'pip install --only-binary gmpy2' -DPython_EXECUTABLE="$bare/bin/python" "-DCMAKE_IGNORE_PATH=$hidden"
}

# Big-endian, 32-bit without 128-bit integers, and AArch64 with its loops in NEON, under emulation: the same draws
# from the same bytes.
other_machines() {
    "$clone/tools/cross" --quick s390x armhf arm64
}

# The system's bits where getrandom is in the vDSO.
system_bits() {
    "$root/tools/newest" --bits
}

# run_tests PYTHON ARGUMENT...: pytest, as README.md calls it, on the package that this Python has.
run_tests() {
    cd "$clone"
    "$1" -m pytest -q -n 2 "${@:2}"
}

system_gmp_is_used() {
    if ls "$venv"/lib/python3*/site-packages/discretegauss/libgmp* 2>/dev/null; then
        echo "GMP was bundled, though the system's was asked for"
        return 1
    fi
}

# What another GMP can change is arithmetic. The whole suite on the system's: coverage.
tests_system_gmp() {
    system_gmp_is_used
    run_tests "$venv/bin/python" tests/build/test_build.py tests/drawing/test_{cells,twin,vectors}.py tests/inputs/test_fits.py
}

# The plain-Python twin serves where the extension is missing. Above these files nothing knows which of the
# two draws.
tests_pure_python() {
    DISCRETEGAUSS_PURE_PYTHON=1 run_tests "$venv/bin/python" tests/laws/test_laws.py \
        tests/drawing/test_{stages,twin}.py tests/inputs/test_{every_parameter,arrays,sources}.py
}

tests_pure_python_whole() {
    DISCRETEGAUSS_PURE_PYTHON=1 run_tests "$venv/bin/python"
}

# on_lowest_versions TEST...: an environment of the lowest versions that pyproject.toml allows: numpy before 2 wraps integers where later
# ones raise, and gmpy2 before 2.3 rounded to 53 bits. They have wheels for the lowest Python.
on_lowest_versions() {
    local lowest=$work/lowest
    python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "skipped: not Python 3.11"; return 77; }
    if [[ ! -e $lowest ]]; then
        cd "$clone"
        sed -n '/^\[project\]/,/^bench = /p' pyproject.toml | grep -oE '[a-z0-9-]+>=[0-9.]+' | sed 's/>=/==/' >"$lowest.txt"
        echo 'pyparsing<3.3' >>"$lowest.txt" # of matplotlib, whose old calls it warns of
        cat "$lowest.txt"
        python3 -m venv "$lowest"
        "$lowest/bin/pip" install -qq --constraint "$lowest.txt" "$(wheel SYSTEM)[test]"
    fi
    run_tests "$lowest/bin/python" "$@"
}

# What takes a caller's numbers and arrays, and what computes with gmpy2.
tests_lowest_versions() {
    on_lowest_versions tests/inputs tests/laws/test_interval.py tests/system/test_gmpy2_context.py \
        tests/release/test_csv_table.py
}

tests_lowest_versions_whole() {
    on_lowest_versions tests/{inputs,laws,privacy,utility} tests/drawing/test_{cells,many_laws}.py \
        tests/system/test_gmpy2_context.py tests/drawing/test_engines.py tests/release/test_{release,csv_table}.py
}

# on_newest_python TEST...: the newest Python that is at hand, with the wheel that the lowest one builds (one for all: abi3).
on_newest_python() {
    local newest='' python
    for python in python3.{12..19} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
        "$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && newest=$python
    done
    [[ -n $newest ]] || { echo "skipped: no Python from 3.12 on"; return 77; }
    if [[ ! -e $work/newest ]]; then
        "$newest" -m venv "$work/newest"
        "$work/newest/bin/pip" install -qq "$(wheel WHEEL)[test]"
    fi
    "$work/newest/bin/python" -c 'import sys, discretegauss; print(sys.version, discretegauss.build_info())'
    run_tests "$work/newest/bin/python" "$@"
}

# What differs between them most: threads, locks, and the end of a process.
tests_newest_python() {
    on_newest_python tests/system/test_{fork,imports,interrupt,threads}.py
}

tests_newest_python_whole() {
    on_newest_python tests/drawing/test_{isochronous,twin}.py tests/inputs/test_{arrays,sources}.py \
        tests/laws/test_laws.py tests/release/test_release.py \
        tests/system/test_{fork,gmpy2_context,imports,interrupt,leaks,memory_limits}.py \
        tests/system/test_{signal_storm,threads,wiped}.py tests/drawing/test_engines.py
}

# The wheel of plain Python in a browser's Python.
browser() {
    PYTHON="$venv/bin/python" "$clone/tools/browser"
}

# The long runs behind the claims of the documentation.
evidence() {
    run_tests "$venv/bin/python" -m evidence
}

# The default suite in random order on a busy machine: nothing is red by chance.
suite_under_load() {
    python3 -m venv "$work/under_load"
    "$work/under_load/bin/pip" install -qq "$(wheel WHEEL)[test]" pytest-random-order
    PYTHON="$work/under_load/bin/python" "$clone/tools/suite_under_load" 3
}

# Spark, which needs Java, Dask and others, in an environment of their own.
clusters() {
    python3 -m venv "$work/clusters"
    "$work/clusters/bin/pip" install -qq "$(wheel WHEEL)[test,spark,dask]" distributed duckdb ray
    run_tests "$work/clusters/bin/python" -m cluster
}

# The C library, installed, and used from C, Rust and R by nothing else; its binary interface beside the last tag's.
library() {
    local tag against=()
    if tag=$(git -c safe.directory='*' -C "$root" describe --tags --abbrev=0 2>/dev/null); then
        mkdir "$work/tag"
        git -c safe.directory='*' -C "$root" archive "$tag" | tar -C "$work/tag" -xf -
        against=(--against "$work/tag")
    fi
    "$venv/bin/python" "$clone/tests/library/run.py" "$work/library" ${against[@]+"${against[@]}"}
}

# The site builds without a warning, and no link leads to nothing.
site() {
    sed -n '/^docs = \[/,/^\]/p' "$clone/pyproject.toml" | grep -oE '^ +"[^"]+"' | tr -d ' "' >"$work/docs.txt"
    "$venv/bin/pip" install -qq --requirement "$work/docs.txt"
    PYTHON="$venv/bin/python" "$clone/tools/site" "$work/site"
}

# The how-tos in an environment that has nothing but what they ask for.
how_tos() {
    python3 -m venv "$work/how_tos"
    "$work/how_tos/bin/pip" install -qq "$(wheel WHEEL)[plots]" pandas
    DG_HOW_TO_PYTHON="$work/how_tos/bin/python" run_tests "$venv/bin/python" tests/docs/test_how_to.py
}

# The examples, with scikit-learn.
examples() {
    python3 -m venv "$work/examples"
    "$work/examples/bin/pip" install -qq "$(wheel WHEEL)[test,examples]"
    run_tests "$work/examples/bin/python" tests/docs/test_examples.py -m "not cluster"
}

# The recipes of docs/adopters.md, each with the newest release of the library that it is for.
adopters() {
    local tests=(pytest pytest-xdist hypothesis scipy) libraries=(mbi flwr diffprivlib opendp dp_accounting jax_privacy) library torch
    torch=$("$venv/bin/pip" index versions torch 2>/dev/null | grep -oE '[0-9.]+\+cpu' | sort -V | tail -n 1) || true
    [[ -z $torch ]] || libraries+=(opacus)
    python3 -m venv "$work/adopters" # scikit-learn: diffprivlib 0.6.6 cannot be imported beside a later one
    "$work/adopters/bin/pip" install -qq "$(wheel WHEEL)" "${tests[@]}" "${libraries[@]}" ${torch:+"torch==$torch"} 'scikit-learn<1.7'
    python3 -m venv "$work/tumult" # numpy below 2
    "$work/tumult/bin/pip" install -qq "$(wheel WHEEL)" "${tests[@]}" tmlt.core
    "$work/adopters/bin/pip" list --outdated >"$work/outdated"
    for library in "${libraries[@]}"; do
        ! grep -iE "^${library/_/[-_]} " "$work/outdated" || { echo "beside the others there is no newest $library"; return 1; }
        DG_ADOPTER=$library run_tests "$work/adopters/bin/python" tests/docs/test_adopters.py -k "with_$library"
    done
    DG_ADOPTER=tmlt run_tests "$work/tumult/bin/python" tests/docs/test_adopters.py -k with_tmlt
    [[ -n $torch ]] || { echo "skipped: Opacus, as there is no torch without CUDA"; return 77; }
}

# Works in the clone's build/coverage.
coverage() {
    PYTHON="$venv/bin/python" "$clone/tools/coverage" -Cdiscretegauss.gmp=SYSTEM || {
        tail -n 30 "$clone"/build/coverage/*.log
        return 1
    }
}

# The two commands of README.md, word for word, with the system's GMP out of sight: what a newcomer
# does on a machine without GMP headers.
readme() {
    local name block hidden
    hidden=$(system_directories)
    cd "$clone"
    for name in "main job" tests; do
        block=$(readme_block "$name")
        [[ -n $block ]] || { echo "README.md: no shell block after <!-- $name -->"; return 1; }
        echo "$block"
        PIP_QUIET=2 CMAKE_ARGS="-DCMAKE_IGNORE_PATH=$hidden" bash -euo pipefail -c "$block"
        ls .venv/lib/python3*/site-packages/discretegauss/libgmp-*.so.* >/dev/null # bundled, as meant
    done
}

# --- what runs them --------------------------------------------------------------------------

# Run a step, tell how it ended, and note that, for the lane: its status, seconds, and seconds of CPU.
run_step() {
    local lane=$1 step=$2 status TIMEFORMAT='%0R %0U %0S'
    echo "=== $step"
    # In a subshell of its own and outside any condition: there, -e works.
    set +e
    {
        time {
            (
                set -e
                "$step"
            ) 2>&4
        }
        status=$?
    } 4>&2 2>"$work/$step.times"
    set -e
    if ((status != 0 && status != 77)); then
        echo "*** $step failed with status $status"
    fi
    awk -v note="$step $status" '{ print note, $1, $2 + $3 }' "$work/$step.times" >>"$work/$lane.results"
}

# start_lane NAME STEP...: a process of its own, with a group of its own to stop it by, which takes SIGINT.
# What it prints goes to a log; what it has done, to our output (3).
start_lane() {
    DG_CI_WORK=$work setsid env --default-signal=INT,QUIT,PIPE bash "$0" --lane "$@" \
        3>&1 >"$work/$1.log" 2>&1 &
    lane_pids+=($!)
}

lane_pids=()
stop_lanes() {
    local pid
    for pid in ${lane_pids[@]+"${lane_pids[@]}"}; do
        kill -TERM -- "-$pid" 2>/dev/null || true
    done
}

# of_step STEP: sets verdict, seconds and cpu_seconds. A step that noted nothing was not run, and fails.
of_step() {
    local status
    read -r _ status seconds cpu_seconds < <(cat "$work"/*.results | grep "^$1 ") || status=none seconds=0 cpu_seconds=0
    case $status in
    0) verdict=passed ;;
    77) verdict=skipped ;;
    none) verdict='not run' ;;
    *) verdict=FAILED ;;
    esac
}

# Tell what became of each step; the exit code says whether none failed.
tell() {
    local step times='' failed='' skipped=''
    for step; do
        of_step "$step"
        times+="$step $seconds s, "
        case $verdict in
        passed) ;;
        skipped) skipped+=" $step" ;;
        *) failed+=" $step" ;;
        esac
    done
    echo "seconds: ${times%, }"
    if [[ -n $failed ]]; then
        echo "ci: FAILED:$failed; $SECONDS s"
        return 1
    fi
    echo "ci: all $# steps passed${skipped:+ but skipped:$skipped;} in $SECONDS s"
}

# keep FILE STEP...: write the table of the newest run of each step that is known: a row for each of this run, and for
# the others the row that FILE has.
keep() {
    local file=$1 step
    {
        echo '# The newest run of each step of tools/nightly'
        echo
        echo 'Written by `tools/nightly`. CPU: seconds of one core, those of all processes of the step together.'
        echo
        echo '| step | seconds | CPU | verdict | commit | date |'
        echo '| --- | ---: | ---: | --- | --- | --- |'
        for step in "${first[@]}" "${known[@]}"; do
            if [[ " ${*:2} " == *" $step "* ]]; then
                of_step "$step"
                echo "| $step | $seconds | $cpu_seconds | $verdict | $(paste -sd ' ' "$work/commit") | $(date -u +%F) |"
            else
                grep "^| $step |" "$file" 2>/dev/null || echo "| $step | | | not run | | |"
            fi
        done
    } >"$work/table"
    cp "$work/table" "$file"
    cat "$file"
}

# steps_of LANE...: their names
steps_of() {
    local lane
    for lane; do
        # shellcheck disable=SC2086 # words
        printf '%s\n' ${lane#*:}
    done
}

# Without arguments: what all need first, then the lanes beside each other, each printed whole when it is done,
# in their order. With names of steps: those, one after the other.
main() {
    local step lane steps=("$@")
    if [[ ${1-} == --lane ]]; then
        lane=$2
        for step in "${@:3}"; do
            run_step "$lane" "$step"
            of_step "$step"
            echo "$step: $verdict in $seconds s, $cpu_seconds s of CPU" >&3
        done
        return
    fi
    for step; do
        declare -F "$step" >/dev/null || { echo "$0: no step $step in tools/steps.sh" >&2; return 2; }
    done
    for step in "${first[@]}" "$@"; do
        run_step first "$step"
    done
    if ((!$#)); then
        tell "${first[@]}" >"$work/first.log" || { cat "$work/first.log"; return 1; }
        mapfile -t steps < <(steps_of "${lanes[@]}")
        for lane in "${lanes[@]}"; do
            # shellcheck disable=SC2086 # words
            start_lane ${lane%%:*} ${lane#*:}
        done
        for lane in "${!lanes[@]}"; do
            wait "${lane_pids[lane]}" || true
            cat "$work/${lanes[lane]%%:*}.log"
        done
        lane_pids=()
    fi
    [[ -z ${table-} ]] || keep "$table" "${first[@]}" "${steps[@]}"
    tell "${first[@]}" "${steps[@]}"
}
