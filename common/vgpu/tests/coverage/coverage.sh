#!/bin/sh
# Builds and runs the programs of public collections listed in the tables of this folder, with all checks, and compares
# each verdict with the expected one.
#
#   coverage.sh BUILD_FOLDER NVCC PAGE COLLECTION=FOLDER...     LIMIT=60 seconds per program, JOBS=1 programs at a time,
#                                                               RESUME=1: keep the results of an earlier run,
#                                                               TABLES=FOLDER: tables of your own
#
# COLLECTION is the name of a table here (cuda-samples.tsv), FOLDER your checkout of it. The table's columns are the
# program's folder, its build (flags of nvcc, with @ for FOLDER, sources if not all of the folder, and modules that the
# program loads; or "make" for its own makefile, which builds in the checkout; program.sh explains modules), its
# arguments, the verdict, and optionally edits; program.sh lists the verdicts. If the machine has a GPU, each program also
# runs on it.
#
# Edits make a problem smaller whose size is compiled in. Each is a file of the program and an expression of sed, as in
# "main.cu:s/1 << 26/1 << 18/"; " ;; " separates two of them. They apply to a copy of the program's folder, NAME.reduced
# in the checkout. An edit that changes nothing, as in another version of the checkout, makes the program "unbuilt".
#
# NAME-data.py, if it is beside the table, writes the inputs that a checkout of NAME does not have.
#
# PAGE gets the results. Exit status 1 if a verdict is not the expected one; "slow" is accepted everywhere.
set -u
[ $# -gt 3 ] || {
    echo 'coverage: no collection to run (hint: make coverage COLLECTIONS="cuda-samples=FOLDER", your checkout of it)' >&2
    exit 2
}
build=$(cd "$1" && pwd) nvcc=$2 page=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
limit=${LIMIT:-60} jobs=${JOBS:-1} tables=$(cd "${TABLES:-$here}" && pwd)
cores=$(nproc)
results=$build/vgpu/coverage
[ "${RESUME:-}" ] || rm -rf "$results"
mkdir -p "$results"
export build nvcc limit folder work

collection() { # NAME: a section of the page; each file work/*.row has verdict, program, seconds, verdict on the GPU, reason
    work=$results/$1
    mkdir -p "$work"
    tail -n +2 "$tables/$1.tsv" | tr '\n' '\0' | xargs -0 -P "$jobs" -n 1 "$here/program.sh"
    cat "$work"/*.row | awk -F'\t' -v OFS='\t' 'NR == FNR { expected[$1] = $4; next }
        { if ($1 != expected[$2] && $1 != "slow") $1 = $1 " (!)"; sub(".*/", "", $2); print }' "$tables/$1.tsv" - >"$results/$1.rows"
    printf '\n## %s\n\n' "$1"
    echo "Checkout: $(git -C "$folder" log -1 --format='%h of %cs' 2>/dev/null || echo 'of an unknown version')."
    awk '{ n[$1]++ } END { for (v in n) print n[v], v }' "$results/$1.rows" | sort -rn | paste -s -d, - | sed 's/,/, /g; s/$/./'
    printf '\nRight: %s.\n' "$(awk -F'\t' '$1 == "right" && $4 != "wrong" { print $2 }' "$results/$1.rows" | sort | paste -s -d, - | sed 's/,/, /g')"
    reduced=$(tail -n +2 "$tables/$1.tsv" | awk -F'\t' '$5 != "" { sub(".*/", "", $1); print $1 }' | sort | paste -s -d, - | sed 's/,/, /g')
    [ -z "$reduced" ] || printf '\nWith smaller constants: %s.\n' "$reduced"
    printf '\n| program | verdict | seconds | on the GPU | reason |\n|---|---|---|---|---|\n'
    awk -F'\t' '$1 != "right" || $4 == "wrong" { printf "| %s | %s | %s | %s | %s |\n", $2, $1, $3, $4, $5 }' "$results/$1.rows" | sort
}

changes() { # COLLECTION=FOLDER...: how far the programs differ from those in the checkouts
    reduced=$(for pair; do tail -n +2 "$tables/${pair%%=*}.tsv" 2>/dev/null; done | awk -F'\t' '$5 != "" { n++ } END { print n + 0 }')
    printf unmodified
    [ "$reduced" = 0 ] || printf ', except that %s have smaller constants (column `edits` of the table)' "$reduced"
}

{
    echo '# Programs of others on the virtual GPU'
    echo
    echo "Written by \`make coverage\`, $(date -u +%F), with $("$nvcc" --version | sed -n 's/.* V\([0-9.]*\)$/nvcc \1/p'), $cores cores,"
    echo "$jobs programs at a time, all checks on, $limit seconds a program. The programs are $(changes "$@")."
    echo 'The verdicts are explained in `common/vgpu/tests/coverage/program.sh`.'
    for pair; do
        [ -e "$tables/${pair%%=*}.tsv" ] || {
            echo "coverage: there is no table of '${pair%%=*}': expected one of $(cd "$tables" && ls ./*.tsv)" >&2
            exit 2
        }
        folder=$(cd "${pair#*=}" && pwd) || exit 2
        data=$tables/${pair%%=*}-data.py
        [ ! -e "$data" ] || python3 "$data" "$folder" || exit 2
        collection "${pair%%=*}"
    done
} >"$results/page" && mv "$results/page" "$page" || exit 2
! grep -h '(!)' "$results"/*.rows >&2
