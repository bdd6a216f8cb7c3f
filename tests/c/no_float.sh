#!/bin/sh
# Check that the compiled core has no floating-point arithmetic, whatever its source looks like. For x86-64.
#
#     sh no_float.sh OBJDUMP COMPILER LIBRARY
set -eu
float='v?(u?comi|cvt[a-z0-9]*|(add|sub|mul|div|sqrt|min|max|round))[sp][sd]|v?cvt[a-z0-9]+|f(ild|ist|add|mul|div|sub|sqrt|ld)[a-z0-9]*'

floats() {
    "$objdump" -d --no-show-raw-insn "$1" | grep -E "^ +[0-9a-f]+:[[:space:]]+($float)([[:space:]]|\$)" || true
}

objdump=$1
planted=$(mktemp)
trap 'rm -f "$planted"' EXIT
echo 'double f(long n, double x) { return (double)n * x; }' | "$2" -O2 -x c -c - -o "$planted"
[ -n "$(floats "$planted")" ] || { echo "the scan is blind"; exit 1; }
[ "$("$objdump" -d "$3" | grep -c mul)" -gt 100 ] || { echo "$3 is not the core"; exit 1; }
found=$(floats "$3")
[ -z "$found" ] || { echo "$found" | head; exit 1; }
