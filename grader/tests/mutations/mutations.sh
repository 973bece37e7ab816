#!/bin/sh
# Seeds single faults into the references: the grader must reject each fault and should name it.
#
#   CONVLAB_BUILD=build mutations.sh [--sample] [--results FILE.md] [--keep FOLDER] [MUTANT ...]
#
# mutations.tsv has one row per fault: the text to find in the milestone's reference, where it must occur exactly once,
# and the text that replaces it (\n and \t as in all tables of this tree). Two columns have the expected message of the
# grader, with alternatives separated by "|":
#
#     expect   the pattern; "technique" stands for a technique that was not found
#     at       text of the source line that the first message must name, or nothing
#
# A third column, arch, names the GPU to compile for, if the fault shows only on this GPU: copies are asynchronous from
# compute_80 on, and labs have PTX for compute_75.
#
# A mutant is rejected if the grader's exit status is 1. It is diagnosed if the first pattern and its line are among the
# expected ones. At least 95% of all mutants must be rejected and 70% diagnosed, or the exit status is 1. All are graded
# with one new random seed, which is printed; SEED=N repeats a run.
#
#     --sample         grades a few mutants, for `make test`, all of which must be rejected and diagnosed
#     --results FILE   writes the table as a page
#     --keep FOLDER    keeps sources and the grader's output in this folder
#     MUTANT           grades only these mutants, and shows the grader's output
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
nvcc=$("$top/common/mk/find-cuda.sh")/bin/nvcc
table=$here/mutations.tsv
tab=$(printf '\t')
SAMPLE='m1-packed_p_q m2-last_channel m3-no_barrier_after_staging m3-x_edge_unchecked m4-y_added_to m5-last_step'

# field N ID: prints a field of a mutant's row, unescaped, followed by an X (which keeps a final newline).
field() {
    awk -F '\t' -v column="$1" -v id="$2" '$1 == id {
        text = $column
        gsub(/\\\\/, "\001", text); gsub(/\\n/, "\n", text); gsub(/\\t/, "\t", text); gsub(/\001/, "\\", text)
        printf "%sX", text
    }' "$table"
}

# apply ID SOURCE TO: writes the source with the fault. @return 1, with a message, unless the text occurs exactly once.
apply() {
    find=$(field 4 "$1") replace=$(field 5 "$1")
    FIND=${find%X} REPLACE=${replace%X} awk -v id="$1" -v source="$2" '
        { text = text $0 "\n" }
        END {
            find = ENVIRON["FIND"]
            at = index(text, find)
            rest = at ? substr(text, at + length(find)) : ""
            if (find == "" || !at || index(rest, find)) {
                printf "mutations: %s: its text is %s in %s, expected once (hint: the reference has changed; fix the row): %s\n",
                    id, at ? "more than once" : "not", source, find > "/dev/stderr"
                exit 1
            }
            printf "%s%s%s", substr(text, 1, at - 1), ENVIRON["REPLACE"], rest
        }' "$2" >"$3"
}

# compile SOURCE LIBRARY [ARCHITECTURE]: compiles the source like a lab, for the virtual GPU only.
compile() {
    case $1 in
    *.cu) "$nvcc" -std=c++17 -lineinfo -g -I"$top/common" -cudart shared -shared -Xcompiler -fPIC -w \
        -arch="${3:-compute_75}" -O3 "$1" -o "$2" ;;
    *) gcc -std=gnu11 -g -I"$top/common" -fPIC -shared -fopenmp -O3 -march=native -w "$1" -lm -o "$2" ;;
    esac
}

# names_line OUTPUT SOURCE ALTERNATIVES: succeeds if the first message names a line with one of these texts. (A race has
# two lines.)
names_line() {
    printf '%s\n' "$3" | tr '|' '\n' >"$2.alternatives"
    message=$(grep -m 1 'conv\.cu*:[0-9][0-9]*' "$1")
    for number in $(printf '%s\n' "$message" | grep -o -e 'conv\.cu*:[0-9]*' -e 'at line [0-9]*' | grep -o '[0-9]*$'); do
        sed -n "${number}p" "$2" | grep -q -F -f "$2.alternatives" && return 0
    done
    return 1
}

# one ID: builds and grades a mutant; leaves "ID milestone fault rejected diagnosed pattern place" in ID.row.
one() {
    milestone=${1%%-*}
    set -- "$1" "$top"/reference/"$milestone"-*/conv.c* "$keep/$1"
    mkdir -p "$3"
    source=$3/$(basename "$2")
    apply "$1" "$2" "$source" || return 1
    status=build
    arch=$(field 8 "$1")
    if compile "$source" "$3/libconv.so" "${arch%X}" >"$3/output" 2>&1; then
        device=
        [ "$milestone" = m1 ] || device='--device virtual'
        timeout 300 "$build/grader" "$milestone" --lib "$3/libconv.so" --quick --images 1 --seed "$seed" \
            $device --report "$3/report" >"$3/output" 2>&1
        status=$?
    fi
    pattern=$(sed -n 's/^ *pattern: \([^ ]*\).*/\1/p' "$3/output" | head -n 1)
    failed=$(sed -n 's/^  FAIL  \([a-z0-9_]*\) .*/\1/p' "$3/output" | head -n 1)
    [ "$failed" = technique ] && pattern=technique
    [ "$status" = build ] && pattern=compile_error
    expect=$(field 6 "$1") at=$(field 7 "$1") fault=$(field 3 "$1")
    expect=${expect%X} at=${at%X}
    rejected=no diagnosed=no
    { [ "$status" = 1 ] || [ "$status" = build ]; } && rejected=yes
    if [ $rejected = yes ] && [ -n "$pattern" ]; then
        case "|$expect|" in
        *"|$pattern|"*) { [ -z "$at" ] || names_line "$3/output" "$source" "$at"; } && diagnosed=yes ;;
        esac
    fi
    place=$(grep -o -m 1 'conv\.cu*:[0-9][0-9]*' "$3/output" | head -n 1)
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$milestone" "${fault%X}" $rejected $diagnosed \
        "${pattern:--}" "${place:--}" >"$keep/$1.row"
    rm -rf "$3/libconv.so" "$3/report" "$3/$(basename "$2").alternatives"
}

results= sample= keep= ids=
while [ $# -gt 0 ]; do
    case $1 in
    --one) keep=$3 seed=$4 && one "$2" && exit || exit ;;
    --sample) sample=1 ids=$SAMPLE ;;
    --results) results=$2 && shift ;;
    --keep) keep=$2 && shift ;;
    *) ids="$ids $1" ;;
    esac
    shift
done
seed=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
[ -n "$keep" ] || { keep=$(mktemp -d) && trap 'rm -rf "$keep"' EXIT; }
mkdir -p "$keep" && keep=$(cd "$keep" && pwd) && rm -f "$keep"/*.row
chosen=${ids:-$(sed 1d "$table" | cut -f 1)}
[ -x "$nvcc" ] || {
    echo "skip: mutants of GPU milestones: no nvcc"
    chosen=$(printf '%s\n' $chosen | grep '^m1-')
}
echo "mutations: seed $seed"
printf '%s\n' $chosen | xargs -P "${JOBS:-$(nproc)}" -I {} env CONVLAB_BUILD="$build" "$0" --one {} "$keep" "$seed"
applied=$?
cat "$keep"/*.row >"$keep/rows" 2>/dev/null

[ -n "$ids" ] && [ -z "$sample" ] && for id in $ids; do cat "$keep/$id/output"; done
awk -F '\t' '{ printf "%-32s %-9s %-10s %-24s %s\n", $1, $4 == "yes" ? "rejected" : "ACCEPTED",
                   $5 == "yes" ? "diagnosed" : "-", $6, $7 }' "$keep/rows"

# Writes the results as a page.
page() {
    cat <<END
# Mutations: the grader's verdicts on single faults

<!-- Generated by make mutation-check; do not edit. -->

Single faults were seeded into the reference solutions, one at a time (\`grader/tests/mutations/mutations.tsv\`),
built, and graded on the virtual GPU (m1: on the CPU) with \`--quick --images 1\`, seed $seed. A fault is *rejected*
if the exit status is 1, and *diagnosed* if the first pattern, and the source line if a line is to blame, match the
table.

END
    awk -F '\t' '
        { n[$2]++; all++; rejected[$2] += $4 == "yes"; diagnosed[$2] += $5 == "yes" }
        { r += $4 == "yes"; d += $5 == "yes" }
        END {
            print "| milestone | faults | rejected | diagnosed |\n|---|---|---|---|"
            for (i = 1; i <= 9; i++) {
                m = "m" i
                if (n[m]) printf "| %s | %d | %d | %d (%.0f%%) |\n", m, n[m], rejected[m], diagnosed[m], 100 * diagnosed[m] / n[m]
            }
            printf "| all | %d | %d (%.1f%%) | %d (%.1f%%) |\n", all, r, 100 * r / all, d, 100 * d / all
        }' "$keep/rows"
    printf '\nThe faults that were not rejected, or not diagnosed:\n'
    printf '\n| fault | kind | rejected | diagnosed | pattern | line named |\n|---|---|---|---|---|---|\n'
    awk -F '\t' '$4 $5 != "yesyes" { printf "| %s | %s | %s | %s | %s | %s |\n", $1, $3, $4, $5, $6, $7 }' "$keep/rows"
}
[ -n "$results" ] && page >"$results.part" && mv "$results.part" "$results"

summary=$(awk -F '\t' '{ n++; r += $4 == "yes"; d += $5 == "yes" } END { print n + 0, r + 0, d + 0 }' "$keep/rows")
set -- $summary $(printf '%s\n' $chosen | wc -l)
awk -v n="$1" -v r="$2" -v d="$3" 'BEGIN {
    if (n) printf "mutations: %d faults, %d rejected (%.1f%%), %d diagnosed (%.1f%%)\n", n, r, 100 * r / n, d, 100 * d / n }'
if [ -n "$sample" ]; then
    echo "Tested: $4 | Passing: $3 | Failing: $(($4 - $3)) | Crashing: 0"
    [ $applied = 0 ] && [ "$4" = "$3" ]
else
    [ $applied = 0 ] && [ "$1" = "$4" ] && [ "$1" -gt 0 ] && [ $(($2 * 100)) -ge $(($1 * 95)) ] && [ $(($3 * 100)) -ge $(($1 * 70)) ]
fi
