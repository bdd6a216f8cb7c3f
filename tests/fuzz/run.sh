#!/usr/bin/env bash
# Build the fuzz targets with clang and run them, each from its seeds and from the inputs of earlier runs.
#
#     tests/fuzz/run.sh [SECONDS [TARGET ...]]      # 5 seconds each of words, laws, cells, loops, lanes, ...
#     tests/fuzz/run.sh 600 cells                   # ten minutes of one
#     tests/fuzz/run.sh 0 words FILE                # one input again, after a failure
#
# It works in build/fuzz, or in the directory that DG_FUZZ_BUILD names. It stops at the first failure, and keeps the
# input there, under the name that libFuzzer prints.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
seconds=${1:-5}
build=${DG_FUZZ_BUILD:-$here/../../build/fuzz}
shift || true

mkdir -p "$build"
cmake -S "$here/../.." --preset fuzz -B "$build" >"$build/build.log" || { cat "$build/build.log"; exit 1; }
cmake --build "$build" -j "$(nproc)" >"$build/build.log" || { cat "$build/build.log"; exit 1; }

# GMP allocates at every step, so short stacks and a small quarantine save much time.
export ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=8
options=(-timeout=60 -max_len=400 -len_control=0 -verbosity=0 -print_final_stats=1)

if [[ $seconds == 0 ]]; then
    exec "$build/tests/fuzz/fuzz_$1" -timeout=600 "$2"
fi
for target in "${@:-words laws cells loops lanes mechanisms api csv}"; do
    for name in $target; do
        corpus=$build/corpus/$name
        mkdir -p "$corpus"
        n=0
        while read -r line; do # one input per line, in base64
            n=$((n + 1))
            base64 -d <<<"$line" >"$corpus/seed-$n"
        done <"$here/seeds/$name.txt"
        log=$build/$name.log
        "$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" "${options[@]}" \
            -artifact_prefix="$build/$name-" "$corpus" >"$log" 2>&1 || { cat "$log"; exit 1; }
        echo "fuzz_$name: no finding in $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
    done
done
