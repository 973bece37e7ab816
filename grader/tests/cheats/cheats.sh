#!/bin/sh
# Grades a submission for every known way of cheating (cheats.tsv) with the whole grader.
#
#   CONVLAB_BUILD=build cheats.sh [--all] [--repeats N] [--device DEVICE] [--keep DIR] [--table FILE] [WORD ...]
#
# Each row's submission must get the row's verdict, and the grader must print the row's message:
#
#     rejected   exit status 1, and fewer points than a right submission
#     harmless   exit status 0 and the points of a right submission
#     timed      harmless, and no Op Time shorter than a right submission's
#     any        rejected or harmless; the grader ends normally and leaves no process
#
# Without arguments it grades the rows with "yes" under "always"; with WORD, those whose submission's name contains
# WORD. --keep DIR keeps the grader's output for each row, --table FILE gets a line per row. Each grading has a new
# random seed, which is printed after a failure and with --repeats.
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${CONVLAB_BUILD:-build}" && pwd)
top=$(cd "$here/../../.." && pwd)
. "$top/common/mk/tests/claims.sh"
export TMPDIR="$scratch"
all= keep= table=/dev/null repeats=1 device=virtual
while [ $# -gt 0 ]; do
    case $1 in
    --all) all=yes ;;
    --repeats) repeats=$2 && shift ;;
    --keep) keep=$2 && mkdir -p "$keep" && shift ;;
    --table) table=$2 && shift ;;
    --device) device=$2 && shift ;;
    *) break ;;
    esac
    shift
done
words=$*

wanted() { # SUBMISSION ALWAYS
    [ -n "$all" ] && return 0
    [ -z "$words" ] && [ "$2" = yes ] && return 0
    for word in $words; do
        case $1 in *"$word"*) return 0 ;; esac
    done
    return 1
}

# grade MILESTONE IMAGES SUBMISSION: leaves the grader's output in the scratch folder.
grade() {
    folder=$scratch/handed-in
    rm -rf "$folder" && mkdir "$folder"
    case $3 in # copies the folder's other files too
    */conv.c) cp "$here/../${3%/conv.c}"/* "$folder" ;;
    esac
    source=$folder/$(basename "$3")
    awk -v FOLDERS="$here $here/../mutants $here/../mutants_cuda $top/common" -f "$here/one_file.awk" \
        "$here/../$3" >"$source"
    seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
    on=
    [ "$1" = m1 ] || on="--device $device"
    # shellcheck disable=SC2086
    "$build/grader" "$1" --source "$source" --require-sandbox --quick --images "$2" --seed "$seed" $on \
        --report "$scratch/report" >"$scratch/out" 2>&1
    status=$?
    points=$(sed -n 's/^Score: \([0-9.]*\) of.*/\1/p' "$scratch/out")
    grep -o 'Op Time: [0-9.]*' "$scratch/out" >"$scratch/times"
}

is_as_slow() { # is_as_slow RIGHT'S TIMES: succeeds if no Op Time of the last grading is shorter.
    paste "$scratch/times" "$1" | awk '{ if ($3 < 0.95 * $6) short = 1 } END { exit short || NR == 0 }'
}

# judge VERDICT MESSAGE RIGHT: checks the last grading.
judge() {
    grep -qF -e "$2" "$scratch/out" || return 1
    right_points=$(cat "$3.points")
    case $1 in
    rejected) [ $status = 1 ] && awk "BEGIN {exit !(${points:-0} < $right_points)}" ;;
    harmless) [ $status = 0 ] && [ "$points" = "$right_points" ] ;;
    timed) [ $status = 0 ] && [ "$points" = "$right_points" ] && is_as_slow "$3.times" ;;
    any) [ $status = 0 ] || [ $status = 1 ] ;;
    esac
}

# right MILESTONE IMAGES: grades a right submission; writes its points and times to MILESTONE:IMAGES.points and .times.
right() {
    [ -e "$scratch/$1:$2.points" ] && return
    case $1 in
    m1) honest=mutants/right.c ;;
    m2) honest=mutants_cuda/right.cu ;;
    *) honest=$(cd "$here/.." && ls ../../reference/"$1"-*/conv.cu) ;;
    esac
    grade "$1" "$2" "$honest"
    [ $status = 0 ] || { echo "FAILED: $honest is right, and is not passed:"; cat "$scratch/out"; }
    echo "${points:-0}" >"$scratch/$1:$2.points"
    cp "$scratch/times" "$scratch/$1:$2.times"
}

nothing_left() {
    for wait in 1 2 3 4 5 6 7 8 9 10; do
        pgrep -f "confine .*$scratch" >/dev/null || [ -n "$(ls -d "$scratch"/convlab-build-* 2>/dev/null)" ] || return 0
        sleep 0.2
    done
    return 1
}

"$build/grader" sandbox >"$scratch/sandbox" || claims_skip "cheats: $(cat "$scratch/sandbox")"
# A WORD without a row, or a row without its file, must not look like success.
for word in $words; do
    cut -f3 "$here/cheats.tsv" | grep -qF -e "$word" || {
        echo "cheats: no submission in cheats.tsv has '$word' in its name" >&2
        exit 2
    }
done
tail -n +2 "$here/cheats.tsv" | while IFS='	' read -r row trick submission rest; do
    [ -e "$here/../$submission" ] || { echo "cheats: row $row: no file grader/tests/$submission" >&2; exit 1; }
done || exit 2
nvcc=$(ls "$("$top/common/mk/find-cuda.sh")/bin/nvcc" 2>/dev/null)
printf 'row\ttrick\tsubmission\tmilestone\texpected\tas_expected\tstatus\tseen\n' >"$table"
repeat=0
while [ $repeat -lt "$repeats" ]; do
    repeat=$((repeat + 1))
    while IFS='	' read -r row trick submission milestone images verdict message always on_gpu how; do
        [ "$row" != row ] && wanted "$submission" "$always" || continue
        [ "$milestone" != m1 ] && [ -z "$nvcc" ] && continue
        # On a real GPU, use the table's column for it; the messages depend on the driver.
        if [ "$device" = gpu ]; then
            [ "$on_gpu" = - ] && continue
            verdict=$on_gpu message=
        fi
        right "$milestone" "$images"
        grade "$milestone" "$images" "$submission"
        [ -z "$keep" ] || cp "$scratch/out" "$keep/$row-$(basename "$submission").txt"
        if judge "$verdict" "$message" "$scratch/$milestone:$images" && nothing_left; then
            passes
            as=yes
        else
            as=no
            fails "row $row, $submission (seed $seed): expected $verdict and '$message', got status $status, $points points:"
            cat "$scratch/out"
        fi
        seen=$(sed -n 's/^  FAIL  [a-z0-9_]* *[0-9.]*\/[0-9]* *//p' "$scratch/out" | head -n 1 | tr '\t' ' ' | cut -c1-160)
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$row" "$trick" "$submission" "$milestone" "$verdict" "$as" "$status" \
            "${seen:-right}" >>"$table"
        [ "$repeats" -eq 1 ] || echo "repeat $repeat, row $row, $submission: seed $seed, status $status"
    done <"$here/cheats.tsv"
done
if [ ! -e "$top/.git" ] || "$here/page.sh" | cmp -s - "$top/docs/cheats.md"; then
    passes
else
    fails 'docs/cheats.md is not what cheats.tsv says (hint: run: make cheats-page)'
fi
claims_end && [ "$tested" -gt 0 ]
