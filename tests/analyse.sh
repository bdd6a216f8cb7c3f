#!/usr/bin/env bash
# The static analysers over every file of csrc: gcc -fanalyzer, clang's analyser (scan-build) and
# clang-tidy. Fails on any finding; each first has to find what is planted in a file of its own.
#
#     tests/analyse.sh            # needs gcc, clang, scan-build, clang-tidy, GMP's and MPFR's headers
#
# What is switched off, and why:
#   -Wanalyzer-too-complex            not a finding: where gcc gives up is printed at the end
#   insecureAPI.DeprecatedOrUnsafe... wants memcpy_s, which glibc does not have
#   bugprone-easily-swappable-parameters   a matter of types, not of faults
#   bugprone-macro-parentheses        macros here name types, lanes and variables to assign to
#   bugprone-sizeof-expression        sizeof all / sizeof *all over an array of pointers is what is meant
#   bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp   _DEFAULT_SOURCE is glibc's to name
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for tool in gcc scan-build clang-tidy; do
    command -v "$tool" >/dev/null || { echo "needs $tool (apt-get install clang-tidy clang-tools)"; exit 2; }
done

flags=(-std=c11 -Icsrc/include -Icsrc)
# gcc looks farther than by default; the files that still are too complex would take minutes.
gcc_limits=(--param=analyzer-bb-explosion-factor=40 --param=analyzer-max-enodes-per-program-point=60)
clang_checkers=(security nullability optin.portability optin.performance)
tidy_checks='-*,bugprone-*,cert-*,misc-redundant-expression,readability-misleading-indentation'
tidy_checks+=',-bugprone-easily-swappable-parameters,-bugprone-macro-parentheses'
tidy_checks+=',-bugprone-sizeof-expression,-bugprone-reserved-identifier,-cert-dcl37-c,-cert-dcl51-cpp'

gcc_analyzer() {
    gcc "${flags[@]}" -O2 -fanalyzer -Wanalyzer-too-complex "${gcc_limits[@]}" -c "$1" -o "$work/object" 2>&1
}

clang_analyzer() {
    local options=(-disable-checker security.insecureAPI.DeprecatedOrUnsafeBufferHandling) name
    for name in "${clang_checkers[@]}"; do options+=(-enable-checker "$name"); done
    scan-build --use-cc=clang --status-bugs -o "$work/reports" "${options[@]}" \
        clang "${flags[@]}" -c "$1" -o "$work/object" 2>&1
}

clang_tidy() {
    clang-tidy --quiet --warnings-as-errors='*' --checks="$tidy_checks" "$1" -- "${flags[@]}" 2>&1
}

# A finding is a line with "warning:" or "error:", in all three.
findings() {
    grep -E '(warning|error):' | grep -v 'Wanalyzer-too-complex' || true
}

cat >"$work/planted.c" <<'PLANTED'
#include <stdlib.h>
int twice(const char *text);
int twice(const char *text)
{
    int *cell = malloc(sizeof *cell);
    if (cell == 0) {
        return 0;
    }
    *cell = atoi(text);
    free(cell);
    return 2 * *cell;
}
PLANTED

status=0
for analyser in gcc_analyzer clang_analyzer clang_tidy; do
    if [[ -z $("$analyser" "$work/planted.c" | findings) ]]; then
        echo "$analyser does not find what is planted for it" && exit 2
    fi
    n_files=0 found='' gave_up=''
    for file in csrc/*/*.c; do
        log=$("$analyser" "$file") || true
        if [[ -n $(findings <<<"$log") ]]; then
            found+=$log$'\n'
        fi
        if grep -q 'bailed out early' <<<"$log"; then
            gave_up+=" $file"
        fi
        n_files=$((n_files + 1))
    done
    if [[ -n $found ]]; then
        echo "$found"
        status=1
    fi
    echo "$analyser: $n_files files, $(findings <<<"$found" | wc -l) findings${gave_up:+; in part only:$gave_up}"
done
exit "$status"
