#!/bin/sh
# Runs unmodified programs of public collections on the virtual GPU: builds and runs each program in a table of this
# folder, with all checks on, and compares its verdict with the table's.
#
#   coverage.sh BUILD_FOLDER NVCC PAGE COLLECTION=FOLDER...     LIMIT=60 seconds per program
#
# COLLECTION is the name of a table here (cuda-samples.tsv), FOLDER your checkout of it. Its columns: the program's
# folder, nvcc's flags (@ is FOLDER), arguments, and the verdict:
#
#   right     it ended with status 0 and did not report a failure
#   waived    it reports that it does not run on this GPU
#   refused   the virtual GPU reports a function or feature that it lacks
#   finding   a check found something
#   slow      it did not end within the limit
#   wrong     anything else
#   unbuilt   nvcc or the linker failed: it needs a missing library or header
#
# PAGE gets the table with times. Exit status 1 if a verdict is not the expected one; "slow" is not a failure.
set -u
[ $# -gt 3 ] || {
    echo 'coverage: no collection to run (hint: make coverage COLLECTIONS="cuda-samples=FOLDER", your checkout of it)' >&2
    exit 2
}
build=$(cd "$1" && pwd) nvcc=$2 page=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
limit=${LIMIT:-60}
work=$build/vgpu/coverage
mkdir -p "$work"
tab=$(printf '\t')
: >"$work/unexpected"

compile() { # FOLDER FLAGS
    sources=$(ls "$1"/*.cu "$1"/*.cpp "$1"/*.c 2>/dev/null)
    # shellcheck disable=SC2046,SC2086
    "$nvcc" -w -std=c++17 -I"$folder/Common" -I"$1" -Xcompiler -fopenmp $(echo "$2" | sed "s|@|$folder|g") $sources -o "$work/program" >"$work/built" 2>&1
}

# verdict STATUS: prints the verdict of a program whose output is in out and err, and findings in faults.tsv.
verdict() {
    if [ "$1" = 124 ]; then
        echo slow
    elif grep -q 'virtual GPU: .*not supported\|virtual GPU: .*cannot be executed\|virtual GPU: .*there is no\|is not there' "$work/err"; then
        echo refused
    elif [ "$(wc -l <"$work/faults.tsv" 2>/dev/null || echo 0)" -gt 1 ]; then
        echo finding
    elif grep -qi 'waiv' "$work/out" "$work/err"; then
        echo waived
    elif [ "$1" = 0 ] && ! grep -q 'FAILED\|Test failed\|mismatch!' "$work/out"; then
        echo right
    else
        echo wrong
    fi
}

# Prints the program's or a tool's message, for the table.
reason() { # VERDICT
    case $1 in
    unbuilt) grep -m 1 -E 'error|fatal|undefined' "$work/built" ;;
    refused) grep -m 1 'virtual GPU: ' "$work/err" ;;
    finding) sed -n 2p "$work/faults.tsv" | cut -f 1-3 ;;
    waived) grep -m 1 -i -h 'waiv' "$work/out" "$work/err" ;;
    wrong) tail -n 1 "$work/err" ;;
    esac | tr '\t|' '  ' | sed "s|$folder/||g; s|$work/||g" | cut -c 1-110
}

one() { # NAME FLAGS ARGUMENTS EXPECTED: tests one row
    status=- seconds=-
    rm -f "$work"/out "$work"/err "$work"/faults.tsv
    if compile "$folder/$1" "$2"; then
        begin=$(date +%s%N)
        # shellcheck disable=SC2086
        (cd "$folder/$1" && timeout "$limit" "$build/vgpu-run" --faults "$work/faults.tsv" "$work/program" $3) \
            >"$work/out" 2>"$work/err" </dev/null
        got=$(verdict $?)
        seconds=$((($(date +%s%N) - begin) / 100000000))
        seconds=$((seconds / 10)).$((seconds % 10))
    else
        got=unbuilt
    fi
    mark=
    if [ "$got" != "$4" ] && [ "$got" != slow ]; then
        mark=' (!)'
        {
            echo "$1: $got, expected $4"
            tail -n 3 "$work/err" 2>/dev/null
        } | tee -a "$work/unexpected" >&2
    fi
    printf '| %s | %s%s | %s | %s |\n' "$(basename "$1")" "$got" "$mark" "$seconds" "$(reason "$got")" >>"$work/rows"
}

collection() { # NAME
    : >"$work/rows"
    tail -n +2 "$here/$1.tsv" | while IFS=$tab read -r name flags arguments expected; do
        one "$name" "$flags" "${arguments#-}" "$expected"
    done
    printf '\n## %s\n\n' "$1"
    echo "Checkout: $(git -C "$folder" log -1 --format='%h of %cs' 2>/dev/null || echo 'of an unknown version')."
    cut -d '|' -f 3 "$work/rows" | awk '{ n[$1]++ } END { for (v in n) print n[v], v }' | sort -rn | paste -s -d, - | sed 's/,/, /g; s/$/./'
    printf '\n| program | verdict | seconds | why |\n|---|---|---|---|\n'
    cat "$work/rows"
}

{
    echo '# Programs of others on the virtual GPU'
    echo
    echo "Written by \`make coverage\`, $(date -u +%F), with $("$nvcc" --version | sed -n 's/.* V\([0-9.]*\)$/nvcc \1/p'), $(nproc) cores,"
    echo "all checks on, $limit seconds a program; the programs as they are, with their own arguments. The verdicts are explained"
    echo 'in `common/vgpu/tests/coverage/coverage.sh`.'
    for pair; do
        [ -e "$here/${pair%%=*}.tsv" ] || {
            echo "coverage: there is no table of '${pair%%=*}': expected one of $(cd "$here" && ls ./*.tsv)" >&2
            exit 2
        }
        folder=$(cd "${pair#*=}" && pwd) || exit 2
        collection "${pair%%=*}"
    done
} >"$work/page"
mv "$work/page" "$page"
[ ! -s "$work/unexpected" ]
