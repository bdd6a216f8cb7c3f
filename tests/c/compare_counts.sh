#!/bin/sh
# Compare the numbers of instructions that test_isochronous_counts has callgrind dump.
#
#     sh compare_counts.sh VALGRIND PROGRAM
#
# A dump is named KIND GROUP WHICH. Fails if two counts of a group "equal" are not, or if those of a group
# "differ" all are, or if there are none.
set -eu
valgrind=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
"$valgrind" -q --tool=callgrind --collect-atstart=no --callgrind-out-file="$work/counts" "$program" \
    >"$work/report" || status=$?
cat "$work/report"
[ "$status" -eq 0 ] || exit "$status"
awk '
    /^desc: Trigger: Client Request: / { kind = $5; group = $6 }
    /^totals: / && group != "" {
        count = $2
        kinds[group] = kind
        if (!(group in least) || count < least[group]) least[group] = count
        if (!(group in most) || count > most[group]) most[group] = count
        number[group]++
        group = ""
    }
    END {
        for (group in kinds) {
            same = least[group] == most[group]
            wrong = number[group] < 2 || (kinds[group] == "equal") != same
            bad += wrong
            groups[kinds[group]]++
            printf "%s%s: %d batches, %d to %d instructions\n", wrong ? "WRONG: " : "", group,
                number[group], least[group], most[group]
        }
        printf "%d groups with equal counts expected, %d with different ones: %d wrong\n",
            groups["equal"], groups["differ"], bad
        exit bad > 0 || groups["equal"] < 10 || groups["differ"] < 1
    }
' "$work"/counts.*
